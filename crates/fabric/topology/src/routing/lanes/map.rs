//! Mapping of service levels (SL) to virtual lanes (VL), hop by hop.
//!
//! ```text
//!   from port 1 of s0 to port 4 with SL 3:        lane 2 on the channel of port 4
//!   row of (input 1, output 4):   SL   0  1  2  3 ...
//!                                 VL   0  0  1  2 ...
//! ```
//!
//! A switch selects the lane from SL, input port and output port, regardless of the previous lane;
//! an adapter selects it from the SL. A packet whose SL maps to lane 15, the management lane, is
//! dropped.
//!
//! Source: InfiniBand Architecture Specification, Volume 1, section 7.6.6.
//!
//! Invariant: every pair of cabled ports of a switch has a row; equal rows are stored once.

use super::set::LaneSet;
use crate::routing::paths::graph::ports_in_use;
use crate::{ChannelId, EndpointId, Fabric, NodeId};

/// Number of service levels; the field has four bits.
pub const LEVELS: usize = 16;

/// Lane of management packets; data packets mapped to it are dropped.
pub const MANAGEMENT_LANE: u8 = 15;

/// Lane of each service level.
pub type LaneRow = [u8; LEVELS];

/// SL-to-VL mapping tables of all switches and adapters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaneMap {
    rows: Vec<LaneRow>,
    /// By switch: indices into `rows`, by input and output port.
    switches: Vec<Vec<u32>>,
    widths: Vec<usize>,
    endpoints: Vec<u32>,
}

