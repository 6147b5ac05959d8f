//! Switch ports: input lanes that can cross, and routing of their heads.
//!
//! Invariants: `sendable` marks the lanes that hold an output lane and have a nonempty buffer,
//! `full` the lanes whose output lane has no free space.

use crate::bits::Bits;
use crate::lanes::allocation::OutputArbiters;
use crate::lanes::arbiters::Arbiters;
use crate::lanes::buffers::Buffers;
use crate::lanes::layout::{LANES, Layout, NONE, SHIFT, bit_of, lanes_of, round_robin};
use crate::lanes::links::Links;
use crate::lanes::network::CrossbarPorts;
use crate::lanes::ring::Ring;
use gingham_fairq::Head;
use gingham_net::{PipelinePlan, Plan};

#[derive(Clone, Debug)]
pub(crate) struct Switches {
    ports: Vec<SwitchPort>,
    pub(crate) crossing: Bits,
    /// Output ports that may grant a lane; with cut-through, also host ports, which never grant.
    pub(crate) allocating: Bits,
    pub(crate) heads: Ring,
    routing_cycles: u64,
    pub(crate) arbiters: Arbiters,
    pub(crate) outputs: Option<OutputArbiters>,
    pub(crate) crossbar_ports: Option<CrossbarPorts>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct SwitchPort {
    /// Sum of departure ticks minus sum of arrival ticks, over all flits of the lane buffers; may
    /// wrap.
    pub(crate) occupancy: u64,
    pub(crate) credit_lane: u32,
    pub(crate) credit_latency: u32,
    pub(crate) base: u32,
    pub(crate) sendable: u16,
    pub(crate) full: u16,
    /// Lanes that may cross: all lanes, or only the lane of the packet in progress.
    open: u16,
    /// Round-robin state: bit mask of the lanes above the last served lane.
    after: u16,
    /// Round-robin pointer: the input port of the switch after the port last matched with this
    /// output.
    pub(crate) pointer: u16,
    pub(crate) span: u16,
}

const _: () = assert!(size_of::<SwitchPort>() == 32, "two ports fit a cache line");

impl SwitchPort {
    #[inline]
    pub(crate) fn cross(&mut self, lane: usize, is_empty: bool, is_full: bool, tick: u64) -> bool {
        self.occupancy = self.occupancy.wrapping_add(tick);
        self.sendable &= !(u16::from(is_empty) << lane);
        self.full |= u16::from(is_full) << lane;
        self.can_cross() != 0
    }

    #[inline]
    pub(crate) const fn can_cross(&self) -> u16 {
        self.sendable & !self.full & self.open
    }
}

impl Switches {
    pub(crate) fn new(plan: &Plan, lanes: &PipelinePlan, layout: &Layout, links: &Links) -> Self {
        let node =
            |port: usize| layout.channels()[port].map(|channel| plan.ends(channel).source.node);
        let mut ports: Vec<SwitchPort> = Vec::with_capacity(layout.first_host);
        while ports.len() < layout.first_host {
            let first = ports.len();
            let same = |port: &usize| node(*port) == node(first) && node(first).is_some();
            let span = (first..layout.first_host).take_while(same).count().max(1);
            assert!(span << SHIFT < usize::from(NONE), "the lanes of a switch have 16 bits");
            ports.extend((first..first + span).map(|port| SwitchPort {
                occupancy: 0,
                credit_lane: links.port(port).peer << SHIFT,
                credit_latency: links.port(port).credit_latency,
                base: u32::try_from(first << SHIFT).expect("lanes have 32 bits"),
                sendable: 0,
                full: 0,
                open: u16::MAX,
                after: u16::MAX,
                pointer: 0,
                span: u16::try_from(span).expect("a switch has fewer than 2^16 ports"),
            }));
        }
        Self {
            crossing: Bits::new(ports.len()),
            allocating: Bits::new(ports.len()),
            heads: Ring::new(u64::from(lanes.routing_cycles) + 1),
            routing_cycles: lanes.routing_cycles.into(),
            arbiters: Arbiters::new(&lanes.crossbar_input, plan, lanes, ports.len()),
            outputs: OutputArbiters::new(plan, lanes, ports.len()),
            crossbar_ports: CrossbarPorts::new(lanes, ports.len()),
            ports,
        }
    }

