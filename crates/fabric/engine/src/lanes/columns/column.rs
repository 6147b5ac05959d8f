//! Column: the ports with the same index at up to 64 switches, with one bit per switch.
//!
//! Invariants between ticks: `filled`, `credited` and `there` mark the nonzero counts. `full` marks
//! output lanes that are filled to their depth or, if flits take their credits at the crossbar,
//! have no credits. `able` marks input lanes that have a flit and hold an output lane with free
//! space.

use super::count::Count;
use super::group::{RADIX_MAX, Row};
use super::lane_matching::LaneMatching;
use super::requests::{Requests, narrow};
use super::wires::Wire;
use crate::lanes::layout::NONE;

#[derive(Clone, Debug)]
pub(crate) struct Column<const L: usize> {
    // Output lanes, and their channels.
    pub(crate) fill: Count<L>,
    pub(crate) credit: Count<L>,
    pub(crate) filled: [u64; L],
    pub(crate) credited: [u64; L],
    pub(crate) full: [u64; L],
    pub(crate) sent: [u64; L],
    /// Lanes released in this tick that can be granted only from the next tick on.
    pub(crate) released: [u64; L],
    /// Round-robin state of the links: for each switch, the lanes above the last served lane.
    pub(crate) link_after: [u64; L],
    pub(crate) to_host: u64,
    pub(crate) active: u64,
    pub(crate) waits: u64,
    /// Channels with a head that could be granted a lane if there were more credits.
    pub(crate) short: u64,
    /// Channels whose waiting flits could cross if there were more credits; used if flits take
    /// their credits at the crossbar.
    pub(crate) short_at_crossbar: u64,

    // Input lanes.
    pub(crate) present: Count<L>,
    pub(crate) there: [u64; L],
    pub(crate) holds: [u64; L],
    /// For each input lane and output, the switches where the input lane holds a lane of the
    /// output.
    pub(crate) towards: [Row; L],
    /// Lanes with a head that is being routed or has a request.
    pub(crate) heads: [u64; L],
    pub(crate) blocked: [u64; L],
    pub(crate) able: [u64; L],
    pub(crate) crossed: [u64; L],
    pub(crate) input_after: [u64; L],

    /// Bundles of parallel cables. `loose` marks the ports of all other cables.
    pub(crate) wires: Vec<Wire>,
    pub(crate) loose: u64,
    pub(crate) requests: Requests<L>,
    /// Pointers of iSLIP over lanes; `None` with another VC allocator.
    pub(crate) matching: Option<Box<LaneMatching<L>>>,
    pub(crate) cables: Cables,
    pub(crate) packets: Packets<L>,
}

#[derive(Clone, Debug)]
pub(crate) struct Cables {
    pub(crate) here: [u32; 64],
    pub(crate) there: [u32; 64],
    pub(crate) peer_bit: [u64; 64],
    /// Distance, in ring words, from the current slot to the peer's first lane in the arrival slot.
    pub(crate) flit_offset: [u32; 64],
    pub(crate) credit_offset: [u32; 64],
    pub(crate) latency: [u32; 64],
    pub(crate) flits: [u64; 64],
    /// Sum of the send ticks of flits to switches; may wrap.
    pub(crate) starts: [u64; 64],
    pub(crate) departures: [u64; 64],
    /// Sum of end ticks minus sum of start ticks, over all credit waits; may wrap.
    pub(crate) waited: [u64; 64],
}

impl Cables {
    #[inline(always)]
    pub(crate) fn count_flit(&mut self, bit: usize, tick: u64) {
        self.flits[bit] += 1;
        self.starts[bit] = self.starts[bit].wrapping_add(tick);
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Packets<const L: usize> {
    /// Number of the packet's flits that have yet to leave the input lane. `out` is the output lane
    /// that the input lane holds: its column in the group times `L`, plus its lane.
    pub(crate) left: [[u32; 64]; L],
    pub(crate) out: [[u16; 64]; L],
    pub(crate) passing: [[u32; 64]; L],
}

impl<const L: usize> Column<L> {
    pub(crate) fn new(
        has_levels: bool,
        depths: &[u32],
        output_depths: &[u32],
        matches_lanes: bool,
    ) -> Self {
        Self {
            fill: Count::up_to(output_depths),
            credit: Count::up_to(depths),
            filled: [0; L],
            credited: [0; L],
            full: [0; L],
            sent: [0; L],
            released: [0; L],
            link_after: [u64::MAX; L],
            to_host: 0,
            active: 0,
            waits: 0,
            short: 0,
            short_at_crossbar: 0,
            present: Count::up_to(depths),
            there: [0; L],
            holds: [0; L],
            towards: [[0; RADIX_MAX]; L],
            heads: [0; L],
            blocked: [0; L],
            able: [0; L],
            crossed: [0; L],
            input_after: [u64::MAX; L],
            wires: Vec::new(),
            loose: u64::MAX,
            requests: Requests::new(has_levels),
            matching: matches_lanes.then(|| Box::new(LaneMatching::new())),
            cables: Cables {
                here: [0; 64],
                there: [0; 64],
                peer_bit: [0; 64],
                flit_offset: [0; 64],
                credit_offset: [0; 64],
                latency: [0; 64],
                flits: [0; 64],
                starts: [0; 64],
                departures: [0; 64],
                waited: [0; 64],
            },
            packets: Packets { left: [[0; 64]; L], out: [[NONE; 64]; L], passing: [[0; 64]; L] },
        }
    }

    #[inline]
    pub(crate) fn lane_here(&self, lane: usize, bit: usize) -> usize {
        self.cables.here[bit & 63] as usize | lane
    }

    #[inline]
    pub(crate) fn lane_there(&self, lane: usize, bit: usize) -> usize {
        self.cables.there[bit & 63] as usize | lane
    }

    #[inline]
    pub(crate) fn connect(
        &mut self,
        lane: usize,
        bit: usize,
        (output, out_lane): (usize, usize),
        flits: u32,
        is_full: bool,
    ) {
        debug_assert!(lane < L && bit < 64 && output < RADIX_MAX, "a switch has this lane");
        self.packets.left[lane][bit & 63] = flits;
        self.packets.out[lane][bit & 63] = narrow(output * L + out_lane);
        self.towards[lane][output % RADIX_MAX] |= 1 << bit;
        self.holds[lane] |= 1 << bit;
        self.heads[lane] &= !(1 << bit);
        if is_full {
            self.blocked[lane] |= 1 << bit;
        }
    }

    #[inline(always)]
    pub(crate) fn unsent(&self) -> u64 {
        let filled = self.filled.iter().fold(0, |any, lane| any | lane);
        filled | self.short | self.short_at_crossbar
    }

    pub(crate) fn is_idle(&self) -> bool {
        let grants_nothing = self.requests.changed & self.requests.requested == 0;
        grants_nothing
            && self.waits == self.unsent()
            && (0..L).all(|lane| {
                let can_send = self.filled[lane] & (self.credited[lane] | self.to_host);
                self.able[lane] == 0 && can_send == 0
            })
    }
}
