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
//! A file says all of it (`config`). What cannot be right there is told with file, line and key
//! before anything is touched (`check`), and what was made ends with the process, however it ends:
//! the interface is its descriptor's, and routes and rules are taken back (`routes`).
//!
//! Invariants: one thread a half; nothing goes out in clear; what comes out of the interface at the
//! other end is in the order of each flow in which it went in here; the half that reads packets may
//! change nothing (`sandbox`).
#![cfg(target_os = "linux")]

mod allowed;
mod arguments;
mod asking;
mod changes;
mod check;
mod class;
mod client;
mod config;
mod device;
mod entry;
mod ethernet;
mod generate;
mod handover;
mod key;
mod line;
mod logging;
mod machine;
mod metrics;
mod monitor;
mod observer;
mod orders;
mod packet;
mod peer;
mod peers;
mod policy;
mod problem;
mod quota;
mod report;
mod routes;
mod sandbox;
mod signals;
mod status;
mod table;
mod tcp;
mod tunnel;

use std::process::ExitCode;

pub use config::any_configuration;

/// Does what the command line says.
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