    #[inline]
    pub(crate) fn port(&self, port: usize) -> &SwitchPort {
        &self.ports[port]
    }

    pub(crate) fn ports(&self) -> &[SwitchPort] {
        &self.ports
    }

    pub(crate) fn are_tracked(&self) -> bool {
        !self.arbiters.are_default || self.outputs.is_some()
    }

    pub(crate) fn receive(&mut self, due: &[u32], buffers: &mut Buffers, tick: u64) {
        if self.are_tracked() {
            for lane in due {
                self.arbiters.track_arrival(*lane as usize, tick);
                if let Some(outputs) = &mut self.outputs {
                    outputs.arbiters.track_arrival(*lane as usize, tick);
                }
            }
        }
        let routed = tick + 1 + self.routing_cycles;
        let (ports, crossing) = (&mut self.ports[..], &mut self.crossing.words[..]);
        for &lane in due {
            let lane = lane as usize;
            let port = lane >> SHIFT;
            let (input, state) = (buffers.receive(lane), &mut ports[port]);
            state.occupancy = state.occupancy.wrapping_sub(tick);
            if input.present > 1 {
                continue;
            }
            if input.out == NONE {
                self.heads.push(routed, lane);
            } else {
                state.sendable |= bit_of(lane);
                crossing[port / 64] |= 1 << (port % 64);
            }
        }
    }

    /// Schedules the routing of a head that is at the front of its buffer from `tick` on.
    #[inline]
    pub(crate) fn read_head(&mut self, lane: usize, tick: u64) {
        self.heads.push(tick + 1 + self.routing_cycles, lane);
    }

    pub(crate) fn connect(&mut self, lane: usize, is_full: bool) {
        let port = &mut self.ports[lane >> SHIFT];
        port.sendable |= bit_of(lane);
        port.full |= if is_full { bit_of(lane) } else { 0 };
        self.crossing.insert(lane >> SHIFT);
    }

    pub(crate) fn disconnect(&mut self, lane: usize) {
        let port = &mut self.ports[lane >> SHIFT];
        port.sendable &= !bit_of(lane);
        port.full &= !bit_of(lane);
        if port.open != u16::MAX {
            port.open = u16::MAX;
            self.crossing.insert(lane >> SHIFT);
        }
    }

    #[inline(never)]
    pub(crate) fn make_room(&mut self, port: usize, holder: u16) {
        let lane = self.ports[port].base as usize + usize::from(holder);
        self.ports[lane >> SHIFT].full &= !bit_of(lane);
        self.crossing.insert(lane >> SHIFT);
    }

    #[inline]
    pub(crate) fn port_mut(&mut self, port: usize) -> &mut SwitchPort {
        &mut self.ports[port]
    }

    #[inline]
    pub(crate) fn match_output(&mut self, output: usize, input: u16) {
        self.ports[output].pointer = input + 1;
    }

    #[inline]
    pub(crate) fn serve(&mut self, port: usize, lanes: u16, buffers: &Buffers) -> Option<usize> {
        if self.arbiters.are_default {
            return Some(round_robin(lanes, &mut self.ports[port].after));
        }
        self.serve_by_arbiter(port, lanes, buffers)
    }

    #[inline(never)]
    fn serve_by_arbiter(&mut self, port: usize, lanes: u16, buffers: &Buffers) -> Option<usize> {
        let is_by_packet = self.arbiters.are_by_packet;
        if is_by_packet && self.ports[port].open != u16::MAX {
            return Some(lanes.trailing_zeros() as usize);
        }
        let mut heads = [Head::default(); LANES];
        for lane in lanes_of(lanes) {
            let place = port << SHIFT | lane;
            let flits = buffers.lane(place).left;
            heads[lane] = self.arbiters.head(flits, self.arbiters.arrival_ps(place));
        }
        let lane = self.arbiters.serve(port, lanes, &heads)?;
        if is_by_packet {
            self.ports[port].open = 1 << lane;
        }
        Some(lane)
    }

    pub(crate) fn track_departure(&mut self, lane: usize) {
        self.arbiters.track_departure(lane);
        if let Some(outputs) = &mut self.outputs {
            outputs.arbiters.track_departure(lane);
        }
    }
}
