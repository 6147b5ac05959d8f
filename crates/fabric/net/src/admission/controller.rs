//! Admission controller: tracks stream requests, and makes the decisions of all nodes from their
//! ledgers.

use super::leases::{Leases, Over, Place};
use super::ledger::{End, Ledger};
use super::weights::Weights;
use super::{AdmissionPlan, Signal};
use crate::traffic::{SourcePlan, StreamPlan};
use crate::{ClassId, Plan, StreamId, Weighing};
use gingham_kernel::{Span, Time};
use gingham_topology::{ChannelId, EndpointId};
use std::sync::Arc;

/// State of a stream's request for admission.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum StreamState {
    /// Admission has not been requested.
    #[default]
    Silent,
    /// A probe or its response is in flight.
    Asking,
    /// The stream may send.
    Admitted,
    /// The sender on this channel refused the stream.
    Refused(ChannelId),
    /// The stream has ended, and its adapter has released the reservation.
    Ended,
}

/// A stream's request for admission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// Class of the stream.
    pub class: ClassId,
    /// Sending host.
    pub source: EndpointId,
    /// Receiving host.
    pub destination: EndpointId,
    /// Requested rate in payload bytes per second.
    pub rate: u64,
    /// State of the request.
    pub state: StreamState,
    /// Time of the request.
    pub asked: Option<Time>,
    /// Arrival time of the response, or time of the refusal by the host's adapter.
    pub responded: Option<Time>,
    /// Earliest expiry time among the stream's expired leases.
    pub lapsed: Option<Time>,
}

