//! Quantities as people write them: a number, a space, a unit.
//!
//! A bare number is refused, because `rate = 80` says nothing; so is a unit of another
//! kind. Each type prints the largest unit in which it is a whole number, and reads back
//! what it printed.

use crate::{Length, Rate, Span};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// Why a text is not a quantity of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected {kind} with its unit, such as \"{example}\"; units are {units}")]
pub struct QuantityError {
    kind: &'static str,
    example: &'static str,
    units: String,
}

/// A kind of quantity: its words for messages, and each unit with its size in the smallest.
struct Kind {
    name: &'static str,
    example: &'static str,
    /// (unit, how many base units it holds as a fraction), largest first among those printed.
    units: &'static [(&'static str, u64, u64)],
    /// Whether a part of the base unit is refused rather than rounded.
    whole: bool,
}

const SPAN: Kind = Kind {
    name: "a time",
    example: "150 ns",
    units: &[
        ("s", 1_000_000_000_000, 1),
        ("ms", 1_000_000_000, 1),
        ("us", 1_000_000, 1),
        ("ns", 1_000, 1),
        ("ps", 1, 1),
    ],
    whole: false,
};

const RATE: Kind = Kind {
    name: "a rate",
    example: "80 MB/s",
    units: &[
        ("GB/s", 1_000_000_000, 1),
        ("MB/s", 1_000_000, 1),
        ("kB/s", 1_000, 1),
        ("B/s", 1, 1),
        ("Gbit/s", 1_000_000_000, 8),
        ("Mbit/s", 1_000_000, 8),
        ("kbit/s", 1_000, 8),
    ],
    whole: false,
};

const LENGTH: Kind = Kind {
    name: "a length",
    example: "25 m",
    units: &[("m", 1_000, 1), ("cm", 10, 1), ("mm", 1, 1)],
    whole: false,
};

const BYTES: Kind = Kind {
    name: "a number of bytes",
    example: "512 B",
    units: &[
        ("MiB", 1 << 20, 1),
        ("KiB", 1 << 10, 1),
        ("MB", 1_000_000, 1),
        ("kB", 1_000, 1),
        ("B", 1, 1),
    ],
    whole: true,
};

impl Kind {
    fn error(&self) -> QuantityError {
        let units: Vec<_> = self.units.iter().map(|(unit, ..)| *unit).collect();
        QuantityError { kind: self.name, example: self.example, units: units.join(", ") }
    }

    /// The quantity in base units, rounded to the nearest.
    ///
    /// A part of a byte is refused: nobody means half of one.
    fn parse(&self, text: &str) -> Result<u64, QuantityError> {
        let text = text.trim();
        let split = text.find(|c: char| c != '.' && !c.is_ascii_digit()).ok_or(self.error())?;
        let (number, unit) = (&text[..split], text[split..].trim_start());
        let number = decimal(number).ok_or(self.error())?;
        let (_, multiple, divisor) =
            self.units.iter().find(|(name, ..)| *name == unit).ok_or(self.error())?;
        let scaled = number.digits.checked_mul(u128::from(*multiple)).ok_or(self.error())?;
        let divisor = number.scale * u128::from(*divisor);
        if self.whole && !scaled.is_multiple_of(divisor) {
            return Err(self.error());
        }
        u64::try_from((scaled + divisor / 2) / divisor).map_err(|_| self.error())
    }

    fn print(&self, value: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = |(_, multiple, divisor): &&(&str, u64, u64)| {
            *divisor == 1 && value.is_multiple_of(*multiple) && value > 0
        };
        let smallest = self.units.iter().find(|(_, multiple, divisor)| multiple == divisor);
        let unit = self.units.iter().find(whole).or(smallest).expect("a kind has a base unit");
        write!(f, "{} {}", value / unit.1, unit.0)
    }
}

/// `digits / scale`, from a decimal such as "12.5".
struct Decimal {
    digits: u128,
    scale: u128,
}

