//! Random streams: one per component and purpose, with identical bits on every machine.
//!
//! The key of a stream is SHA-256(seed, stable name, purpose) and its generator is xoshiro256++
//! (Blackman and Vigna, "Scrambled Linear Pseudorandom Number Generators", ACM TOMS 47(4), 2021).
//! `libm` is used, because `ln` of the standard library differs between platforms.
//!
//! Invariant: a draw depends only on seed, name, purpose and the number of earlier draws of its
//! stream.

use rand_core::{Rng as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use sha2::{Digest, Sha256};

/// Purpose of a stream; part of its key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// Times between messages.
    Arrival,
    /// Message lengths.
    Length,
    /// Destinations.
    Destination,
    /// Starting phases.
    Phase,
    /// Delay between a source's scheduled start and its actual one.
    Start,
    /// Pairing of hosts that is drawn once.
    Permutation,
    /// Topology generation.
    Topology,
    /// Choice of paths.
    PathChoice,
    /// Choice of outputs.
    Output,
    /// Choice of a message's lane.
    Lane,
    /// Marking by a switch.
    Mark,
    /// Crash of an application.
    Crash,
    /// Choice of messages to be sampled.
    Sample,
    /// Order of operations without effect on results, as tests verify.
    Shuffle,
    /// Loss on a channel.
    Loss,
    /// Starts and ends of loss bursts.
    LossBurst,
    /// Bits damaged by a channel.
    Corruption,
    /// Duplication by a channel.
    Duplication,
    /// Delay of a channel in addition to its base delay.
    Jitter,
    /// Packets held back by a channel.
    Reordering,
}

impl Purpose {
    const fn tag(self) -> &'static [u8] {
        match self {
            Self::Arrival => b"arrival",
            Self::Length => b"length",
            Self::Destination => b"destination",
            Self::Phase => b"phase",
            Self::Start => b"start",
            Self::Permutation => b"permutation",
            Self::Topology => b"topology",
            Self::PathChoice => b"path-choice",
            Self::Output => b"output",
            Self::Lane => b"lane",
            Self::Mark => b"mark",
            Self::Crash => b"crash",
            Self::Sample => b"sample",
            Self::Shuffle => b"shuffle",
            Self::Loss => b"loss",
            Self::LossBurst => b"loss-burst",
            Self::Corruption => b"corruption",
            Self::Duplication => b"duplication",
            Self::Jitter => b"jitter",
            Self::Reordering => b"reordering",
        }
    }
}

/// Endless stream of random numbers.
#[derive(Clone, Debug)]
pub struct Stream {
    generator: Xoshiro256PlusPlus,
}

impl Stream {
    /// Creates the stream of `name` for `purpose`.
    pub fn new(seed: u64, name: &str, purpose: Purpose) -> Self {
        let mut hash = Sha256::new();
        hash.update(seed.to_le_bytes());
        hash.update((name.len() as u64).to_le_bytes());
        hash.update(name.as_bytes());
        hash.update(purpose.tag());
        Self { generator: Xoshiro256PlusPlus::from_seed(hash.finalize().into()) }
    }

    /// Next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// Uniform number in [0, 1) with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "53 bits are exact in a double")]
        let numerator = (self.bits() >> 11) as f64;
        numerator * (1.0 / 9_007_199_254_740_992.0)
    }

    /// Unbiased uniform number on 0..`bound` (Lemire, "Fast Random Integer Generation in an
    /// Interval", ACM TOMACS 29(1), 2019). Panics if `bound` is zero.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "there must be something to draw from");
        let mut product = u128::from(self.bits()) * u128::from(bound);
        if low_word(product) < bound {
            product = self.unbiased(product, bound);
        }
        u64::try_from(product >> 64).expect("the high word fits 64 bits")
    }

    /// Draws again if the product would cause a bias.
    #[cold]
    fn unbiased(&mut self, mut product: u128, bound: u64) -> u128 {
        let threshold = bound.wrapping_neg() % bound;
        while low_word(product) < threshold {
            product = u128::from(self.bits()) * u128::from(bound);
        }
        product
    }

    /// Exponentially distributed number.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.unit())
    }

    /// Normally distributed number (Box and Muller, "A Note on the Generation of Random Normal
    /// Deviates", Annals of Mathematical Statistics 29(2), 1958; the first of each pair).
    pub fn normal(&mut self, mean: f64, deviation: f64) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.unit()));
        mean + deviation * radius * libm::cos(2.0 * std::f64::consts::PI * self.unit())
    }

    /// Geometrically distributed number, at least 1, with the given mean.
    pub fn geometric(&mut self, mean: f64) -> u64 {
        assert!(mean >= 1.0, "a geometric length has a mean of at least 1");
        if mean <= 1.0 {
            return 1;
        }
        let failures = libm::floor(libm::log(1.0 - self.unit()) / libm::log1p(-1.0 / mean));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "non-negative; saturation far beyond any length is harmless"
        )]
        let failures = failures as u64;
        failures.saturating_add(1)
    }

    /// Shuffles items (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let bound = u64::try_from(last + 1).expect("a length fits 64 bits");
            let other = usize::try_from(self.below(bound)).expect("below a length");
            items.swap(last, other);
        }
    }
}

