//! Mean channel usage of a class's messages.
//!
//! ```text
//!   length drawn ──segmentation──► packets of at most L ──overhead, whole flits──► bytes on the wire
//! ```
//!
//! Route bytes and marks of wormhole packets are consumed along the path, so channels nearer to the
//! destination carry fewer of them. They are counted for each packet and hop.

use gingham_net::traffic::LengthPlan;
use gingham_net::{ClassPlan, PathId, PathLength, RoutingScheme, Switching};

const LENGTHS_MAX: u32 = 1 << 17;
/// Maximum length of an exponential distribution, in multiples of the mean; the tail beyond it has
/// a probability below 1e-13.
const EXPONENTIAL_MEANS: f64 = 30.0;

/// Mean wire usage of a message, without route bytes and in-transit marks.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Wire {
    /// Probability that a message takes this path.
    pub(super) share: f64,
    /// Mean number of packets per message, times `share`.
    pub(super) packets: f64,
    /// Mean number of wire bytes per message, times `share`.
    pub(super) bytes: f64,
}

impl Wire {
    #[inline]
    pub(super) fn bytes_on(&self, consumed: Consumed, left: PathLength) -> f64 {
        let Consumed { by_switch, by_host } = consumed;
        self.bytes
            + self.packets
                * (by_switch * real(left.switches) + by_host * real(left.in_transit_hosts))
    }
}

/// Bytes that each switch and in-transit host consumes from a packet; nonzero only for wormhole
/// packets.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Consumed {
    by_switch: f64,
    by_host: f64,
}

impl Consumed {
    pub(super) fn of(switching: &Switching) -> Self {
        match switching {
            Switching::Wormhole(plan) => Self {
                by_switch: f64::from(u8::from(plan.route_bytes)),
                by_host: f64::from(plan.mark_bytes),
            },
            Switching::VirtualLanes(_) | Switching::Packets(_) => Self::default(),
        }
    }
}

pub(super) struct Wires<'a> {
    class: &'a ClassPlan,
    switching: &'a Switching,
    routing: &'a RoutingScheme,
    lengths: Vec<(u32, f64)>,
    /// Usage by direct path and number of switches; the last entry is shared by the equally likely
    /// paths via intermediate switches.
    known: [Vec<Option<Wire>>; RoutingScheme::PATHS_MAX + 1],
}

impl<'a> Wires<'a> {
    pub(super) fn new(
        class: &'a ClassPlan,
        switching: &'a Switching,
        routing: &'a RoutingScheme,
        lengths: Vec<(u32, f64)>,
    ) -> Self {
        Self { class, switching, routing, lengths, known: Default::default() }
    }

    pub(super) fn of(&mut self, path: PathId, switches: usize) -> Wire {
        let place = path.via().map_or(path.index(), |_| RoutingScheme::PATHS_MAX);
        let known = &mut self.known[place];
        if known.len() <= switches {
            known.resize(switches + 1, None);
        }
        if let Some(known) = known[switches] {
            return known;
        }
        let longest = self.class.longest_packet_bytes(|| switches).max(1);
        let mut sum = Wire::default();
        for (length, probability) in &self.lengths {
            let probability = probability * self.probability_of(path, *length);
            let (packets, bytes) = self.message(*length, longest);
            sum.share += probability;
            sum.packets += probability * packets;
            sum.bytes += probability * bytes;
        }
        self.known[place][switches] = Some(sum);
        sum
    }

    /// Returns the probability that a message takes a path; 1 for the primary path if the choice is
    /// not known before the run.
    fn probability_of(&self, path: PathId, length: u32) -> f64 {
        let by_default = f64::from(u8::from(path == PathId::PRIMARY));
        self.routing.probability(path, length).unwrap_or(by_default)
    }

    fn message(&self, length: u32, longest: u32) -> (f64, f64) {
        let whole = (length - 1) / longest;
        let last = length - whole * longest;
        let bytes = f64::from(whole) * self.packet(longest) + self.packet(last);
        (f64::from(whole) + 1.0, bytes)
    }

