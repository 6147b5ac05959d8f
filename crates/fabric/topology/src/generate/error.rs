//! What a generator refuses, and why.
//!
//! Every refusal names the parameter as the user wrote it, its value, and what was expected, so
//! that the reader of a scenario can point at the line.
//!
//! ```text
//!   hosts = 0: expected at least 1
//!   dimensions = [2000, 2000]: makes 8,000,000 nodes, expected at most 1,000,000
//! ```

/// Why a generator builds nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GenerateError {
    /// A parameter lies outside its range.
    #[error("{parameter} = {value}: expected {expected}")]
    OutOfRange {
        /// Key of the parameter.
        parameter: &'static str,
        /// Its value, as a scenario writes it.
        value: String,
        /// What values are allowed.
        expected: String,
    },
    /// The fabric would be larger than we build.
    #[error(
        "{parameter} = {value}: makes {} {what}, expected at most {}",
        in_words(*count),
        in_words(*count_max)
    )]
    TooLarge {
        /// Key of the parameter with the largest part in it.
        parameter: &'static str,
        /// Its value, as a scenario writes it.
        value: String,
        /// How many there would be, or the largest number if it is beyond 128 bits.
        count: u128,
        /// What would be too many.
        what: &'static str,
        /// How many there may be.
        count_max: u128,
    },
    /// Chance gave no fabric that keeps the rules.
    #[error(
        "{parameter} = {value}: {attempts} attempts gave no connected fabric that uses its \
         ports; expected another value, or another seed"
    )]
    NoneFound {
        /// Key of the parameter that leaves so little choice.
        parameter: &'static str,
        /// Its value, as a scenario writes it.
        value: String,
        /// How many fabrics were drawn.
        attempts: usize,
    },
}

impl GenerateError {
    /// Key of the parameter at fault.
    pub const fn parameter(&self) -> &'static str {
        match self {
            Self::OutOfRange { parameter, .. }
            | Self::TooLarge { parameter, .. }
            | Self::NoneFound { parameter, .. } => parameter,
        }
    }
}

/// A count with a comma after each three digits; one that nobody reads digit by digit is rounded.
fn in_words(count: u128) -> String {
    const READABLE_MAX: u128 = 1_000_000_000_000;
    if count > READABLE_MAX {
        return format!("over {}", in_words(READABLE_MAX));
    }
    let digits = count.to_string();
    let mut words = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            words.push(',');
        }
        words.push(digit);
    }
    words
}

/// Refuses a value below `minimum`.
pub(super) fn at_least(
    parameter: &'static str,
    value: u32,
    minimum: u32,
) -> Result<(), GenerateError> {
    if value >= minimum {
        return Ok(());
    }
    let expected = format!("at least {minimum}");
    Err(GenerateError::OutOfRange { parameter, value: value.to_string(), expected })
}

/// Refuses a value above `maximum`; `because` says where the bound comes from.
pub(super) fn at_most(
    parameter: &'static str,
    value: u32,
    maximum: u128,
    because: &str,
) -> Result<(), GenerateError> {
    if u128::from(value) <= maximum {
        return Ok(());
    }
    let expected = format!("at most {maximum} ({because})");
    Err(GenerateError::OutOfRange { parameter, value: value.to_string(), expected })
}
