//! Names accepted by Slurm's topology files.
//!
//! Host lists (`hostlist_create(3)`) split names at commas and read brackets as ranges. `DEFAULT`
//! sets defaults, and `ALL` means all nodes.

use std::collections::BTreeSet;

const LENGTH_MAX: usize = 64;
/// Reserved words, compared case-insensitively.
const RESERVED: [&str; 2] = ["all", "default"];

#[derive(Debug, Default)]
pub(super) struct Names {
    used: BTreeSet<String>,
}

impl Names {
    pub(super) fn unique(&mut self, wanted: &str) -> String {
        let wanted = word(wanted);
        let numbered = (2..).map(|number| {
            let ending = format!("-{number}");
            let kept = wanted.len().min(LENGTH_MAX - ending.len());
            format!("{}{ending}", &wanted[..kept])
        });
        let mut candidates = std::iter::once(wanted.clone()).chain(numbered);
        let name = candidates.find(|name| !self.used.contains(name)).expect("numbers do not end");
        self.used.insert(name.clone());
        name
    }
}

/// Replaces invalid characters by underscores; reserved words get a trailing underscore.
pub(super) fn word(text: &str) -> String {
    let lawful = text.chars().map(|c| if is_lawful(c) { c } else { '_' });
    let mut word: String = lawful.take(LENGTH_MAX).collect();
    if RESERVED.iter().any(|reserved| word.eq_ignore_ascii_case(reserved)) {
        word.push('_');
    }
    word
}

pub(super) fn is_word(name: &str) -> bool {
    !name.is_empty() && name.len() <= LENGTH_MAX && name.chars().all(is_lawful)
}

fn is_lawful(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slurm_names_are_unique_words() {
        let mut names = Names::default();
        let long = "x".repeat(99);
        let wanted = ["a[1]", "a,1,", "a_1_", "Default", "ALL", &long, &long, "tier\u{e9}"];
        let made = wanted.map(|name| names.unique(name));
        assert_eq!(made[..5], ["a_1_", "a_1_-2", "a_1_-3", "Default_", "ALL_"]);
        assert_eq!(made[5], "x".repeat(64));
        assert_eq!(made[6], format!("{}-2", "x".repeat(62)));
        assert_eq!(made[7], "tier_");
    }
}
