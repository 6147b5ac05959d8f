//! Checks as rows of tables: each has a key, an effect, and a sentence where it applies.
//!
//! ```text
//!   refuse("rate", |it| within!(it.policing.rate, SHARE, "tokens flow in at a fraction of ..."))
//!     │     │             └ sentence of the message, if the row applies
//!     │     └ relative to the table of keys that the subject names
//!     └ effect: an error at the key, or a note
//! ```
//!
//! Rows apply in their order, and the first that refuses ends the check. A note that precedes it is
//! lost with the compilation.

use crate::compile::cables::DELAY_MAX;
use crate::compile::gathered::Gathered;
use crate::error::LabError;
use crate::scenario::ScenarioSource;
use gingham_input::InputError;
use gingham_kernel::Span;
use gingham_net::{ClassPlan, Plan};
use std::ops::{Bound, Deref, RangeBounds};

/// Values above 0 and at most 1.
pub(crate) const SHARE: (Bound<f64>, Bound<f64>) = (Bound::Excluded(0.0), Bound::Included(1.0));

/// What the rows of a table read.
pub(crate) trait Subject {
    /// Place of the subject in the scenario.
    fn place(&self) -> Place<'_>;
}

/// Place in a scenario, for messages and notes.
pub(crate) struct Place<'a> {
    source: &'a ScenarioSource,
    /// Dotted path of the table to which the keys of rows are relative; empty for whole paths.
    table: String,
    /// Name of the traffic class, which its notes give.
    class: Option<&'a str>,
}

impl<'a> Place<'a> {
    /// A table of the scenario.
    pub(crate) fn of_table(source: &'a ScenarioSource, table: &str) -> Self {
        Self { source, table: table.to_owned(), class: None }
    }

    /// A traffic class, by its index.
    pub(crate) fn of_class(source: &'a ScenarioSource, index: usize) -> Self {
        let class = Some(&*source.scenario.traffic[index].name);
        Self { source, table: format!("traffic.{index}"), class }
    }

    /// The error of a sentence at a key of the table.
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

    /// A sentence as a note.
    fn note(&self, Sentence { text, .. }: Sentence) -> String {
        match self.class {
            None => text,
            Some(class) => format!("class `{class}`: {text}"),
        }
    }
}

/// A table of a scenario with what is known of it.
pub(crate) struct Table<'a, T> {
    pub(crate) source: &'a ScenarioSource,
    /// Its dotted path.
    pub(crate) path: &'static str,
    pub(crate) of: T,
}

impl<T> Subject for Table<'_, T> {
    fn place(&self) -> Place<'_> {
        Place::of_table(self.source, self.path)
    }
}

impl<T> Deref for Table<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.of
    }
}

/// A plan with its scenario; keys of rows on it are whole paths.
pub(crate) struct Planned<'a> {
    pub(crate) source: &'a ScenarioSource,
    pub(crate) plan: &'a Plan,
}

impl Subject for Planned<'_> {
    fn place(&self) -> Place<'_> {
        Place::of_table(self.source, "")
    }
}

impl<'a> Planned<'a> {
    /// The classes of the plan with their indices.
    pub(crate) fn classes(&self) -> impl Iterator<Item = (usize, &'a ClassPlan)> + use<'a> {
        self.plan.classes.iter().enumerate()
    }
}

/// Row of a table: what a scenario is refused for, or what results should note.
pub(crate) struct Check<S> {
    effect: Effect,
    /// The sentence, if the row applies.
    sentence: fn(&S) -> Option<Sentence>,
}

/// Effect of a row that applies.
enum Effect {
    /// An error at this key.
    Refuse(&'static str),
    /// A note.
    Note,
}

/// Creates a row that refuses the value of `key`.
pub(crate) const fn refuse<S>(key: &'static str, sentence: fn(&S) -> Option<Sentence>) -> Check<S> {
    Check { effect: Effect::Refuse(key), sentence }
}

/// Creates a row that notes something.
pub(crate) const fn note<S>(sentence: fn(&S) -> Option<Sentence>) -> Check<S> {
    Check { effect: Effect::Note, sentence }
}

/// Where a sentence stands, if its row does not say it all.
enum At {
    Under(String),
    Class(usize),
    Path(String),
}

/// Sentence of a message.
pub(crate) struct Sentence {
    text: String,
    /// What the key of the row leaves open.
    at: Option<At>,
    /// The unknown name, the heading of the known ones, and these.
    names: Option<(String, &'static str, Vec<String>)>,
}

impl Sentence {
    pub(crate) fn new(text: String) -> Self {
        Self { text, at: None, names: None }
    }

    /// Sets what follows the key of the row.
    pub(crate) fn under(self, keys: String) -> Self {
        Self { at: Some(At::Under(keys)), ..self }
    }

    /// Sets the traffic class, by index, for which `*` stands in the key of the row.
    pub(crate) fn of_class(self, index: usize) -> Self {
        Self { at: Some(At::Class(index)), ..self }
    }

    /// Sets the whole path of the key, in place of that of the row.
    pub(crate) fn at(self, path: impl Into<String>) -> Self {
        Self { at: Some(At::Path(path.into())), ..self }
    }

    /// Adds known names, of which the nearest to `found` is suggested.
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

/// Applies rows to their subject: returns the first refusal, and adds notes to `gathered`.
pub(crate) fn check<S: Subject>(
    rows: &[Check<S>],
    subject: &S,
    gathered: &mut Gathered,
) -> Result<(), LabError> {
    for row in rows {
        let Some(sentence) = (row.sentence)(subject) else { continue };
        match row.effect {
            Effect::Refuse(key) => return Err(subject.place().error(key, sentence).into()),
            Effect::Note => gathered.notes.push(subject.place().note(sentence)),
        }
    }
    Ok(())
}

/// Formats the sentence of a row that applies.
macro_rules! say {
    ($($text:tt)+) => {
        Some($crate::check::Sentence::new(format!($($text)+)))
    };
}

/// Formats the sentence of a row that applies if a condition holds.
macro_rules! when {
    ($applies:expr, $($text:tt)+) => {
        if $applies { $crate::check::say!($($text)+) } else { None }
    };
}

/// Formats a rule and a value if the value is outside the range that the rule allows.
macro_rules! within {
    ($value:expr, $allowed:expr, $($rule:tt)+) => {
        $crate::check::outside($value, $allowed)
            .and_then(|value| $crate::check::say!("{}, not {value}", format_args!($($rule)+)))
    };
}

pub(crate) use {say, when, within};

/// The value if it is outside a range.
pub(crate) fn outside<T: PartialOrd>(value: T, allowed: impl RangeBounds<T>) -> Option<T> {
    (!allowed.contains(&value)).then_some(value)
}

/// Formats the rule of delays for one that is longer.
pub(crate) fn delay_too_long(delay: Span) -> Option<Sentence> {
    within!(delay, ..=DELAY_MAX, "a delay is at most {DELAY_MAX}")
}
