//! Generated files: manual pages and shell completions.

use std::io::stdout;
use std::path::{Path, PathBuf};

use clap::{CommandFactory, Subcommand};
use clap_complete::Shell;

use crate::arguments::Arguments;
use crate::problem::Problem;

const NAME: &str = "striped";

#[derive(Clone, Subcommand, Debug)]
pub(crate) enum Generated {
    /// Print the completion script of a shell
    ///
    /// For bash: striped generate completion bash > /etc/bash_completion.d/striped
    Completion {
        /// Shell to print the script for
        shell: Shell,
    },
    /// Write the manual pages to a directory: striped(1), and one per command
    Man {
        /// Directory to write to; it must exist
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
