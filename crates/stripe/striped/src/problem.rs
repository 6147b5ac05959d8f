//! Errors that end the program, with the exit codes of `gingham`.

use std::fmt::{self, Display};
use std::process::ExitCode;

use gingham_input::InputError;

#[derive(Debug)]
pub(crate) enum Problem {
    Input(Box<InputError>),
    /// Invalid request, not caused by a line of a file.
    Refused(String),
    Environment(String),
    Reported(u8),
    /// Exit code and message from a daemon.
    Asked(u8, String),
}

impl From<InputError> for Problem {
    fn from(error: InputError) -> Self {
        Self::Input(Box::new(error))
    }
}

impl Problem {
    pub(crate) fn environment(what: &str, error: impl Display) -> Self {
        Self::Environment(format!("{what}: {error}"))
    }

    pub(crate) const fn code(&self) -> u8 {
        match self {
            Self::Input(_) | Self::Refused(_) => 2,
            Self::Environment(_) => 6,
            Self::Reported(code) | Self::Asked(code, _) => *code,
        }
    }

    #[expect(clippy::print_stderr, reason = "a program says why it ends")]
    pub(crate) fn report(&self) -> ExitCode {
        if !matches!(self, Self::Reported(_)) {
            eprintln!("striped: {self}");
        }
        ExitCode::from(self.code())
    }
}

impl Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(error) => error.fmt(f),
            Self::Refused(message) | Self::Environment(message) | Self::Asked(_, message) => {
                message.fmt(f)
            }
            Self::Reported(code) => write!(f, "the other half has ended with code {code}"),
        }
    }
}
