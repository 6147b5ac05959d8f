//! Input errors, as text for users (`Display`) or JSON for programs (`to_json`).
//!
//! ```text
//! scenario.toml:12:3: unknown key `laod` in `traffic[0]`
//!   did you mean `load`? known keys: arrivals, destinations, hosts, length, load, name
//! ```

use crate::suggest::nearest;
use crate::value::Origin;
use serde_json::json;
use std::fmt;

/// Maximum number of names shown by `Display`; `to_json` lists all.
const LISTED_MAX: usize = 24;

pub(crate) const KNOWN_KEYS: &str = "known keys";

/// Name used by another simulator or the literature for one of our alternatives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OtherName {
    /// Foreign name in lower case, with `-` between words.
    pub name: &'static str,
    /// Equivalent or nearest name in Gingham.
    pub ours: &'static str,
    /// Difference in meaning; `None` for synonyms.
    pub differs: Option<&'static str>,
}

impl OtherName {
    /// Creates a synonym.
    pub const fn same(name: &'static str, ours: &'static str) -> Self {
        Self { name, ours, differs: None }
    }

    /// Creates a name whose meaning differs from the nearest name in Gingham.
    pub const fn near(name: &'static str, ours: &'static str, differs: &'static str) -> Self {
        Self { name, ours, differs: Some(differs) }
    }
}

/// Input error with its position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InputError(Box<Report>);

#[derive(Clone, PartialEq, Eq, Debug)]
struct Report {
    code: Option<&'static str>,
    origin: Origin,
    key: Option<String>,
    message: String,
    excerpt: Option<String>,
    expected: Vec<String>,
    heading: Option<&'static str>,
    nearest: Option<String>,
    unknown: Option<String>,
    others: Vec<InputError>,
    unnamed: usize,
    missing: bool,
}

impl InputError {
    /// Creates an error from its parts.
    ///
    /// `key` is only output by [`Self::to_json`], so `message` should contain it too. `expected` is
    /// a single description ("a port number") or several names.
    pub fn from_parts(
        file: &str,
        line: Option<u32>,
        column: Option<u32>,
        key: Option<String>,
        message: impl Into<String>,
        expected: impl IntoIterator<Item = String>,
        nearest: Option<String>,
    ) -> Self {
        let origin = Origin { source: file.into(), line, column };
        let mut error = Self::new(origin, message.into()).expecting(expected);
        error.0.key = key;
        error.0.nearest = nearest;
        error
    }

    /// Sets the stable error code, such as `file-syntax`.
    #[must_use]
    pub fn coded(mut self, code: &'static str) -> Self {
        self.0.code = Some(code);
        self
    }

