//! One direction of the link: the model, and the frames in transit.
//!
//! Invariants: frames leave in the order of the model's arrival times; a rate change takes effect
//! at its scheduled time, even if it is processed late.

use crate::arguments::{DirectionPlan, Step};
use gingham_kernel::{EventQueue, Span, Time};
use gingham_linkemu::{Channel, Counters, ParameterError};

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Frame {
    /// Index of the offered frame, from 0; a duplicate has the index of its original.
    number: u64,
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Delivered {
    pub(crate) frames: u64,
    pub(crate) bytes: u64,
    pub(crate) late: u64,
    pub(crate) latest: Span,
    pub(crate) refused: u64,
}

#[derive(Debug)]
pub(crate) struct Direction {
    channel: Channel,
    /// Future rate changes in reverse time order.
    steps: Vec<Step>,
    frames: EventQueue<Frame>,
    number: u64,
    spare: Vec<Vec<u8>>,
    late_after: Span,
    pub(crate) delivered: Delivered,
}

impl Direction {
    /// Creates a direction. A frame counts as late if it is delivered more than `late_after` after
    /// its arrival time.
    pub(crate) fn new(
        plan: DirectionPlan,
        seed: u64,
        name: &str,
        late_after: Span,
    ) -> Result<Self, ParameterError> {
        let mut steps = plan.steps;
        steps.reverse();
        Ok(Self {
            channel: Channel::new(plan.parameters, seed, name)?,
            steps,
            frames: EventQueue::new(),
            number: 0,
            spare: Vec::new(),
            late_after,
            delivered: Delivered::default(),
        })
    }

    pub(crate) fn offer(&mut self, now: Time, frame: &[u8]) {
        while let Some(step) = self.steps.pop_if(|step| step.at <= now) {
            self.channel.set_rate(step.at, step.rate);
        }
        let length_bytes =
            u32::try_from(frame.len()).expect("a frame fits the buffer it is read into");
        for arrival in self.channel.offer(now, length_bytes).arrivals() {
            let mut bytes = self.spare.pop().unwrap_or_default();
            bytes.clear();
            bytes.extend_from_slice(frame);
            if let Some(bit) = arrival.flipped_bit {
                let byte = usize::try_from(bit / 8).expect("a bit of the frame");
                bytes[byte] ^= 0x80 >> (bit % 8);
            }
            self.number += 1;
            self.frames.schedule(arrival.at, Frame { number: self.number, bytes });
        }
    }

    pub(crate) fn next_arrival(&self) -> Option<Time> {
        self.frames.next_time()
    }

    pub(crate) fn deliver<E>(
        &mut self,
        now: Time,
        take: impl FnOnce(&[u8]) -> Result<bool, E>,
    ) -> Option<Result<(), E>> {
        if self.next_arrival().is_none_or(|at| at > now) {
            return None;
        }
        let (at, Frame { bytes, .. }) = self.frames.pop()?;
        let late = now.since(at);
        let taken = take(&bytes);
        match taken {
            Ok(true) => {
                self.delivered.frames += 1;
                self.delivered.bytes += bytes.len() as u64;
                self.delivered.late += u64::from(late > self.late_after);
                self.delivered.latest = self.delivered.latest.max(late);
            }
            _ => self.delivered.refused += 1,
        }
        self.spare.push(bytes);
        Some(taken.map(|_| ()))
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.frames.len()
    }

    pub(crate) const fn late_after(&self) -> Span {
        self.late_after
    }

    pub(crate) const fn counters(&self) -> Counters {
        self.channel.counters()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gingham_kernel::Rate;
    use gingham_linkemu::{Outage, Parameters, Probability};
    use std::convert::Infallible;

    fn clean() -> Parameters {
        let rate = Rate::from_bytes_per_second(1_000_000);
        Parameters::clean(rate, 200, Span::from_ns(50_000))
    }

    fn direction(parameters: Parameters, steps: Vec<Step>) -> Direction {
        let late_after = Span::from_ns(1_900_000);
        Direction::new(DirectionPlan { parameters, steps }, 1, "forth", late_after)
            .expect("parameters that make sense")
    }

    const fn us(microseconds: u64) -> Time {
        Time::from_ps(microseconds * 1_000_000)
    }

    fn arrived(direction: &mut Direction, now: Time) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        while let Some(taken) = direction.deliver(now, |bytes| {
            found.push(bytes.to_vec());
            Ok::<_, Infallible>(true)
        }) {
            let Ok(()) = taken;
        }
        found
    }

    #[test]
    fn frame_arrives_at_the_time_of_the_model() {
        let mut direction = direction(clean(), vec![]);
        direction.offer(us(0), &[1; 100]);
        direction.offer(us(0), &[2; 100]);
        direction.offer(us(10), &[3; 100]); // 190 B wait: no room for it.
        assert_eq!(direction.next_arrival(), Some(us(150)));
        assert_eq!(arrived(&mut direction, us(149)), Vec::<Vec<u8>>::new());
        assert_eq!(arrived(&mut direction, us(150)), [vec![1; 100]]);
        assert_eq!(arrived(&mut direction, us(2_250)), [vec![2; 100]]);
        assert_eq!((direction.in_flight(), direction.counters().queue_full), (0, 1));
        let latest = Span::from_ns(2_000_000);
        let all = Delivered { frames: 2, bytes: 200, late: 1, latest, refused: 0 };
        assert_eq!(direction.delivered, all);
    }

    #[test]
    fn rate_changes_on_time_even_if_the_next_frame_is_later() {
        let half = Rate::from_bytes_per_second(500_000);
        let mut direction = direction(clean(), vec![Step { at: us(100), rate: half }]);
        direction.offer(us(0), &[1; 150]);
        // At 100 us, when the rate halves, 50 B of the first frame are unsent and take until 200
        // us; the second frame, of 20 B, takes until 240 us and arrives 50 us later.
        direction.offer(us(150), &[2; 20]);
        assert_eq!(arrived(&mut direction, us(200)), [vec![1; 150]]);
        assert_eq!(direction.next_arrival(), Some(us(290)));
    }

    #[test]
    fn duplication_damage_and_outages_are_applied() {
        let always = Probability::ALWAYS;
        let mut twice = direction(Parameters { duplication: always, ..clean() }, vec![]);
        twice.offer(us(0), &[7; 20]);
        assert_eq!(arrived(&mut twice, us(90)), [vec![7; 20], vec![7; 20]]);

        let mut damaged = direction(Parameters { bit_errors: always, ..clean() }, vec![]);
        damaged.offer(us(0), &[0; 20]);
        let mut expected = vec![0; 20];
        expected[0] = 0x80;
        assert_eq!(arrived(&mut damaged, us(90)), [expected]);

        let outages = vec![Outage { from: us(0), until: us(60) }];
        let mut cut = direction(Parameters { outages, ..clean() }, vec![]);
        cut.offer(us(0), &[7; 20]);
        assert_eq!((cut.next_arrival(), cut.counters().outage), (None, 1));
    }

    #[test]
    fn frames_refused_by_the_kernel_are_counted() {
        let mut direction = direction(clean(), vec![]);
        direction.offer(us(0), &[1; 10]);
        let Some(Ok(())) = direction.deliver(us(60), |_| Ok::<_, Infallible>(false)) else {
            panic!("it had arrived")
        };
        assert_eq!(direction.delivered, Delivered { refused: 1, ..Delivered::default() });
    }
}
