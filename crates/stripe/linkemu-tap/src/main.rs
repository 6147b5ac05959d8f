//! `gingham-linkemu`: an emulated link between two network namespaces of this machine.
//!
//! ```text
//!   namespace "left"                     this process                        namespace "right"
//!   ┌──────────────┐        ┌─────────────────────────────────────┐        ┌───────────────┐
//!   │ tap0 ◄───────┼────────┤ ──► forth: queue, rate, delay, ...──┼───────►│ tap0          │
//!   │              │ frames │ ◄── back:  queue, rate, delay, ... ─┤ frames │               │
//!   └──────────────┘        └─────────────────────────────────────┘        └───────────────┘
//! ```
//!
//! One process holds a TAP descriptor in each namespace and lets every frame that the kernel gives
//! it at one end meet the model of `gingham_linkemu`; what arrives is given to the kernel at the
//! other end when its time has come. What counts as a byte of the link is a byte of the frame as a
//! TAP shows it: Ethernet's header and what follows, no preamble and no check sequence.
//!
//! Invariants: no frame is delivered before its time, and how late the latest was is told; what the
//! process made ends with it, and it ends by itself when it is told to or when an end is gone.

#[cfg(target_os = "linux")]
mod arguments;
#[cfg(target_os = "linux")]
mod end;
#[cfg(target_os = "linux")]
mod problem;
#[cfg(target_os = "linux")]
mod pump;
#[cfg(target_os = "linux")]
mod report;
#[cfg(target_os = "linux")]
mod way;

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    use clap::Parser;

    match pump::run(&arguments::Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => problem.tell(),
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
