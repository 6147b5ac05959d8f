//! Leases: reservations expire, because a crashed host would otherwise hold bandwidth forever.
//!
//! ```text
//!   probe read      data read    data read
//!      ├── lease ─ ─ ─┤
//!                     ├── lease ─ ─┤
//!                                  ├──── lease ────┤ expired: free for the next probe
//! ```
//!
//! A packet read exactly at the end of a lease still renews it. Expiry is checked at the next
//! request for the link and at the end of a run, because a timer would keep the run alive.
//!
//! Source: ours; in Yum et al. 2002, only the last packet releases reservations.

use super::ledger::End;
use crate::StreamId;
use gingham_kernel::{Span, Time};
use gingham_topology::ChannelId;
use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BTreeMap, BinaryHeap};

pub(super) type Place = (ChannelId, End);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Over {
    pub(super) stream: StreamId,
    pub(super) place: Place,
    pub(super) at: Time,
}

#[derive(Clone, Debug)]
pub(super) struct Leases {
    lease: Span,
    /// For each stream: its reserved channel ends, each with the time of the last renewal.
    held: Vec<Vec<(Place, Time)>>,
    /// For each channel end: lower bounds of lease expiry times, with their streams.
    due: BTreeMap<Place, BinaryHeap<Reverse<(Time, StreamId)>>>,
}

impl Leases {
    pub(super) fn new(lease: Span, streams: usize) -> Self {
        Self { lease, held: vec![Vec::new(); streams], due: BTreeMap::new() }
    }

    pub(super) fn take(&mut self, stream: StreamId, place: Place, now: Time) {
        self.held[stream.index()].push((place, now));
        self.due.entry(place).or_default().push(Reverse((now + self.lease, stream)));
    }

    pub(super) fn renew(&mut self, stream: StreamId, place: Place, now: Time) {
        let held = self.held[stream.index()].iter_mut().find(|(at, _)| *at == place);
        if let Some((_, renewed)) = held {
            *renewed = now;
        }
    }

    pub(super) fn give_back(&mut self, stream: StreamId, place: Place) -> bool {
        take_out(&mut self.held[stream.index()], place).is_some()
    }

    pub(super) fn next_over(&mut self, place: Place, now: Time) -> Option<Over> {
        let due = self.due.get_mut(&place)?;
        while let Some(mut first) = due.peek_mut() {
            let Reverse((at, stream)) = *first;
            if at >= now {
                return None;
            }
            let held = &mut self.held[stream.index()];
            let Some(renewed) = take_out(held, place) else {
                PeekMut::pop(first);
                continue;
            };
            let at = renewed + self.lease;
            if at < now {
                PeekMut::pop(first);
                return Some(Over { stream, place, at });
            }
            held.push((place, renewed));
            *first = Reverse((at, stream));
        }
        None
    }

    pub(super) fn places(&self) -> Vec<Place> {
        self.due.keys().copied().collect()
    }
}

fn take_out(held: &mut Vec<(Place, Time)>, place: Place) -> Option<Time> {
    let found = held.iter().position(|(at, _)| *at == place)?;
    Some(held.swap_remove(found).1)
}
