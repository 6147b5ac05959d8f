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
//! Loss on a channel is not congestion: radio loses whether little or much is in flight. But a
//! channel whose queue is shorter than a flight window wants, or that polices, drops what is too
//! much, and what was dropped is accounted for like what came, so that a channel would seem to
//! carry whatever it is given. Only a trial tells these apart: with less in flight the one goes on,
//! the other ends.
//!
//! Source: the upper bound of BBR version 2 (`inflight_hi`,
//! draft-cardwell-iccrg-bbr-congestion-control); the trial is ours, since BBR takes 2 % of loss for
//! congestion, whatever it comes of.
//!
//! Invariants: a ceiling stands only after a trial, and rises by and by; losses that less in flight
//! does not lessen leave no ceiling.

use super::units::{is_over, percent_of, rate};

/// Losses are counted over so many packets, unless so many are lost before that the block is
/// decided.
const BLOCK_PACKETS: u32 = 256;
/// And over fewer on trial and under a ceiling, which cost.
const TRIAL_PACKETS: u32 = 64;
/// So many blocks in a row lead to a trial.
const SUSPECT_BLOCKS: u32 = 2;
/// Parts of a whole.
const WHOLE: u64 = 1 << 16;
/// Well above the usual: by a sixteenth, and the usual again up to an eighth. Of a block that loses
/// half at random that is six standard deviations.
const EXCESS: u64 = WHOLE / 16;
const EXCESS_AGAIN_MAX: u64 = WHOLE / 8;
/// Hardly above the usual, so that a ceiling rises: by a sixteenth, then by twice as much each
/// time.
const TRACE: u64 = WHOLE / 64;
const RISE_FIRST: u64 = WHOLE / 16;
/// Where that was too much it goes back, and stays for so long, as in BBR version 2; and as long it
/// stays once it is not needed any more.
const HOLD_NS: u64 = 2_000_000_000;
/// What comes in a block is at most so much of what the channel carries, but for the usual loss.
const CAME_PERCENT: u64 = 112;
const CAME_FADES_PERCENT: u64 = 90;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Untroubled,
    /// The loss that led to the trial.
    OnTrial(u64),
}

/// What a report tells of losses.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) now_ns: u64,
    pub(super) accounted_packets: u32,
    pub(super) received_packets: u32,
    pub(super) received_bytes: u64,
    /// By the receiver's clock.
    pub(super) came_at_ns: u64,
    /// When the last marker was sent that has come.
    pub(super) echo_ns: u64,
}

/// What a trial came to, and how many bytes a second came, but for the usual loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trial {
    /// No more is to be in flight than that needs.
    Begins { bytes_per_second: u64 },
    /// Loss went with what was in flight: queues had overflowed.
    Overflowed { bytes_per_second: u64 },
    /// Loss stayed.
    NothingShown,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Ceiling {
    state: State,
    /// The usual loss, of a [`WHOLE`], and the most that a trial has shown to be.
    usual: u64,
    proven: u64,
    /// Blocks in a row with much more.
    suspect_blocks: u32,
    bytes: Option<u64>,
    rise: u64,
    rise_at_ns: u64,
    /// Since when the flight window would be no larger without.
    needless_from_ns: Option<u64>,
    /// Bytes a second that came in the last block, and would have with the usual loss made good;
    /// and the most of that, which fades.
    came: u64,
    came_most: u64,
    /// Where the block began; none while no marker has come that was sent since a trial began or
    /// ended, for only that accounts for all that was sent before.
    begun: Option<Tally>,
    begin_at_ns: u64,
}

impl Ceiling {
    pub(super) const fn new() -> Self {
        Self {
            state: State::Untroubled,
            usual: 0,
            proven: 0,
            suspect_blocks: 0,
            bytes: None,
            rise: RISE_FIRST,
            rise_at_ns: 0,
            needless_from_ns: None,
            came: 0,
            came_most: 0,
            begun: None,
            begin_at_ns: 0,
        }
    }

    /// The most that may be in flight, if there is a ceiling.
    pub(super) const fn bytes(&self) -> Option<u64> {
        self.bytes
    }

    /// No more than this may be in flight.
    pub(super) const fn set(&mut self, bytes: u64) {
        (self.bytes, self.rise, self.rise_at_ns) = (Some(bytes), RISE_FIRST, 0);
    }

    /// The most that the channel can be taken to carry: what it drops is accounted for, too.
    pub(super) fn bytes_per_second_max(&self) -> u64 {
        self.bytes.map_or(u64::MAX, |_| percent_of(self.came_most, CAME_PERCENT))
    }

    /// A flight window that would be no larger without a ceiling needs none, if that lasts.
    pub(super) fn bound(&mut self, now_ns: u64, window_bytes: u64) {
        let Some(bytes) = self.bytes else { return };
        if bytes < window_bytes || self.state != State::Untroubled {
            self.needless_from_ns = None;
            return;
        }
        self.bytes = Some(window_bytes);
        let since_ns = *self.needless_from_ns.get_or_insert(now_ns);
        if now_ns.abs_diff(since_ns) >= HOLD_NS {
            (self.bytes, self.needless_from_ns) = (None, None);
        }
    }

