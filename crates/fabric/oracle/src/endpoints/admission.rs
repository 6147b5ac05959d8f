//! Admission of streams (`timing.md`, "Admission"; Yum et al. 2002, section 4.1).
//!
//! One list of reservations represents the ledgers at both ends of all links.

use super::differ::{Audited, Tally};
use super::weights::Weights;
use gingham_kernel::Time;
use gingham_net::{AdmissionPlan, Plan, Signal, StreamId, StreamState, Weighing};
use gingham_topology::ChannelId;
use std::sync::Arc;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum End {
    Sender,
    Receiver,
}

/// Reservation that was neither released nor found to be expired.
#[derive(Clone, Copy, Debug)]
struct Reservation {
    stream: StreamId,
    place: (ChannelId, End),
    /// Time when the stream's last packet passed this channel end.
    renewed: Time,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Request {
    pub(super) rate: u64,
    pub(super) state: StreamState,
    pub(super) asked: Option<Time>,
    pub(super) responded: Option<Time>,
    pub(super) lapsed: Option<Time>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    pub(super) input: ChannelId,
    pub(super) output: ChannelId,
    /// Output channel at the next node; `None` if the path ends there.
    pub(super) after: Option<ChannelId>,
}

#[derive(Clone, Debug)]
pub(super) struct Admission {
    pub(super) plan: Arc<AdmissionPlan>,
    pub(super) requests: Vec<Request>,
    reservations: Vec<Reservation>,
    weights: Option<Weights>,
    weighed: Vec<Weighing>,
}

impl Admission {
    pub(super) fn new(plan: &Plan, admission: &Arc<AdmissionPlan>) -> Self {
        let request = |rate| Request {
            rate,
            state: StreamState::Silent,
            asked: None,
            responded: None,
            lapsed: None,
        };
        let rates = plan.streams().map(|(_, _, stream)| stream.solicited_bytes_per_s());
        Self {
            requests: rates.map(request).collect(),
            plan: Arc::clone(admission),
            reservations: Vec::new(),
            weights: Weights::new(plan, admission),
            weighed: Vec::new(),
        }
    }

    fn request(&mut self, stream: StreamId) -> &mut Request {
        &mut self.requests[stream.index()]
    }

    pub(super) fn reserved(&self, place: (ChannelId, End)) -> u64 {
        let here = self.reservations.iter().filter(|of| of.place == place);
        here.map(|of| self.requests[of.stream.index()].rate).sum()
    }

    pub(super) fn take_weighed(&mut self) -> Vec<Weighing> {
        std::mem::take(&mut self.weighed)
    }

    fn changed(&mut self, (channel, end): (ChannelId, End)) {
        let reserved = self.reserved((channel, end));
        if let Some(weights) = &mut self.weights {
            self.weighed.extend(weights.of(&self.plan, (channel, end), reserved));
        }
    }

    fn expire(&mut self, place: (ChannelId, End), now: Time) {
        let Some(lease) = self.plan.lease else { return };
        let is_over = |of: &Reservation| of.place == place && of.renewed + lease < now;
        while let Some(found) = self.reservations.iter().position(is_over) {
            let Reservation { stream, renewed, .. } = self.reservations.remove(found);
            let at = renewed + lease;
            let lapsed = &mut self.request(stream).lapsed;
            *lapsed = Some(lapsed.map_or(at, |before| before.min(at)));
            self.changed(place);
        }
    }

    fn enter(&mut self, stream: StreamId, place: (ChannelId, End), now: Time) {
        self.reservations.push(Reservation { stream, place, renewed: now });
        self.changed(place);
    }

    fn reserve(&mut self, stream: StreamId, channel: ChannelId, now: Time) -> bool {
        let place = (channel, End::Sender);
        self.expire(place, now);
        let all = u128::from(self.reserved(place)) + u128::from(self.request(stream).rate);
        let has_room = all <= u128::from(self.plan.limits[channel.index()]);
        if has_room {
            self.enter(stream, place, now);
        }
        has_room
    }

    fn free(&mut self, stream: StreamId, input: Option<ChannelId>, output: ChannelId) {
        let places =
            std::iter::once((output, End::Sender)).chain(input.map(|input| (input, End::Receiver)));
        for place in places {
            let is_it = |of: &Reservation| of.stream == stream && of.place == place;
            if let Some(found) = self.reservations.iter().position(is_it) {
                self.reservations.remove(found);
                self.changed(place);
            }
        }
    }

    /// Returns whether the stream is not permitted to send.
    pub(super) fn holds(&self, stream: StreamId) -> bool {
        let state = self.requests[stream.index()].state;
        !matches!(state, StreamState::Admitted | StreamState::Ended)
    }

