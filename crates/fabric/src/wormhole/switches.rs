//! Switches: input ports read headers and request outputs; outputs choose, and release.

use crate::wormhole::event::Event;
use crate::wormhole::simulation::Simulation;
use crate::wormhole::state::{Head, Incoming};
use gingham_model::Arbitration;
use gingham_topology::{ChannelId, Fabric};

impl Simulation {
    // Phase 4: request.

    /// The tail has left on `output`, if its moment has come: both ends are free.
    pub(crate) fn release(&mut self, output: ChannelId) {
        let sender = &mut self.senders[output.index()];
        if sender.release_at == Some(self.now) {
            sender.release_at = None;
        }
        if !sender.tail_left_at(self.now) {
            return self.schedule_release(output);
        }
        let worm = sender.worm.take().expect("a tail has a worm");
        let feeder = sender.feeder.take();
        let flits = sender.schedule.end() - sender.worm_first;
        let sum = sender.schedule.sum_all();
        match &self.inputs[output.index()] {
            None => self.leave_for_host(output, worm),
            Some(port) if port.is_at_host() => self.leave_for_port(output, worm),
            Some(_) => {}
        }
        let Some(channel) = feeder else {
            return self.leave_host(output, flits);
        };
        let feeder = &mut self.senders[channel.index()];
        feeder.feeds = None;
        let input = match &mut self.inputs[channel.index()] {
            Some(input) if !input.is_at_host() => input,
            _ => return self.leave_host(output, flits),
        };
        input.taken += flits;
        input.taken_sum += sum;
        input.head = Head::Idle;
        input.current = None;
        feeder.schedule.forget_before(input.taken);
        self.read_head(channel);
        self.arbitrate_soon(output);
    }

    /// Reads the header at the head of the input at the end of `channel`, if one is there and the
    /// input is free.
    pub(crate) fn read_head(&mut self, channel: ChannelId) {
        let Some(input) = self.inputs[channel.index()].as_mut() else {
            return self.recognise(channel);
        };
        if input.head != Head::Idle {
            return;
        }
        let Some(incoming) = input.incoming.front().copied() else { return };
        let sender = &self.senders[channel.index()];
        let arrival = sender.schedule.start_of(incoming.first).map(|start| start + sender.latency);
        if arrival.is_none_or(|arrival| arrival > self.now) {
            return;
        }
        if input.is_at_host() {
            return self.read_at_host(channel);
        }
        debug_assert_eq!(input.taken, incoming.first, "the worm before has left");
        input.incoming.pop_front();
        input.current = Some(incoming);
        let node = || self.places[channel.index()].target;
        let worm = self.worms.get(incoming.worm);
        let output = worm.output(&self.plan, incoming.position, node);
        input.head = Head::Routing { output };
        if self.wormhole.route_bytes {
            input.taken += 1;
            input.taken_sum += i128::from(self.now);
        }
        self.unsettle(channel);
        match self.wormhole.routing_delay.as_ps() {
            0 => self.request(channel),
            delay => self.schedule(self.now + delay, Event::Request { channel }),
        }
    }

    pub(crate) fn request(&mut self, channel: ChannelId) {
        let input = self.inputs[channel.index()].as_mut().expect("a switch input");
        let Head::Routing { output } = input.head else { panic!("a request follows routing") };
        input.head = Head::Waiting { output };
        let port = usize::from(self.places[channel.index()].target_port);
        // The worm is looked up only where it matters: this happens at every hop.
        let level = match self.wormhole.arbitration {
            Arbitration::RoundRobin => 0,
            Arbitration::StrictPriority => {
                let worm = input.current.expect("the header was read").worm;
                self.worms.get(worm).packet.priority.level()
            }
        };
        self.arbiters[output.index()].request(port, level);
        self.arbitrate_soon(output);
    }

    // Phase 5: arbitrate.

    /// Arbitrates in phase 5 of this instant: now, if nothing else is to happen before.
    fn arbitrate_soon(&mut self, output: ChannelId) {
        if self.senders[output.index()].worm.is_some() || self.arbiters[output.index()].is_idle() {
            return;
        }
        if self.instant_is_over() {
            self.arbitrate(output);
        } else {
            self.schedule(self.now, Event::Arbitrate { output });
        }
    }

    pub(crate) fn arbitrate(&mut self, output: ChannelId) {
        if self.senders[output.index()].worm.is_some() {
            return;
        }
        let Some(port) = self.arbiters[output.index()].grant() else { return };
        let node = self.places[Fabric::reverse(output).index()].target;
        let port = u16::try_from(port).expect("a port fits 16 bits");
        let leaving = self.plan.fabric.outgoing(node, port).expect("a requesting port has a cable");
        let channel = Fabric::reverse(leaving);
        let input = self.inputs[channel.index()].as_mut().expect("a switch input");
        input.head = Head::Connected;
        let sender = &mut self.senders[output.index()];
        input.taken_sum -= sender.schedule.sum();
        sender.feeder = Some(channel);
        sender.feeder_first = input.taken;
        let read = input.current.expect("the header was read");
        let next = Incoming {
            flits: read.flits - u64::from(self.wormhole.route_bytes),
            position: read.position + 1,
            ..read
        };
        self.senders[channel.index()].feeds = Some(output);
        self.begin(output, next, self.now + self.wormhole.setup_delay.as_ps());
    }

    /// Gives `channel` to a worm, whose first flit may start at `ready`.
    pub(crate) fn begin(&mut self, channel: ChannelId, worm: Incoming, ready: u64) {
        self.touch(channel);
        let sender = &mut self.senders[channel.index()];
        let first = sender.schedule.end();
        sender.worm = Some(worm.worm);
        sender.worm_first = first;
        sender.left = worm.flits;
        sender.ready = ready;
        let worm = Incoming { first, ..worm };
        if let Some(input) = self.inputs[channel.index()].as_mut() {
            input.incoming.push_back(worm);
        } else if !self.transits.is_empty() {
            self.await_transit(channel, worm);
        }
        self.extend(channel);
    }
}