fn decimal(text: &str) -> Option<Decimal> {
    const PLACES_MAX: usize = 12;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty() || (text.contains('.') && fraction.is_empty()) {
        return None;
    }
    if whole.len() + fraction.len() > 20 || fraction.len() > PLACES_MAX {
        return None;
    }
    let digits = format!("{whole}{fraction}").parse().ok()?;
    let scale = fraction.bytes().fold(1, |scale, _| scale * 10);
    Some(Decimal { digits, scale })
}

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Bytes(pub u64);

macro_rules! quantity {
    ($type:ty, $kind:ident, $name:literal, $from:expr, $into:expr, $accept:expr) => {
        impl FromStr for $type {
            type Err = QuantityError;
            fn from_str(text: &str) -> Result<Self, QuantityError> {
                let base = $kind.parse(text)?;
                let accept: fn(u64) -> bool = $accept;
                if accept(base) { Ok($from(base)) } else { Err($kind.error()) }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let into: fn($type) -> u64 = $into;
                $kind.print(into(*self), f)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(TextVisitor { kind: &$kind, parse: Self::from_str })
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let units: Vec<_> = $kind.units.iter().map(|(unit, ..)| *unit).collect();
                json_schema!({
                    "type": "string",
                    "pattern": format!(r"^\s*[0-9]+(\.[0-9]+)?\s*({})\s*$", units.join("|")),
                    "examples": [$kind.example],
                })
            }
        }
    };
}

quantity!(Span, SPAN, "Time", Span::from_ps, Span::as_ps, |_| true);
quantity!(Rate, RATE, "Rate", Rate::from_bytes_per_second, Rate::bytes_per_second, |b| b > 0);
quantity!(Length, LENGTH, "Length", Length::from_mm, Length::as_mm, |_| true);
quantity!(Bytes, BYTES, "Bytes", Bytes, |bytes| bytes.0, |_| true);

/// Accepts a text only, and says what was expected of anything else.
struct TextVisitor<T> {
    kind: &'static Kind,
    parse: fn(&str) -> Result<T, QuantityError>,
}

impl<T> de::Visitor<'_> for TextVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = self.kind.units.iter().map(|(unit, ..)| *unit).collect::<Vec<_>>().join(", ");
        let Kind { name, example, .. } = self.kind;
        write!(f, "{name} with its unit ({units}), such as \"{example}\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        (self.parse)(text).map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_base_units() {
        assert_eq!("80 MB/s".parse(), Ok(Rate::from_bytes_per_second(80_000_000)));
        assert_eq!("640 Mbit/s".parse(), Ok(Rate::from_bytes_per_second(80_000_000)));
        assert_eq!("4.92ns".parse(), Ok(Span::from_ps(4_920)));
        assert_eq!("2.5 m".parse(), Ok(Length::from_mm(2_500)));
        assert_eq!("4 KiB".parse(), Ok(Bytes(4_096)));
    }

    #[test]
    fn what_was_printed_reads_back() {
        for ps in [0, 1, 1_500, 2_000_000, 123_456_789] {
            let span = Span::from_ps(ps);
            assert_eq!(span.to_string().parse(), Ok(span));
        }
        assert_eq!(Rate::from_bytes_per_second(80_000_000).to_string(), "80 MB/s");
        assert_eq!(Span::from_ps(0).to_string(), "0 ps");
        assert_eq!(Bytes(512).to_string(), "512 B");
    }

    #[test]
    fn bare_numbers_wrong_units_and_nonsense_are_refused() {
        assert!("1.5 B".parse::<Bytes>().is_err() && "1.5 kB".parse() == Ok(Bytes(1_500)));
        for text in ["", "80", "MB/s", "80 m", "8e3 MB/s", "-1 MB/s", "1. MB/s", "0 B/s"] {
            let error = text.parse::<Rate>().expect_err(text);
            assert!(error.to_string().starts_with("expected a rate with its unit, such as"));
        }
        assert!("99999999999999999999 s".parse::<Span>().is_err());
    }
}
