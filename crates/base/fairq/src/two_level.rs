//! InfiniBand's two arbitration tables, for high and low priority, with weighted slots.
//!
//! ```text
//!   queue 15  precedes both tables
//!   high   0:4 1:2        slots (queue:weight): each in turn sends packets of its queue until its
//!   low    2:1 3:8 2:1    weight, in units of 64 bytes, is used up
//!   limit 2: 2 x 4,096 bytes of high-priority packets, then one low-priority packet, and so on
//! ```
//!
//! Source: InfiniBand Architecture Specification, Volume 1, section 7.6.9. OpenSM's manual
//! documents the unit and special values of the limit and the skipping of zero-weight slots.
//!
//! Our choices where both texts are silent:
//!
//! - A packet costs its length rounded up to whole units, at least one unit.
//! - A packet is sent while any weight or limit remains; an overdraft is forgiven.
//! - A turn also ends when its queue cannot send, and the remaining weight is lost.
//! - The limit is also consumed while low priority has nothing to send; any low-priority packet
//!   restores the limit in full.
//!
//! Invariants: high priority exceeds its limit by less than one packet while low priority waits; a
//! data queue without weight in either table is never served.

use crate::error::check_count;
use crate::{Arbiter, Ready, SchedulerError, Table};

/// Queue that takes precedence over both tables (the management lane, VL 15).
const FIRST_QUEUE: usize = 15;

const QUEUES_MAX: usize = FIRST_QUEUE + 1;

const SLOTS_MAX: usize = 64;

const UNIT_BYTES: u32 = 64;

/// Weight units (64 bytes) per limit unit (4,096 bytes).
const UNITS_OF_LIMIT: i64 = 64;

const NO_LIMIT: u8 = 255;

/// Table entry: one turn of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// Queue number, 0 to 14.
    pub queue: u8,
    /// Weight in units of 64 bytes; 0 skips the slot.
    pub weight: u8,
}

/// InfiniBand's VL arbiter for 15 data lanes and the management lane 15.
///
/// ```
/// use gingham_fairq::{Arbiter, Head, Ready, Slot, TwoLevelTables};
///
/// let slot = |queue, weight| Slot { queue, weight };
/// let mut arbiter = TwoLevelTables::new(3, &[slot(0, 2)], &[slot(1, 1), slot(2, 1)], 0)?;
/// let heads = [Head { length_bytes: 64, arrival_ps: 0 }; 3];
/// let order = [0; 6].map(|_| arbiter.serve(&Ready::new(&[0b111], &heads)));
/// assert_eq!(order, [0, 1, 0, 2, 0, 1].map(Some)); // limit 0: one packet of high priority, one of low
/// # Ok::<(), gingham_fairq::SchedulerError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TwoLevelTables {
    high: Turns,
    low: Turns,
    /// High-priority limit in units of 64 bytes; `None` is unlimited.
    limit_units: Option<i64>,
    left_units: i64,
}

impl TwoLevelTables {
    /// Creates an arbiter for at most 16 queues. `high_limit` is in units of 4,096 bytes: 0 allows
    /// a single packet, 255 is unlimited.
    ///
    /// Queue 15 must not have a slot. At least one slot must have a weight above 0.
    pub fn new(
        queues: usize,
        high: &[Slot],
        low: &[Slot],
        high_limit: u8,
    ) -> Result<Self, SchedulerError> {
        check_count::<QUEUES_MAX>(queues)?;
        let high = Turns::new(Table::High, high, queues)?;
        let low = Turns::new(Table::Low, low, queues)?;
        if high.served | low.served == 0 {
            return Err(SchedulerError::NoWeight);
        }
        // With a limit of 0, any packet uses up this single unit.
        let units = (i64::from(high_limit) * UNITS_OF_LIMIT).max(1);
        let limit_units = (high_limit != NO_LIMIT).then_some(units);
        Ok(Self { high, low, limit_units, left_units: units })
    }

