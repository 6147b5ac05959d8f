//! Ports and lanes: what every tick reads and writes, packed.
//!
//! ```text
//!   ports        switch 0: 0 1 2 3 4   switch 1: 5 6 7 8 9  ... (a word of 64 never splits a switch)  ...  hosts
//!   lanes        port 0: 0 1 2 3       port 1: 4 5 6 7      ... as many a port as a power of two
//!
//!   input lane   present, left ──(out)──► output lane   fill, credit ──(peer)──► input lane of the next switch
//! ```
//!
//! A port is both ends of a cable there: the input lanes at the end of the channel that comes in, and the output
//! lanes at the start of the one that goes out. What a switch knows of its own lanes it numbers from its first port on, in 16 bits.
//!
//! Invariants: `sendable` is the lanes that hold an output lane and whose buffer is not empty, `full` those whose
//! output lane has no room, `filled` the output lanes with flits (at a host, the lanes in the middle of a packet), `credited` those with
//! credits, `held` those that an input lane holds.

use gingham_model::{PipelinePlan, Plan, Scheduler};
use gingham_topology::{ChannelId, NodeId};

/// A port has as many lanes as 1 shifted by this, the most that there can be, so that where a lane lies is known without a look;
/// those that are not in use are never touched.
pub(crate) const SHIFT: u32 = 4;

/// No output lane is held, or no input lane holds it.
pub(crate) const NONE: u16 = u16::MAX;

/// The channel ends at a host that takes in all that comes.
pub(crate) const TO_HOST: u8 = 1;
/// The channel begins at a host.
pub(crate) const HOST: u8 = 2;
/// A flit of the channel takes longer than a cycle.
pub(crate) const SLOW: u8 = 4;
/// The channel ends at a host that stops its senders.
pub(crate) const TO_STOPPING: u8 = 8;
/// Its link is not shared in turn, flit by flit.
pub(crate) const PARTICULAR: u8 = 16;
/// What makes a port no common one.
pub(crate) const SPECIAL: u8 = TO_HOST | HOST | SLOW | TO_STOPPING | PARTICULAR;

/// One end of a cable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Port {
    /// Data flits taken by the channel that goes out.
    pub(crate) flits: u64,
    /// Ticks at which flits left the lane buffers, less those at which they were there; it may wrap.
    pub(crate) occupancy: u64,
    /// The port at the other end of the cable.
    pub(crate) peer: u32,
    /// The first lane of the first port of its switch.
    pub(crate) base: u32,
    /// Ticks from that at which the channel that goes out takes a flit to that at which it is there; for a slow one, of its delay and one more.
    pub(crate) latency: u32,
    pub(crate) sendable: u16,
    pub(crate) full: u16,
    /// Lanes that may send through the crossbar: all, or that of the packet that is passing.
    pub(crate) input_open: u16,
    /// Lanes after the last that the crossbar input served.
    pub(crate) input_after: u16,
    pub(crate) filled: u16,
    pub(crate) credited: u16,
    /// Lanes that may be sent on the link: all, or that of the packet that is passing.
    pub(crate) link_open: u16,
    /// Lanes after the last that the link served.
    pub(crate) link_after: u16,
    pub(crate) held: u16,
    /// Lanes after the last that this output gave.
    pub(crate) given_after: u16,
    /// The input port of the switch after the last that was matched with this output.
    pub(crate) turn: u16,
    /// Ports of the switch.
    pub(crate) span: u16,
    pub(crate) flags: u8,
}

const _: () = assert!(size_of::<Port>() <= 64, "a port fits a cache line");

/// The buffer of a lane at the end of a channel, and the worm whose flits are first in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InputLane {
    /// Flits of the first worm that have not crossed.
    pub(crate) left: u32,
    /// Flits in the buffer.
    pub(crate) present: u16,
    /// The output lane that is held, by its number in the switch.
    pub(crate) out: u16,
}

/// The lane at the start of a channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutputLane {
    /// Flits in it.
    pub(crate) fill: u16,
    pub(crate) credit: u16,
    /// Credits that no packet was promised, which may be fewer; where there is cut-through.
    pub(crate) unpromised: u16,
    /// The input lane that holds it, by its number in the switch.
    pub(crate) holder: u16,
}

const _: () =
    assert!(size_of::<InputLane>() == 8 && size_of::<OutputLane>() == 8, "lanes are small");

impl Port {
    /// Lanes that can send through the crossbar.
    #[inline]
    pub(crate) const fn can_cross(&self) -> u16 {
        self.sendable & !self.full & self.input_open
    }

    /// Lanes that can be sent on the link.
    #[inline]
    pub(crate) const fn can_leave(&self) -> u16 {
        self.filled & self.credited & self.link_open
    }

    #[inline]
    pub(crate) const fn is(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// The number of a lane in its port.
#[inline]
pub(crate) const fn number_of(lane: usize) -> usize {
    lane & ((1 << SHIFT) - 1)
}

/// The bit of a lane in sets of its port.
#[inline]
pub(crate) const fn bit_of(lane: usize) -> u16 {
    1 << number_of(lane)
}

/// The first of some lanes in turn, given those after the last that was served; remembers it. `lanes` is not empty.
#[inline]
pub(crate) fn in_turn(lanes: u16, after: &mut u16) -> usize {
    let onward = lanes & *after;
    let lane = if onward == 0 { lanes } else { onward }.trailing_zeros();
    #[expect(
        clippy::cast_possible_truncation,
        reason = "what is shifted out is of lanes beyond the last"
    )]
    let beyond = (!1_u32 << lane) as u16;
    *after = beyond;
    lane as usize
}

