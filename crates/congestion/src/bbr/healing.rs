//! A path that lost most of what was sent, whatever the pace, and does so no more.
//!
//! ```text
//!   lost      > 1/4 in each of four rounds on end that do not probe     nothing in three rounds
//!   state     DOWN, CRUISE ...                                          --> Startup
//! ```
//!
//! Losses at a pace that the path was found to carry are not of the sender's making, but they leave
//! the bounds of the model at their least. Probes then raise them a little in each cycle of seconds,
//! and a path that is good again stays nearly unused for a minute or longer. So it is looked at
//! anew, as after an idle time in TCP (RFC 5681, section 4.1).
//!
//! A round that lost less ends the row of heavy ones. Of many flows in one full queue each has a few
//! packets in flight, and loses a quarter of them now and then. That is congestion, and a flow that
//! began anew would make it worse.
//!
//! Source: ours. The draft has no such state.
//!
//! Invariant: losses of probes alone never lead here.

use super::{Bbr, INFINITY};

/// More than one byte in so many lost is heavy loss.
const HEAVY_SHARE: u64 = 4;
/// Rounds of heavy loss, one after another, after which the model says nothing of a path without.
const HEAVY_ROUNDS: u32 = 4;
/// Rounds without any loss after which it is taken to be such a path.
const CLEAN_ROUNDS: u32 = 3;

/// What was lost lately.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Healing {
    came_bytes: u64,
    lost_bytes: u64,
    heavy_rounds: u32,
    clean_rounds: u32,
}

impl Bbr {
    /// What an acknowledgement tells; at the end of a round that is weighed.
    pub(super) fn check_healed(&mut self, lost_bytes: u64) {
        let is_probing = self.state.is_probing_bw();
        let healing = &mut self.healing;
        healing.came_bytes = healing.came_bytes.saturating_add(self.seen.newly_acked_bytes);
        healing.lost_bytes = healing.lost_bytes.saturating_add(lost_bytes);
        if !self.round.is_start {
            return;
        }
        let (came_bytes, lost_bytes) = (healing.came_bytes, healing.lost_bytes);
        (healing.came_bytes, healing.lost_bytes) = (0, 0);
        if lost_bytes > came_bytes / (HEAVY_SHARE - 1) {
            healing.clean_rounds = 0;
            healing.heavy_rounds = healing.heavy_rounds.saturating_add(u32::from(!is_probing));
        } else {
            // Fewer than that were no row.
            if healing.heavy_rounds < HEAVY_ROUNDS {
                healing.heavy_rounds = 0;
            }
            let is_clean = lost_bytes == 0;
            let clean_rounds = healing.clean_rounds.saturating_add(u32::from(came_bytes > 0));
            healing.clean_rounds = if is_clean { clean_rounds } else { 0 };
        }
        if healing.clean_rounds >= CLEAN_ROUNDS {
            let was_heavy = healing.heavy_rounds >= HEAVY_ROUNDS;
            *healing = Healing::default();
            if was_heavy && self.full_pipe.full_bw_reached {
                self.start_anew();
            }
        }
    }

    fn start_anew(&mut self) {
        self.full_pipe = super::FullPipe::default();
        self.full_pipe.reset(self.seen.delivery_rate);
        self.bounds.inflight_longterm = INFINITY;
        self.reset_short_term_model();
        self.bounds.loss_events = 0;
        self.cycle.forget_probes();
        self.enter_startup();
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Step, Trace};
    use super::super::{INFINITY, State};

    /// Two thirds of 3,000 bytes are lost in a round, at a pace that the path was found to carry.
    const HEAVY: Step = Step {
        came: 1_000,
        bytes_per_second: 50_000,
        lost: 2_000,
        tx_in_flight: 3_000,
        in_flight: 1_000,
        is_app_limited: false,
    };
    const CLEAN: Step = Step { lost: 0, came: 3_000, bytes_per_second: 150_000, ..HEAVY };

    /// After rounds of which each lost heavily or lightly, and so many without any loss.
    fn after(lossy: &[Step], clean: u32) -> Trace {
        let mut trace = Trace::cruising();
        for step in lossy {
            trace.round(*step);
        }
        (0..clean).for_each(|_| trace.round(CLEAN));
        trace
    }

    /// Four rounds of heavy loss and three without any: it begins anew, without a bound. Three of
    /// heavy loss are not enough, nor are two without any.
    #[test]
    fn a_path_that_lost_much_and_does_so_no_more_is_looked_at_anew() {
        for (heavy, clean, is_anew) in [(4, 3, true), (3, 3, false), (4, 2, false)] {
            let trace = after(&vec![HEAVY; heavy], clean);
            assert_eq!(trace.bbr.state == State::Startup, is_anew, "{heavy} and {clean}");
            if is_anew {
                assert_eq!(trace.bbr.bounds.inflight_longterm, INFINITY);
                assert_eq!(trace.bbr.bounds.inflight_shortterm, INFINITY);
            }
        }
    }

    /// A sixth lost is not heavy: of rounds on its two sides only those after it count. Where four on
    /// end were heavy, it takes nothing back.
    #[test]
    fn a_round_of_light_loss_ends_a_row_of_heavy_ones() {
        let light = Step { lost: 500, came: 2_500, bytes_per_second: 125_000, ..HEAVY };
        for (before, after_it, is_anew) in
            [(3, 1, false), (2, 3, false), (0, 4, true), (4, 0, true)]
        {
            let lossy = [vec![HEAVY; before], vec![light], vec![HEAVY; after_it]].concat();
            let state = after(&lossy, 3).bbr.state;
            assert_eq!(state == State::Startup, is_anew, "{before} and {after_it}");
        }
    }
}
