//! Deserialization faults, converted to an [`InputError`] at the root.
//!
//! The innermost key or value sets a fault's origin; every enclosing table and list adds a step to
//! its path.

use crate::error::KNOWN_KEYS;
use crate::path::{self, Step};
use crate::{InputError, Origin, words};
use serde::de::{self, Expected, Unexpected};
use std::fmt;

#[derive(Debug)]
pub(crate) struct Fault {
    kind: Kind,
    origin: Option<Origin>,
    /// Path of the faulty key or value, innermost step first.
    path: Vec<Step>,
}

#[derive(Debug)]
enum Kind {
    UnknownKey { name: String, known: &'static [&'static str] },
    UnknownName { name: String, known: &'static [&'static str] },
    MissingKey(String),
    RepeatedKey(String),
    Wrong { found: String, expected: Vec<String> },
    Other(String),
}

impl From<Kind> for Fault {
    fn from(kind: Kind) -> Self {
        Self { kind, origin: None, path: Vec::new() }
    }
}

impl Fault {
    pub(crate) fn wrong(found: String, expected: impl IntoIterator<Item = String>) -> Self {
        Kind::Wrong { found, expected: expected.into_iter().collect() }.into()
    }

    pub(crate) fn located(mut self, origin: &Origin) -> Self {
        self.origin.get_or_insert_with(|| origin.clone());
        self
    }

    pub(crate) fn under(mut self, step: Step) -> Self {
        self.path.push(step);
        self
    }

    pub(crate) fn unplaced_key(&self) -> Option<&str> {
        match &self.kind {
            Kind::UnknownKey { name, .. } if self.origin.is_none() => Some(name),
            _ => None,
        }
    }

    pub(crate) fn steps(&self) -> Vec<Step> {
        self.path.iter().rev().cloned().collect()
    }

    pub(crate) fn wants_list(&self) -> bool {
        matches!(&self.kind, Kind::Wrong { expected, .. } if *expected == ["a list"])
    }

    pub(crate) fn is_wrong_value(&self) -> bool {
        !matches!(self.kind, Kind::UnknownKey { .. } | Kind::MissingKey(_) | Kind::RepeatedKey(_))
    }

    pub(crate) fn alternatives(&self) -> &'static [&'static str] {
        match &self.kind {
            Kind::UnknownName { known, .. } => known,
            _ => &[],
        }
    }

    pub(crate) fn of_bare_name(mut self, name: &str) -> Self {
        if let (Kind::Wrong { found, .. }, []) = (&mut self.kind, &*self.path) {
            *found = format!("only the name \"{name}\"");
        }
        self
    }

    pub(crate) fn report(mut self, whole: &Origin) -> InputError {
        self.path.reverse();
        let message = self.to_string();
        let within = path::show(&self.path);
        let origin = self.origin.unwrap_or_else(|| whole.clone());
        let about_key = |name: &str, path: &mut Vec<Step>| {
            path.push(Step::from(name));
            let place = if within.is_empty() { String::new() } else { format!(" in `{within}`") };
            InputError::new(origin.clone(), message.clone() + &place)
                .keyed(path::show(&*path), false)
        };
        match self.kind {
            Kind::UnknownKey { name, known } => {
                about_key(&name, &mut self.path).suggesting(&name, KNOWN_KEYS, known)
            }
            Kind::MissingKey(name) => about_key(&name, &mut self.path).lacking(),
            Kind::RepeatedKey(name) => about_key(&name, &mut self.path),
            Kind::UnknownName { name, known } => InputError::new(origin, message)
                .keyed(within, true)
                .suggesting(&name, "known names", known),
            Kind::Wrong { expected, .. } => {
                InputError::new(origin, message).keyed(within, true).expecting(expected)
            }
            Kind::Other(_) => InputError::new(origin, message).keyed(within, true),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::UnknownKey { name, .. } => write!(f, "unknown key `{}`", words::clip(name, 60)),
            Kind::UnknownName { name, .. } => write!(f, "unknown name `{}`", words::clip(name, 60)),
            Kind::MissingKey(name) => write!(f, "missing key `{name}`"),
            Kind::RepeatedKey(name) => write!(f, "key `{name}` is given twice"),
            Kind::Wrong { found, .. } => write!(f, "found {found}"),
            Kind::Other(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Kind::Other(message.to_string()).into()
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::wrong(words::found(unexpected), [words::expected(&expected.to_string())])
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(unexpected, expected)
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        Self::wrong(
            words::count(length, "value", "values"),
            [words::expected(&expected.to_string())],
        )
    }

    fn unknown_variant(name: &str, known: &'static [&'static str]) -> Self {
        Kind::UnknownName { name: name.to_owned(), known }.into()
    }

    fn unknown_field(name: &str, known: &'static [&'static str]) -> Self {
        Kind::UnknownKey { name: name.to_owned(), known }.into()
    }

    fn missing_field(name: &'static str) -> Self {
        Kind::MissingKey(name.to_owned()).into()
    }

    fn duplicate_field(name: &'static str) -> Self {
        Kind::RepeatedKey(name.to_owned()).into()
    }
}