impl Request {
    /// Returns the time from request to response.
    pub fn set_up(&self) -> Option<Span> {
        Some(self.responded?.since(self.asked?))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Hop {
    pub(crate) input: ChannelId,
    pub(crate) output: ChannelId,
    pub(crate) after: Option<ChannelId>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Onward {
    Goes,
    /// The signal ends at port 0 of the switch.
    Ends(Signal),
}

#[derive(Clone, Debug)]
pub(crate) struct AdmissionController {
    plan: Arc<AdmissionPlan>,
    requests: Vec<Request>,
    ledger: Ledger,
    leases: Option<Leases>,
    weights: Option<Weights>,
    weighed: Vec<Weighing>,
}

impl AdmissionController {
    pub(crate) fn new(plan: &Plan) -> Option<Self> {
        let admission = Arc::clone(plan.admission.as_ref()?);
        let request = |(class, source, stream): (ClassId, &SourcePlan, &StreamPlan)| Request {
            class,
            source: source.endpoint,
            destination: stream.destination,
            rate: stream.solicited_bytes_per_s(),
            state: StreamState::Silent,
            asked: None,
            responded: None,
            lapsed: None,
        };
        let weights = Weights::new(plan, &admission);
        let requests = plan.streams().map(request).collect();
        Some(Self { weights, ..Self::of(admission, requests, plan.channels.len()) })
    }

    pub(super) fn of(plan: Arc<AdmissionPlan>, requests: Vec<Request>, channels: usize) -> Self {
        let (ledger, weighed) = (Ledger::new(channels), Vec::new());
        let leases = plan.lease.map(|lease| Leases::new(lease, requests.len()));
        Self { plan, requests, ledger, leases, weights: None, weighed }
    }

    pub(crate) fn plan(&self) -> &AdmissionPlan {
        &self.plan
    }

    pub(crate) fn requests(&self) -> &[Request] {
        &self.requests
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    pub(crate) fn holds(&self, class: ClassId, stream: StreamId) -> bool {
        self.plan.classes[class.index()]
            && !matches!(self.request(stream).state, StreamState::Admitted | StreamState::Ended)
    }

    fn request(&self, stream: StreamId) -> &Request {
        &self.requests[stream.index()]
    }

    /// Requests admission. Returns whether to send a probe; if not, the source's adapter has
    /// refused the stream.
    pub(crate) fn ask(&mut self, stream: StreamId, channel: ChannelId, now: Time) -> bool {
        let request = &mut self.requests[stream.index()];
        (request.state, request.asked) = (StreamState::Asking, Some(now));
        if self.reserve(stream, channel, now) {
            return true;
        }
        let request = &mut self.requests[stream.index()];
        (request.state, request.responded) = (StreamState::Refused(channel), Some(now));
        false
    }

    pub(crate) fn read(&mut self, signal: Signal, hop: Hop, now: Time) -> Onward {
        match signal {
            Signal::Probe(stream) => match (self.probed(stream, hop, now), hop.after) {
                (Err(nack), _) => Onward::Ends(nack),
                (Ok(()), None) => Onward::Ends(Signal::Ack(stream)),
                (Ok(()), Some(_)) => Onward::Goes,
            },
            // The previous node is an in-transit host, which cannot end a signal, so the release
            // ends here.
            Signal::Release(_, refused) if hop.output == refused => Onward::Ends(signal),
            Signal::Release(stream, refused) => {
                self.release(stream, Some(hop.input), hop.output);
                if hop.after == Some(refused) { Onward::Ends(signal) } else { Onward::Goes }
            }
            Signal::Nack(..) => Onward::Ends(signal),
            Signal::Ack(_) => {
                unreachable!("an acknowledgement begins at a switch and ends at the host")
            }
        }
    }

    /// Handles a signal that an in-transit host re-injects. Returns the signal to forward.
    pub(crate) fn sent_on(&mut self, signal: Signal, hop: Hop, now: Time) -> Signal {
        match signal {
            Signal::Probe(stream) => self.probed(stream, hop, now).err().unwrap_or(signal),
            Signal::Release(stream, _) => {
                self.release(stream, Some(hop.input), hop.output);
                signal
            }
            Signal::Ack(_) | Signal::Nack(..) => signal,
        }
    }

    fn probed(
        &mut self,
        stream: StreamId,
        Hop { input, output, .. }: Hop,
        now: Time,
    ) -> Result<(), Signal> {
        if !self.reserve(stream, output, now) {
            return Err(Signal::Nack(stream, output));
        }
        self.end_leases((input, End::Entering), now);
        self.enter(stream, (input, End::Entering), now);
        Ok(())
    }

    /// Releases a stream's reservation at a node that its last packet has passed; `input` is `None`
    /// at the source.
    pub(crate) fn pass(&mut self, stream: StreamId, input: Option<ChannelId>, output: ChannelId) {
        self.release(stream, input, output);
        if input.is_none() {
            self.requests[stream.index()].state = StreamState::Ended;
        }
    }

    /// Handles the response at the requesting host; `channel` and `first` are the first two
    /// channels of the stream's path.
    pub(crate) fn handle_response(
        &mut self,
        signal: Signal,
        [channel, first]: [ChannelId; 2],
        now: Time,
    ) -> HostAction {
        let request = &mut self.requests[signal.stream().index()];
        request.responded = Some(now);
        match signal {
            Signal::Ack(_) => {
                request.state = StreamState::Admitted;
                HostAction::Send
            }
            Signal::Nack(stream, refused) => {
                request.state = StreamState::Refused(refused);
                self.release(stream, None, channel);
                if refused == first { HostAction::Nothing } else { HostAction::Release(refused) }
            }
            Signal::Probe(_) | Signal::Release(..) => {
                unreachable!("probes and releases end at switches")
            }
        }
    }

    /// Renews a stream's reservation at a node that a packet of the stream has passed.
    pub(crate) fn renew(
        &mut self,
        stream: StreamId,
        (input, output): (Option<ChannelId>, ChannelId),
        now: Time,
    ) {
        let Some(leases) = &mut self.leases else { return };
        leases.renew(stream, (output, End::Leaving), now);
        if let Some(input) = input {
            leases.renew(stream, (input, End::Entering), now);
        }
    }

    pub(crate) fn ignore_response(&mut self, signal: Signal, now: Time) {
        let request = &mut self.requests[signal.stream().index()];
        request.responded = Some(now);
        request.state = match signal {
            Signal::Nack(_, refused) => StreamState::Refused(refused),
            _ => StreamState::Admitted,
        };
    }

    pub(crate) fn settle(&mut self, now: Time) {
        let places = self.leases.as_ref().map(Leases::places);
        for place in places.unwrap_or_default() {
            self.end_leases(place, now);
        }
    }

    fn end_leases(&mut self, place: Place, now: Time) {
        while let Some(Over { stream, place: (channel, end), at }) =
            self.leases.as_mut().and_then(|leases| leases.next_over(place, now))
        {
            let request = &mut self.requests[stream.index()];
            request.lapsed = Some(request.lapsed.map_or(at, |before| before.min(at)));
            self.ledger.release(channel, end, request.rate);
            self.changed(channel, end);
        }
    }

    fn enter(&mut self, stream: StreamId, place: Place, now: Time) {
        let (channel, end) = place;
        self.ledger.reserve(channel, end, self.request(stream).rate);
        if let Some(leases) = &mut self.leases {
            leases.take(stream, place, now);
        }
        self.changed(channel, end);
    }

    fn strike(&mut self, stream: StreamId, place: Place) {
        let is_held = self.leases.as_mut().is_none_or(|leases| leases.give_back(stream, place));
        if is_held {
            let (channel, end) = place;
            self.ledger.release(channel, end, self.request(stream).rate);
            self.changed(channel, end);
        }
    }

    fn reserve(&mut self, stream: StreamId, channel: ChannelId, now: Time) -> bool {
        self.end_leases((channel, End::Leaving), now);
        let rate = self.request(stream).rate;
        let has_room =
            self.ledger.reserved(channel).saturating_add(rate) <= self.plan.limits[channel.index()];
        if has_room {
            self.enter(stream, (channel, End::Leaving), now);
        }
        has_room
    }

    fn release(&mut self, stream: StreamId, input: Option<ChannelId>, output: ChannelId) {
        self.strike(stream, (output, End::Leaving));
        if let Some(input) = input {
            self.strike(stream, (input, End::Entering));
        }
    }

    fn changed(&mut self, channel: ChannelId, end: End) {
        if let Some(weights) = &mut self.weights {
            self.weighed.extend(weights.follow(&self.plan, &self.ledger, (channel, end)));
        }
    }

    pub(crate) fn take_weighed(&mut self) -> Vec<Weighing> {
        std::mem::take(&mut self.weighed)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HostAction {
    Send,
    Release(ChannelId),
    /// No signal: only the host itself had reserved bandwidth.
    Nothing,
}
