//! Sums of one flow over a section or a step.

use super::super::Count;
use crate::Hold;
use gingham_results::real;
use std::ops::Add;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct FlowSum {
    pub(super) created: Count,
    pub(super) delivered: Count,
    followed_messages: u64,
    latency_sum_ps: u128,
    held_ps: [u64; 3],
    pub(super) acknowledged_packets: u64,
    pub(super) marked_packets: u64,
}

pub(super) const fn place(hold: Hold) -> usize {
    match hold {
        Hold::Window => 0,
        Hold::RateLimit => 1,
        Hold::Tokens => 2,
    }
}

impl FlowSum {
    pub(super) fn in_flight_messages(&self) -> u64 {
        self.created.messages - self.followed_messages
    }

    pub(super) fn latency_mean_ps(&self) -> Option<f64> {
        let messages = u128::from(self.followed_messages);
        (messages > 0).then(|| real(self.latency_sum_ps) / real(messages))
    }

    pub(super) fn marked_share(&self) -> Option<f64> {
        let [marked, acknowledged] = [self.marked_packets, self.acknowledged_packets]
            .map(|packets| real(u128::from(packets)));
        (acknowledged > 0.0).then(|| marked / acknowledged)
    }

    pub(super) fn held_ps(&self) -> [f64; 3] {
        self.held_ps.map(|ps| real(u128::from(ps)))
    }
}

