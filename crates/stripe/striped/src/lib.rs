//! `striped`: a network interface that combines several uplinks into one encrypted, in-order pipe.
//!
//! ```text
//!            ┌──────────── tunnel process, carries packets ([`tunnel`]) ──────┐
//!   TUN ────►│ entry: per-flow queues (FQ-CoDel) ──► striping ──► encryption ─│══► uplink 0
//!   bundle0  │                                                                │══► uplink 1
//!      ◄─────│ packets in order ◄───────── striping ◄── decryption ◄──────────│◄══ ...
//!            └───────────────┬────────────────────────────────────────────────┘
//!               a socket pair│ sockets, MTU
//!            ┌───────────────┴──────┐
//!   routes ◄─│ monitor process, may │  ([`monitor`])
//!   rules    │ change the network   │
//!            └──────────────────────┘
//! ```
//!
//! Invariants: each process is single-threaded; no payload leaves unencrypted unless
//! `allow-plaintext` is set; packets of a flow leave the far interface in the order of their
//! arrival at this interface; the tunnel process, which parses packets, cannot change the system
//! (`sandbox`).
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

/// Runs the command given on the command line.
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
        arguments::Command::Pubkey { file } => key::print_public(&file),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => problem.report(),
    }
}
