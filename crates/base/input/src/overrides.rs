//! Overrides: new values for dotted paths of a scenario.
//!
//! ```text
//! traffic.0.load = 0.4      a key of the first entry of a list
//! traffic.1      = {…}      a second entry, if the list has one entry
//! traffic.bulk.load = 0.4    a key of the entry with `name = "bulk"`
//! routing.algorithm = up-down
//! routing.algorithm.up-down.root = 3    even if the file has only the bare name
//! traffic.0.length.fixed = 512 B        even if the file has another alternative, which is replaced
//! ```
//!
//! Missing tables and lists on the path are created. Of several successive overrides of a key, the
//! last one applies. Simultaneous overrides, such as those of sweep axes, must not select different
//! alternatives for the same key. Invariant: a failed override leaves the tree unchanged.

use crate::convert::Places;
use crate::fault::Fault;
use crate::path::{self, Step};
use crate::{Data, Entry, InputError, Origin, Table, Tree, Value, json, nearest, words};
use toml::de::DeValue;

impl Tree {
    /// Sets the value at `path` to `text`, parsed as TOML if possible and otherwise taken
    /// literally.
    pub fn set(&mut self, path: &str, text: &str) -> Result<(), InputError> {
        let text = text.trim();
        let origin = Origin::whole(words::clip(&format!("--set {}={text}", path.trim()), 80));
        let value = from_text(text, &origin).map_err(|fault| fault.report(&origin))?;
        self.assign(path, value, &origin, self.round + 1)?;
        self.round += 1;
        Ok(())
    }

    /// Sets the JSON value at `path`.
    pub fn set_value(&mut self, path: &str, value: &serde_json::Value) -> Result<(), InputError> {
        self.set_values([(path, value)])
    }

    /// Sets several values at once; they must not select different alternatives for the same key.
    pub(crate) fn set_values<'a>(
        &mut self,
        values: impl IntoIterator<Item = (&'a str, &'a serde_json::Value)>,
    ) -> Result<(), InputError> {
        let round = self.round + 1;
        let mut values = values.into_iter();
        values.try_for_each(|(path, value)| self.set_in_round(path, value, round))?;
        self.round = round;
        Ok(())
    }

    /// Returns the dotted path with names of list entries replaced by indices. Steps that do not
    /// exist in the tree remain unchanged.
    pub fn placed(&self, path: &str) -> Result<String, InputError> {
        let origin = Origin::whole(words::clip(path.trim(), 80));
        let mut steps = steps_of(path, &origin)?;
        let mut value = Some(&self.root);
        for depth in 0..steps.len() {
            if let Some(Data::Array(items)) = value.map(|value| &value.data) {
                let place = self.assignment(&steps, &origin, 0).place(depth, items)?;
                steps[depth] = Step::Index(place);
            }
            value = value.and_then(|value| value.child(&steps[depth]));
        }
        Ok(path::dotted(&steps))
    }

    fn set_in_round(
        &mut self,
        path: &str,
        value: &serde_json::Value,
        round: u32,
    ) -> Result<(), InputError> {
        let origin = Origin::whole(words::clip(&format!("override of {}", path.trim()), 80));
        let value = json::value(value, &origin, json::DEPTH_MAX).map_err(|f| f.report(&origin))?;
        self.assign(path, value, &origin, round)
    }

    fn assign(
        &mut self,
        path: &str,
        value: Value,
        origin: &Origin,
        round: u32,
    ) -> Result<(), InputError> {
        let steps = steps_of(path, origin)?;
        self.assignment(&steps, origin, round).put(0, &mut self.root, value)
    }

    fn assignment<'a>(&self, steps: &'a [Step], origin: &'a Origin, round: u32) -> Assignment<'a> {
        Assignment { steps, origin, round, unnamed: self.unnamed }
    }
}

fn steps_of(path: &str, origin: &Origin) -> Result<Vec<Step>, InputError> {
    let whole = |message: String| {
        let example = "a path such as traffic.0.load".to_owned();
        InputError::new(origin.clone(), message).expecting([example])
    };
    let steps = path::parse(path).map_err(whole)?;
    if steps.is_empty() { Err(whole("the path is empty".to_owned())) } else { Ok(steps) }
}

/// Parses a TOML value. An unsupported single value, such as a date, is taken as text; inside a
/// table or list it is an error.
fn from_text(text: &str, origin: &Origin) -> Result<Value, Fault> {
    let places = Places { whole: origin.clone(), positions: None };
    let plain = || Value { data: Data::String(text.to_owned()), origin: origin.clone() };
    let Ok(written) = DeValue::parse(text) else { return Ok(plain()) };
    match (places.value(&written), written.get_ref()) {
        (Err(fault), DeValue::Table(_) | DeValue::Array(_)) => Err(fault),
        (value, _) => Ok(value.unwrap_or_else(|_| plain())),
    }
}

fn braced(steps: &[Step]) -> String {
    steps
        .iter()
        .rev()
        .fold("...".to_owned(), |inner, step| format!("{{ {} = {inner} }}", step.name()))
}