impl Add for FlowSum {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let held_ps = [0, 1, 2].map(|place| self.held_ps[place] + other.held_ps[place]);
        Self {
            created: self.created + other.created,
            delivered: self.delivered + other.delivered,
            followed_messages: self.followed_messages + other.followed_messages,
            latency_sum_ps: self.latency_sum_ps + other.latency_sum_ps,
            held_ps,
            acknowledged_packets: self.acknowledged_packets + other.acknowledged_packets,
            marked_packets: self.marked_packets + other.marked_packets,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SumOf {
    Created,
    Delivered,
    /// Messages created in the section or step and delivered at any time, with latencies in ps.
    Journeys,
    Held(Hold),
    Acknowledged,
}

impl SumOf {
    const ALL: [Self; SUMS as usize] = [
        Self::Created,
        Self::Delivered,
        Self::Journeys,
        Self::Held(Hold::Window),
        Self::Held(Hold::RateLimit),
        Self::Held(Hold::Tokens),
        Self::Acknowledged,
    ];

    fn place(self) -> u32 {
        let place = Self::ALL.iter().position(|other| *other == self);
        u32::try_from(place.expect("all are listed")).expect("sums are few")
    }
}

const SUMS: u32 = 7;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Entry {
    /// Section or step index times `SUMS`, plus the index in `SumOf::ALL`.
    place: u32,
    number: u32,
    amount: u64,
}

impl Entry {
    fn stretch(&self) -> usize {
        (self.place / SUMS) as usize
    }

    fn what(&self) -> SumOf {
        SumOf::ALL[(self.place % SUMS) as usize]
    }

    /// Adds an entry for the same sum. On overflow, changes nothing and returns false.
    fn join(&mut self, other: &Self) -> bool {
        let number = self.number.checked_add(other.number);
        let amount = self.amount.checked_add(other.amount);
        let (Some(number), Some(amount)) = (number, amount) else { return false };
        (self.number, self.amount) = (number, amount);
        true
    }

    fn add_to(&self, sum: &mut FlowSum) {
        let count = Count { messages: self.number.into(), bytes: self.amount };
        match self.what() {
            SumOf::Created => sum.created += count,
            SumOf::Delivered => sum.delivered += count,
            SumOf::Journeys => {
                sum.followed_messages += count.messages;
                sum.latency_sum_ps += u128::from(self.amount);
            }
            SumOf::Held(hold) => sum.held_ps[place(hold)] += self.amount,
            SumOf::Acknowledged => {
                sum.acknowledged_packets += count.messages;
                sum.marked_packets += self.amount;
            }
        }
    }
}

/// Non-zero sums over sections or steps of equal width, in ascending order, 16 bytes each. On
/// overflow, another entry for the same sum follows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct FlowSums(Vec<Entry>);

impl FlowSums {
    pub(super) fn add(&mut self, stretch: usize, what: SumOf, amount: u64) {
        let entry = Entry { place: place_of(stretch, what), number: 1, amount };
        let end = self.end_of(entry.place);
        if let Some(last) = self.last_of(end, entry.place)
            && last.join(&entry)
        {
            return;
        }
        self.0.insert(end, entry);
    }

    pub(super) fn take_back(&mut self, stretch: usize, what: SumOf, amount: u64) {
        let place = place_of(stretch, what);
        let last = self.last_of(self.end_of(place), place).expect("it was added");
        last.number -= 1;
        last.amount -= amount;
    }

    pub(super) fn sum(&self, from: usize, to: usize) -> FlowSum {
        let [from, to] =
            [from, to].map(|bound| self.0.partition_point(|entry| entry.stretch() < bound));
        let mut sum = FlowSum::default();
        self.0[from..to].iter().for_each(|entry| entry.add_to(&mut sum));
        sum
    }

    pub(super) fn double(&mut self) {
        for entry in &mut self.0 {
            entry.place = entry.place / SUMS / 2 * SUMS + entry.place % SUMS;
        }
        self.0.sort_by_key(|entry| entry.place);
        self.0.dedup_by(|later, earlier| later.place == earlier.place && earlier.join(later));
    }

    fn end_of(&self, place: u32) -> usize {
        self.0.partition_point(|entry| entry.place <= place)
    }

    fn last_of(&mut self, end: usize, place: u32) -> Option<&mut Entry> {
        self.0[..end].last_mut().filter(|entry| entry.place == place)
    }
}

fn place_of(stretch: usize, what: SumOf) -> u32 {
    let first = u32::try_from(stretch).ok().and_then(|stretch| stretch.checked_mul(SUMS));
    first.and_then(|first| first.checked_add(what.place())).expect("stretches fit 32 bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_stay_sorted_for_any_insertion_order() {
        let mut sums = FlowSums::default();
        sums.add(5, SumOf::Delivered, 100);
        sums.add(2, SumOf::Held(Hold::Tokens), 7);
        sums.add(2, SumOf::Created, 100);
        sums.add(5, SumOf::Delivered, 20);
        sums.add(2, SumOf::Journeys, 900);
        sums.add(3, SumOf::Created, 50);
        sums.take_back(3, SumOf::Created, 50);
        let places: Vec<_> = sums.0.iter().map(|entry| entry.place).collect();
        assert_eq!(places, [14, 16, 19, 21, 36]);
        let [early, late] = [sums.sum(0, 5), sums.sum(5, usize::MAX)];
        assert_eq!(early.created, Count { messages: 1, bytes: 100 });
        assert_eq!((early.latency_mean_ps(), early.held_ps), (Some(900.0), [0, 0, 7]));
        assert_eq!(late, FlowSum { delivered: Count { messages: 2, bytes: 120 }, ..late });
        assert_eq!((late.created, sums.sum(3, 5)), (Count::default(), FlowSum::default()));
    }

    #[test]
    fn adjacent_flow_sums_merge_by_kind() {
        let mut sums = FlowSums::default();
        for stretch in 0..4 {
            sums.add(stretch, SumOf::Created, 10);
            sums.add(stretch, SumOf::Held(Hold::Window), 1);
        }
        let whole = sums.sum(0, 4);
        sums.double();
        assert_eq!(sums.0.len(), 4);
        assert_eq!(sums.sum(0, 2), whole);
        assert_eq!(sums.sum(1, 2).created, Count { messages: 2, bytes: 20 });
    }

    #[test]
    fn overflowing_sum_continues_in_another_entry() {
        let mut sums = FlowSums::default();
        for stretch in [0, 1, 1] {
            sums.add(stretch, SumOf::Journeys, u64::MAX);
        }
        sums.double();
        assert_eq!(sums.0.len(), 3);
        let expected = FlowSum {
            followed_messages: 3,
            latency_sum_ps: 3 * u128::from(u64::MAX),
            ..FlowSum::default()
        };
        assert_eq!(sums.sum(0, 1), expected);
    }
}
