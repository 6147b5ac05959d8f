//! Links: channels start flits, and STOP and GO travel against the data.

use crate::wormhole::event::{Event, Flit, Symbol};
use crate::wormhole::input::Input;
use crate::wormhole::simulation::Simulation;
use gingham_topology::{ChannelId, Fabric};

impl Simulation {
    pub(crate) fn on_control(&mut self, channel: ChannelId, symbol: Symbol) {
        let since = self.outputs[channel.index()].stopped_since;
        match (symbol, since) {
            (Symbol::Stop, None) => {
                self.outputs[channel.index()].stopped_since = Some(self.timeline.now);
                self.counts[channel.index()].stops += 1;
            }
            (Symbol::Go, Some(since)) => {
                self.counts[channel.index()].stopped_ps += self.timeline.now.since(since).as_ps();
                self.outputs[channel.index()].stopped_since = None;
                self.timeline.cause(self.timeline.now, Event::Transfer { channel });
            }
            _ => panic!("STOP and GO alternate on channel {channel:?}"),
        }
    }

    pub(crate) fn transfer(&mut self, channel: ChannelId) {
        let output = &self.outputs[channel.index()];
        if output.busy_until > self.timeline.now {
            return;
        }
        let about = Fabric::reverse(channel);
        if let Some(symbol) = self.inputs[about.index()].as_ref().and_then(Input::pending) {
            self.send_control(about, symbol);
        } else if output.stopped_since.is_none() {
            match self.endpoint_of[channel.index()] {
                Some(endpoint) => self.send_from_host(endpoint, channel),
                None => self.send_from_switch(channel),
            }
        }
    }

    pub(crate) fn send_data(&mut self, channel: ChannelId, flit: Flit) {
        self.occupy(channel);
        self.counts[channel.index()].data_flits += 1;
        let arrival = self.outputs[channel.index()].busy_until + self.plan.channel(channel).delay;
        self.timeline.cause(arrival, Event::FlitArrives { channel, flit });
    }

    pub(crate) fn emit_control(&mut self, channel: ChannelId) {
        let speaking = Fabric::reverse(channel);
        let idle = self.outputs[speaking.index()].busy_until <= self.timeline.now;
        let input = self.input_mut(channel);
        input.wanted = input.judged();
        if let (true, Some(symbol)) = (idle, input.pending()) {
            self.send_control(channel, symbol);
        }
    }

    pub(crate) fn send_control(&mut self, channel: ChannelId, symbol: Symbol) {
        let speaking = Fabric::reverse(channel);
        self.input_mut(channel).announced = symbol;
        self.occupy(speaking);
        self.counts[speaking.index()].control_flits += 1;
        let arrival = self.outputs[speaking.index()].busy_until + self.plan.channel(speaking).delay;
        self.timeline.cause(arrival, Event::ControlArrives { channel, symbol });
    }

    pub(crate) fn fill_changed(&mut self, channel: ChannelId) {
        let input = self.inputs[channel.index()].as_ref().expect("a switch input");
        if input.judged() != input.wanted {
            self.timeline.cause(self.timeline.now, Event::EmitControl { channel });
        }
    }

    pub(crate) fn occupy(&mut self, channel: ChannelId) {
        let free = self.timeline.now + self.plan.channel(channel).flit;
        self.outputs[channel.index()].busy_until = free;
        self.timeline.cause(free, Event::Transfer { channel });
    }
}
