//! InfiniBand's congestion control annex at a switch: forward explicit congestion notification.
//!
//! ```text
//!   settled     more bytes than the threshold wait for the lane of an output
//!                  ├─ space at its other end ─────► root of congestion: marks
//!                  └─ no space at its other end ──► victim: marks only with the victim mask
//!   forwarded   for starting packets of at least `packet_size`: one marked, then `marking_rate` unmarked
//! ```
//!
//! Source: InfiniBand Architecture Specification, Volume 1, annex A10; names and units as in
//! OpenSM. The annex leaves thresholds to vendors. Ours: the limit in sixteenths of the lane's
//! input buffer, evaluation when a head is read, and marking at regular intervals.
//!
//! Invariant: no packet is marked at an output without waiting packets.

use super::waiting::Waiting;
use super::{Mark, Policy, Trigger};
use crate::{BLOCK_BYTES, Plan, Stay, Switching};
use gingham_kernel::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `fecn`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Fecn {
    /// `cc_sw_cong_setting_threshold`: 0 disables marking, 1 is the loosest threshold, 15 the
    /// strictest. An output is congested if the bytes that wait for it exceed `(16 - threshold) /
    /// 16` of the lane's input buffer (ours). Default: 15.
    #[schemars(range(min = 0, max = 15))]
    pub threshold: u8,
    /// `cc_sw_cong_setting_packet_size`: minimum size of marked packets, in units of 64 B. Default:
    /// 8.
    #[schemars(range(min = 0, max = 65_535))]
    pub packet_size: u16,
    /// `cc_sw_cong_setting_marking_rate`: number of eligible packets that pass unmarked between two
    /// marked packets. Default: 0.
    #[schemars(range(min = 0, max = 65_535))]
    pub marking_rate: u16,
    /// `cc_sw_cong_setting_victim_mask`, for all ports: whether outputs without space at their
    /// other end (victims) also mark packets. Default: false.
    pub victim_mask: bool,
}

const THRESHOLD_MAX: u8 = 15;

impl Default for Fecn {
    /// Returns values with good results on hardware (Gran et al.), quoted from memory.
    fn default() -> Self {
        Self { threshold: THRESHOLD_MAX, packet_size: 8, marking_rate: 0, victim_mask: false }
    }
}

impl Policy for Fecn {
    type Memory = Roots;

    fn check(&self) -> Result<(), (&'static str, String)> {
        if self.threshold > THRESHOLD_MAX {
            let message = format!(
                "a threshold is from 0, which marks nothing, over 1, the loosest, to {THRESHOLD_MAX}, the strictest, not {}",
                self.threshold
            );
            return Err(("threshold", message));
        }
        Ok(())
    }

    fn needs_space(&self) -> bool {
        true
    }

    fn start(&self, plan: &Plan) -> Roots {
        let Switching::Packets(packets) = &plan.switching else {
            unreachable!("only switches of whole packets count the packets waiting for outputs")
        };
        let parts = u64::from(THRESHOLD_MAX + 1 - self.threshold.min(THRESHOLD_MAX));
        let limit = |blocks: &u32| {
            let holds = u64::from(*blocks) * u64::from(BLOCK_BYTES);
            if self.threshold == 0 {
                u64::MAX
            } else {
                holds * parts / u64::from(THRESHOLD_MAX + 1)
            }
        };
        let waiting = Waiting::new(plan);
        Roots {
            policy: *self,
            limit_bytes: packets.buffer_blocks.iter().map(limit).collect(),
            lanes: vec![Lane { state: State::Free, to_pass: 0 }; waiting.len()],
            waiting,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Free,
    Root,
    Victim,
}

#[derive(Clone, Copy, Debug)]
struct Lane {
    state: State,
    to_pass: u16,
}

#[derive(Clone, Debug)]
pub(crate) struct Roots {
    policy: Fecn,
    limit_bytes: Vec<u64>,
    waiting: Waiting,
    lanes: Vec<Lane>,
}

impl Roots {
    fn is_above(&self, place: usize) -> bool {
        self.waiting.bytes(place) > self.limit_bytes[self.waiting.lane(place)]
    }
}

impl Mark for Roots {
    fn queued(&mut self, stay: &Stay, _now: Time) {
        self.waiting.add(stay);
    }

    fn settled(&mut self, stay: &Stay, has_space: bool, _now: Time) {
        for place in self.waiting.places(stay) {
            self.lanes[place].state = match (self.is_above(place), has_space) {
                (false, _) => State::Free,
                (true, true) => State::Root,
                (true, false) => State::Victim,
            };
        }
    }

    fn forwarded(&mut self, stay: &Stay, _left: Time, _now: Time) -> Option<Trigger> {
        let marking = self.waiting.places(stay).find(|place| {
            let state = self.lanes[*place].state;
            let marks = state == State::Root || state == State::Victim && self.policy.victim_mask;
            marks && self.is_above(*place)
        });
        self.waiting.remove(stay);
        for place in self.waiting.places(stay) {
            if !self.is_above(place) {
                self.lanes[place].state = State::Free;
            }
        }
        let smallest = u64::from(self.policy.packet_size) * u64::from(BLOCK_BYTES);
        let of = &mut self.lanes[marking.filter(|_| stay.wire_bytes >= smallest)?];
        if of.to_pass > 0 {
            of.to_pass -= 1;
            return None;
        }
        of.to_pass = self.policy.marking_rate;
        Some(Trigger::Output)
    }
}
