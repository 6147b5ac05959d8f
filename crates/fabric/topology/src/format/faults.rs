//! First faults in a text, and their total number.

use super::error::FormatError;

const NAMED_MAX: usize = 20;

/// Faults in text order; at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults {
    named: Vec<FormatError>,
    total: usize,
}

impl Faults {
    /// Returns the first faults, at most 20.
    pub fn named(&self) -> &[FormatError] {
        &self.named
    }

    /// Returns the first fault.
    pub fn first(&self) -> &FormatError {
        &self.named[0]
    }

    /// Returns the total number of faults.
    pub const fn total(&self) -> usize {
        self.total
    }
}

impl From<FormatError> for Faults {
    fn from(only: FormatError) -> Self {
        Self { named: vec![only], total: 1 }
    }
}

impl std::error::Error for Faults {}

impl std::fmt::Display for Faults {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let named: Vec<String> = self.named.iter().map(ToString::to_string).collect();
        f.write_str(&named.join("\n"))?;
        match self.total - self.named.len() {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Collected {
    named: Vec<FormatError>,
    total: usize,
}

impl Collected {
    pub(super) fn keep(&mut self, result: Result<(), FormatError>) {
        if let Err(fault) = result {
            self.total += 1;
            if self.named.len() < NAMED_MAX {
                self.named.push(fault);
            }
        }
    }

    pub(super) fn finish(self) -> Result<(), Faults> {
        let Self { named, total } = self;
        if named.is_empty() { Ok(()) } else { Err(Faults { named, total }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_20_faults_are_listed_and_the_rest_counted() {
        let faults = |count: u32| {
            let mut collected = Collected::default();
            collected.keep(Ok(()));
            (1..=count).for_each(|line| {
                collected.keep(Err(FormatError::at(line, None, "broken", "mend it")));
            });
            collected.finish()
        };
        assert_eq!(faults(0), Ok(()));
        let twenty = faults(20).unwrap_err();
        assert_eq!((twenty.named().len(), twenty.total()), (20, 20));
        assert!(twenty.to_string().ends_with("line 20: broken; mend it"));
        let more = faults(21).unwrap_err();
        assert_eq!((more.named().len(), more.total(), more.first().line), (20, 21, 1));
        assert!(more.to_string().ends_with("line 20: broken; mend it\nand 1 more"));
    }
}