struct Assignment<'a> {
    steps: &'a [Step],
    origin: &'a Origin,
    round: u32,
    unnamed: &'static [(&'static str, &'static str)],
}

impl Assignment<'_> {
    /// Sets the value at the path to `new`; `target` is the value after `depth` steps.
    fn put(&self, depth: usize, target: &mut Value, mut new: Value) -> Result<(), InputError> {
        let Some(step) = self.steps.get(depth) else {
            new.note_keys(self.round);
            *target = new;
            return Ok(());
        };
        match &mut target.data {
            Data::Table(table) => self.put_in_table(depth, table, new),
            Data::Array(items) => self.put_in_list(depth, items, new),
            Data::String(_) if matches!(step, Step::Name(_)) => {
                let mut choice = Value::empty_table(self.origin.clone());
                self.put(depth, &mut choice, new)?;
                *target = choice;
                Ok(())
            }
            Data::String(_) | Data::Integer(_) | Data::Float(_) | Data::Bool(_) => {
                let (path, rest) = (path::show(&self.steps[..depth]), &self.steps[depth..]);
                let cure = format!("is a single value; to replace it: `{path}={}`", braced(rest));
                Err(self.error(depth, &cure))
            }
        }
    }

    fn put_in_table(&self, depth: usize, table: &mut Table, new: Value) -> Result<(), InputError> {
        let step = &self.steps[depth];
        let name = step.name();
        if let Some(place) = table.entries.iter().position(|entry| entry.name == name) {
            self.put(depth + 1, &mut table.entries[place].value, new)?;
            table.overridden.note(self.round, place);
            return Ok(());
        }
        if let Step::Index(index) = step {
            let cure =
                format!("is a table, not a list; a new key of digits is written \"{index}\"");
            return Err(self.error(depth, &cure));
        }
        let near = nearest(&name, table.entries.iter().map(|entry| &*entry.name));
        let value = self.nest(depth + 1, new).map_err(|error| error.meaning(near))?;
        table.overridden.note(self.round, table.entries.len());
        table.entries.push(Entry { name: name.into_owned(), origin: self.origin.clone(), value });
        Ok(())
    }

    fn put_in_list(
        &self,
        depth: usize,
        items: &mut Vec<Value>,
        new: Value,
    ) -> Result<(), InputError> {
        let place = self.place(depth, items)?;
        if let Some(item) = items.get_mut(place) {
            return self.put(depth + 1, item, new);
        }
        items.push(self.nest(depth + 1, new)?);
        Ok(())
    }

    fn place(&self, depth: usize, items: &[Value]) -> Result<usize, InputError> {
        let count = items.len();
        let wanted = match &self.steps[depth] {
            Step::Index(index) if *index <= count => return Ok(*index),
            Step::Index(index) => {
                let entries = words::count(count, "entry", "entries");
                let cure = format!("has {entries}, none at {index}; index {count} adds one");
                return Err(self.error(depth, &cure));
            }
            Step::Name(name) => name,
        };
        let names: Vec<_> = items.iter().map(|item| self.name_of(depth, item)).collect();
        if let Some(place) = names.iter().position(|name| *name == Some(wanted)) {
            return Ok(place);
        }
        let mut path = self.steps[..=depth].to_vec();
        path.insert(depth, Step::Index(0));
        let first = format!("its first entry has `{}`", path::show(&path));
        let known: Vec<&str> = names.into_iter().flatten().collect();
        if known.is_empty() {
            return Err(self.error(depth, &format!("is a list; {first}")));
        }
        let message = format!("is a list without an entry named `{wanted}`; {first}");
        Err(self.error(depth, &message).suggesting(wanted, "its names", known))
    }

    fn name_of<'v>(&self, depth: usize, item: &'v Value) -> Option<&'v str> {
        let Data::Table(table) = &item.data else { return None };
        let list = path::show(&self.steps[..depth]);
        match table.entry("name").map(|entry| &entry.value.data) {
            Some(Data::String(name)) => Some(name),
            Some(_) => None,
            None => self.unnamed.iter().find(|(key, _)| *key == list).map(|(_, name)| *name),
        }
    }

    fn nest(&self, depth: usize, new: Value) -> Result<Value, InputError> {
        let nested = (depth..self.steps.len()).rev().try_fold(new, |value, at| {
            let origin = self.origin.clone();
            let data = match &self.steps[at] {
                Step::Name(name) => Data::Table(Table::of(vec![Entry {
                    name: name.clone(),
                    origin: origin.clone(),
                    value,
                }])),
                Step::Index(0) => Data::Array(vec![value]),
                Step::Index(_) => {
                    return Err(self.error(at, "is not there yet; its first entry has index 0"));
                }
            };
            Ok(Value { data, origin })
        });
        nested.map(|mut value| {
            value.note_keys(self.round);
            value
        })
    }

    fn error(&self, depth: usize, message: &str) -> InputError {
        let place = path::show(&self.steps[..depth]);
        let subject = if place.is_empty() { "the scenario".into() } else { format!("`{place}`") };
        InputError::new(self.origin.clone(), format!("{subject} {message}"))
            .keyed(path::show(self.steps), false)
    }
}
