//! Checks of a scenario, each declared as a table row.
//!
//! ```text
//!   refuse("rate", |it| within!(it.policing.rate, SHARE, "tokens flow in at a fraction of ..."))
//!     │     │             └ sentence of the message, if the row applies
//!     │     └ key, relative to the table that the subject names
//!     └ effect: an error at the key, or a note
//! ```
//!
//! Rows apply in order. The first refusal ends the compilation, and earlier notes are lost.

use crate::compile::cables::DELAY_MAX;
use crate::compile::gathered::Gathered;
use crate::error::LabError;
use crate::scenario::ScenarioSource;
use gingham_input::InputError;
use gingham_kernel::Span;
use std::ops::{Bound, Deref, RangeBounds};

pub(crate) const SHARE: (Bound<f64>, Bound<f64>) = (Bound::Excluded(0.0), Bound::Included(1.0));

pub(crate) struct Subject<'a, T> {
    pub(crate) source: &'a ScenarioSource,
    /// Dotted path of the scenario table that contains the checked keys; empty if keys are full
    /// paths.
    table: String,
    class: Option<&'a str>,
    pub(crate) of: T,
}

impl<'a, T> Subject<'a, T> {
    pub(crate) fn of_table(source: &'a ScenarioSource, table: &str, of: T) -> Self {
        Self { source, table: table.to_owned(), class: None, of }
    }

    pub(crate) fn of_class(source: &'a ScenarioSource, index: usize, of: T) -> Self {
        let class = Some(&*source.scenario.traffic[index].name);
        Self { source, table: format!("traffic.{index}"), class, of }
    }

    fn error(&self, key: &str, Sentence { text, at, names }: Sentence) -> InputError {
        let dot = if self.table.is_empty() || key.is_empty() { "" } else { "." };
        let path = format!("{}{dot}{key}", self.table);
        let path = match at {
            None => path,
            Some(At::Under(keys)) => format!("{path}.{keys}"),
            Some(At::Class(index)) => path.replacen('*', &index.to_string(), 1),
            Some(At::Path(path)) => path,
        };
        let error = self.source.refuse(&path, text);
        match names {
            None => error,
            Some((found, heading, known)) => error.suggesting(&found, heading, known),
        }
    }

    fn note(&self, Sentence { text, .. }: Sentence) -> String {
        match self.class {
            None => text,
            Some(class) => format!("class `{class}`: {text}"),
        }
    }
}

impl<T> Deref for Subject<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.of
    }
}

pub(crate) struct Check<T> {
    /// Scenario key that the error refers to; `None` for a note.
    key: Option<&'static str>,
    sentence: fn(&Subject<'_, T>) -> Option<Sentence>,
}

pub(crate) const fn refuse<T>(
    key: &'static str,
    sentence: fn(&Subject<'_, T>) -> Option<Sentence>,
) -> Check<T> {
    Check { key: Some(key), sentence }
}

pub(crate) const fn note<T>(sentence: fn(&Subject<'_, T>) -> Option<Sentence>) -> Check<T> {
    Check { key: None, sentence }
}

enum At {
    Under(String),
    Class(usize),
    Path(String),
}

pub(crate) struct Sentence {
    text: String,
    at: Option<At>,
    names: Option<(String, &'static str, Vec<String>)>,
}

impl Sentence {
    pub(crate) fn new(text: String) -> Self {
        Self { text, at: None, names: None }
    }

    pub(crate) fn under(self, keys: String) -> Self {
        Self { at: Some(At::Under(keys)), ..self }
    }

    /// Sets the index of the traffic class, which replaces `*` in the key of the check.
    pub(crate) fn of_class(self, index: usize) -> Self {
        Self { at: Some(At::Class(index)), ..self }
    }

    pub(crate) fn at(self, path: impl Into<String>) -> Self {
        Self { at: Some(At::Path(path.into())), ..self }
    }

    pub(crate) fn suggesting<'a>(
        self,
        found: &str,
        heading: &'static str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let known = known.into_iter().map(ToOwned::to_owned).collect();
        Self { names: Some((found.to_owned(), heading, known)), ..self }
    }
}

pub(crate) fn check<T>(
    rows: &[Check<T>],
    subject: &Subject<'_, T>,
    gathered: &mut Gathered,
) -> Result<(), LabError> {
    for row in rows {
        let Some(sentence) = (row.sentence)(subject) else { continue };
        match row.key {
            Some(key) => return Err(subject.error(key, sentence).into()),
            None => gathered.notes.push(subject.note(sentence)),
        }
    }
    Ok(())
}

macro_rules! say {
    ($($text:tt)+) => {
        Some($crate::check::Sentence::new(format!($($text)+)))
    };
}

macro_rules! when {
    ($applies:expr, $($text:tt)+) => {
        if $applies { $crate::check::say!($($text)+) } else { None }
    };
}

/// Formats a rule and the value that violates it; `None` if the value is in range.
macro_rules! within {
    ($value:expr, $allowed:expr, $($rule:tt)+) => {
        $crate::check::outside($value, $allowed)
            .and_then(|value| $crate::check::say!("{}, not {value}", format_args!($($rule)+)))
    };
}

pub(crate) use {say, when, within};

pub(crate) fn outside<T: PartialOrd>(value: T, allowed: impl RangeBounds<T>) -> Option<T> {
    (!allowed.contains(&value)).then_some(value)
}

pub(crate) fn delay_too_long(delay: Span) -> Option<Sentence> {
    within!(delay, ..=DELAY_MAX, "a delay is at most {DELAY_MAX}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Overrides;
    use std::path::Path;

    const TEXT: &str = "topology.generate.two-hosts.switches = 1\nstop.time = \"1 us\"\n\
                        [[traffic]]\nname = \"a\"\nload = 0.5\nlength.fixed = \"64 B\"\n";

    fn rows() -> [Check<u32>; 4] {
        [
            note(|it| when!(it.of > 0, "{} is above 0", it.of)),
            refuse("load", |it| within!(it.of, ..=2, "at most 2")),
            refuse("load", |it| Some(when!(it.of > 1, "under")?.under("key".to_owned()))),
            refuse("load", |it| Some(when!(it.of > 0, "elsewhere")?.at("stop.time"))),
        ]
    }

    fn applied(value: u32) -> (Vec<String>, Option<String>) {
        let source = ScenarioSource::parse("s.toml", TEXT, Path::new("."), &Overrides::default());
        let source = source.unwrap();
        let mut gathered = Gathered::default();
        let error = check(&rows(), &Subject::of_class(&source, 0, value), &mut gathered);
        (gathered.notes, error.err().map(|error| error.to_string()))
    }

    #[test]
    fn first_refusing_row_ends_the_check() {
        assert_eq!(applied(0), (Vec::new(), None));
        let refused = |value| applied(value).1.unwrap();
        assert!(refused(3).contains("in `traffic[0].load`: at most 2, not 3"), "{}", refused(3));
        assert!(refused(2).contains("in `traffic[0].load.key`: under"), "{}", refused(2));
        assert!(refused(1).contains("in `stop.time`: elsewhere"), "{}", refused(1));
    }

    #[test]
    fn class_notes_name_the_class() {
        assert_eq!(applied(1).0, ["class `a`: 1 is above 0"]);
    }
}
