//! JSON values passed from Python.

use crate::fault::Fault;
use crate::path::Step;
use crate::{Data, Entry, InputError, Origin, Table, Tree, Value};
use serde_json::Value as Json;

/// Maximum nesting depth, which protects the stack; scenarios nest less deeply.
pub(crate) const DEPTH_MAX: usize = 64;

impl Tree {
    /// Creates a tree from JSON values; keys with a null value are omitted.
    pub fn from_json(source: &str, json: &Json) -> Result<Self, InputError> {
        let origin = Origin::whole(source);
        let root = value(json, &origin, DEPTH_MAX).and_then(|root| match root.data {
            Data::Table(_) => Ok(root),
            _ => Err(Fault::wrong(kind(json), ["a table of keys and values".to_owned()])),
        });
        Ok(Self { root: root.map_err(|fault| fault.report(&origin))?, round: 0, unnamed: &[] })
    }
}

pub(crate) fn value(json: &Json, origin: &Origin, depth_left: usize) -> Result<Value, Fault> {
    let Some(depth_left) = depth_left.checked_sub(1) else {
        return Err(Fault::wrong("deeper nesting".into(), [format!("at most {DEPTH_MAX} levels")]));
    };
    let data = match json {
        Json::Null => return Err(Fault::wrong(kind(json), ["a value".to_owned()])),
        Json::Bool(truth) => Data::Bool(*truth),
        Json::String(text) => Data::String(text.clone()),
        Json::Number(number) => self::number(number)?,
        Json::Array(items) => {
            let item = |(index, item): (usize, &_)| {
                value(item, origin, depth_left).map_err(|fault| fault.under(Step::Index(index)))
            };
            Data::Array(items.iter().enumerate().map(item).collect::<Result<_, _>>()?)
        }
        Json::Object(members) => {
            let entry = |(name, member): (&String, &_)| {
                let value = value(member, origin, depth_left)
                    .map_err(|fault| fault.under(Step::from(&**name)))?;
                Ok(Entry { name: name.clone(), origin: origin.clone(), value })
            };
            let given = members.iter().filter(|(_, member)| !member.is_null());
            Data::Table(Table::of(given.map(entry).collect::<Result<_, Fault>>()?))
        }
    };
    Ok(Value { data, origin: origin.clone() })
}

fn number(number: &serde_json::Number) -> Result<Data, Fault> {
    match (number.as_i64(), number.is_u64(), number.as_f64()) {
        (Some(whole), ..) => Ok(Data::Integer(whole)),
        (None, false, Some(float)) => Ok(Data::Float(float)),
        _ => {
            let range = format!("a whole number of at most {}", i64::MAX);
            Err(Fault::wrong(number.to_string(), [range]))
        }
    }
}

fn kind(json: &Json) -> String {
    match json {
        Json::Null => "nothing",
        Json::Array(_) => "a list",
        Json::Object(_) => "a table",
        Json::Bool(_) | Json::Number(_) | Json::String(_) => "a single value",
    }
    .to_owned()
}