    pub(super) fn ask(&mut self, stream: StreamId, channel: ChannelId, now: Time) -> bool {
        let has_room = self.reserve(stream, channel, now);
        let request = self.request(stream);
        request.asked = Some(now);
        request.state = StreamState::Asking;
        if !has_room {
            request.responded = Some(now);
            request.state = StreamState::Refused(channel);
        }
        has_room
    }

    /// Handles the answer to a probe. `channel` is the host's output channel, `first` the output
    /// channel at the next node. Returns the release to send, unless the host has crashed.
    pub(super) fn answered(
        &mut self,
        answer: Signal,
        [channel, first]: [ChannelId; 2],
        has_crashed: bool,
        now: Time,
    ) -> Option<Signal> {
        let stream = answer.stream();
        self.request(stream).responded = Some(now);
        let Signal::Nack(_, refused) = answer else {
            self.request(stream).state = StreamState::Admitted;
            return None;
        };
        self.request(stream).state = StreamState::Refused(refused);
        if has_crashed {
            return None;
        }
        self.free(stream, None, channel);
        (refused != first).then_some(Signal::Release(stream, refused))
    }

    pub(super) fn ended(&mut self, stream: StreamId, channel: ChannelId) {
        self.free(stream, None, channel);
        self.request(stream).state = StreamState::Ended;
    }

    /// Reserves bandwidth at both channel ends for a probe. Returns a refusal if there is not
    /// enough.
    fn probed(&mut self, stream: StreamId, hop: Hop, now: Time) -> Option<Signal> {
        if !self.reserve(stream, hop.output, now) {
            return Some(Signal::Nack(stream, hop.output));
        }
        self.expire((hop.input, End::Receiver), now);
        self.enter(stream, (hop.input, End::Receiver), now);
        None
    }

    /// Returns the signal that the switch's port 0 receives if the packet ends at this switch;
    /// `None` if the packet continues.
    pub(super) fn read(&mut self, signal: Signal, hop: Hop, now: Time) -> Option<Signal> {
        match signal {
            Signal::Probe(stream) => {
                let refused = self.probed(stream, hop, now);
                let is_last = hop.after.is_none();
                refused.or_else(|| is_last.then_some(Signal::Ack(stream)))
            }
            Signal::Release(stream, refused) => {
                // The previous node, an in-transit host, was the last node with a reservation.
                if hop.output == refused {
                    return Some(signal);
                }
                self.free(stream, Some(hop.input), hop.output);
                (hop.after == Some(refused)).then_some(signal)
            }
            Signal::Nack(..) | Signal::Ack(_) => Some(signal),
        }
    }

    pub(super) fn sent_on(&mut self, signal: Signal, hop: Hop, now: Time) -> Signal {
        match signal {
            Signal::Probe(stream) => self.probed(stream, hop, now).unwrap_or(signal),
            Signal::Release(stream, _) => {
                self.free(stream, Some(hop.input), hop.output);
                signal
            }
            Signal::Nack(..) | Signal::Ack(_) => signal,
        }
    }

    /// Handles a data packet at a node. A stream's last packet frees its reservations, and all
    /// other packets renew them.
    pub(super) fn passed(
        &mut self,
        stream: StreamId,
        (input, output): (Option<ChannelId>, ChannelId),
        is_last: bool,
        now: Time,
    ) {
        if is_last {
            return self.free(stream, input, output);
        }
        for of in self.reservations.iter_mut().filter(|of| of.stream == stream) {
            let is_here = match of.place {
                (channel, End::Sender) => channel == output,
                (channel, End::Receiver) => Some(channel) == input,
            };
            of.renewed = if is_here { now } else { of.renewed };
        }
    }

    /// Compares the requests and ledgers of both implementations.
    pub(super) fn check(&self, now: Time, machines: &gingham_net::Endpoints, tally: &Tally) {
        for (stream, (request, found)) in self.requests.iter().zip(machines.requests()).enumerate()
        {
            let gingham_net::Request { rate, state, asked, responded, lapsed, .. } = *found;
            let found = Request { rate, state, asked, responded, lapsed };
            let place = (now, format_args!("stream {stream}"));
            tally.check(Audited::Admission, place, "request", request, &found);
        }
        let ledger = machines.ledger().expect("there is admission control");
        let mut reserved = vec![0; self.plan.limits.len()];
        for of in self.reservations.iter().filter(|of| of.place.1 == End::Sender) {
            reserved[of.place.0.index()] += self.requests[of.stream.index()].rate;
        }
        for (channel, expected) in ChannelId::first(reserved.len()).zip(&reserved) {
            let found = ledger.reserved(channel);
            let place = format_args!("channel {}", channel.index());
            tally.check(Audited::Admission, (now, place), "reserved bandwidth", expected, &found);
        }
    }
}