impl LaneMap {
    /// OpenSM's default row: SL n to lane n, except SL 15 to lane 7.
    pub const DEFAULT: LaneRow = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 7];

    /// Creates a map with the same row everywhere.
    pub fn uniform(fabric: &Fabric, row: LaneRow) -> Self {
        let widths: Vec<_> = fabric.switches().map(|switch| ports_in_use(fabric, switch)).collect();
        Self {
            rows: vec![row],
            switches: widths.iter().map(|width| vec![0; width * width]).collect(),
            widths,
            endpoints: vec![0; fabric.endpoints().len()],
        }
    }

    /// Sets the row for packets from port `input` to port `output`; ports above the highest cabled
    /// port are ignored.
    pub fn set_switch(&mut self, switch: NodeId, input: u16, output: u16, row: LaneRow) {
        let (input, output) = (usize::from(input), usize::from(output));
        let width = self.widths[switch.index()];
        if input < width && output < width {
            let row = self.intern(row);
            self.switches[switch.index()][input * width + output] = row;
        }
    }

    /// Sets the row for packets that an adapter sends.
    pub fn set_endpoint(&mut self, endpoint: EndpointId, row: LaneRow) {
        self.endpoints[endpoint.index()] = self.intern(row);
    }

    /// Adds rows for the management port (port 0) of each switch. Packets from port 0 use the row
    /// of an endpoint on that switch, or else of a port that does not drop them. Packets to port 0
    /// use a row of their input port that does not drop them.
    pub(super) fn add_ports_0(&mut self, fabric: &Fabric) {
        for end in fabric.endpoint_ids().filter(|end| fabric.is_port_0(*end)) {
            let switch = fabric.target(fabric.endpoint_channel(end)).node;
            let ports = || fabric.channels_from(switch).map(|channel| fabric.source(channel).port);
            let ports: Vec<u16> = ports().filter(|port| *port > 0).collect();
            let beside = fabric.beside_port_0(end);
            let port_beside = |of| fabric.target(fabric.endpoint_channel(of)).port;
            let inputs = beside.map_or_else(|| ports.clone(), |of| vec![port_beside(of)]);
            for &port in &ports {
                let others = ports.iter().filter(|other| **other != port);
                let onward: Vec<_> = others.map(|to| self.row_at(switch, port, *to)).collect();
                self.set_switch(switch, port, 0, first_kept(&onward));
                let from = inputs.iter().map(|from| self.row_at(switch, *from, port));
                let from: Vec<_> = from.collect();
                self.set_switch(switch, 0, port, first_kept(&from));
            }
            let rows: Vec<_> = ports.iter().map(|port| self.row_at(switch, 0, *port)).collect();
            let own = |of: EndpointId| self.rows[self.endpoints[of.index()] as usize];
            let row = beside.map_or_else(|| first_kept(&rows), own);
            let row = self.intern(row);
            self.endpoints.push(row);
        }
    }

    fn row_at(&self, switch: NodeId, input: u16, output: u16) -> LaneRow {
        let place = usize::from(input) * self.widths[switch.index()] + usize::from(output);
        self.rows[self.switches[switch.index()][place] as usize]
    }

    fn intern(&mut self, row: LaneRow) -> u32 {
        // Consecutive tables tend to have equal rows, so the search runs backwards.
        let place = self.rows.iter().rposition(|known| *known == row).unwrap_or_else(|| {
            self.rows.push(row);
            self.rows.len() - 1
        });
        u32::try_from(place).expect("fewer rows than pairs of ports")
    }

    /// Returns the lane of a packet from `incoming` to `outgoing`; `None` if the packet is dropped.
    #[inline(never)] // Keeps callers small when there are no tables.
    pub fn lane(
        &self,
        fabric: &Fabric,
        incoming: ChannelId,
        outgoing: ChannelId,
        level: u8,
    ) -> Option<u8> {
        lane(&self.rows[self.row(fabric, incoming, outgoing)], level)
    }

    fn row(&self, fabric: &Fabric, incoming: ChannelId, outgoing: ChannelId) -> usize {
        let (input, output) = (fabric.target(incoming), fabric.source(outgoing));
        assert_eq!(input.node, output.node, "a packet leaves the switch that it came to");
        let switch = input.node.index();
        let place = usize::from(input.port) * self.widths[switch] + usize::from(output.port);
        self.switches[switch][place] as usize
    }

    pub(super) fn treats_alike(&self, fabric: &Fabric, one: EndpointId, other: EndpointId) -> bool {
        let rows = |endpoint: EndpointId| {
            let end = fabric.target(fabric.endpoint_channel(endpoint));
            let width = self.widths[end.node.index()];
            let first = usize::from(end.port) * width;
            let by_output = &self.switches[end.node.index()][first..first + width];
            (self.endpoints[endpoint.index()], end.node, by_output)
        };
        rows(one) == rows(other)
    }

    /// Returns the lane on the channel from an adapter; `None` if packets are dropped.
    pub fn first_lane(&self, endpoint: EndpointId, level: u8) -> Option<u8> {
        lane(&self.rows[self.endpoints[endpoint.index()] as usize], level)
    }

    pub(super) fn lanes_at_switches(&self, fabric: &Fabric, levels: u16) -> LaneSet {
        let mut used = vec![false; self.rows.len()];
        for switch in fabric.switches() {
            for incoming in fabric.channels_from(switch).map(Fabric::reverse) {
                for outgoing in fabric.channels_from(switch) {
                    used[self.row(fabric, incoming, outgoing)] = true;
                }
            }
        }
        let rows = self.rows.iter().zip(used).filter(|(_, used)| *used).map(|(row, _)| row);
        lanes_in(rows, levels)
    }

    pub(super) fn first_lanes(&self, levels: u16) -> LaneSet {
        lanes_in(self.endpoints.iter().map(|row| &self.rows[*row as usize]), levels)
    }
}

fn lanes_in<'a>(rows: impl Iterator<Item = &'a LaneRow>, levels: u16) -> LaneSet {
    let sent = LaneSet::from_bits(levels);
    rows.flat_map(|row| sent.lanes().filter_map(|level| lane(row, level))).collect()
}

/// Returns, for each service level, the first lane in `rows` other than [`MANAGEMENT_LANE`], if
/// any.
fn first_kept(rows: &[LaneRow]) -> LaneRow {
    std::array::from_fn(|level| {
        let mut lanes = rows.iter().map(|row| row[level]);
        lanes.find(|lane| *lane < MANAGEMENT_LANE).unwrap_or(MANAGEMENT_LANE)
    })
}

fn lane(row: &LaneRow, level: u8) -> Option<u8> {
    let lane = row[usize::from(level)];
    (lane < MANAGEMENT_LANE).then_some(lane)
}
