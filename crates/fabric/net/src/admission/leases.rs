//! Leases: reservations that end by themselves, so that a host that has died holds nothing for ever.
//!
//! ```text
//!   probe read      data read    data read
//!      ├── lease ─ ─ ─┤
//!                     ├── lease ─ ─┤
//!                                  ├──── lease ────┤ over: free again, for the next probe that asks
//! ```
//!
//! A packet of the stream that is read at the very instant at which a lease ends renews it. That a lease
//! is over is found where somebody asks for the link, and at the end of a run, so that no timer keeps
//! a run alive.
//!
//! Source: ours; Yum et al. 2002 release by the last packet of a stream alone.

use super::ledger::End;
use crate::StreamId;
use gingham_kernel::{Span, Time};
use gingham_topology::ChannelId;
use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BTreeMap, BinaryHeap};

/// One end of a channel, of which something is reserved.
pub(super) type Place = (ChannelId, End);

/// A lease that is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Over {
    pub(super) stream: StreamId,
    pub(super) place: Place,
    /// Since when.
    pub(super) at: Time,
}

/// What is reserved by whom, and for how long.
#[derive(Clone, Debug)]
pub(super) struct Leases {
    lease: Span,
    /// By stream: where it has reserved, and when that was renewed last.
    held: Vec<Vec<(Place, Time)>>,
    /// By place: no earlier than then is the lease of this stream over.
    due: BTreeMap<Place, BinaryHeap<Reverse<(Time, StreamId)>>>,
}

impl Leases {
    pub(super) fn new(lease: Span, streams: usize) -> Self {
        Self { lease, held: vec![Vec::new(); streams], due: BTreeMap::new() }
    }

    /// A stream has reserved.
    pub(super) fn take(&mut self, stream: StreamId, place: Place, now: Time) {
        self.held[stream.index()].push((place, now));
        self.due.entry(place).or_default().push(Reverse((now + self.lease, stream)));
    }

    /// A packet of a stream has been read, or has left its adapter.
    pub(super) fn renew(&mut self, stream: StreamId, place: Place, now: Time) {
        let held = self.held[stream.index()].iter_mut().find(|(at, _)| *at == place);
        if let Some((_, renewed)) = held {
            *renewed = now;
        }
    }

    /// A stream releases. Returns whether it still had anything there.
    pub(super) fn give_back(&mut self, stream: StreamId, place: Place) -> bool {
        take_out(&mut self.held[stream.index()], place).is_some()
    }

    /// The next lease of a place that is over by now, if there is one; it is held no more.
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

    /// All places of which anything was ever reserved.
    pub(super) fn places(&self) -> Vec<Place> {
        self.due.keys().copied().collect()
    }
}

/// Takes a place out of those that a stream holds: when it was renewed last.
fn take_out(held: &mut Vec<(Place, Time)>, place: Place) -> Option<Time> {
    let found = held.iter().position(|(at, _)| *at == place)?;
    Some(held.swap_remove(found).1)
}
