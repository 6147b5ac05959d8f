//! Command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::generate::Generated;
use crate::logging::LogOptions;

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
    /// Create the interfaces described by the files, and carry their packets until a signal ends
    /// the daemon
    ///
    /// Prints one line of JSON per event: when ready, and the counters on SIGUSR1 and at the end
    /// (SIGTERM, SIGINT, `striped down`). SIGHUP reads the files again, like `striped reload`.
    Up {
        /// Configuration files in TOML, one per bundle
        #[arg(required = true)]
        configs: Vec<PathBuf>,
        #[command(flatten)]
        runtime: Runtime,
        #[command(flatten)]
        logs: LogOptions,
    },
    /// Check files against this machine and show what `up` would do, without changes
    ///
    /// For bundles that are not up; `striped reload` checks its files itself.
    Check {
        /// Configuration files in TOML, one per bundle
        #[arg(required = true)]
        configs: Vec<PathBuf>,
    },
    /// Show the state of each channel, and why a channel waits
    Status {
        #[command(flatten)]
        bundles: Bundles,
        #[command(flatten)]
        runtime: Runtime,
        /// Print JSON, for scripts
        #[arg(long)]
        json: bool,
        /// Repeat every second until interrupted
        #[arg(long)]
        watch: bool,
    },
    /// Make a daemon read its files again; after an error in any file, nothing changes
    Reload {
        #[command(flatten)]
        bundles: Bundles,
        #[command(flatten)]
        runtime: Runtime,
    },
    /// Stop a daemon with all its bundles, and wait until it has ended
    Down {
        #[command(flatten)]
        bundles: Bundles,
        #[command(flatten)]
        runtime: Runtime,
    },
    /// Write a new private key to a file that only its owner can read, and print the public key
    Keygen {
        /// File to create; it must not exist
        file: PathBuf,
    },
    /// Print the public key of a private key
    Pubkey {
        /// File with the private key
        file: PathBuf,
    },
    /// Print or write the files that a package ships with the program
    #[command(subcommand)]
    Generate(Generated),
    /// Carry packets for the monitor process, which starts this command
    #[command(hide = true)]
    Carry {
        /// Configuration file of the monitor process
        config: PathBuf,
        #[command(flatten)]
        logs: LogOptions,
    },
}

#[derive(Args, Debug)]
pub(crate) struct Bundles {
    /// Bundles, by name or by file; default: all in the runtime directory
    #[arg(value_name = "BUNDLE")]
    pub(crate) names: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct Runtime {
    /// Directory of control sockets, one per bundle
    #[arg(long, env = "RUNTIME_DIRECTORY", default_value = "/run/striped", value_name = "DIR")]
    runtime_directory: String,
}

impl Runtime {
    /// Returns the directory of the control sockets. systemd may pass several directories,
    /// separated by colons; the first is used.
    pub(crate) fn folder(&self) -> PathBuf {
        self.runtime_directory.split(':').next().unwrap_or_default().into()
    }
}
