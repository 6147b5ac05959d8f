//! `gingham-linkemu`: an emulated link between two network namespaces.
//!
//! ```text
//!   namespace "left"                     this process                        namespace "right"
//!   ┌──────────────┐        ┌─────────────────────────────────────┐        ┌───────────────┐
//!   │ tap0 ◄───────┼────────┤ ──► forth: queue, rate, delay, ...──┼───────►│ tap0          │
//!   │              │ frames │ ◄── back:  queue, rate, delay, ... ─┤ frames │               │
//!   └──────────────┘        └─────────────────────────────────────┘        └───────────────┘
//! ```
//!
//! Frame lengths include the Ethernet header, but not the preamble and the frame check sequence.
//!
//! Invariants: no frame is delivered before its arrival time; the maximum lateness is reported; the
//! interfaces disappear when the process ends.

#[cfg(target_os = "linux")]
mod arguments;
#[cfg(target_os = "linux")]
mod direction;
#[cfg(target_os = "linux")]
mod end;
#[cfg(target_os = "linux")]
mod problem;
#[cfg(target_os = "linux")]
mod pump;
#[cfg(target_os = "linux")]
mod report;

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    use clap::Parser;

    match pump::run(&arguments::Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => problem.report(),
    }
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::print_stderr, reason = "a program says why it ends")]
fn main() -> ExitCode {
    eprintln!(
        "gingham-linkemu: network namespaces and TAP devices are Linux's: it runs there only"
    );
    ExitCode::from(6)
}
