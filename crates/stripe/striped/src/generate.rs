//! What goes with the program: its manual pages, and the completion of shells.

use std::io::stdout;
use std::path::{Path, PathBuf};

use clap::{CommandFactory, Subcommand};
use clap_complete::Shell;

use crate::arguments::Arguments;
use crate::problem::Problem;

/// As which it is called.
const NAME: &str = "striped";

#[derive(Clone, Subcommand, Debug)]
pub(crate) enum Generated {
    /// Print what completes a command line of this program
    ///
    /// For bash: striped generate completion bash > /etc/bash_completion.d/striped
    Completion {
        /// The shell
        shell: Shell,
    },
    /// Write the manual pages into a folder: striped(1), and one of each command
    Man {
        /// The folder, which is there
        folder: PathBuf,
    },
}

pub(crate) fn generate(what: Generated) -> Result<(), Problem> {
    match what {
        Generated::Completion { shell } => {
            clap_complete::generate(shell, &mut Arguments::command(), NAME, &mut stdout().lock());
            Ok(())
        }
        Generated::Man { folder } => write_pages(&folder),
    }
}

fn write_pages(folder: &Path) -> Result<(), Problem> {
    clap_mangen::generate_to(Arguments::command(), folder)
        .map_err(|error| Problem::environment(&folder.display().to_string(), error))
}
