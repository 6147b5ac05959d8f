//! How sizes are found, what is found, and which size is probed next.

use core::time::Duration;

use crate::{MESSAGE_BYTES_MAX, OptionsError};

/// Of an interval no longer than this nothing more is probed: links have lengths that are multiples
/// of four.
const STEP_BYTES: u32 = 4;

/// The longest packets of links in use, probed before all else: Ethernet, and behind PPPoE (RFC
/// 2516), WireGuard (1,500 less 80), what many tunnels are set to, and the least of IPv6 (RFC 8200,
/// section 5).
const COMMON_BYTES: [u32; 5] = [1_500, 1_492, 1_420, 1_400, 1_280];

/// How the longest frames of channels are found: packetisation layer path MTU discovery for
/// datagrams (RFC 8899). Frames are what goes on a channel: a packet with its tag, or a message.
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
    /// `BASE_PLPMTU`, in bytes: what every channel is expected to pass, and as long as the shortest
    /// probe. One that does not is out.
    pub base: u32,
    /// `MAX_PLPMTU`, in bytes: no longer frame is probed, as the interfaces have it.
    pub max: u32,
    /// What a channel puts before a frame, in bytes, so that common sizes of links are probed first:
    /// 28 of UDP over IPv4, 48 over IPv6, 0 where a frame is all.
    pub headers: u32,
    /// `PMTU_RAISE_TIMER`: so long after a search is complete another begins.
    pub raise: Duration,
}

impl Default for SizePlan {
    /// 1,200 bytes and 600 s, the defaults of RFC 8899, section 5.1; 1,500 bytes at most.
    fn default() -> Self {
        Self { base: 1_200, max: 1_500, headers: 0, raise: Duration::from_secs(600) }
    }
}

impl SizePlan {
    /// A base that a message and a packet of a byte fit, and no longer than the maximum.
    pub(in crate::sender) fn check(&self) -> Result<(), OptionsError> {
        if self.raise.is_zero() {
            Err(OptionsError::Zero { option: "sizes.raise" })
        } else if (self.base as usize) < MESSAGE_BYTES_MAX || self.base > self.max {
            Err(OptionsError::BaseSize { base: self.base, max: self.max })
        } else {
            Ok(())
        }
    }

    /// What is too long before anything is known.
    pub(super) const fn beyond(&self) -> u32 {
        self.max.saturating_add(1)
    }

    /// The size to be probed next, between one that passes and one that does not, or may not: the
    /// largest, then the common ones, then the middle.
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

/// Where the search for the size of a channel stands: the states of RFC 8899, section 5.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeState {
    /// The base is probed, or a size that somebody says is the longest.
    Base,
    /// Larger sizes are probed.
    Searching,
    /// The size is the largest that passes, or is told.
    SearchComplete,
    /// Not even the base passes, or in strict order not what did: the channel is out, unless it is
    /// the last.
    Error,
}

/// How long the frames of a channel may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Where the search stands.
    pub state: SizeState,
    /// The longest frame, in bytes, a packet's tag included: the PLPMTU.
    pub frame_bytes: u32,
    /// The longest packet, in bytes.
    pub longest_bytes: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is probed on a path of so many bytes, and what is found.
    fn probes(plan: &SizePlan, path: u32) -> (Vec<u32>, u32) {
        let (mut passes, mut too_long, mut probes) = (plan.base, plan.beyond(), Vec::new());
        while let Some(bytes) = plan.next_probe(passes, too_long) {
            probes.push(bytes);
            *if bytes <= path { &mut passes } else { &mut too_long } = bytes;
        }
        (probes, passes)
    }

    /// The largest first, which is not known not to pass: a search ends whatever the largest is.
    #[test]
    fn a_search_up_to_the_most_there_is_ends() {
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
    fn a_base_that_no_message_fits_is_refused() {
        let plan = SizePlan::default();
        assert_eq!(plan.check(), Ok(()));
        assert!(SizePlan { base: 60, ..plan }.check().is_err());
        assert!(SizePlan { max: 1_199, ..plan }.check().is_err());
        assert!(SizePlan { raise: Duration::ZERO, ..plan }.check().is_err());
    }
}
