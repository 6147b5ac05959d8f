//! One direction of an emulated link.

use crate::competing::Competitor;
use crate::corruption::Corruption;
use crate::draws::{Draw, Draws};
use crate::loss::Losses;
use crate::policer::Bucket;
use crate::queue::{Queue, Sending};
use crate::{Arrival, Counters, DropReason, Fate, Loss, ParameterError, Parameters};
use gingham_kernel::{Purpose, Rate, Span, Time};

/// One direction of an emulated link, with a queue and impairments. Methods panic if `now` is
/// earlier than in the last call that changed the channel.
///
/// ```
/// use gingham_kernel::{Rate, Span, Time};
/// use gingham_linkemu::{Channel, Fate, Parameters};
///
/// // 1 MB/s: serialising a byte takes 1 us.
/// let clean = Parameters::clean(Rate::from_bytes_per_second(1_000_000), 64_000, Span::from_ns(5_000));
/// let mut channel = Channel::new(clean, 1, "east")?;
/// let Fate::Arrives(arrival) = channel.offer(Time::ZERO, 100) else { panic!("nothing goes wrong here") };
/// assert_eq!(arrival.at, Time::from_ps(105_000_000));
/// # Ok::<(), gingham_linkemu::ParameterError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Channel {
    parameters: Parameters,
    bucket: Option<Bucket>,
    queue: Queue,
    competitors: Vec<Competitor>,
    losses: Losses,
    corruption: Corruption,
    duplicates: Draws,
    jitters: Draws,
    holds: Draws,
    /// Arrival time of the last packet, lost or not, before any extra delay for reordering.
    in_order: Time,
    now: Time,
    counters: Counters,
}

impl Channel {
    /// Creates an idle channel at time zero. Its random numbers depend only on `seed` and the name
    /// `direction`.
    ///
    /// # Errors
    /// Returns an error if [`Parameters::check`] rejects the parameters.
    pub fn new(parameters: Parameters, seed: u64, direction: &str) -> Result<Self, ParameterError> {
        parameters.check()?;
        let draws = |purpose| Draws::new(seed, direction, purpose);
        let competitor =
            |(index, competing)| Competitor::new(competing, seed, &format!("{direction} {index}"));
        Ok(Self {
            bucket: parameters.policer.map(Bucket::new),
            queue: Queue::new(parameters.rate, parameters.queue),
            competitors: parameters.competing.iter().copied().enumerate().map(competitor).collect(),
            losses: Losses::new(parameters.loss, seed, direction),
            corruption: Corruption::new(parameters.bit_errors, seed, direction),
            duplicates: draws(Purpose::Duplication),
            jitters: draws(Purpose::Jitter),
            holds: draws(Purpose::Reordering),
            in_order: Time::ZERO,
            now: Time::ZERO,
            counters: Counters::default(),
            parameters,
        })
    }

    /// Offers the next packet, which must have at least one byte.
    ///
    /// Both copies of a duplicated packet enter the queue, and their fates are independent.
    pub fn offer(&mut self, now: Time, length_bytes: u32) -> Fate {
        assert!(now >= self.now, "packets are offered in the order of time");
        assert!(length_bytes > 0, "a packet has a byte");
        self.compete(now);
        let packet = self.counters.offered;
        self.counters.offered += 1;
        self.losses.next_packet(packet);
        let first = self.carry(now, length_bytes, Draw { packet, copy: 0 });
        if !self.duplicates.happens(self.parameters.duplication, Draw { packet, copy: 0 }) {
            return first.into();
        }
        self.counters.duplicated += 1;
        let second = self.carry(now, length_bytes, Draw { packet, copy: 1 });
        Fate::of_copies(first, second)
    }

    /// Returns the arrival time of the next competing packet, if any.
    pub fn next_competing(&self) -> Option<Time> {
        self.competitors.iter().filter_map(Competitor::next).min()
    }

