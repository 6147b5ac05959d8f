//! Simulation loop of wormhole networks: one event at a time, a few events per worm.

use crate::packed::assert_indices_fit;
use crate::wormhole::clock::Clock;
use crate::wormhole::event::{Event, is_last_phase};
use crate::wormhole::hosts::Hosts;
use crate::wormhole::links::{End, Links};
use crate::wormhole::network::Network;
use crate::wormhole::switches::Switches;
use crate::wormhole::worm::Worms;
use gingham_kernel::Time;
use gingham_net::congestion::Waiter;
use gingham_net::measure::ChannelCount;
use gingham_net::{Endpoints, Notice, Plan, WaitForGraph, WormholePlan};
use gingham_topology::ChannelId;
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct Simulation {
    network: Network,
    switches: Switches,
    hosts: Hosts,
    events: u64,
}

impl gingham_net::Network for Simulation {
    fn now(&self) -> Time {
        self.network.clock.time()
    }

    fn events(&self) -> u64 {
        self.events
    }

    fn endpoints(&self) -> &Endpoints {
        self.hosts.endpoints()
    }

    fn endpoints_mut(&mut self) -> &mut Endpoints {
        self.hosts.endpoints_mut()
    }

    fn packets_in_flight(&self) -> usize {
        self.network.worms.len()
    }

    fn channel_counts(&self) -> Vec<ChannelCount> {
        self.network.links.channel_counts(self.network.clock.now())
    }

    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every event")]
    #[inline(always)]
    fn step(&mut self) -> Result<(), Option<Time>> {
        let next = self.network.clock.peek();
        if self.network.links.has_changes()
            && next
                .is_none_or(|(time, event)| time > self.network.clock.now() || is_last_phase(event))
        {
            self.network.links.predict_crossings(&mut self.network.clock);
            return Ok(());
        }
        let checkpoint = self.hosts.endpoints().checkpoint().as_ps();
        if next.is_none_or(|(time, _)| time >= checkpoint) {
            return Err(next.map(|(time, _)| Time::from_ps(time)));
        }
        let event = self.network.clock.next_event();
        self.events += 1;
        self.handle(event);
        Ok(())
    }

    fn finish(&mut self, at: Time) {
        self.network.clock.set(at.as_ps());
    }

    fn waiters(&mut self, at: Time) -> Vec<Waiter> {
        self.hosts.waiters(&self.network, at)
    }

    fn wait_for_graph(&mut self, _at: Time) -> WaitForGraph {
        self.network.links.wait_for_graph()
    }

    fn followed_counts(&mut self, end: Time) -> Vec<ChannelCount> {
        let count = |channel: &ChannelId| self.network.links.count_before(*channel, end.as_ps());
        self.hosts.endpoints().plan().follow.channels.iter().map(count).collect()
    }

    fn end_section(&mut self, end: Time) {
        self.count_section(end);
    }

    fn assert_invariants(&self) {
        self.network.links.assert_invariants(self.network.clock.now());
    }
}

impl Simulation {
    pub(crate) fn new(plan: Arc<Plan>, wormhole: WormholePlan) -> Self {
        let links = Links::new(&plan);
        let mut hosts = Hosts::new(Arc::clone(&plan), wormhole, links.may_go_on());
        assert_indices_fit(hosts.endpoints());
        let reports_reads = hosts.endpoints().wanted().read;
        let switches = Switches::new(plan, wormhole, reports_reads);
        let mut network = Network { clock: Clock::new(), links, worms: Worms::default() };
        hosts.carry_out(&mut network);
        Self { network, switches, hosts, events: 0 }
    }

    fn handle(&mut self, event: Event) {
        let Self { network, switches, hosts, .. } = self;
        match event {
            Event::Create { source } => hosts.create(network, source),
            Event::Wake { endpoint } => hosts.notify(network, Notice::Woken { endpoint }),
            Event::ControlArrives { channel, stop } => {
                if network.links.on_control(&mut network.clock, channel, stop) {
                    hosts.on_go(network, channel);
                }
            }
            Event::Deliver { channel, worm } => {
                hosts.tail_arrives(network, channel, worm);
                hosts.carry_out(network);
            }
            Event::Release { output } => self.release(output),
            Event::ReadHead { channel } => match network.links.end(channel) {
                End::Switch => switches.read_head(network, channel),
                End::Port => {
                    hosts.read_port(network, channel);
                    hosts.carry_out(network);
                }
                End::Host => hosts.recognise(network, channel),
            },
            Event::Request { channel } => {
                if switches.reports_reads() {
                    hosts.notify_read(network, channel);
                }
                switches.request(network, channel);
            }
            Event::Arbitrate { output } => switches.arbitrate(network, output),
            Event::StartWorm { channel } => hosts.start_worm(network, channel),
            Event::SendControl { channel } => {
                if network.links.send_waiting_control(&mut network.clock, channel) {
                    hosts.start_soon(network, channel);
                }
            }
            Event::EmitControl { channel } => {
                network.links.emit_control(&mut network.clock, channel);
            }
        }
        if self.network.links.has_taken() {
            self.hosts.notify_lanes(&mut self.network);
        }
    }

    fn release(&mut self, output: ChannelId) {
        let Self { network, switches, hosts, .. } = self;
        let Network { clock, links, worms } = network;
        let Some(left) = links.release(clock, output) else { return };
        match links.end(output) {
            End::Switch => {}
            End::Port => links.leave_for_port(clock, output, left.worm),
            End::Host => {
                if let Some(arrival) = links.leave_for_host(clock, worms, output, left.worm) {
                    hosts.tail_of_transit_left(network, output, arrival);
                }
            }
        }
        if let Some(channel) = network.links.disconnect(&left) {
            network.links.note_taken(output);
            switches.read_head(network, channel);
            switches.arbitrate_soon(network, output);
        } else {
            hosts.leave_host(network, output, left.flits);
        }
    }

    #[inline(never)] // `benches/bench.py` finds the function by its name.
    fn count_section(&mut self, end: Time) {
        let counts = self.network.links.section_counts(end.as_ps());
        self.hosts.endpoints_mut().end_section(counts);
    }
}
