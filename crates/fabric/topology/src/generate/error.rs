//! Generator errors.
//!
//! ```text
//!  hosts = 0: expected at least 1
//!  dimensions = [2000, 2000]: makes 8,000,000 nodes, expected at most 1,000,000
//! ```

/// Reason why a generator fails.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GenerateError {
    /// A parameter is outside its range.
    #[error("{parameter} = {value}: expected {expected}")]
    OutOfRange {
        /// Parameter key.
        parameter: &'static str,
        /// Value as written in scenarios.
        value: String,
        /// Description of the allowed values.
        expected: String,
    },
    /// The fabric exceeds a size limit.
    #[error(
        "{parameter} = {value}: makes {} {what}, expected at most {}",
        in_words(*count),
        in_words(*count_max)
    )]
    TooLarge {
        /// Key of the parameter that contributes most to the size.
        parameter: &'static str,
        /// Value as written in scenarios.
        value: String,
        /// Number of objects that the parameters require, saturated at `u128::MAX`.
        count: u128,
        /// Counted objects, such as "nodes".
        what: &'static str,
        /// Limit that `count` exceeds.
        count_max: u128,
    },
    /// No random draw was acceptable.
    #[error(
        "{parameter} = {value}: {attempts} attempts gave no connected fabric that uses its \
         ports; expected another value, or another seed"
    )]
    NoneFound {
        /// Key of the parameter that makes an acceptable draw unlikely.
        parameter: &'static str,
        /// Value as written in scenarios.
        value: String,
        /// Number of random draws.
        attempts: usize,
    },
}

impl GenerateError {
    /// Returns the key of the parameter to change.
    pub const fn parameter(&self) -> &'static str {
        match self {
            Self::OutOfRange { parameter, .. }
            | Self::TooLarge { parameter, .. }
            | Self::NoneFound { parameter, .. } => parameter,
        }
    }
}

/// Formats a count with thousands separators; counts above 10^12 become "over 1,000,000,000,000".
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

/// Checks that `value` is at most `maximum`; `because` explains the limit to users.
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
