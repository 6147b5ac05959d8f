//! Why the program ends without having run: the user's words, or the machine. Exit codes are those
//! of `gingham`.

use std::fmt::Display;
use std::process::ExitCode;

use gingham_input::InputError;

/// What went wrong.
#[derive(Debug)]
pub(crate) enum Problem {
    /// Something in the file cannot be right.
    Input(Box<InputError>),
    /// The machine does not let us.
    Environment(String),
    /// The other half has told it, and ended with this code.
    Told(u8),
}

impl From<InputError> for Problem {
    fn from(error: InputError) -> Self {
        Self::Input(Box::new(error))
    }
}

impl Problem {
    /// What the machine says of something.
    pub(crate) fn environment(what: &str, error: impl Display) -> Self {
        Self::Environment(format!("{what}: {error}"))
    }

    /// Says it on the standard error, and gives the exit code.
    #[expect(clippy::print_stderr, reason = "a program says why it ends")]
    pub(crate) fn tell(&self) -> ExitCode {
        match self {
            Self::Input(error) => {
                eprintln!("striped: {error}");
                ExitCode::from(2)
            }
            Self::Environment(message) => {
                eprintln!("striped: {message}");
                ExitCode::from(6)
            }
            Self::Told(code) => ExitCode::from(*code),
        }
    }
}
