//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::generate::Generated;
use crate::logging::LogOptions;

/// What all commands have in common.
const AFTER: &str = "\
Exit codes: 0 done; 2 a file or a command line cannot be right; 6 the machine says no, or no daemon runs.
Counts of quotas are in /var/lib/striped, or where STATE_DIRECTORY says.";

/// A network interface made of several uplinks
#[derive(Parser, Debug)]
#[command(name = "striped", version, after_help = AFTER)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Make the interfaces that files describe, and carry their packets until a signal ends it
    ///
    /// Prints a line of JSON for each event: ready, and the counters at the end (SIGTERM, SIGINT,
    /// `striped down`) and on SIGUSR1. SIGHUP reads the files again, as `striped reload` does.
    Up {
        /// The files, in TOML, one per bundle
        #[arg(required = true)]
        configs: Vec<PathBuf>,
        #[command(flatten)]
        runtime: Runtime,
        #[command(flatten)]
        logs: LogOptions,
    },
    /// Check files on this machine, and say what `up` would do; nothing is touched
    ///
    /// For bundles that are not up: `striped reload` checks by itself.
    Check {
        /// The files, in TOML, one per bundle
        #[arg(required = true)]
        configs: Vec<PathBuf>,
    },
    /// Show what each channel does, and why it waits
    Status {
        #[command(flatten)]
        bundles: Bundles,
        #[command(flatten)]
        runtime: Runtime,
        /// As JSON, for scripts
        #[arg(long)]
        json: bool,
        /// Repeat every second until interrupted
        #[arg(long)]
        watch: bool,
    },
    /// Read the files of a daemon again; if one has an error, nothing changes
    Reload {
        #[command(flatten)]
        bundles: Bundles,
        #[command(flatten)]
        runtime: Runtime,
    },
    /// End a daemon, with all its bundles, and wait until it is gone
    Down {
        #[command(flatten)]
        bundles: Bundles,
        #[command(flatten)]
        runtime: Runtime,
    },
    /// Write a new private key into a file that only its owner may read, and print its public key
    Keygen {
        /// The file, which must not exist yet
        file: PathBuf,
    },
    /// Print the public key of a private one
    Pubkey {
        /// The file of the private key
        file: PathBuf,
    },
    /// Print or write what a package has beside the program
    #[command(subcommand)]
    Generate(Generated),
    /// Carries packets for the half that runs this one
    #[command(hide = true)]
    Carry {
        /// The same file
        config: PathBuf,
        #[command(flatten)]
        logs: LogOptions,
    },
}

/// Which bundles are meant.
#[derive(Args, Debug)]
pub(crate) struct Bundles {
    /// Bundles, by name or by file; all in the runtime directory by default
    #[arg(value_name = "BUNDLE")]
    pub(crate) names: Vec<String>,
}

/// Where daemons are asked.
#[derive(Args, Debug)]
pub(crate) struct Runtime {
    /// The folder of control sockets, one per bundle
    #[arg(long, env = "RUNTIME_DIRECTORY", default_value = "/run/striped", value_name = "DIR")]
    runtime_directory: String,
}

impl Runtime {
    /// The first, where systemd names several.
    pub(crate) fn folder(&self) -> PathBuf {
        self.runtime_directory.split(':').next().unwrap_or_default().into()
    }
}
