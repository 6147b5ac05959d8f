//! Suggested corrections for values of the wrong form.
//!
//! ```text
//! [traffic]            a table instead of a list of tables:       write `[[traffic]]`
//! length = "512 B"     a quantity instead of an alternative:      write `{ fixed = "512 B" }`
//! ```

use crate::deserialize::attempt;
use crate::fault::Fault;
use crate::path::Step;
use crate::{Data, Entry, InputError, Origin, Table, Value, words};
use serde::de::DeserializeOwned;

/// Probe text, which is accepted by text keys but refused by quantity keys.
const NO_QUANTITY: &str = "?";

pub(crate) enum Cure {
    List(String),
    Alternative(String),
}

impl Cure {
    /// Tries each correction by reading the tree again, since only deserialization shows the forms
    /// that a key accepts.
    pub(crate) fn find<T: DeserializeOwned>(root: &Value, fault: &Fault) -> Option<Self> {
        let steps = fault.steps();
        let value = steps.iter().try_fold(root, |value, step| value.child(step))?;
        let names = fault.alternatives();
        match &value.data {
            Data::Table(_) if fault.wants_list() => list::<T>(root, &steps, value),
            Data::String(text) if text.starts_with(|c: char| c.is_ascii_digit()) => {
                let takes = |name: &&&str| {
                    let probe = text_value(NO_QUANTITY, &value.origin);
                    let with = |value| holds::<T>(root, &steps, under(name, value));
                    with(value.clone()) && !with(probe)
                };
                let name = names.iter().find(takes)?;
                Some(Self::Alternative(format!("{{ {name} = \"{}\" }}", words::clip(text, 60))))
            }
            _ => None,
        }
    }

    pub(crate) fn add_to(self, error: InputError) -> InputError {
        match self {
            Self::List(form) => error.expecting([format!("a list: write {form}")]),
            Self::Alternative(form) => error.meaning(Some(&form)),
        }
    }
}

fn list<T: DeserializeOwned>(root: &Value, steps: &[Step], value: &Value) -> Option<Cure> {
    let wrapped = Value { data: Data::Array(vec![value.clone()]), origin: value.origin.clone() };
    let mut entry = steps.to_vec();
    entry.push(Step::Index(0));
    // An unknown or missing key inside the table shows that a table is accepted here.
    let refused = |fault: &Fault| {
        let at = fault.steps();
        at == steps || (at == entry && fault.is_wrong_value())
    };
    if fault_with::<T>(root, steps, wrapped).as_ref().is_some_and(refused) {
        return None;
    }
    let names = steps.iter().filter(|step| matches!(step, Step::Name(_)));
    let heading = crate::path::show(names);
    let written = value.origin.line.is_some();
    Some(Cure::List(if written { format!("`[[{heading}]]`") } else { "`[{ ... }]`".to_owned() }))
}

fn holds<T: DeserializeOwned>(root: &Value, steps: &[Step], value: Value) -> bool {
    fault_with::<T>(root, steps, value).is_none_or(|fault| !fault.steps().starts_with(steps))
}

fn fault_with<T: DeserializeOwned>(root: &Value, steps: &[Step], value: Value) -> Option<Fault> {
    let mut tree = root.clone();
    *steps.iter().try_fold(&mut tree, |at, step| at.child_mut(step))? = value;
    attempt::<T>(&tree).err()
}

fn text_value(text: &str, origin: &Origin) -> Value {
    Value { data: Data::String(text.to_owned()), origin: origin.clone() }
}

fn under(name: &str, value: Value) -> Value {
    let origin = value.origin.clone();
    let entry = Entry { name: name.to_owned(), origin: origin.clone(), value };
    Value { data: Data::Table(Table::of(vec![entry])), origin }
}