    /// Returns the bit mask of queues that can be served: queues with a weight above 0, and queue
    /// 15.
    pub const fn served(&self) -> u64 {
        self.high.served | self.low.served | 1 << FIRST_QUEUE
    }
}

impl Arbiter for TwoLevelTables {
    fn serve(&mut self, ready: &Ready<'_>) -> Option<usize> {
        let &[eligible] = ready.eligible() else { panic!("at most 16 queues are a word") };
        if ready.has(FIRST_QUEUE) {
            return Some(FIRST_QUEUE);
        }
        let units =
            |queue: usize| i64::from(ready.head(queue).length_bytes.div_ceil(UNIT_BYTES).max(1));
        let has_low = self.low.served & eligible != 0;
        let may_go_on = self.limit_units.is_none() || self.left_units > 0 || !has_low;
        if self.high.served & eligible != 0 && may_go_on {
            let queue = self.high.serve(eligible, units);
            self.left_units = self.left_units.saturating_sub(units(queue));
            return Some(queue);
        }
        has_low.then(|| {
            self.left_units = self.limit_units.unwrap_or_default();
            self.low.serve(eligible, units)
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Turns {
    served: u64,
    count: usize,
    current: usize,
    /// Unused weight of the current slot in units of 64 bytes; the turn ends at 0 or below.
    left_units: i64,
    slots: [Slot; SLOTS_MAX],
}

impl Turns {
    fn new(table: Table, slots: &[Slot], queues: usize) -> Result<Self, SchedulerError> {
        let count = slots.len();
        if count > SLOTS_MAX {
            return Err(SchedulerError::TooManySlots { table, count, count_max: SLOTS_MAX });
        }
        let mut turns = Self {
            served: 0,
            count,
            current: count.saturating_sub(1),
            left_units: 0,
            slots: [Slot::default(); SLOTS_MAX],
        };
        turns.slots[..count].copy_from_slice(slots);
        for (slot, &Slot { queue, weight }) in slots.iter().enumerate() {
            let queue = usize::from(queue);
            if queue == FIRST_QUEUE {
                return Err(SchedulerError::SlotOfFirst { table, slot });
            } else if queue >= queues {
                return Err(SchedulerError::SlotOutside { table, slot, queue, queues });
            }
            turns.served |= u64::from(weight > 0) << queue;
        }
        Ok(turns)
    }

    /// Serves a queue; at least one eligible queue must have a weight above 0.
    fn serve(&mut self, eligible: u64, units: impl Fn(usize) -> i64) -> usize {
        let can_send = |slot: Slot| eligible >> slot.queue & 1 == 1;
        if self.left_units <= 0 || !can_send(self.slots[self.current]) {
            loop {
                self.current = if self.current + 1 == self.count { 0 } else { self.current + 1 };
                let slot = self.slots[self.current];
                if slot.weight > 0 && can_send(slot) {
                    break;
                }
            }
            self.left_units = i64::from(self.slots[self.current].weight);
        }
        let queue = usize::from(self.slots[self.current].queue);
        self.left_units -= units(queue);
        queue
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Head;

    const fn slot(queue: u8, weight: u8) -> Slot {
        Slot { queue, weight }
    }

    fn order<const N: usize>(
        arbiter: &mut TwoLevelTables,
        length_bytes: u32,
        eligible: [u64; N],
    ) -> [Option<usize>; N] {
        let heads = [Head { length_bytes, arrival_ps: 0 }; 16];
        eligible.map(|eligible| arbiter.serve(&Ready::new(&[eligible], &heads)))
    }

    #[test]
    fn table_slots_are_served_by_weight_in_order() {
        let high = [slot(0, 2), slot(1, 1), slot(2, 0), slot(0, 1)];
        let mut arbiter = TwoLevelTables::new(3, &high, &[], 255).unwrap();
        let expected = [0, 0, 1, 0, 0, 0, 1, 0].map(Some);
        assert_eq!(order(&mut arbiter, 64, [0b111; 8]), expected);
        assert_eq!(order(&mut arbiter, 64, [0b100, 0b110, 0]), [None, Some(1), None]);
        assert_eq!(arbiter.served(), 1 << 15 | 0b011);
    }

    /// Each packet costs 2 units, so a slot of queue 0 with weight 3 sends two packets
    /// (3 -> 1 -> -1).
    #[test]
    fn packet_is_sent_while_any_weight_remains() {
        let low = [slot(0, 3), slot(1, 1)];
        let mut arbiter = TwoLevelTables::new(2, &[], &low, 0).unwrap();
        let expected = [0, 0, 1, 0, 0, 1].map(Some);
        assert_eq!(order(&mut arbiter, 65, [0b11; 6]), expected);
    }

    #[test]
    fn emptied_queue_loses_its_remaining_weight() {
        let low = [slot(0, 3), slot(1, 1)];
        let mut arbiter = TwoLevelTables::new(2, &[], &low, 0).unwrap();
        let sets = [0b11, 0b10, 0b11, 0b11, 0b11, 0b11];
        assert_eq!(order(&mut arbiter, 64, sets), [0, 1, 0, 0, 0, 1].map(Some));
    }

    /// The limit is 64 units. Packets of 2,048 bytes cost 32 units and packets of 2,049 bytes cost
    /// 33 units: two are sent in either case. Four packets of 1,024 bytes (16 units) are
    /// sent.
    #[test]
    fn high_priority_yields_at_its_limit() {
        let tables = || TwoLevelTables::new(2, &[slot(0, 255)], &[slot(1, 1)], 1).unwrap();
        let two = [0, 0, 1, 0, 0, 1, 0, 0].map(Some);
        assert_eq!(order(&mut tables(), 2_048, [0b11; 8]), two);
        assert_eq!(order(&mut tables(), 2_049, [0b11; 8]), two);
        let four = [0, 0, 0, 0, 1, 0, 0, 0].map(Some);
        assert_eq!(order(&mut tables(), 1_024, [0b11; 8]), four);
    }

    #[test]
    fn high_limit_is_consumed_while_low_priority_is_idle() {
        let mut arbiter = TwoLevelTables::new(2, &[slot(0, 1)], &[slot(1, 1)], 1).unwrap();
        let sets = [0b01, 0b01, 0b01, 0b11, 0b11, 0b11, 0b11, 0b01, 0b10, 0b11, 0b11, 0b11];
        let expected = [0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1].map(Some);
        assert_eq!(order(&mut arbiter, 2_048, sets), expected);
    }

    #[test]
    fn unlimited_high_priority_starves_low_priority() {
        let mut arbiter = TwoLevelTables::new(2, &[slot(0, 1)], &[slot(1, 1)], 255).unwrap();
        assert_eq!(order(&mut arbiter, 4_096, [0b11; 200]), [Some(0); 200]);
        assert_eq!(order(&mut arbiter, 4_096, [0b10, 0b11]), [Some(1), Some(0)]);
    }

    #[test]
    fn queue_15_precedes_all_and_changes_no_state() {
        let mut arbiter = TwoLevelTables::new(16, &[slot(0, 1)], &[slot(14, 1)], 0).unwrap();
        let (data, all) = (1 << 14 | 1, 1 << 15 | 1 << 14 | 1);
        let expected = [0, 15, 15, 14, 0, 15, 14].map(Some);
        assert_eq!(order(&mut arbiter, 64, [data, all, all, data, data, all, data]), expected);
        assert_eq!(order(&mut arbiter, 64, [1 << 15, 0]), [Some(15), None]);
    }

    #[test]
    fn queue_in_both_tables_has_turns_in_each() {
        let mut arbiter =
            TwoLevelTables::new(2, &[slot(0, 1)], &[slot(0, 1), slot(1, 1)], 0).unwrap();
        assert_eq!(order(&mut arbiter, 64, [0b11; 4]), [0, 0, 0, 1].map(Some));
    }
}
