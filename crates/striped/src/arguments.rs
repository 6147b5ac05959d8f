//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// A network interface made of several uplinks
#[derive(Parser, Debug)]
#[command(version)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Make the interface that a file describes, and carry its packets until a signal ends it
    ///
    /// A line of JSON an event is printed: ready, and at the end (SIGTERM, SIGINT, SIGHUP) or when
    /// asked for (SIGUSR1) what was counted.
    Up {
        /// The file, in TOML
        config: PathBuf,
    },
    /// Write a new private key into a file, for its owner alone, and print its public key
    Keygen {
        /// The file, which is not there yet
        file: PathBuf,
    },
    /// Print the public key of a private one
    Pubkey {
        /// The file of the private key
        file: PathBuf,
    },
    /// Carries packets for the half that runs this one
    #[command(hide = true)]
    Carry {
        /// The same file
        config: PathBuf,
    },
}
