//! Whether loss comes of what is in flight: asked of the channel, never supposed.
//!
//! ```text
//!                 loss well above the usual                less loss than half way back: queues overflowed
//!   [untroubled] --------------------------> [on trial] ------------------------------> [under a ceiling]
//!        ^                                no more in flight    |                                 |
//!        |    as much loss as before:     than what came needs  |                                 |
//!        +--- it is the usual now ------------------------------+      the ceiling rises, is gone |
//!        +--------------------------------------------------------------------------------------+
//! ```
//!
//! Loss on a channel is not congestion: radio loses whether little or much is in flight. But a channel
//! whose queue is shorter than a flight window wants, or that polices, drops what is too much, and what was
//! dropped is accounted for like what came, so that a channel would seem to carry whatever it is given.
//! Only a trial tells these apart: with less in flight the one goes on, the other ends.
//!
//! Source: the upper bound of BBR version 2 (`inflight_hi`, draft-cardwell-iccrg-bbr-congestion-control); the trial is
//! ours, since BBR takes 2 % of loss for congestion, whatever it comes of.
//!
//! Invariants: a ceiling stands only after a trial, and rises by and by; losses that less in flight does not
//! lessen leave no ceiling.

use super::units::rate;

/// Losses are counted over so many packets, unless so many are lost before that the block is decided: with
/// a fifth lost at random, three blocks in a hundred differ by more than .055 from that.
const BLOCK_PACKETS: u32 = 256;
/// Parts of a whole.
const WHOLE: u64 = 1 << 16;
/// Well above the usual: by a sixteenth of all, and a quarter of the usual.
const EXCESS: u64 = WHOLE / 16;
/// Hardly above the usual, so that a ceiling rises, by a sixteenth.
const TRACE: u64 = WHOLE / 64;
const RISE_SHARE: u64 = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Untroubled,
    /// The loss that led to the trial.
    OnTrial(u64),
}

/// What a report tells of losses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tally {
    pub(super) now_ns: u64,
    pub(super) accounted_packets: u32,
    pub(super) received_packets: u32,
    pub(super) received_bytes: u64,
    /// By the receiver's clock.
    pub(super) came_at_ns: u64,
    pub(super) round_trip_ns: u64,
}

/// What a trial came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trial {
    /// So many bytes a second came, and would have with no more than the usual loss.
    Begins { bytes_per_second: u64 },
    /// What was lost had to do with what was in flight, or not.
    Ends { overflowed: bool },
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Ceiling {
    state: State,
    /// The usual loss, of a [`WHOLE`].
    usual: u64,
    bytes: Option<u64>,
    /// Where the block began; none before the first report, and while what was sent before a trial or
    /// its end is still reported on.
    begun: Option<Tally>,
    begin_at_ns: u64,
}

impl Ceiling {
    pub(super) const fn new() -> Self {
        let state = State::Untroubled;
        Self { state, usual: 0, bytes: None, begun: None, begin_at_ns: 0 }
    }

    /// The most that may be in flight, if there is a ceiling.
    pub(super) const fn bytes(&self) -> Option<u64> {
        self.bytes
    }

    /// Counts begin anew.
    pub(super) const fn restart(&mut self) {
        (self.state, self.begun) = (State::Untroubled, None);
    }

    pub(super) fn take(&mut self, tally: &Tally) -> Option<Trial> {
        let Some(begun) = self.begun else {
            if tally.now_ns >= self.begin_at_ns {
                self.begun = Some(*tally);
            }
            return None;
        };
        let packets = tally.accounted_packets.wrapping_sub(begun.accounted_packets);
        let came = tally.received_packets.wrapping_sub(begun.received_packets).min(packets);
        let lost_packets = u64::from(packets - came);
        let is_decided = lost_packets * WHOLE > self.much() * u64::from(BLOCK_PACKETS);
        if packets < BLOCK_PACKETS && !is_decided {
            return None;
        }
        let came = came_rate(&begun, tally);
        let trial = self.judge(lost_packets * WHOLE / u64::from(packets.max(1)), came);
        if trial.is_some() {
            self.begun = None;
            self.begin_at_ns = tally.now_ns + tally.round_trip_ns;
        } else {
            self.begun = Some(*tally);
        }
        trial
    }

    /// No more than this may be in flight.
    pub(super) const fn set(&mut self, bytes: u64) {
        self.bytes = Some(bytes);
    }

    /// More loss than this makes a trial, or ends it with nothing shown.
    const fn much(&self) -> u64 {
        match self.state {
            State::Untroubled => self.usual + EXCESS + self.usual / 4,
            State::OnTrial(before) => u64::midpoint(self.usual, before),
        }
    }

    /// A block has lost so much.
    fn judge(&mut self, lost: u64, came: u64) -> Option<Trial> {
        let is_much = lost > self.much();
        match self.state {
            State::OnTrial(_) => {
                self.state = State::Untroubled;
                if is_much {
                    (self.usual, self.bytes) = (lost.min(WHOLE - TRACE), None);
                }
                Some(Trial::Ends { overflowed: !is_much })
            }
            State::Untroubled if is_much => {
                self.state = State::OnTrial(lost);
                let bytes_per_second = came.saturating_mul(WHOLE) / (WHOLE - self.usual).max(1);
                Some(Trial::Begins { bytes_per_second })
            }
            State::Untroubled => {
                // Only a trial tells that more is usual, lest overflow becomes it by and by.
                self.usual = self.usual.min((7 * self.usual + lost) / 8);
                self.bytes = self.bytes.map(|bytes| {
                    if lost > self.usual + TRACE {
                        self.without_excess(bytes, lost)
                    } else {
                        bytes + bytes.div_ceil(RISE_SHARE)
                    }
                });
                None
            }
        }
    }

    /// Less by what was lost beyond the usual.
    fn without_excess(&self, bytes: u64, lost: u64) -> u64 {
        let kept = u128::from(bytes) * u128::from(WHOLE - (lost - self.usual));
        u64::try_from(kept / u128::from(WHOLE)).unwrap_or(u64::MAX)
    }

    /// A flight window that stays below needs no ceiling.
    pub(super) fn forget_above(&mut self, window_bytes: u64) {
        if self.state == State::Untroubled && self.bytes.is_some_and(|bytes| bytes > window_bytes) {
            self.bytes = None;
        }
    }
}

/// Bytes a second that came in a block.
fn came_rate(begun: &Tally, ended: &Tally) -> u64 {
    let bytes = ended.received_bytes.saturating_sub(begun.received_bytes);
    rate(bytes, ended.came_at_ns.saturating_sub(begun.came_at_ns))
}
