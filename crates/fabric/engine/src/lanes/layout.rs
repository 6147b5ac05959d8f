//! Numbering of ports and lanes.
//!
//! ```text
//!   ports   switch 0: 0 1 2 3 4   switch 1: 5 6 7 8 9  ... (a word of 64 never splits a switch)  ...  hosts
//!   lanes   port 0: 0 1 2 3       port 1: 4 5 6 7      ... a power of two for each port
//! ```
//!
//! A port represents one end of a cable: the input lanes of its incoming channel, and the output
//! lanes of its outgoing channel. Lane numbers within a switch start at its first port and fit into
//! 16 bits.

use gingham_net::Plan;
use gingham_topology::{ChannelId, Fabric, NodeId};

/// Binary logarithm of the number of lanes reserved per port. Reserving the maximum for every port
/// avoids a lookup; unused lanes are never accessed.
pub(crate) const SHIFT: u32 = 4;

pub(crate) const LANES: usize = 1 << SHIFT;

pub(crate) const NONE: u16 = u16::MAX;

#[inline]
pub(crate) const fn number_of(lane: usize) -> usize {
    lane & (LANES - 1)
}

#[inline]
pub(crate) const fn bit_of(lane: usize) -> u16 {
    1 << number_of(lane)
}

pub(crate) fn lanes_of(lanes: u16) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| lanes >> lane & 1 == 1)
}

/// Selects a lane from the nonempty set `lanes`. `after` is the bit mask of the lanes above the last
/// served lane.
#[inline]
pub(crate) fn round_robin(lanes: u16, after: &mut u16) -> usize {
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

#[derive(Clone, Debug)]
pub(crate) struct Layout {
    ports: Vec<u32>,
    /// Outgoing channel of each port; `None` for padding.
    channels: Vec<Option<ChannelId>>,
    pub(crate) first_wide: usize,
    /// First host port, at the start of a word.
    pub(crate) first_host: usize,
}

impl Layout {
    pub(crate) fn new(plan: &Plan) -> Self {
        let fabric = &plan.fabric;
        let mut layout = Self {
            ports: vec![0; plan.channels.len()],
            channels: Vec::new(),
            first_wide: 0,
            first_host: 0,
        };
        let degree = |node: &NodeId| fabric.channels_from(*node).count();
        for node in fabric.switches().filter(|node| degree(node) <= 64) {
            layout.add_switch(fabric.channels_from(node).collect());
        }
        layout.fill_word();
        layout.first_wide = layout.channels.len() / 64;
        for node in fabric.switches().filter(|node| degree(node) > 64) {
            layout.fill_word();
            layout.add_switch(fabric.channels_from(node).collect());
        }
        layout.fill_word();
        layout.first_host = layout.channels.len();
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
        if self.channels.len() % 64 + channels.len() > 64 {
            self.fill_word();
        }
        for channel in channels {
            self.add(channel);
        }
    }

    fn add(&mut self, channel: ChannelId) {
        let port = u32::try_from(self.channels.len()).expect("ports have 32 bits");
        self.ports[channel.index()] = port;
        self.channels.push(Some(channel));
    }

    fn fill_word(&mut self) {
        let ports = self.channels.len().next_multiple_of(64);
        self.channels.resize(ports, None);
    }

    #[inline]
    pub(crate) fn port(&self, channel: ChannelId) -> usize {
        self.ports[channel.index()] as usize
    }

    pub(crate) fn channels(&self) -> &[Option<ChannelId>] {
        &self.channels
    }

    pub(crate) fn lanes_from(&self, first: usize, count: u8) -> impl Iterator<Item = usize> {
        let ports = (first..self.channels.len()).filter(|port| self.channels[*port].is_some());
        ports.flat_map(move |port| (0..usize::from(count)).map(move |lane| port << SHIFT | lane))
    }

    #[inline]
    pub(crate) fn channel(&self, port: usize) -> ChannelId {
        self.channels[port].expect("what sends has a channel")
    }

    pub(crate) fn channel_into(&self, port: usize) -> ChannelId {
        Fabric::reverse(self.channel(port))
    }
}
