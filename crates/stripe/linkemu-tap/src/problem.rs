//! Errors that end the program, and their exit codes, which are those of `gingham`.

use std::process::ExitCode;

/// Error message with a suggested remedy.
#[derive(Debug)]
pub(crate) enum Problem {
    /// Invalid command line.
    Input(String),
    /// Failure of the operating system, such as a missing permission.
    Environment(String),
}

impl Problem {
    /// Prints the message to standard error, and returns the exit code.
    #[expect(clippy::print_stderr, reason = "a program says why it ends")]
    pub(crate) fn report(&self) -> ExitCode {
        let (message, code) = match self {
            Self::Input(message) => (message, 2),
            Self::Environment(message) => (message, 6),
        };
        eprintln!("gingham-linkemu: {message}");
        ExitCode::from(code)
    }
}
