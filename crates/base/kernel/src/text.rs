//! Text form of quantities: a number and a unit, separated by an optional space.
//!
//! Bare numbers and units of another dimension are refused. Values are printed as an integer in the
//! largest possible unit and parse back exactly. Units are case-sensitive: `b` is a bit, `B` a
//! byte.

use crate::{Length, Rate, Span};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// Error for a text that is not a quantity of the expected kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}")]
pub struct QuantityError {
    expected: String,
}

struct Kind {
    name: &'static str,
    example: &'static str,
    /// Units as (name, numerator, denominator), where the fraction is the size in base units;
    /// output units come first, in descending order.
    units: &'static [(&'static str, u64, u64)],
    spellings: &'static [(&'static str, &'static str)],
    hint: &'static str,
    /// Whether fractions of the base unit are refused instead of rounded.
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
    // Micro sign and Greek letter mu.
    spellings: &[("\u{b5}s", "us"), ("\u{3bc}s", "us")],
    hint: "",
    whole: false,
};

const RATE: Kind = Kind {
    name: "a rate",
    example: "80 MB/s",
    units: &[
        ("TB/s", 1_000_000_000_000, 1),
        ("GB/s", 1_000_000_000, 1),
        ("MB/s", 1_000_000, 1),
        ("kB/s", 1_000, 1),
        ("B/s", 1, 1),
        ("Tbit/s", 1_000_000_000_000, 8),
        ("Gbit/s", 1_000_000_000, 8),
        ("Mbit/s", 1_000_000, 8),
        ("kbit/s", 1_000, 8),
        ("bit/s", 1, 8),
    ],
    spellings: &[
        ("Tbps", "Tbit/s"),
        ("Gbps", "Gbit/s"),
        ("Mbps", "Mbit/s"),
        ("kbps", "kbit/s"),
        ("bps", "bit/s"),
        ("Tb/s", "Tbit/s"),
        ("Gb/s", "Gbit/s"),
        ("Mb/s", "Mbit/s"),
        ("kb/s", "kbit/s"),
        ("b/s", "bit/s"),
        ("TBps", "TB/s"),
        ("GBps", "GB/s"),
        ("MBps", "MB/s"),
        ("kBps", "kB/s"),
        ("Bps", "B/s"),
    ],
    hint: "b is a bit, B a byte; k, M, G, T are 10^3, 10^6, 10^9, 10^12",
    whole: false,
};

const LENGTH: Kind = Kind {
    name: "a length",
    example: "25 m",
    units: &[("m", 1_000, 1), ("cm", 10, 1), ("mm", 1, 1)],
    spellings: &[],
    hint: "",
    whole: false,
};

const BYTES: Kind = Kind {
    name: "a number of bytes",
    example: "512 B",
    units: &[
        ("GiB", 1 << 30, 1),
        ("GB", 1_000_000_000, 1),
        ("MiB", 1 << 20, 1),
        ("MB", 1_000_000, 1),
        ("KiB", 1 << 10, 1),
        ("kB", 1_000, 1),
        ("B", 1, 1),
    ],
    spellings: &[],
    hint: "",
    whole: true,
};

impl Kind {
    fn error(&self, text: &str) -> QuantityError {
        QuantityError { expected: self.meant(text).unwrap_or_else(|| self.expected()) }
    }

    fn expected(&self) -> String {
        let units: Vec<_> = self.units.iter().map(|(unit, ..)| *unit).collect();
        let Self { name, example, .. } = self;
        format!("{name} with its unit ({}), such as \"{example}\"", units.join(", "))
    }

    fn meant(&self, text: &str) -> Option<String> {
        let (number, unit) = split(text)?;
        decimal(number)?;
        if self.unit(unit).is_some() {
            return None;
        }
        let alike = self.names().filter(|name| name.eq_ignore_ascii_case(unit));
        let alike: Vec<_> = alike.map(|name| format!("\"{number} {name}\"")).collect();
        (!alike.is_empty()).then(|| match self.hint {
            "" => alike.join(" or "),
            hint => format!("{}; {hint}", alike.join(" or ")),
        })
    }

    fn names(&self) -> impl Iterator<Item = &'static str> {
        let spellings = self.spellings.iter().map(|(spelling, _)| *spelling);
        self.units.iter().map(|(unit, ..)| *unit).chain(spellings)
    }

    fn unit(&self, name: &str) -> Option<&'static (&'static str, u64, u64)> {
        let spelling = self.spellings.iter().find(|(spelling, _)| *spelling == name);
        let unit = spelling.map_or(name, |(_, unit)| unit);
        self.units.iter().find(|(name, ..)| *name == unit)
    }

    /// Parses a quantity and rounds to the nearest base unit; refuses fractions of a byte.
    fn parse(&self, text: &str) -> Result<u64, QuantityError> {
        self.base_units(text).ok_or_else(|| self.error(text))
    }

    fn base_units(&self, text: &str) -> Option<u64> {
        let (number, unit) = split(text)?;
        let number = decimal(number)?;
        let (_, multiple, divisor) = self.unit(unit)?;
        let scaled = number.digits.checked_mul(u128::from(*multiple))?;
        let divisor = number.scale * u128::from(*divisor);
        if self.whole && !scaled.is_multiple_of(divisor) {
            return None;
        }
        u64::try_from((scaled + divisor / 2) / divisor).ok()
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

fn split(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| c != '.' && !c.is_ascii_digit())?;
    Some((&text[..end], text[end..].trim_start()))
}

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

