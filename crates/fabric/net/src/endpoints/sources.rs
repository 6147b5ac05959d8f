//! Traffic sources of a run.

use super::agenda::Agenda;
use super::outbox::Outbox;
use crate::traffic::Source;
use crate::{Order, Plan, StreamId};
use gingham_kernel::Time;
use gingham_topology::EndpointId;

#[derive(Clone, Debug)]
pub(super) struct Sources {
    all: Vec<Source>,
    streams: Vec<usize>,
    agendas: Vec<Agenda>,
}

impl Sources {
    pub(super) fn new(plan: &Plan) -> Self {
        let all = Source::all(plan);
        let mut agendas = vec![Agenda::default(); plan.fabric.endpoints().len()];
        for (index, source) in all.iter().enumerate() {
            agendas[source.endpoint().index()].add(index, source);
        }
        let streams = (0..all.len()).filter(|index| all[*index].stream().is_some()).collect();
        Self { all, streams, agendas }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    #[inline]
    pub(super) fn get(&self, index: usize) -> &Source {
        &self.all[index]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, index: usize) -> &mut Source {
        &mut self.all[index]
    }

    pub(super) fn agenda(&self, endpoint: EndpointId) -> &Agenda {
        &self.agendas[endpoint.index()]
    }

    pub(super) fn of_stream(&self, stream: StreamId) -> usize {
        self.streams[stream.index()]
    }

    pub(super) fn crash_host(&mut self, endpoint: EndpointId) {
        for index in self.agendas[endpoint.index()].sources() {
            self.all[*index].crash();
        }
    }

    pub(super) fn crash_application(&mut self, stream: StreamId) {
        let index = self.of_stream(stream);
        self.all[index].crash();
    }

    pub(super) fn await_starts(&self) -> bool {
        self.agendas.iter().any(|agenda| !agenda.of_starts().is_empty())
    }

    pub(super) fn await_deliveries(&self) -> bool {
        self.agendas.iter().any(|agenda| !agenda.of_deliveries().is_empty())
    }

    pub(super) fn are_finished(&self) -> bool {
        self.all.iter().all(Source::is_finished)
    }

    pub(super) fn schedule(&self, index: usize, outbox: &mut Outbox) {
        if let Some(at) = self.all[index].next_at() {
            outbox.order(Order::CreateAt { source: index, at });
        }
    }

    pub(super) fn postpone(&mut self, index: usize, at: Time, outbox: &mut Outbox) {
        let endpoint = self.all[index].endpoint();
        self.agendas[endpoint.index()].put(index, at);
        outbox.order(Order::WakeAt { endpoint, at });
    }

    pub(super) fn take_due(&mut self, endpoint: EndpointId, now: Time) -> Option<usize> {
        self.agendas[endpoint.index()].take_due(now)
    }
}
