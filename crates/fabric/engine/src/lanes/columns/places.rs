//! Positions of switch ports in the columns.
//!
//! ```text
//!   group     up to 64 switches of similar radix, one bit per switch
//!   column    ports with the same number at all switches of a group
//!   place     column and bit, combined into one number
//! ```
//!
//! If the fabric's port numbers fit into the columns of the group, a port's number selects its
//! column. In a mesh, even at the edges, all ports of one direction then form a column, and all
//! cables of a column connect switches at the same distance in bits (`wires`). Otherwise the ports
//! of a switch are numbered consecutively.
//!
//! Invariants: all ports of a switch have the same bit; their columns ascend with their numbers.

use crate::lanes::layout::Layout;
use crate::lanes::switches::SwitchPort;
use gingham_topology::Fabric;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub(crate) column: usize,
    pub(crate) bit: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Span {
    pub(crate) first: usize,
    pub(crate) radix: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Places {
    of_port: Vec<u32>,
    ports: Vec<u32>,
    groups: Vec<u32>,
    pub(crate) spans: Vec<Span>,
}

impl Places {
    /// Groups the switches by 64, in ascending order of their number of ports.
    pub(crate) fn new(fabric: &Fabric, layout: &Layout, ports: &[SwitchPort]) -> Self {
        let mut switches: Vec<(usize, usize)> = Vec::new();
        let mut port = 0;
        while port < ports.len() {
            let span = usize::from(ports[port].span);
            if layout.channels()[port].is_some() {
                switches.push((span, port));
            }
            port += span;
        }
        switches.sort_unstable();
        let mut places = Self {
            of_port: vec![NONE; ports.len()],
            ports: Vec::new(),
            groups: Vec::new(),
            spans: Vec::new(),
        };
        let number = |port: usize| usize::from(fabric.source(layout.channel(port)).port);
        for switches in switches.chunks_mut(64) {
            places.add_group(switches, number);
        }
        places
    }

    /// Adds a group of switches, each given as its number of ports and its first port. `number`
    /// returns a port's number in the fabric.
    fn add_group(&mut self, switches: &mut [(usize, usize)], number: impl Fn(usize) -> usize) {
        let first = self.columns();
        let radix = switches.last().map_or(0, |(span, _)| *span);
        switches.sort_unstable_by_key(|(_, first_port)| *first_port);
        let lowest = switches.iter().map(|(_, port)| number(*port)).min().unwrap_or(0);
        let is_last_in = |(span, port): &(usize, usize)| number(port + span - 1) < lowest + radix;
        let are_dense = switches.iter().all(is_last_in);
        self.ports.resize((first + radix) * 64, NONE);
        for (bit, (span, first_port)) in switches.iter().enumerate() {
            for port in *first_port..first_port + span {
                let column = if are_dense { number(port) - lowest } else { port - first_port };
                let place = (first + column) * 64 + bit;
                self.of_port[port] = narrow(place);
                self.ports[place] = narrow(port);
            }
        }
        self.groups.resize(first + radix, narrow(self.spans.len()));
        self.spans.push(Span { first, radix });
    }

    pub(crate) fn columns(&self) -> usize {
        self.ports.len() / 64
    }

    #[inline]
    pub(crate) fn of_port(&self, port: usize) -> Option<Place> {
        let place = *self.of_port.get(port)? as usize;
        debug_assert_ne!(place, NONE as usize, "the port of a switch has a place");
        Some(Place { column: place / 64, bit: place % 64 })
    }

    pub(crate) fn port_at(&self, column: usize, bit: usize) -> Option<usize> {
        let port = self.ports[column * 64 + bit];
        (port != NONE).then_some(port as usize)
    }

    #[inline]
    pub(crate) fn port(&self, column: usize, bit: usize) -> usize {
        self.ports[column * 64 + bit] as usize
    }

    #[inline]
    pub(crate) fn group_of(&self, column: usize) -> usize {
        self.groups[column] as usize
    }

    #[inline]
    pub(crate) fn number_in_group(&self, port: usize) -> usize {
        let place = self.of_port(port).expect("switches have columns");
        place.column - self.spans[self.group_of(place.column)].first
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, Place)> {
        let ports = self.ports.iter().enumerate().filter(|(_, port)| **port != NONE);
        ports.map(|(place, port)| (*port as usize, Place { column: place / 64, bit: place % 64 }))
    }
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).expect("ports have 32 bits")
}