    fn packet(&self, payload: u32) -> f64 {
        match self.switching {
            Switching::Wormhole(plan) => f64::from(payload) + f64::from(plan.overhead_bytes),
            Switching::VirtualLanes(plan) => {
                exact(plan.packet_flits(payload)) * f64::from(plan.flit_bytes)
            }
            Switching::Packets(plan) => exact(plan.wire_bytes(payload)),
        }
    }
}

/// Returns message lengths in bytes with their probabilities. Beyond [`LENGTHS_MAX`] lengths,
/// neighbouring lengths form groups, each represented by its middle.
pub(super) fn lengths(plan: &LengthPlan) -> Vec<(u32, f64)> {
    match plan {
        LengthPlan::Fixed(bytes) => vec![(*bytes, 1.0)],
        LengthPlan::Bimodal { short, long, long_share } => {
            vec![(*short, 1.0 - long_share), (*long, *long_share)]
        }
        LengthPlan::Empirical(lengths) => lengths.shares().collect(),
        LengthPlan::Uniform { from, to } => {
            let count = f64::from(to - from) + 1.0;
            let group = (to - from) / LENGTHS_MAX + 1;
            groups(*from, *to, group)
                .map(|(middle, size)| (middle, f64::from(size) / count))
                .collect()
        }
        LengthPlan::Exponential(mean) => exponential(*mean),
    }
}

/// Returns a geometric distribution over 1, 2, 3, ...: a length exceeds `k` with probability `q^k`.
fn exponential(mean: f64) -> Vec<(u32, f64)> {
    if mean <= 1.0 {
        return vec![(1, 1.0)];
    }
    let above = |bytes: u32| power(1.0 - 1.0 / mean, bytes);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let last = (mean * EXPONENTIAL_MEANS).ceil() as u32;
    let of_group = |(middle, size): (u32, u32)| {
        let first = middle - (size - 1) / 2;
        (middle, above(first - 1) - above(first - 1 + size))
    };
    groups(1, last, last / LENGTHS_MAX + 1).map(of_group).collect()
}

/// Computes a power by repeated squaring; bit-identical on every platform.
fn power(base: f64, exponent: u32) -> f64 {
    let (mut square, mut rest, mut product) = (base, exponent, 1.0);
    while rest > 0 {
        if rest % 2 == 1 {
            product *= square;
        }
        square *= square;
        rest /= 2;
    }
    product
}

fn groups(from: u32, to: u32, size: u32) -> impl Iterator<Item = (u32, u32)> {
    (from..=to).step_by(size as usize).map(move |first| {
        let size = size.min(to - first + 1);
        (first + (size - 1) / 2, size)
    })
}

#[expect(clippy::cast_precision_loss, reason = "bytes of a packet")]
fn exact(bytes: u64) -> f64 {
    bytes as f64
}

#[expect(clippy::cast_precision_loss, reason = "switches of a path")]
fn real(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_distribution_has_the_planned_mean() {
        for plan in [
            LengthPlan::Fixed(512),
            LengthPlan::Bimodal { short: 16, long: 1_024, long_share: 0.2 },
            LengthPlan::Uniform { from: 64, to: 1_024 },
            LengthPlan::Uniform { from: 1, to: 1 << 24 },
            LengthPlan::Exponential(512.0),
            LengthPlan::Exponential(1e6),
        ] {
            let found = lengths(&plan);
            let probability: f64 = found.iter().map(|(_, share)| share).sum();
            assert!((probability - 1.0).abs() < 1e-9, "{plan:?}: {probability}");
            let mean: f64 = found.iter().map(|(bytes, share)| f64::from(*bytes) * share).sum();
            assert!((mean / plan.mean_bytes() - 1.0).abs() < 1e-5, "{plan:?}: {mean}");
        }
    }

    #[test]
    fn geometric_length_packet_count_matches_closed_form() {
        // With q = 1 - 1/90 and packets of at most L = 64 bytes, a message has more than k packets
        // with probability q^(k L), and therefore a mean of 1 / (1 - q^L) packets.
        let q: f64 = 1.0 - 1.0 / 90.0;
        let expected = 1.0 / (1.0 - (0..64).fold(1.0, |power, _| power * q));
        let packets = |length: u32| f64::from(length.div_ceil(64));
        let found: f64 = lengths(&LengthPlan::Exponential(90.0))
            .iter()
            .map(|(l, share)| share * packets(*l))
            .sum();
        assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
    }
}
