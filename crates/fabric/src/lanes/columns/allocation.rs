//! Stages 2 and 3: heads whose routing is over make their requests, and outputs grant them lanes, as
//! [`crate::lanes::allocation`] has it. Heads are few, and each is looked at by itself.

use super::places::Place;
use super::table::Table;
use crate::bits::members;
use crate::lanes::context::Context;
use crate::lanes::layout::{SHIFT, number_of, round_robin};
use crate::lanes::network::Network;

impl<const L: usize> Table<L> {
    /// Heads whose routing is over make their requests.
    pub(crate) fn route(&mut self, network: &mut Network, context: &mut Context, tick: u64) {
        let slot = self.routing.slot(tick);
        let mut routed = 0;
        for number in 0..self.columns.len() {
            if self.routing.is_empty::<L>(slot, number) {
                continue;
            }
            for (lane, heads) in self.routing.take::<L>(slot, number).into_iter().enumerate() {
                routed += u64::from(heads.count_ones());
                for bit in members(heads) {
                    let lane = self.places.port(number, bit) << SHIFT | lane;
                    self.request(lane, network, context);
                }
            }
        }
        context.clock.count(routed);
    }

    /// The head of an input lane requests the output on its way.
    #[inline]
    fn request(&mut self, lane: usize, network: &mut Network, context: &mut Context) {
        let Some(paths) = &mut self.paths else { return network.request(lane, context) };
        let Context { plan, lanes: lane_plan, layout, worms, .. } = context;
        let worm = worms.get_mut(network.buffers.worm(lane));
        if worm.position == 0 {
            worm.hops = paths.find(worm, plan, (&*layout, &network.switches));
        }
        let (output, lanes) = paths.hop(worm);
        worm.position += 1;
        worm.dateline_class = lanes.dateline_class;
        let level = lane_plan.arbitration.level(worm.packet.priority);
        let base = network.switches.port(lane >> SHIFT).base as usize;
        let output = (base >> SHIFT) + output;
        network.requests.insert(output, lane - base, lane, lanes.lanes.bits(), level);
        network.switches.allocating.insert(output);
    }

    /// Outputs for which something changed grant what they can.
    pub(crate) fn allocate_lanes(&mut self, network: &mut Network) {
        for word in 0..self.first_host / 64 {
            let ports = network.switches.allocating.take(word) & network.requests.requested(word);
            for bit in members(ports) {
                let place = self.places.of_port(word * 64 + bit).expect("switches have columns");
                while network.requests.requested(word) >> bit & 1 == 1
                    && self.grant_lane(word * 64 + bit, place, network)
                {}
            }
        }
    }

    /// An output grants a lane to a head, if it can.
    #[inline]
    fn grant_lane(&mut self, port: usize, place: Place, network: &mut Network) -> bool {
        let switch = network.switches.port(port);
        let (base, held) = (switch.base as usize, network.links.port(port).held);
        if network.all_lanes & !held == 0 {
            return false;
        }
        let requests = &mut network.requests;
        let winner = requests.winner(port, base, |input| requests.lanes_of(base + input) & !held);
        let Some((input, lanes)) = winner else { return false };
        requests.grant(port, input, switch);
        let lane = round_robin(lanes, &mut requests.lane_pointers[port]);
        self.connect(base + input, input, (port, place), lane, network);
        true
    }

    /// An input lane, by its number in all of them and in its switch, holds a lane of an output
    /// from now on.
    #[inline]
    fn connect(
        &mut self,
        from: usize,
        input: usize,
        (port, place): (usize, Place),
        lane: usize,
        network: &mut Network,
    ) {
        let Network { buffers, links, .. } = network;
        let flits = buffers.lane(from).left;
        let holder = u16::try_from(input).expect("lanes of a switch have 16 bits");
        links.hold(port << SHIFT | lane, holder, 0);
        buffers.expect_worm(links.port(port).peer_lane(lane), buffers.worm(from), flits);
        let Place { column, bit } = place;
        let group = self.places.group_of(column);
        let first = self.places.spans[group].first;
        let from_place = self.places.of_port(from >> SHIFT).expect("switches have columns");
        let (from_lane, output) = (number_of(from) % L, column - first);
        let input = from_place.column - first;
        self.groups[group].inputs[input].towards[from_lane][output] |= 1 << bit;
        let is_full = self.columns[column].full[lane % L] >> bit & 1;
        let column = &mut self.columns[first + input];
        column.packets.left[from_lane][bit] = flits;
        column.packets.out[from_lane][bit] =
            u16::try_from(output * L + lane % L).expect("lanes of a switch have 16 bits");
        column.holds[from_lane] |= 1 << bit;
        column.heads[from_lane] &= !(1 << bit);
        column.blocked[from_lane] |= is_full << bit;
    }
}
