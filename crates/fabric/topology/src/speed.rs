//! Link speeds: InfiniBand width and generation, or a plain rate.
//!
//! Data rates are net of the line code (InfiniBand Architecture Specification, Volume 1 Release
//! 1.7, and the IBTA roadmap): 8b/10b for SDR, DDR and QDR, 64b/66b from FDR10 to EDR. From HDR on,
//! they are nominal rates.

use gingham_kernel::Rate;
use std::fmt;
use std::str::FromStr;

/// InfiniBand link speed generation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the names are the field's own")]
pub enum Generation {
    Sdr,
    Ddr,
    Qdr,
    Fdr10,
    Fdr,
    Edr,
    Hdr,
    Ndr,
    Xdr,
}

impl Generation {
    /// All generations in ascending order of speed.
    pub const ALL: [Self; 9] = [
        Self::Sdr,
        Self::Ddr,
        Self::Qdr,
        Self::Fdr10,
        Self::Fdr,
        Self::Edr,
        Self::Hdr,
        Self::Ndr,
        Self::Xdr,
    ];

    /// Returns the name used in dumps.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sdr => "SDR",
            Self::Ddr => "DDR",
            Self::Qdr => "QDR",
            Self::Fdr10 => "FDR10",
            Self::Fdr => "FDR",
            Self::Edr => "EDR",
            Self::Hdr => "HDR",
            Self::Ndr => "NDR",
            Self::Xdr => "XDR",
        }
    }

    const fn lane_bytes_per_second(self) -> u64 {
        match self {
            Self::Sdr => 250_000_000,
            Self::Ddr => 500_000_000,
            Self::Qdr => 1_000_000_000,
            Self::Fdr10 => 1_250_000_000,
            // Signalling rate of 14.0625 Gbit/s x 64/66 = data rate of 13.636 Gbit/s.
            Self::Fdr => 1_704_545_455,
            Self::Edr => 3_125_000_000,
            Self::Hdr => 6_250_000_000,
            Self::Ndr => 12_500_000_000,
            Self::Xdr => 25_000_000_000,
        }
    }
}

/// Speed of a link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LinkSpeed {
    /// InfiniBand speed: `4xNDR` is four lanes of NDR.
    InfiniBand {
        /// Number of lanes: 1, 2, 4, 8 or 12.
        width: u8,
        /// Speed generation of each lane.
        generation: Generation,
    },
    /// Data rate of a link that is not InfiniBand.
    Rate(Rate),
}

impl LinkSpeed {
    /// Link widths defined by InfiniBand.
    pub const WIDTHS: [u8; 5] = [1, 2, 4, 8, 12];

    /// Returns the data rate.
    pub fn rate(self) -> Rate {
        match self {
            Self::InfiniBand { width, generation } => {
                Rate::from_bytes_per_second(u64::from(width) * generation.lane_bytes_per_second())
            }
            Self::Rate(rate) => rate,
        }
    }
}

/// Partially known InfiniBand speed. Tools print `2x???` if they do not recognise the link's
/// generation, and `??HDR` if they do not recognise its width.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PartialSpeed {
    /// Known number of lanes.
    Width(u8),
    /// Known generation.
    Generation(Generation),
}

impl PartialSpeed {
    /// Returns whether `speed` agrees with the known part of this speed.
    pub fn fits(self, speed: LinkSpeed) -> bool {
        match (self, speed) {
            (Self::Width(part), LinkSpeed::InfiniBand { width, .. }) => part == width,
            (Self::Generation(part), LinkSpeed::InfiniBand { generation, .. }) => {
                part == generation
            }
            (_, LinkSpeed::Rate(_)) => false,
        }
    }

    /// Returns the full speed from a known width and a known generation.
    pub fn joined(self, other: Self) -> Option<LinkSpeed> {
        match (self, other) {
            (Self::Width(width), Self::Generation(generation))
            | (Self::Generation(generation), Self::Width(width)) => {
                Some(LinkSpeed::InfiniBand { width, generation })
            }
            _ => None,
        }
    }
}

impl fmt::Display for PartialSpeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Width(width) => write!(f, "{width}x???"),
            Self::Generation(generation) => write!(f, "??{}", generation.name()),
        }
    }
}

impl FromStr for PartialSpeed {
    type Err = SpeedError;

