//! Who asks, who may, and what is reserved: the decisions of all nodes, each on what it knows.
//!
//! Nothing here moves packets. Whoever does says where a signal is read or has arrived, and is told
//! whether it goes on, ends here, or is answered.

use super::leases::{Leases, Over, Place};
use super::ledger::{End, Ledger};
use super::weights::Weights;
use super::{AdmissionPlan, Signal};
use crate::traffic::{SourcePlan, StreamPlan};
use crate::{ClassId, Plan, StreamId, Weighing};
use gingham_kernel::{Span, Time};
use gingham_topology::{ChannelId, EndpointId};
use std::sync::Arc;

/// How far a stream has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Standing {
    /// It has not asked.
    #[default]
    Silent,
    /// Its probe is under way, or the answer to it.
    Asking,
    /// It sends.
    Admitted,
    /// It was refused: there was no room on this channel, said the node that sends on it.
    Refused(ChannelId),
    /// It has ended, and released what it had reserved where it began.
    Ended,
}

/// The request of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// Its class.
    pub class: ClassId,
    /// Where it begins.
    pub source: EndpointId,
    /// Where it goes.
    pub destination: EndpointId,
    /// What it solicits, in bytes of payload a second.
    pub rate: u64,
    /// How far it has come.
    pub standing: Standing,
    /// When it asked.
    pub asked: Option<Time>,
    /// When it had its answer.
    pub answered: Option<Time>,
    /// Since when the first of its leases has been over, if one was.
    pub lapsed: Option<Time>,
}

impl Request {
    /// From the request to the answer.
    pub fn set_up(&self) -> Option<Span> {
        Some(self.answered?.since(self.asked?))
    }
}

/// Where a signal is on its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Way {
    /// The channel by which it came.
    pub(crate) input: ChannelId,
    /// That by which it goes on.
    pub(crate) output: ChannelId,
    /// That by which it goes on from the next node, if it does.
    pub(crate) after: Option<ChannelId>,
}

/// What becomes of a signal that a switch has read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Onward {
    /// It goes on.
    Goes,
    /// It goes to the end of the switch, as this.
    Ends(Signal),
}

/// The admission control of a run.
#[derive(Clone, Debug)]
pub(crate) struct Desk {
    plan: Arc<AdmissionPlan>,
    /// By stream.
    requests: Vec<Request>,
    ledger: Ledger,
    /// For how long that holds, if not for ever.
    leases: Option<Leases>,
    /// What weights follow the ledgers, if any do, and those that have not been told.
    weights: Option<Weights>,
    weighed: Vec<Weighing>,
}

impl Desk {
    /// Nobody has asked; `None` where there is no admission control.
    pub(crate) fn new(plan: &Plan) -> Option<Self> {
        let admission = Arc::clone(plan.admission.as_ref()?);
        let request = |(class, source, stream): (ClassId, &SourcePlan, &StreamPlan)| Request {
            class,
            source: source.endpoint,
            destination: stream.destination,
            rate: stream.solicited_bytes_per_s(),
            standing: Standing::Silent,
            asked: None,
            answered: None,
            lapsed: None,
        };
        let weights = Weights::new(plan, &admission);
        let requests = plan.streams().map(request).collect();
        Some(Self { weights, ..Self::of(admission, requests, plan.channels.len()) })
    }

    /// The same of these requests, on so many channels.
    pub(super) fn of(plan: Arc<AdmissionPlan>, requests: Vec<Request>, channels: usize) -> Self {
        let (ledger, weighed) = (Ledger::new(channels), Vec::new());
        let leases = plan.lease.map(|lease| Leases::new(lease, requests.len()));
        Self { plan, requests, ledger, leases, weights: None, weighed }
    }

    pub(crate) fn plan(&self) -> &AdmissionPlan {
        &self.plan
    }

    /// What became of every stream, by its number.
    pub(crate) fn requests(&self) -> &[Request] {
        &self.requests
    }

    /// What is reserved.
    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Whether a stream may not send yet, or never.
    pub(crate) fn holds(&self, class: ClassId, stream: StreamId) -> bool {
        self.plan.classes[class.index()]
            && !matches!(self.request(stream).standing, Standing::Admitted | Standing::Ended)
    }

    fn request(&self, stream: StreamId) -> &Request {
        &self.requests[stream.index()]
    }

    /// A stream asks for its rate at the adapter that sends on a channel. Returns whether a probe goes;
    /// else the adapter has refused.
    pub(crate) fn ask(&mut self, stream: StreamId, channel: ChannelId, now: Time) -> bool {
        let request = &mut self.requests[stream.index()];
        (request.standing, request.asked) = (Standing::Asking, Some(now));
        if self.reserve(stream, channel, now) {
            return true;
        }
        let request = &mut self.requests[stream.index()];
        (request.standing, request.answered) = (Standing::Refused(channel), Some(now));
        false
    }

