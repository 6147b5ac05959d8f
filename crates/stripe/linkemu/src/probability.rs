//! Probabilities, validated on construction.

use crate::error::ParameterError;

/// Number from 0 to 1.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Probability(f64);

impl Probability {
    /// Probability of an impossible event.
    pub const NEVER: Self = Self(0.0);
    /// Probability of a certain event.
    pub const ALWAYS: Self = Self(1.0);

    /// Creates a probability; returns an error if `value` is outside 0 to 1.
    pub fn new(value: f64) -> Result<Self, ParameterError> {
        if (0.0..=1.0).contains(&value) {
            Ok(Self(value))
        } else {
            Err(ParameterError::Probability { value })
        }
    }

    /// Returns the probability as a number.
    pub const fn value(self) -> f64 {
        self.0
    }

    /// Returns whether the probability is above 0.
    pub fn is_possible(self) -> bool {
        self.0 > 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_from_0_to_1_are_probabilities() {
        assert_eq!(Probability::new(0.0), Ok(Probability::NEVER));
        assert_eq!(Probability::new(1.0), Ok(Probability::ALWAYS));
        assert!(!Probability::NEVER.is_possible() && Probability::ALWAYS.is_possible());
        for value in [-1e-9, 1.000_001, f64::INFINITY, f64::NAN] {
            let error = Probability::new(value).expect_err("no probability");
            assert_eq!(
                error.to_string(),
                format!("a probability lies from 0 to 1, not at {value}")
            );
        }
    }
}