/// Draws by number: each depends on its number alone, whether or not others are drawn.
///
/// A draw is the finalizer of SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom
/// Number Generators", OOPSLA 2014) over a key and as many golden-ratio steps as its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counted {
    key: u64,
}

impl Counted {
    /// Creates the draws of `name` for `purpose`.
    pub fn new(seed: u64, name: &str, purpose: Purpose) -> Self {
        Self { key: Stream::new(seed, name, purpose).bits() }
    }

    /// Returns a separate set of draws for a number, such as a lane's.
    #[must_use]
    pub const fn of(self, number: u64) -> Self {
        Self { key: self.bits(number) }
    }

    /// Random bits of the draw with this number.
    pub const fn bits(self, number: u64) -> u64 {
        let mut z =
            self.key.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform number on 0..`bound`, which is far below 2^64, with negligible bias. Panics if
    /// `bound` is zero.
    pub fn below(self, number: u64, bound: u64) -> u64 {
        assert!(bound > 0, "there must be something to draw from");
        let product = u128::from(self.bits(number)) * u128::from(bound);
        u64::try_from(product >> 64).expect("the high word fits 64 bits")
    }
}

fn low_word(product: u128) -> u64 {
    #[expect(clippy::cast_possible_truncation, reason = "the low word is what is wanted")]
    let low = product as u64;
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_stream_depends_on_seed_name_and_purpose() {
        let first = |seed, name, purpose| Stream::new(seed, name, purpose).bits();
        let reference = first(7, "host", Purpose::Arrival);
        assert_eq!(reference, first(7, "host", Purpose::Arrival));
        assert_ne!(reference, first(8, "host", Purpose::Arrival));
        assert_ne!(reference, first(7, "host2", Purpose::Arrival));
        assert_ne!(reference, first(7, "host", Purpose::Length));
    }

    #[test]
    fn counted_draws_depend_only_on_their_number() {
        // Published by the authors of SplitMix64 for seed 1234567.
        let published = Counted { key: 1_234_567 };
        let expected = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973];
        assert_eq!([0, 1].map(|number| published.bits(number)), expected);
        let draws = Counted::new(1, "switch", Purpose::Output);
        assert_ne!(draws, Counted::new(1, "switch", Purpose::Mark));
        assert_ne!(draws.of(0).bits(7), draws.of(1).bits(7));
        let mut counts = [0_u32; 3];
        for number in 0..30_000 {
            counts[usize::try_from(draws.below(number, 3)).expect("below 3")] += 1;
        }
        // The limit is six standard deviations of 30,000 draws with probability 1/3.
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 490), "{counts:?}");
    }

    #[test]
    fn random_bits_are_pinned_across_platforms() {
        let mut stream = Stream::new(1, "pin", Purpose::Arrival);
        // Computed in Python: SHA-256 of hashlib and the published xoshiro256++ step.
        let expected = [4_721_105_503_479_540_874, 10_730_476_044_786_399_422];
        assert_eq!([stream.bits(), stream.bits()], expected);
    }

    /// Allows five standard errors.
    fn assert_mean(draws: impl Iterator<Item = f64>, n: usize, mean: f64, deviation: f64) {
        #[expect(clippy::cast_precision_loss, reason = "a small count")]
        let count = n as f64;
        let measured = draws.take(n).sum::<f64>() / count;
        let bound = 5.0 * deviation / count.sqrt();
        assert!((measured - mean).abs() < bound, "mean {measured}, expected {mean} +- {bound}");
    }

    #[test]
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    fn distributions_have_their_means() {
        let mut stream = Stream::new(3, "means", Purpose::Length);
        let n = 100_000;
        let mut draw = stream.clone();
        assert_mean(std::iter::from_fn(|| Some(draw.exponential(40.0))), n, 40.0, 40.0);
        let mut draw = stream.clone();
        let geometric = std::iter::from_fn(|| Some(draw.geometric(9.0) as f64));
        assert_mean(geometric, n, 9.0, (9.0_f64 * 8.0).sqrt());
        let below = std::iter::from_fn(|| Some(stream.below(6) as f64));
        assert_mean(below, n, 2.5, (35.0_f64 / 12.0).sqrt());
    }

    #[test]
    fn shuffle_keeps_every_item() {
        let mut items: Vec<u32> = (0..50).collect();
        Stream::new(1, "deck", Purpose::Shuffle).shuffle(&mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }
}