    fn from_str(text: &str) -> Result<Self, SpeedError> {
        let text = text.trim();
        if let Some(width) = text.strip_suffix("x???") {
            let width = width.parse().map_err(|_| SpeedError)?;
            let is_width = LinkSpeed::WIDTHS.contains(&width);
            return is_width.then_some(Self::Width(width)).ok_or(SpeedError);
        }
        let name = text.strip_prefix("??").ok_or(SpeedError)?;
        let found = Generation::ALL.into_iter().find(|generation| generation.name() == name);
        found.map(Self::Generation).ok_or(SpeedError)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ReportedSpeed {
    pub(crate) known: Option<LinkSpeed>,
    pub(crate) partial: Option<PartialSpeed>,
}

impl ReportedSpeed {
    /// Fills gaps from another report about the same link.
    pub(crate) fn or(self, other: Self) -> Self {
        if let Some(known) = self.known.or(other.known) {
            return known.into();
        }
        match (self.partial, other.partial) {
            (Some(one), Some(two)) => match one.joined(two) {
                Some(known) => known.into(),
                None => self,
            },
            _ => Self { known: None, partial: self.partial.or(other.partial) },
        }
    }

    pub(crate) fn contradicts(self, other: Self) -> bool {
        match (self.known, other.known) {
            (Some(one), Some(two)) => one != two,
            (Some(known), None) => other.partial.is_some_and(|part| !part.fits(known)),
            (None, Some(known)) => self.partial.is_some_and(|part| !part.fits(known)),
            (None, None) => match (self.partial, other.partial) {
                (Some(one), Some(two)) => one != two && one.joined(two).is_none(),
                _ => false,
            },
        }
    }
}

impl From<LinkSpeed> for ReportedSpeed {
    fn from(known: LinkSpeed) -> Self {
        Self { known: Some(known), partial: None }
    }
}

impl From<Option<LinkSpeed>> for ReportedSpeed {
    fn from(known: Option<LinkSpeed>) -> Self {
        Self { known, partial: None }
    }
}

impl From<PartialSpeed> for ReportedSpeed {
    fn from(partial: PartialSpeed) -> Self {
        Self { known: None, partial: Some(partial) }
    }
}

/// Formats as in dumps; an unknown speed is `?????`.
impl fmt::Display for ReportedSpeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.known, self.partial) {
            (Some(known), _) => write!(f, "{known}"),
            (None, Some(partial)) => write!(f, "{partial}"),
            (None, None) => f.write_str("?????"),
        }
    }
}

impl fmt::Display for LinkSpeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InfiniBand { width, generation } => write!(f, "{width}x{}", generation.name()),
            Self::Rate(rate) => write!(f, "{rate}"),
        }
    }
}

/// Error for an invalid link speed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a link speed such as \"4xNDR\" or \"80 MB/s\"")]
pub struct SpeedError;

impl FromStr for LinkSpeed {
    type Err = SpeedError;

    fn from_str(text: &str) -> Result<Self, SpeedError> {
        if let Ok(rate) = text.parse() {
            return Ok(Self::Rate(rate));
        }
        let (width, generation) = text.trim().split_once('x').ok_or(SpeedError)?;
        let width = width.parse().map_err(|_| SpeedError)?;
        let generation = Generation::ALL
            .into_iter()
            .find(|candidate| candidate.name() == generation)
            .ok_or(SpeedError)?;
        if Self::WIDTHS.contains(&width) {
            Ok(Self::InfiniBand { width, generation })
        } else {
            Err(SpeedError)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_speeds_round_trip_and_combine() {
        for text in ["2x???", "12x???", "??HDR", "??FDR10"] {
            assert_eq!(text.parse::<PartialSpeed>().unwrap().to_string(), text);
        }
        for text in ["3x???", "x???", "?????", "???", "4xHDR", "??ABC", ""] {
            assert_eq!(text.parse::<PartialSpeed>(), Err(SpeedError), "{text}");
        }
        let (width, hdr) = (PartialSpeed::Width(2), PartialSpeed::Generation(Generation::Hdr));
        let speed: LinkSpeed = "2xHDR".parse().unwrap();
        assert_eq!((width.joined(hdr), hdr.joined(width)), (Some(speed), Some(speed)));
        assert_eq!(width.joined(width), None);
        assert!(width.fits(speed) && hdr.fits(speed));
        assert!(!width.fits("4xHDR".parse().unwrap()) && !hdr.fits("80 MB/s".parse().unwrap()));
    }

    #[test]
    fn link_speeds_round_trip_and_have_published_rates() {
        for (text, gbit) in [("4xSDR", 8.0), ("4xQDR", 32.0), ("4xEDR", 100.0), ("4xNDR", 400.0)] {
            let speed: LinkSpeed = text.parse().unwrap();
            assert_eq!(speed.to_string(), text);
            #[expect(clippy::cast_precision_loss, reason = "small numbers")]
            let measured = speed.rate().bytes_per_second() as f64 * 8e-9;
            assert!((measured - gbit).abs() < 1e-9, "{text}: {measured}");
        }
        assert_eq!("80 MB/s".parse::<LinkSpeed>().unwrap().to_string(), "80 MB/s");
        for text in ["4xABC", "3xNDR", "NDR", "", "80"] {
            assert_eq!(text.parse::<LinkSpeed>(), Err(SpeedError), "{text}");
        }
    }
}
