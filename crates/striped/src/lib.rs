//! `striped`: a network interface made of several uplinks, one encrypted pipe that keeps order.
//!
//! ```text
//!            ┌──────────── the half that carries packets ([`tunnel`]) ─────────┐
//!   TUN ────►│ entry: a queue a flow (FQ-CoDel) ──► striping ──► sealing ──────│══► uplink 0
//!   bundle0  │                                                                │══► uplink 1
//!      ◄─────│ packets in order ◄───────── striping ◄── opening ◄─────────────│◄══ ...
//!            └───────────────┬────────────────────────────────────────────────┘
//!               a socket pair│ sockets, MTU
//!            ┌───────────────┴──────┐
//!   routes ◄─│ the half that may    │  ([`monitor`])
//!   rules    │ change the network   │
//!            └──────────────────────┘
//! ```
//!
//! A file says all of it ([`config`]). What cannot be right there is told with file, line and key
//! before anything is touched ([`check`]), and what was made ends with the process, however it ends:
//! the interface is its descriptor's, and routes and rules are taken back ([`routes`]).
//!
//! Invariants: one thread a half; nothing goes out in clear; what comes out of the interface at the
//! other end is in the order of each flow in which it went in here; the half that reads packets may
//! change nothing ([`sandbox`]).

#[cfg(target_os = "linux")]
mod allowed;
#[cfg(target_os = "linux")]
mod arguments;
#[cfg(target_os = "linux")]
mod changes;
#[cfg(target_os = "linux")]
mod check;
mod class;
#[cfg(target_os = "linux")]
mod client;
#[cfg(target_os = "linux")]
mod config;
#[cfg(target_os = "linux")]
mod device;
#[cfg(target_os = "linux")]
mod entry;
#[cfg(target_os = "linux")]
mod ethernet;
#[cfg(target_os = "linux")]
mod generate;
#[cfg(target_os = "linux")]
mod handover;
#[cfg(target_os = "linux")]
mod key;
#[cfg(target_os = "linux")]
mod line;
#[cfg(target_os = "linux")]
mod logging;
#[cfg(target_os = "linux")]
mod machine;
#[cfg(target_os = "linux")]
mod metrics;
#[cfg(target_os = "linux")]
mod monitor;
#[cfg(target_os = "linux")]
mod observer;
#[cfg(target_os = "linux")]
mod orders;
#[cfg(target_os = "linux")]
mod packet;
#[cfg(target_os = "linux")]
mod peer;
#[cfg(target_os = "linux")]
mod peers;
#[cfg(target_os = "linux")]
mod policy;
#[cfg(target_os = "linux")]
mod problem;
#[cfg(target_os = "linux")]
mod quota;
#[cfg(target_os = "linux")]
mod report;
#[cfg(target_os = "linux")]
mod routes;
#[cfg(target_os = "linux")]
mod sandbox;
#[cfg(target_os = "linux")]
mod signals;
#[cfg(target_os = "linux")]
mod status;
#[cfg(target_os = "linux")]
mod table;
#[cfg(target_os = "linux")]
mod tcp;
#[cfg(target_os = "linux")]
mod tunnel;

use std::process::ExitCode;

#[cfg(target_os = "linux")]
pub use config::any_configuration;

/// Does what the command line says.
#[cfg(target_os = "linux")]
pub fn run() -> ExitCode {
    use clap::Parser;

    let done = match arguments::Arguments::parse().command {
        arguments::Command::Up { configs, runtime, logs } => {
            monitor::up(&configs, &runtime.folder(), logs)
        }
        arguments::Command::Carry { config, logs } => tunnel::carry(&config, logs),
        arguments::Command::Check { configs } => client::check(&configs),
        arguments::Command::Status { bundles, runtime, json, watch } => {
            client::status(&bundles, &runtime.folder(), json, watch)
        }
        arguments::Command::Reload { bundles, runtime } => {
            client::reload(&bundles, &runtime.folder())
        }
        arguments::Command::Down { bundles, runtime } => client::down(&bundles, &runtime.folder()),
        arguments::Command::Generate(what) => generate::generate(what),
        arguments::Command::Keygen { file } => key::generate(&file),
        arguments::Command::Pubkey { file } => key::tell_public(&file),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => problem.tell(),
    }
}

/// Says that this is the wrong system.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::print_stderr, reason = "a program says why it ends")]
pub fn run() -> ExitCode {
    eprintln!("striped: TUN devices are Linux's: it runs there only");
    ExitCode::from(6)
}
