//! Why the program ends without having run: the user's words, or the machine. Exit codes are those
//! of `gingham`.

use std::fmt::{self, Display};
use std::process::ExitCode;

use gingham_input::InputError;

/// What went wrong.
#[derive(Debug)]
pub(crate) enum Problem {
    /// Something in the file cannot be right.
    Input(Box<InputError>),
    /// What was asked for cannot be, and no line of a file says so.
    Refused(String),
    /// The machine does not let us.
    Environment(String),
    /// The other half has told it, and ended with this code.
    Told(u8),
    /// A daemon that was asked has said it, with this code.
    Asked(u8, String),
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

    /// With which code the program ends for it.
    pub(crate) const fn code(&self) -> u8 {
        match self {
            Self::Input(_) | Self::Refused(_) => 2,
            Self::Environment(_) => 6,
            Self::Told(code) | Self::Asked(code, _) => *code,
        }
    }

    /// Says it on the standard error, and gives the exit code.
    #[expect(clippy::print_stderr, reason = "a program says why it ends")]
    pub(crate) fn tell(&self) -> ExitCode {
        if !matches!(self, Self::Told(_)) {
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
            Self::Told(code) => write!(f, "the other half has ended with code {code}"),
        }
    }
}