    /// Counts begin anew.
    pub(super) const fn restart(&mut self) {
        (self.state, self.begun, self.suspect_blocks) = (State::Untroubled, None, 0);
    }

    pub(super) fn take(&mut self, tally: &Tally) -> Option<Trial> {
        let Some(begun) = self.begun else {
            if tally.echo_ns >= self.begin_at_ns || self.begin_at_ns > tally.now_ns {
                self.begun = Some(*tally);
            }
            return None;
        };
        let packets = tally.accounted_packets.wrapping_sub(begun.accounted_packets);
        let came = tally.received_packets.wrapping_sub(begun.received_packets).min(packets);
        let lost_packets = u64::from(packets - came);
        let is_decided = lost_packets * WHOLE > self.much() * u64::from(self.block_packets());
        if packets < self.block_packets() && !is_decided {
            return None;
        }
        self.came = self.but_for_the_usual(came_rate(&begun, tally));
        self.came_most = self.came.max(percent_of(self.came_most, CAME_FADES_PERCENT));
        let trial = self.judge(tally.now_ns, lost_packets * WHOLE / u64::from(packets.max(1)));
        self.begun = trial.is_none().then_some(*tally);
        self.begin_at_ns = tally.now_ns;
        trial
    }

    /// Shares of more than a whole are none, and less than the least window is no ceiling.
    pub(super) fn mend(&mut self, window_bytes_min: u64) {
        let is_sound = self.usual <= WHOLE - TRACE
            && self.proven <= WHOLE
            && self.rise <= WHOLE
            && self.suspect_blocks < SUSPECT_BLOCKS
            && !matches!(self.state, State::OnTrial(before) if before > WHOLE);
        if !is_sound {
            *self = Self::new();
        }
        self.bytes = self.bytes.map(|bytes| bytes.max(window_bytes_min));
    }

    /// What would come if the usual loss were made good.
    pub(super) fn but_for_the_usual(&self, came: u64) -> u64 {
        percent_of(came, 100 * WHOLE / (WHOLE - self.usual))
    }

    const fn block_packets(&self) -> u32 {
        match self.state {
            State::Untroubled if self.bytes.is_none() => BLOCK_PACKETS,
            _ => TRIAL_PACKETS,
        }
    }

    /// More loss than this makes a trial, or ends it with nothing shown.
    const fn much(&self) -> u64 {
        match self.state {
            State::Untroubled if self.usual < EXCESS_AGAIN_MAX => 2 * self.usual + EXCESS,
            State::Untroubled => self.usual + EXCESS_AGAIN_MAX + EXCESS,
            State::OnTrial(before) => u64::midpoint(self.usual, before),
        }
    }

    /// A block has lost so much.
    fn judge(&mut self, now_ns: u64, lost: u64) -> Option<Trial> {
        let (is_much, bytes_per_second) = (lost > self.much(), self.came);
        match self.state {
            State::OnTrial(_) if is_much => {
                self.state = State::Untroubled;
                self.usual = lost.min(WHOLE - TRACE);
                (self.proven, self.bytes) = (self.usual, None);
                Some(Trial::NothingShown)
            }
            State::OnTrial(_) => {
                self.state = State::Untroubled;
                Some(Trial::Overflowed { bytes_per_second })
            }
            State::Untroubled if is_much => {
                self.suspect_blocks += 1;
                if self.suspect_blocks < SUSPECT_BLOCKS {
                    self.move_ceiling(now_ns, lost);
                    return None;
                }
                self.suspect_blocks = 0;
                self.state = State::OnTrial(lost);
                Some(Trial::Begins { bytes_per_second: self.came_most })
            }
            State::Untroubled => {
                self.suspect_blocks = 0;
                // Only a trial tells that more is usual, lest overflow becomes it by and by.
                let usual = ((7 * self.usual + lost) / 8).min(self.proven + TRACE);
                self.usual = usual.min(WHOLE - TRACE);
                self.move_ceiling(now_ns, lost);
                None
            }
        }
    }

    /// Back by what was lost beyond the usual, or up.
    fn move_ceiling(&mut self, now_ns: u64, lost: u64) {
        let Some(bytes) = self.bytes else { return };
        let share = if lost > self.usual + TRACE {
            (self.rise, self.rise_at_ns) = (RISE_FIRST, now_ns.saturating_add(HOLD_NS));
            self.needless_from_ns = None;
            WHOLE - (lost - self.usual)
        } else if !is_over(now_ns, self.rise_at_ns, HOLD_NS) {
            WHOLE
        } else {
            let share = WHOLE + self.rise;
            self.rise = (2 * self.rise).min(WHOLE);
            share
        };
        let moved = u128::from(bytes) * u128::from(share) / u128::from(WHOLE);
        self.bytes = Some(u64::try_from(moved).unwrap_or(u64::MAX));
    }
}