/// Which port is where.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// By channel: the port at its start.
    pub(crate) port_of: Vec<u32>,
    /// By port: the channel that goes out, if there is a port.
    pub(crate) channel_of: Vec<Option<ChannelId>>,
    /// The first word of ports of switches of more than 64 ports.
    pub(crate) first_wide: usize,
    /// The first host port, the first of a word.
    pub(crate) first_host: usize,
}

impl Layout {
    pub(crate) fn new(plan: &Plan) -> Self {
        let fabric = &plan.fabric;
        let mut layout = Self {
            port_of: vec![0; plan.channels.len()],
            channel_of: Vec::new(),
            first_wide: 0,
            first_host: 0,
        };
        let degree = |node: &NodeId| fabric.channels_from(*node).count();
        for node in fabric.switches().filter(|node| degree(node) <= 64) {
            layout.add_switch(fabric.channels_from(node).collect());
        }
        layout.fill_word();
        layout.first_wide = layout.channel_of.len() / 64;
        for node in fabric.switches().filter(|node| degree(node) > 64) {
            layout.fill_word();
            layout.add_switch(fabric.channels_from(node).collect());
        }
        layout.fill_word();
        layout.first_host = layout.channel_of.len();
        let mut hosts: Vec<_> =
            fabric.endpoint_ids().map(|id| fabric.endpoint_channel(id)).collect();
        hosts.sort_unstable();
        for channel in hosts {
            layout.add(channel);
        }
        layout.fill_word();
        layout
    }

    fn add_switch(&mut self, channels: Vec<ChannelId>) {
        if self.channel_of.len() % 64 + channels.len() > 64 {
            self.fill_word();
        }
        for channel in channels {
            self.add(channel);
        }
    }

    fn add(&mut self, channel: ChannelId) {
        let port = u32::try_from(self.channel_of.len()).expect("ports have 32 bits");
        self.port_of[channel.index()] = port;
        self.channel_of.push(Some(channel));
    }

    fn fill_word(&mut self) {
        let ports = self.channel_of.len().next_multiple_of(64);
        self.channel_of.resize(ports, None);
    }

    /// The ports in order, with nothing in them; `shift` is of the lanes of a port.
    pub(crate) fn ports(&self, plan: &Plan, lanes: &PipelinePlan, shift: u32) -> Vec<Port> {
        let mut ports: Vec<Port> =
            (0..self.channel_of.len()).map(|port| self.port(plan, lanes, port)).collect();
        let node =
            |port: usize| self.channel_of[port].map(|channel| plan.ends(channel).source.node);
        let mut first = 0;
        while first < ports.len() {
            let same = |port: &usize| node(*port) == node(first) && node(first).is_some();
            let is_switch = node(first).is_some_and(|node| plan.is_switch(node));
            let span = if is_switch { (first..ports.len()).take_while(same).count() } else { 1 };
            for port in &mut ports[first..first + span] {
                port.base = u32::try_from(first << shift).expect("lanes have 32 bits");
                port.span = u16::try_from(span).expect("a switch has fewer than 2^16 ports");
            }
            assert!(span << shift < usize::from(NONE), "the lanes of a switch have 16 bits");
            first += span;
        }
        ports
    }

    fn port(&self, plan: &Plan, lanes: &PipelinePlan, port: usize) -> Port {
        let empty = Port {
            flits: 0,
            occupancy: 0,
            peer: 0,
            base: 0,
            latency: 0,
            sendable: 0,
            full: 0,
            input_open: u16::MAX,
            input_after: u16::MAX,
            filled: 0,
            credited: 0,
            link_open: u16::MAX,
            link_after: u16::MAX,
            held: 0,
            given_after: u16::MAX,
            turn: 0,
            span: 1,
            flags: 0,
        };
        let Some(channel) = self.channel_of[port] else { return empty };
        let ends = plan.ends(channel);
        let to_host = !plan.has_buffer(channel);
        let to_lanes = !to_host && !plan.is_switch(ends.target.node);
        let is_host = !plan.is_switch(ends.source.node);
        let timing = plan.channel(channel);
        let is_slow = timing.flit > lanes.cycle;
        let latency = 1 + timing.delay.div_ceil(lanes.cycle);
        Port {
            peer: self.port_of[gingham_topology::Fabric::reverse(channel).index()],
            latency: u32::try_from(latency).expect("a delay has fewer than 2^32 cycles"),
            credited: if to_host { u16::MAX } else { bits(plan.lanes.count) },
            flags: flag(TO_HOST, to_host)
                | flag(TO_STOPPING, to_lanes)
                | flag(HOST, is_host)
                | flag(PARTICULAR, plan.lanes.link_output != Scheduler::default())
                | flag(SLOW, is_slow),
            ..empty
        }
    }
}

fn flag(flag: u8, is_set: bool) -> u8 {
    if is_set { flag } else { 0 }
}

/// The lowest lanes, so many of them.
fn bits(count: u8) -> u16 {
    gingham_topology::routing::LaneSet::first_n(count).bits()
}
