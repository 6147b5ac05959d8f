use core::time::Duration;

use crate::{MESSAGE_BYTES_MAX, OptionsError};

/// Width of the size interval at which the search ends: link MTUs are multiples of four.
const STEP_BYTES: u32 = 4;

/// Common MTUs: Ethernet; PPPoE (RFC 2516); WireGuard (1,500 less 80); a common tunnel setting; the
/// IPv6 minimum (RFC 8200, section 5).
const COMMON_BYTES: [u32; 5] = [1_500, 1_492, 1_420, 1_400, 1_280];

/// Plan of the search for the maximum frame size of each channel (RFC 8899). A frame is a packet
/// with its tag, or a message.
///
/// ```
/// use gingham_fairq::SurplusRoundRobin;
/// use gingham_stripe::{Epoch, Instant, Sender, SenderOptions, SizePlan, SizeState};
///
/// let scheduler = SurplusRoundRobin::<2>::new(9_000, &[9_000, 9_000])?;
/// let sizes = Some(SizePlan { max: 9_000, ..SizePlan::default() });
/// let options = SenderOptions { sizes, ..SenderOptions::default() };
/// let mut sender = Sender::synchronised(scheduler, options, Epoch::new(1), Instant::ORIGIN)?;
/// assert_eq!((sender.longest_bytes(), sender.size(0).state), (1_200, SizeState::Base));
/// // Markers, and two probes as long as the base.
/// let mut lengths = Vec::new();
/// while let Some((channel, message)) = sender.poll_message(Instant::ORIGIN) {
///     lengths.push(message.to_bytes().len().max(sender.padded_bytes(channel)));
/// }
/// assert_eq!(lengths, [68, 68, 1_200, 1_200]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizePlan {
    /// `BASE_PLPMTU`, in bytes: a frame size assumed to pass every channel.
    pub base: u32,
    /// `MAX_PLPMTU`, in bytes: the maximum frame size probed.
    pub max: u32,
    /// Header bytes before a frame: 28 for UDP over IPv4, 48 for UDP over IPv6, 0 for bare frames.
    pub headers: u32,
    /// `PMTU_RAISE_TIMER`: time from the end of a search to the start of the next.
    pub raise: Duration,
}

impl Default for SizePlan {
    /// Returns the defaults of RFC 8899, section 5.1, with a maximum of 1,500 bytes.
    fn default() -> Self {
        Self { base: 1_200, max: 1_500, headers: 0, raise: Duration::from_secs(600) }
    }
}

impl SizePlan {
    pub(in crate::sender) fn check(&self) -> Result<(), OptionsError> {
        if self.raise.is_zero() {
            Err(OptionsError::Zero { option: "sizes.raise" })
        } else if (self.base as usize) < MESSAGE_BYTES_MAX || self.base > self.max {
            Err(OptionsError::BaseSize { base: self.base, max: self.max })
        } else {
            Ok(())
        }
    }

    pub(super) const fn beyond(&self) -> u32 {
        self.max.saturating_add(1)
    }

    /// Returns the next size to probe: the maximum, then common sizes, then the middle of the
    /// interval.
    pub(super) fn next_probe(&self, passes: u32, too_long: u32) -> Option<u32> {
        if too_long > self.max {
            return (passes < self.max).then_some(self.max);
        }
        let is_between = |bytes: &u32| passes < *bytes && *bytes < too_long;
        let mut common = COMMON_BYTES.map(|bytes| bytes.saturating_sub(self.headers)).into_iter();
        let gap = too_long.saturating_sub(passes);
        common.find(is_between).or_else(|| (gap > STEP_BYTES).then_some(passes + gap / 2))
    }
}

/// State of a size search (RFC 8899, section 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeState {
    /// The base size, or a size reported by the network, is being confirmed.
    Base,
    /// Larger sizes are being probed.
    Searching,
    /// The maximum size is known or configured.
    SearchComplete,
    /// The base size, or in strict order the former size, does not pass.
    Error,
}

/// Frame and packet limits of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// State of the search.
    pub state: SizeState,
    /// Maximum frame size, including the tag: the PLPMTU.
    pub frame_bytes: u32,
    /// Maximum packet length.
    pub longest_bytes: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probes(plan: &SizePlan, path: u32) -> (Vec<u32>, u32) {
        let (mut passes, mut too_long, mut probes) = (plan.base, plan.beyond(), Vec::new());
        while let Some(bytes) = plan.next_probe(passes, too_long) {
            probes.push(bytes);
            *if bytes <= path { &mut passes } else { &mut too_long } = bytes;
        }
        (probes, passes)
    }

    #[test]
    fn size_search_ends_for_any_maximum() {
        let plan = SizePlan { max: u32::MAX, ..SizePlan::default() };
        assert!(plan.check().is_ok());
        let (probes, found) = probes(&plan, 1_500);
        assert!(probes.len() < 40 && found == 1_500, "{probes:?}");
    }

    #[test]
    fn common_sizes_are_probed_before_the_middle() {
        let plan = SizePlan::default();
        assert_eq!(probes(&plan, 1_500), (vec![1_500], 1_500));
        assert_eq!(probes(&plan, 1_492), (vec![1_500, 1_492, 1_496], 1_492));
        let expected = vec![1_500, 1_492, 1_420, 1_400, 1_280, 1_340, 1_310, 1_295, 1_287, 1_283];
        assert_eq!(probes(&plan, 1_280), (expected, 1_280));
        let udp = SizePlan { headers: 28, max: 1_472, ..plan };
        assert_eq!(
            probes(&udp, 1_392),
            (vec![1_472, 1_464, 1_392, 1_428, 1_410, 1_401, 1_396], 1_392)
        );
    }

    #[test]
    fn every_size_is_found_to_within_a_step() {
        let plan = SizePlan { max: 9_000, ..SizePlan::default() };
        for path in 1_200..=9_000 {
            let (probes, found) = probes(&plan, path);
            assert!(found <= path && path < found + STEP_BYTES, "{found} of {path}");
            assert!(probes.len() <= 20, "{path}: {probes:?}");
        }
    }

    #[test]
    fn base_size_below_a_message_is_rejected() {
        let plan = SizePlan::default();
        assert_eq!(plan.check(), Ok(()));
        assert!(SizePlan { base: 60, ..plan }.check().is_err());
        assert!(SizePlan { max: 1_199, ..plan }.check().is_err());
        assert!(SizePlan { raise: Duration::ZERO, ..plan }.check().is_err());
    }
}
