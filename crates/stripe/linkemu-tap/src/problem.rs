//! Errors that end the program, with the exit codes of `gingham`.

use std::process::ExitCode;

#[derive(Debug)]
pub(crate) enum Problem {
    Input(String),
    Environment(String),
}

impl Problem {
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
