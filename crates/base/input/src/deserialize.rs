//! serde deserializer of an input tree.

use crate::cure::Cure;
use crate::fault::Fault;
use crate::path::Step;
use crate::{Data, Entry, InputError, Origin, Table, Value};
use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess,
    SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any as forward;

pub(crate) fn read<T: DeserializeOwned>(root: &Value) -> Result<T, InputError> {
    attempt(root).map_err(|fault| {
        let cure = Cure::find::<T>(root, &fault);
        let error = fault.report(&root.origin);
        match cure {
            Some(cure) => cure.add_to(error),
            None => error,
        }
    })
}

pub(crate) fn attempt<T: DeserializeOwned>(root: &Value) -> Result<T, Fault> {
    T::deserialize(Reader(root)).map_err(|fault| place(fault, root))
}

fn place(fault: Fault, value: &Value) -> Fault {
    let key = match (&value.data, fault.unplaced_key()) {
        (Data::Table(table), Some(name)) => table.entry(name),
        _ => None,
    };
    let origin = key.map_or(&value.origin, |entry| &entry.origin);
    fault.located(origin)
}

fn descend<'de, S: DeserializeSeed<'de>>(
    seed: S,
    value: &Value,
    step: impl FnOnce() -> Step,
) -> Result<S::Value, Fault> {
    seed.deserialize(Reader(value)).map_err(|fault| place(fault, value).under(step()))
}

fn list_of(length: usize) -> String {
    format!("a list of {}", super::words::count(length, "value", "values"))
}

#[derive(Clone, Copy)]
struct Reader<'a>(&'a Value);

impl Reader<'_> {
    fn found(self) -> String {
        let unexpected = match &self.0.data {
            Data::Table(table) if table.entries.is_empty() => return "an empty table".to_owned(),
            Data::Table(_) => Unexpected::Map,
            Data::Array(_) => Unexpected::Seq,
            Data::String(text) => Unexpected::Str(text),
            Data::Integer(number) => Unexpected::Signed(*number),
            Data::Float(number) => Unexpected::Float(*number),
            Data::Bool(truth) => Unexpected::Bool(*truth),
        };
        super::words::found(unexpected)
    }

    fn require_list_of(self, length: usize) -> Result<(), Fault> {
        let found = match &self.0.data {
            Data::Array(items) if items.len() == length => return Ok(()),
            Data::Array(items) => list_of(items.len()),
            _ => self.found(),
        };
        Err(Fault::wrong(found, [list_of(length)]))
    }
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.0.data {
            Data::Table(table) => visitor.visit_map(Entries::of(table)),
            Data::Array(items) => visitor.visit_seq(Items { items, next: 0 }),
            Data::String(text) => visitor.visit_str(text),
            Data::Integer(number) => visitor.visit_i64(*number),
            Data::Float(number) => visitor.visit_f64(*number),
            Data::Bool(truth) => visitor.visit_bool(*truth),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0.data {
            Data::Float(number) if number.is_finite() && number.abs() > f32::MAX.into() => {
                Err(Fault::wrong(self.found(), [format!("a number of at most {:e}", f32::MAX)]))
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.require_list_of(length)?;
        self.deserialize_any(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.deserialize_tuple(length, visitor)
    }

    /// Reads a struct from a table only; serde would also accept a list of field values.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        keys: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        if matches!(self.0.data, Data::Table(_)) {
            return self.deserialize_any(visitor);
        }
        let expected = match keys {
            [] => "a table".to_owned(),
            [key] => format!("a table with the key {key}"),
            keys => format!("a table with keys of {}", keys.join(", ")),
        };
        Err(Fault::wrong(self.found(), [expected]))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let found = match &self.0.data {
            Data::String(name) => {
                return visitor.visit_enum(Choice { name, origin: &self.0.origin, content: None });
            }
            Data::Table(table) => match &*table.alternatives() {
                [Entry { name, origin, value }] => {
                    return visitor.visit_enum(Choice { name, origin, content: Some(value) });
                }
                [first, second, ..] => {
                    format!("a table with both `{}` and `{}`", first.name, second.name)
                }
                [] => self.found(),
            },
            _ => self.found(),
        };
        let mut names: Vec<_> = names.iter().map(ToString::to_string).collect();
        names.sort();
        Err(Fault::wrong(found, names))
    }

    forward! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f64 char str string bytes byte_buf unit
        unit_struct seq map identifier ignored_any
    }
}

struct Items<'a> {
    items: &'a [Value],
    next: usize,
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Fault;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Fault> {
        let index = self.next;
        let Some(item) = self.items.get(index) else { return Ok(None) };
        self.next += 1;
        descend(seed, item, || Step::Index(index)).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len() - self.next)
    }
}

struct Entries<'a> {
    rest: std::slice::Iter<'a, Entry>,
    current: Option<&'a Entry>,
}

impl<'a> Entries<'a> {
    fn of(table: &'a Table) -> Self {
        Self { rest: table.entries.iter(), current: None }
    }
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Fault;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Fault> {
        self.current = self.rest.next();
        let Some(entry) = self.current else { return Ok(None) };
        let key = seed.deserialize(KeyReader(&entry.name));
        key.map(Some).map_err(|fault| fault.located(&entry.origin))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Fault> {
        let entry = self.current.take().expect("serde reads a key before its value");
        descend(seed, &entry.value, || Step::from(&*entry.name))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

struct KeyReader<'a>(&'a str);

macro_rules! whole_number_keys {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            match self.0.parse() {
                Ok(number) => visitor.visit_i64(number),
                Err(_) => visitor.visit_str(self.0),
            }
        })*
    };
}

impl<'de> Deserializer<'de> for KeyReader<'_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_str(self.0)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_enum(self.0.into_deserializer())
    }

    whole_number_keys! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
    }

    forward! {
        bool i128 u128 f32 f64 char str string bytes byte_buf option unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

struct Choice<'a> {
    name: &'a str,
    origin: &'a Origin,
    content: Option<&'a Value>,
}

impl<'de> EnumAccess<'de> for Choice<'_> {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Fault> {
        let name: StrDeserializer<'_, Fault> = self.name.into_deserializer();
        let variant = seed.deserialize(name).map_err(|fault| fault.located(self.origin))?;
        Ok((variant, self))
    }
}

impl Choice<'_> {
    fn parameters<T>(self, read: impl FnOnce(Reader<'_>) -> Result<T, Fault>) -> Result<T, Fault> {
        let value = match self.content {
            Some(content) => content,
            None => &Value::empty_table(self.origin.clone()),
        };
        read(Reader(value)).map_err(|fault| {
            let fault = if self.content.is_none() { fault.of_bare_name(self.name) } else { fault };
            place(fault, value).under(Step::from(self.name))
        })
    }
}

impl<'de> VariantAccess<'de> for Choice<'_> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        let name = self.name;
        self.parameters(|reader| match &reader.0.data {
            Data::Table(table) if table.entries.is_empty() => Ok(()),
            _ => {
                Err(Fault::wrong(reader.found(), [format!("\"{name}\" alone, without parameters")]))
            }
        })
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Fault> {
        self.parameters(|reader| seed.deserialize(reader))
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Fault> {
        self.parameters(|reader| reader.deserialize_tuple(length, visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        keys: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.parameters(|reader| reader.deserialize_struct("", keys, visitor))
    }
}
