//! Entry queue before the sender: a FIFO, or one queue per flow.
//!
//! Invariant: an offered packet is queued, was taken once, or is counted as refused or dropped.

use super::sending::{SendingEnd, instant};
use crate::measure::Meter;
use crate::plan::{EntryPlan, Follows};
use crate::traffic::Packet;
use gingham_entry::{CoDelPlan, DropReason, Dropped, Ecn, FqCodel, Offered};
use gingham_kernel::Time;
use std::collections::VecDeque;

#[derive(Debug)]
pub(crate) enum Entry {
    Fifo { packets: VecDeque<Packet>, bytes: u64, limit_bytes: u64 },
    FqCodel { queue: Box<FqCodel<Packet>>, follows: Follows },
}

impl Entry {
    pub(crate) fn new(plan: &EntryPlan) -> Self {
        match *plan {
            EntryPlan::Fifo { limit_bytes } => {
                Self::Fifo { packets: VecDeque::new(), bytes: 0, limit_bytes }
            }
            EntryPlan::FqCodel { plan, follows } => {
                Self::FqCodel { queue: Box::new(FqCodel::new(plan)), follows }
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting_packets() == 0
    }

    pub(crate) fn waiting_packets(&self) -> u64 {
        match self {
            Self::Fifo { packets, .. } => packets.len() as u64,
            Self::FqCodel { queue, .. } => queue.backlog_packets().into(),
        }
    }

    pub(crate) fn waiting_bytes(&self) -> u64 {
        match self {
            Self::Fifo { bytes, .. } => *bytes,
            Self::FqCodel { queue, .. } => queue.backlog_bytes(),
        }
    }

    pub(crate) fn offer(&mut self, now: Time, packet: &Packet, meter: &mut Meter) {
        if let Self::Fifo { bytes, limit_bytes, .. } = self
            && *bytes + u64::from(packet.bytes) > *limit_bytes
        {
            meter.offered(packet);
            meter.refused(packet);
            return;
        }
        self.pull(now, packet, meter);
    }

    /// Enqueues a packet regardless of the limit, for a backlogged source, which only sends to an
    /// empty queue.
    pub(crate) fn pull(&mut self, now: Time, packet: &Packet, meter: &mut Meter) {
        meter.offered(packet);
        match self {
            Self::Fifo { packets, bytes, .. } => {
                *bytes += u64::from(packet.bytes);
                packets.push_back(*packet);
            }
            Self::FqCodel { queue, .. } => {
                let Packet { source, bytes, ecn, .. } = *packet;
                let offered = Offered { flow_hash: source.into(), bytes, ecn, packet: *packet };
                queue.enqueue(nanoseconds(now), offered, |one| drop_one(meter, &one));
            }
        }
        meter.waits(self.waiting_bytes());
    }

    pub(crate) fn peek(&mut self, now: Time, meter: &mut Meter) -> Option<Packet> {
        match self {
            Self::Fifo { packets, .. } => packets.front().copied(),
            Self::FqCodel { queue, .. } => {
                let next = queue.peek(nanoseconds(now), |one| drop_one(meter, &one))?;
                Some(next.packet)
            }
        }
    }

    pub(crate) fn take(&mut self, now: Time, meter: &mut Meter) -> Option<Packet> {
        match self {
            Self::Fifo { packets, bytes, .. } => {
                let packet = packets.pop_front()?;
                *bytes -= u64::from(packet.bytes);
                Some(packet)
            }
            Self::FqCodel { queue, .. } => {
                let next = queue.dequeue(nanoseconds(now), |one| drop_one(meter, &one))?;
                if !next.marked {
                    return Some(next.packet);
                }
                meter.marked();
                Some(Packet { ecn: Ecn::Ce, ..next.packet })
            }
        }
    }

    pub(crate) fn follow(&mut self, sender: &SendingEnd) {
        if let Self::FqCodel { queue, follows } = self
            && let Some(round_trip) = sender.round_trip_least()
        {
            if follows.target {
                queue.set_target(CoDelPlan::target_before(round_trip));
            }
            if follows.interval {
                queue.set_interval(CoDelPlan::interval_before(round_trip));
            }
        }
    }
}

fn drop_one(meter: &mut Meter, dropped: &Dropped<Packet>) {
    match dropped.reason {
        DropReason::Limit => meter.refused(&dropped.packet),
        DropReason::Target => meter.dropped_before(&dropped.packet),
    }
}

fn nanoseconds(now: Time) -> u64 {
    instant(now).nanoseconds()
}