    /// Returns the error code set by [`Self::coded`], or a code derived from the error.
    pub fn code(&self) -> &'static str {
        let report = &*self.0;
        let is_list = report.heading.is_some() || report.expected.len() > 1;
        report.code.unwrap_or(match report {
            Report { missing: true, .. } => "missing-key",
            Report { heading: Some(KNOWN_KEYS), .. } => "unknown-key",
            Report { excerpt: Some(_), .. } => "syntax",
            _ if report.unknown.is_some() || report.nearest.is_some() || is_list => "unknown-name",
            Report { expected, .. } if !expected.is_empty() => "wrong-type",
            _ => "refused",
        })
    }

    /// Adds further faults in the same source; `unnamed` is the number of unlisted faults.
    #[must_use]
    pub fn with_others(mut self, others: Vec<Self>, unnamed: usize) -> Self {
        self.0.others = others;
        self.0.unnamed = unnamed;
        self
    }

    /// Adds the list of `known` names under `heading`, and the known name nearest to `found`.
    #[must_use]
    pub fn suggesting<S: AsRef<str>>(
        mut self,
        found: &str,
        heading: &'static str,
        known: impl IntoIterator<Item = S>,
    ) -> Self {
        let mut names: Vec<_> = known.into_iter().map(|name| name.as_ref().to_owned()).collect();
        names.sort();
        let near = nearest(found, &names).map(ToOwned::to_owned);
        self.0.nearest = near;
        self.0.unknown = Some(found.to_owned());
        self.0.expected = names;
        self.0.heading = Some(heading);
        self
    }

    pub(crate) fn new(origin: Origin, message: String) -> Self {
        Self(Box::new(Report {
            code: None,
            origin,
            key: None,
            message,
            excerpt: None,
            expected: Vec::new(),
            heading: None,
            nearest: None,
            unknown: None,
            others: Vec::new(),
            unnamed: 0,
            missing: false,
        }))
    }

    pub(crate) fn lacking(mut self) -> Self {
        self.0.missing = true;
        self
    }

    pub(crate) fn exemplified(self, examples: &[(&str, &str)]) -> Self {
        let key = self.0.key.as_deref().filter(|_| self.0.missing);
        match examples.iter().find(|(name, _)| Some(*name) == key) {
            Some((_, example)) => self.expecting([(*example).to_owned()]),
            None => self,
        }
    }

    pub(crate) fn translated(mut self, names: &[OtherName]) -> Self {
        let report = &*self.0;
        let Some(unknown) = report.unknown.as_ref().map(|name| name.to_lowercase()) else {
            return self;
        };
        let same = |other: &&OtherName| {
            other.name == unknown.replace('_', "-")
                && report.expected.iter().any(|name| name == other.ours)
        };
        let Some(other) = names.iter().find(same) else { return self };
        if let Some(differs) = other.differs {
            self.0.message = format!("{}; {differs}", self.0.message);
        }
        self.meaning(Some(other.ours))
    }

    pub(crate) fn keyed(mut self, key: String, in_message: bool) -> Self {
        if !key.is_empty() {
            if in_message {
                self.0.message = format!("in `{key}`: {}", self.0.message);
            }
            self.0.key = Some(key);
        }
        self
    }

    pub(crate) fn expecting(mut self, expected: impl IntoIterator<Item = String>) -> Self {
        self.0.expected = expected.into_iter().collect();
        self
    }

    pub(crate) fn meaning(mut self, nearest: Option<&str>) -> Self {
        self.0.nearest = nearest.map(ToOwned::to_owned);
        self
    }

    pub(crate) fn showing(mut self, excerpt: String) -> Self {
        self.0.excerpt = Some(excerpt);
        self
    }

    /// Returns the error as JSON: `code`, `file`, `line`, `column`, `key`, `message`, `expected`
    /// and `nearest`, null if unknown. For several faults, `others` lists the rest and `faults` is
    /// the total number.
    pub fn to_json(&self) -> serde_json::Value {
        let report = &*self.0;
        let mut json = json!({
            "code": self.code(),
            "file": &*report.origin.source,
            "line": report.origin.line,
            "column": report.origin.column,
            "key": report.key,
            "message": report.message,
            "expected": report.expected,
            "nearest": report.nearest,
        });
        if !report.others.is_empty() {
            json["others"] = report.others.iter().map(Self::to_json).collect();
            json["faults"] = json!(1 + report.others.len() + report.unnamed);
        }
        json
    }
}

impl Report {
    fn advice(&self) -> Option<String> {
        let meant = self.nearest.as_ref().map(|nearest| format!("did you mean `{nearest}`?"));
        let listed = match (self.heading, &*self.expected) {
            (_, []) | (None, [_]) => None,
            (_, names) if meant.is_some() && names.len() > LISTED_MAX => None,
            (heading, names) => Some(list(heading.unwrap_or("expected one of"), names)),
        };
        let parts: Vec<_> = meant.into_iter().chain(listed).collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    }
}

fn list(heading: &str, names: &[String]) -> String {
    let (shown, hidden) = names.split_at(names.len().min(LISTED_MAX));
    let more = match hidden.len() {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    format!("{heading}: {}{more}", shown.join(", "))
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = &*self.0;
        write!(f, "{}: {}", report.origin, report.message)?;
        if let (None, [only]) = (report.heading, &*report.expected) {
            write!(f, ", expected {only}")?;
        }
        if let Some(excerpt) = &report.excerpt {
            write!(f, "\n{excerpt}")?;
        }
        if let Some(advice) = report.advice() {
            write!(f, "\n  {advice}")?;
        }
        for other in &report.others {
            write!(f, "\n{other}")?;
        }
        if report.unnamed > 0 {
            write!(f, "\nand {} more in {}", report.unnamed, report.origin.source)?;
        }
        Ok(())
    }
}

impl std::error::Error for InputError {}