    /// A switch has read a signal on its way from the host that asked.
    pub(crate) fn read(&mut self, signal: Signal, way: Way, now: Time) -> Onward {
        match signal {
            Signal::Probe(stream) => match (self.probed(stream, way, now), way.after) {
                (Err(nack), _) => Onward::Ends(nack),
                (Ok(()), None) => Onward::Ends(Signal::Ack(stream)),
                (Ok(()), Some(_)) => Onward::Goes,
            },
            // The node before it is a host in transit, at which nothing ends.
            Signal::Release(_, refused) if way.output == refused => Onward::Ends(signal),
            Signal::Release(stream, refused) => {
                self.release(stream, Some(way.input), way.output);
                if way.after == Some(refused) { Onward::Ends(signal) } else { Onward::Goes }
            }
            Signal::Nack(..) => Onward::Ends(signal),
            Signal::Ack(_) => unreachable!("what is admitted is admitted by a switch"),
        }
    }

    /// A host in transit sends such a signal on. Returns as what.
    pub(crate) fn sent_on(&mut self, signal: Signal, way: Way, now: Time) -> Signal {
        match signal {
            Signal::Probe(stream) => self.probed(stream, way, now).err().unwrap_or(signal),
            Signal::Release(stream, _) => {
                self.release(stream, Some(way.input), way.output);
                signal
            }
            Signal::Ack(_) | Signal::Nack(..) => signal,
        }
    }

    /// A probe is at a node that is not its first, which reserves, or refuses it.
    fn probed(
        &mut self,
        stream: StreamId,
        Way { input, output, .. }: Way,
        now: Time,
    ) -> Result<(), Signal> {
        if !self.reserve(stream, output, now) {
            return Err(Signal::Nack(stream, output));
        }
        self.end_leases((input, End::Entering), now);
        self.enter(stream, (input, End::Entering), now);
        Ok(())
    }

    /// The last packet of a stream has passed a node: it came by one channel, if it did not begin
    /// there, and goes on by another.
    pub(crate) fn pass(&mut self, stream: StreamId, input: Option<ChannelId>, output: ChannelId) {
        self.release(stream, input, output);
        if input.is_none() {
            self.requests[stream.index()].standing = Standing::Ended;
        }
    }

    /// The answer to a probe has arrived at the host that asked, whose streams go by `channel` to a
    /// switch and from there by `first`. Returns what is to be done about it.
    pub(crate) fn answered(
        &mut self,
        signal: Signal,
        [channel, first]: [ChannelId; 2],
        now: Time,
    ) -> Answer {
        let request = &mut self.requests[signal.stream().index()];
        request.answered = Some(now);
        match signal {
            Signal::Ack(_) => {
                request.standing = Standing::Admitted;
                Answer::Send
            }
            Signal::Nack(stream, refused) => {
                request.standing = Standing::Refused(refused);
                self.release(stream, None, channel);
                if refused == first { Answer::Nothing } else { Answer::Release(refused) }
            }
            Signal::Probe(_) | Signal::Release(..) => {
                unreachable!("probes and releases end at switches")
            }
        }
    }

    /// A packet of a stream that is not the last has passed a node: what is reserved stays so.
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

    /// The answer to a probe has arrived at a host that has crashed: nobody does anything about it.
    pub(crate) fn ignored(&mut self, signal: Signal, now: Time) {
        let request = &mut self.requests[signal.stream().index()];
        request.answered = Some(now);
        request.standing = match signal {
            Signal::Nack(_, refused) => Standing::Refused(refused),
            _ => Standing::Admitted,
        };
    }

    /// The run is over: so is every lease that has not been renewed.
    pub(crate) fn settle(&mut self, now: Time) {
        let places = self.leases.as_ref().map(Leases::places);
        for place in places.unwrap_or_default() {
            self.end_leases(place, now);
        }
    }

    /// What is reserved at a place for streams whose leases are over is free again.
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

    /// Enters the rate of a stream into a ledger.
    fn enter(&mut self, stream: StreamId, place: Place, now: Time) {
        let (channel, end) = place;
        self.ledger.reserve(channel, end, self.request(stream).rate);
        if let Some(leases) = &mut self.leases {
            leases.take(stream, place, now);
        }
        self.changed(channel, end);
    }

    /// Strikes it from one, unless its lease was over.
    fn strike(&mut self, stream: StreamId, place: Place) {
        let is_held = self.leases.as_mut().is_none_or(|leases| leases.give_back(stream, place));
        if is_held {
            let (channel, end) = place;
            self.ledger.release(channel, end, self.request(stream).rate);
            self.changed(channel, end);
        }
    }

    /// Reserves the rate of a stream on a channel, if there is room for it.
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

    /// The weights that have changed since this was asked last.
    pub(crate) fn take_weighed(&mut self) -> Vec<Weighing> {
        std::mem::take(&mut self.weighed)
    }
}

/// What a host does on the answer to its probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// It sends.
    Send,
    /// It releases what is reserved up to the node before the one that sends on this channel.
    Release(ChannelId),
    /// Nothing: only it itself had reserved anything.
    Nothing,
}