/// Number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Bytes(pub u64);

macro_rules! quantity {
    ($type:ty, $kind:ident, $name:literal, $from:expr, $into:expr, $accept:expr) => {
        impl FromStr for $type {
            type Err = QuantityError;
            fn from_str(text: &str) -> Result<Self, QuantityError> {
                let base = $kind.parse(text)?;
                let accept: fn(u64) -> bool = $accept;
                if accept(base) { Ok($from(base)) } else { Err($kind.error(text)) }
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
                let units: Vec<_> = $kind.names().collect();
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

struct TextVisitor<T> {
    kind: &'static Kind,
    parse: fn(&str) -> Result<T, QuantityError>,
}

impl<T> de::Visitor<'_> for TextVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind.expected())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        (self.parse)(text)
            .map_err(|error| E::invalid_value(de::Unexpected::Str(text), &error.expected.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_parse_to_base_units() {
        assert_eq!("10 \u{b5}s".parse(), Ok(Span::from_ps(10_000_000)));
        assert_eq!("10 \u{3bc}s".parse(), Ok(Span::from_ps(10_000_000)));
        assert_eq!("80 MB/s".parse(), Ok(Rate::from_bytes_per_second(80_000_000)));
        assert_eq!("640 Mbit/s".parse(), Ok(Rate::from_bytes_per_second(80_000_000)));
        assert_eq!("4.92ns".parse(), Ok(Span::from_ps(4_920)));
        assert_eq!("2.5 m".parse(), Ok(Length::from_mm(2_500)));
        assert_eq!("4 KiB".parse(), Ok(Bytes(4_096)));
    }

    #[test]
    fn common_rate_spellings_are_parsed() {
        let gigabits = |gigabits: u64| Rate::from_bytes_per_second(gigabits * 125_000_000);
        for text in ["400 Gbps", "400Gbps", "400 Gb/s", "400Gbit/s", " 400  Gbit/s ", "0.4 Tbps"] {
            assert_eq!(text.parse(), Ok(gigabits(400)), "{text}");
        }
        for text in ["50 GB/s", "50GBps", "50000 MBps", "0.05 TB/s", "400000000000 b/s"] {
            assert_eq!(text.parse(), Ok(gigabits(400)), "{text}");
        }
        assert_eq!("56 kbps".parse(), Ok(Rate::from_bytes_per_second(7_000)));
        assert_eq!("8bps".parse(), Ok(Rate::from_bytes_per_second(1)));
        for (spelling, unit) in RATE.spellings {
            assert!(RATE.units.iter().any(|(name, ..)| name == unit), "{spelling}");
        }
    }

    #[test]
    fn unit_with_wrong_case_error_suggests_valid_units() {
        let refusal = |text: &str| text.parse::<Rate>().expect_err(text).to_string();
        let hint = "b is a bit, B a byte; k, M, G, T are 10^3, 10^6, 10^9, 10^12";
        assert_eq!(refusal("400 gbps"), format!("expected \"400 Gbps\" or \"400 GBps\"; {hint}"));
        assert_eq!(refusal("100gb/s"), format!("expected \"100 GB/s\" or \"100 Gb/s\"; {hint}"));
        assert_eq!(refusal("1.5 GBIT/S"), format!("expected \"1.5 Gbit/s\"; {hint}"));
        let span = "5 MS".parse::<Span>().expect_err("no time").to_string();
        assert_eq!(span, "expected \"5 ms\"");
    }

    #[test]
    fn printed_quantities_parse_back() {
        for ps in [0, 1, 1_500, 2_000_000, 123_456_789] {
            let span = Span::from_ps(ps);
            assert_eq!(span.to_string().parse(), Ok(span));
        }
        assert_eq!(Rate::from_bytes_per_second(80_000_000).to_string(), "80 MB/s");
        assert_eq!(Span::from_ps(0).to_string(), "0 ps");
        assert_eq!(Bytes(512).to_string(), "512 B");
        assert_eq!(Bytes(2_000_000_000).to_string(), "2 GB");
        assert_eq!(Bytes(4 << 30).to_string(), "4 GiB");
    }

    #[test]
    fn bare_numbers_and_wrong_units_are_refused() {
        assert!("1.5 B".parse::<Bytes>().is_err() && "1.5 kB".parse() == Ok(Bytes(1_500)));
        for text in
            ["", "80", "MB/s", "80 m", "8e3 MB/s", "-1 MB/s", "1. MB/s", "80 MiB/s", "0 B/s"]
        {
            let error = text.parse::<Rate>().expect_err(text).to_string();
            assert!(error.starts_with("expected a rate with its unit (TB/s, GB/s, "), "{error}");
            assert!(error.ends_with("), such as \"80 MB/s\""), "{error}");
        }
        assert!("99999999999999999999 s".parse::<Span>().is_err());
    }
}
