//! Why the program ends without having run: the user's words, or the machine. Exit codes are those
//! of `gingham`.

use std::process::ExitCode;

/// What went wrong, and what can be done about it.
#[derive(Debug)]
pub(crate) enum Problem {
    /// Something on the command line cannot be right.
    Input(String),
    /// The machine does not let us.
    Environment(String),
}

impl Problem {
    /// Says it on the standard error, and gives the exit code.
    #[expect(clippy::print_stderr, reason = "a program says why it ends")]
    pub(crate) fn tell(&self) -> ExitCode {
        let (message, code) = match self {
            Self::Input(message) => (message, 2),
            Self::Environment(message) => (message, 6),
        };
        eprintln!("gingham-linkemu: {message}");
        ExitCode::from(code)
    }
}