/// Bytes a second that came in a block.
fn came_rate(begun: &Tally, ended: &Tally) -> u64 {
    let bytes = ended.received_bytes.saturating_sub(begun.received_bytes);
    rate(bytes, ended.came_at_ns.saturating_sub(begun.came_at_ns))
}

#[cfg(test)]
impl Ceiling {
    pub(super) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        self.state =
            if words().is_multiple_of(2) { State::Untroubled } else { State::OnTrial(words()) };
        (self.usual, self.proven) = (words(), words());
        self.suspect_blocks = crate::corruption::word(words);
        (self.bytes, self.rise, self.rise_at_ns) = (Some(words()), words(), words());
        (self.needless_from_ns, self.begin_at_ns) = (Some(words()), words());
        (self.came, self.came_most) = (words(), words());
        self.begun = Some(Tally {
            now_ns: words(),
            accounted_packets: crate::corruption::word(words),
            received_packets: crate::corruption::word(words),
            received_bytes: words(),
            came_at_ns: words(),
            echo_ns: words(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: u64 = 1_000_000;

    /// Reports on blocks of packets of 1,000 bytes, one each millisecond, markers at once.
    struct Story {
        ceiling: Ceiling,
        tally: Tally,
    }

    impl Story {
        fn new() -> Self {
            let mut story = Self { ceiling: Ceiling::new(), tally: Tally::default() };
            assert_eq!(story.block(0, 0), None);
            story
        }

        fn block(&mut self, packets: u32, lost: u32) -> Option<Trial> {
            self.tally.accounted_packets += packets;
            self.tally.received_packets += packets - lost;
            self.tally.received_bytes += u64::from(packets - lost) * 1_000;
            self.tally.now_ns += u64::from(packets) * MILLISECOND;
            self.tally.came_at_ns = self.tally.now_ns;
            self.tally.echo_ns = self.tally.now_ns;
            self.ceiling.take(&self.tally)
        }
    }

    /// 48 of 256 are lost, twice. 208 came in 256 ms. On trial 16 of 64 are lost: as much.
    #[test]
    fn loss_that_less_in_flight_does_not_lessen_is_usual() {
        let mut story = Story::new();
        assert_eq!(story.block(256, 48), None);
        assert_eq!(story.block(256, 48), Some(Trial::Begins { bytes_per_second: 812_500 }));
        story.ceiling.set(10_000);
        assert_eq!(story.block(10, 10), None, "what was sent before is not counted");
        assert_eq!(story.block(64, 16), Some(Trial::NothingShown));
        assert_eq!((story.ceiling.bytes(), story.ceiling.usual), (None, WHOLE / 4));
        assert_eq!(story.block(0, 0), None);
        for _ in 0..10 {
            assert_eq!(story.block(256, 64), None, "a quarter is lost as usual");
        }
    }

    /// On trial nothing is lost. Then 10,000 rise by a sixteenth and by an eighth, until 4 of 64
    /// are lost: a sixteenth less, but for an eighth of that, which is usual by then; and so they
    /// stay for two seconds.
    #[test]
    fn loss_that_goes_with_what_is_in_flight_leaves_a_ceiling() {
        let mut story = Story::new();
        story.block(256, 48);
        story.block(256, 48);
        story.ceiling.set(10_000);
        story.block(10, 10);
        assert_eq!(story.block(64, 0), Some(Trial::Overflowed { bytes_per_second: 1_000_000 }));
        story.block(0, 0);
        let mut after = |lost| {
            assert_eq!(story.block(64, lost), None);
            story.ceiling.bytes().unwrap()
        };
        assert_eq!((after(0), after(0)), (10_625, 11_953));
        assert_eq!(after(4), 11_299);
        for _ in 0..31 {
            assert_eq!(after(0), 11_299);
        }
        assert_eq!(after(0), 12_005, "32 blocks of 64 ms later");
    }

    /// One bad block may be chance; and blocks are decided as soon as enough is lost.
    #[test]
    fn one_block_is_not_enough_and_many_losses_need_no_whole_block() {
        let mut story = Story::new();
        assert_eq!(story.block(256, 48), None);
        assert_eq!(story.block(256, 0), None);
        assert_eq!(story.block(20, 16), None, "16 of 256 are a sixteenth, and not more");
        assert_eq!(story.block(1, 1), None);
        assert!(matches!(story.block(20, 20), Some(Trial::Begins { .. })));
    }

    #[test]
    fn a_ceiling_that_has_not_been_needed_for_a_while_goes() {
        let mut ceiling = Ceiling::new();
        ceiling.set(10_000);
        ceiling.bound(0, 20_000);
        assert_eq!(ceiling.bytes(), Some(10_000));
        ceiling.bound(1, 9_000);
        assert_eq!(ceiling.bytes(), Some(9_000));
        ceiling.bound(HOLD_NS, 9_000);
        assert_eq!(ceiling.bytes(), Some(9_000));
        ceiling.bound(HOLD_NS + 1, 9_000);
        assert_eq!(ceiling.bytes(), None);
    }
}