    /// Enqueues all competing packets due by `now`, so that the caller can inspect the queue
    /// between offers.
    pub fn compete(&mut self, now: Time) {
        assert!(now >= self.now, "traffic competes in the order of time");
        while let Some(at) = self.next_competing().filter(|at| *at <= now) {
            let due = self.competitors.iter_mut().find(|one| one.next() == Some(at));
            let length_bytes = due.expect("it is the next of one").give();
            self.counters.competing += 1;
            let dropped = self.queue.take(at, length_bytes).is_none();
            self.counters.competing_dropped += u64::from(dropped);
        }
        self.now = now;
    }

    /// Returns the queueing delay of a packet accepted now: the time until its first byte is sent.
    pub fn wait(&self, now: Time) -> Span {
        assert!(now >= self.now, "the past lengths of the queue are not kept");
        self.queue.wait(now)
    }

    /// Returns the bytes in the queue, including the unsent rest of the packet in service.
    pub fn backlog_bytes(&self, now: Time) -> u64 {
        assert!(now >= self.now, "the past lengths of the queue are not kept");
        self.queue.backlog_bytes(now)
    }

    /// Sets the rate from `now` on, for queued and later packets. Arrival times already returned do
    /// not change, and later packets do not arrive before them. If the queue is bounded by time,
    /// its backlog must drain within a day at the new rate.
    pub fn set_rate(&mut self, now: Time, rate: Rate) {
        assert!(now >= self.now, "a rate changes in the order of time");
        self.compete(now);
        self.parameters.rate = rate;
        self.queue.set_rate(now, rate);
    }

    /// Sets the loss model from the next packet on. The random numbers of packets do not change.
    /// Burst loss starts in the good state.
    pub fn set_loss(&mut self, loss: Loss) {
        self.parameters.loss = loss;
        self.losses.set_loss(loss);
    }

    /// Sets the MTU from the next packet on; `None` removes the limit.
    pub const fn set_mtu(&mut self, mtu_bytes: Option<u32>) {
        self.parameters.mtu_bytes = mtu_bytes;
    }

    /// Returns the packet counters.
    pub const fn counters(&self) -> Counters {
        self.counters
    }

    /// Returns the current parameters.
    pub const fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    fn carry(&mut self, now: Time, length_bytes: u32, draw: Draw) -> Result<Arrival, DropReason> {
        let outcome = if self.bucket.as_mut().is_none_or(|bucket| bucket.admits(now, length_bytes))
        {
            match self.queue.take(now, length_bytes) {
                Some(sending) => self.cross(sending, length_bytes, draw),
                None => Err(DropReason::QueueFull),
            }
        } else {
            Err(DropReason::Policed)
        };
        self.counters.count(outcome);
        outcome
    }

    /// Computes a packet's fate after the queue. A lost packet still delays later arrivals as if it
    /// had arrived.
    fn cross(
        &mut self,
        sending: Sending,
        length_bytes: u32,
        draw: Draw,
    ) -> Result<Arrival, DropReason> {
        let jitter = self.jitters.up_to(self.parameters.jitter.as_ps(), draw);
        let alone = sending.end + self.parameters.delay + Span::from_ps(jitter);
        self.in_order = self.in_order.max(alone);
        let reordering = self.parameters.reordering;
        let held_back = self.holds.happens(reordering.probability, draw);
        let at = if held_back { self.in_order + reordering.span } else { self.in_order };
        if self.is_cut(sending.start, at) {
            return Err(DropReason::Outage);
        }
        if self.losses.loses(draw) {
            return Err(DropReason::Lost);
        }
        if self.parameters.mtu_bytes.is_some_and(|mtu_bytes| length_bytes > mtu_bytes) {
            return Err(DropReason::TooLong);
        }
        let flipped_bit = self.corruption.first_flipped_bit(draw, length_bytes);
        Ok(Arrival { at, flipped_bit, held_back })
    }

    fn is_cut(&self, start: Time, arrival: Time) -> bool {
        let outages = &self.parameters.outages;
        let next = outages.partition_point(|outage| outage.until <= start);
        outages.get(next).is_some_and(|outage| outage.from <= arrival)
    }
}
