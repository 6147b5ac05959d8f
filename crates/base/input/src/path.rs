//! Dotted paths: `traffic.0.load`, `traffic[0].load`, `classes."best effort".share`.
//!
//! Both index notations are read; messages use brackets.

use crate::words::{clip, visible};
use std::borrow::Cow;
use std::fmt::Write;

/// Maximum number of steps, which limits the nesting created by an override.
const STEPS_MAX: usize = 64;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    Name(String),
    /// Index of a list entry, from 0; in a table, the key with these digits.
    Index(usize),
}

impl Step {
    pub(crate) fn name(&self) -> Cow<'_, str> {
        match self {
            Self::Name(name) => name.into(),
            Self::Index(index) => index.to_string().into(),
        }
    }
}

impl From<&str> for Step {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

pub(crate) fn parse(path: &str) -> Result<Vec<Step>, String> {
    let mut rest = path.trim();
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let (step, after) = first(rest)?;
        steps.push(step);
        rest = match after.strip_prefix('.') {
            Some("") => return Err("the path ends in a dot".to_owned()),
            Some(next) => next,
            None => after,
        };
    }
    if steps.len() > STEPS_MAX {
        return Err(format!("the path has {} steps, and {STEPS_MAX} are the most", steps.len()));
    }
    Ok(steps)
}

fn first(text: &str) -> Result<(Step, &str), String> {
    let (step, after) = if let Some(inside) = text.strip_prefix('[') {
        let (digits, after) = inside.split_once(']').ok_or("a `[` of the path is not closed")?;
        let index =
            digits.parse().map_err(|_| format!("`[{}]` is not an index", clip(digits, 20)))?;
        (Step::Index(index), after)
    } else if let Some(quote) = text.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let (name, after) =
            text[1..].split_once(quote).ok_or("a quote of the path is not closed")?;
        (Step::from(name), after)
    } else {
        let (name, after) = text.split_at(text.find(['.', '[']).unwrap_or(text.len()));
        if name.is_empty() {
            return Err("the path has a dot without a key before it".to_owned());
        }
        (bare(name.trim()), after)
    };
    match after.chars().next() {
        None | Some('.' | '[') => Ok((step, after)),
        Some(other) => Err(format!("the path has `{}` instead of a dot", visible(other))),
    }
}

/// Parses a bare step; a number without leading zeros is an index.
fn bare(name: &str) -> Step {
    match name.parse::<usize>() {
        Ok(index) if index.to_string() == name => Step::Index(index),
        _ => Step::from(name),
    }
}

pub(crate) fn show<'a>(steps: impl IntoIterator<Item = &'a Step>) -> String {
    let plain = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let mut text = String::new();
    for step in steps {
        let dot = if text.is_empty() { "" } else { "." };
        let written = match step {
            Step::Index(index) => write!(text, "[{index}]"),
            Step::Name(name) if !name.is_empty() && name.chars().all(plain) => {
                write!(text, "{dot}{name}")
            }
            Step::Name(name) => write!(text, "{dot}{name:?}"),
        };
        written.expect("a String takes any text");
    }
    clip(&text, 120)
}

pub(crate) fn dotted(steps: &[Step]) -> String {
    let written = |step: &Step| match step {
        Step::Index(index) => index.to_string(),
        Step::Name(name) => {
            let plain = |c: char| !matches!(c, '.' | '[' | '"' | '\'') && !c.is_whitespace();
            let quote = if name.contains('"') { '\'' } else { '"' };
            match bare(name) {
                Step::Name(_) if !name.is_empty() && name.chars().all(plain) => name.clone(),
                _ => format!("{quote}{name}{quote}"),
            }
        }
    };
    steps.iter().map(written).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_path_spellings_parse_and_one_is_printed() {
        let steps = [Step::from("traffic"), Step::Index(0), Step::from("load")];
        assert_eq!(parse("traffic.0.load").unwrap(), steps);
        assert_eq!(parse(" traffic[0].load ").unwrap(), steps);
        assert_eq!(show(&steps), "traffic[0].load");
        let quoted = [Step::from("classes"), Step::from("best effort"), Step::from("7")];
        assert_eq!(parse("classes.\"best effort\".'7'").unwrap(), quoted);
        assert_eq!(show(&quoted[..2]), "classes.\"best effort\"");
        assert_eq!(dotted(&steps), "traffic.0.load");
        assert_eq!(dotted(&quoted), "classes.\"best effort\".\"7\"");
        assert_eq!(parse("a.007").unwrap()[1], Step::from("007"));
        assert_eq!(parse("").unwrap(), []);
    }

    #[test]
    fn malformed_paths_are_refused() {
        let long = ["a"; STEPS_MAX + 1].join(".");
        for path in [".", ".a", "a.", "a..b", "a[", "a[x]", "a[-1]", "a[0]b", "\"a", &long] {
            assert!(parse(path).is_err(), "{path}");
        }
    }
}
