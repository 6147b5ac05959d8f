//! A column: the ports with one number of up to 64 switches, a bit each.
//!
//! Invariants, between ticks: `filled`, `credited` and `there` mark the nonzero counts. `full`
//! marks the output lanes that are filled to their depth or, if flits take their credit at the
//! crossbar, have no credit. `able` marks the input lanes that have a flit and hold an output lane
//! with free space.

use super::count::Count;
use super::group::{RADIX_MAX, Row};
use super::requests::{Requests, narrow};
use super::wires::Wire;
use crate::lanes::layout::NONE;

/// One port of each of 64 switches, with a word for each of its lanes.
#[derive(Clone, Debug)]
pub(crate) struct Column<const L: usize> {
    // Output lanes, and the channels that begin there.
    pub(crate) fill: Count<L>,
    pub(crate) credit: Count<L>,
    pub(crate) filled: [u64; L],
    pub(crate) credited: [u64; L],
    pub(crate) full: [u64; L],
    /// Output lanes that sent a flit in this tick.
    pub(crate) sent: [u64; L],
    /// Lanes released in this tick, if they can be granted only from the next tick on.
    pub(crate) released: [u64; L],
    /// Lanes that follow the last one served by the link.
    pub(crate) link_after: [u64; L],
    /// Channels to a host that accepts every flit.
    pub(crate) to_host: u64,
    /// Channels that sent a flit since the network last collected this set.
    pub(crate) active: u64,
    pub(crate) waits: u64,
    /// Channels whose VC allocation left a head without a lane for lack of credits only.
    pub(crate) short: u64,
    /// If credits are taken at the crossbar: channels that no flit crossed to for lack of credits
    /// only.
    pub(crate) short_at_crossbar: u64,

    // Input lanes, and what crosses.
    pub(crate) present: Count<L>,
    pub(crate) there: [u64; L],
    pub(crate) holds: [u64; L],
    /// By lane and output: switches whose lane holds an output lane of that output.
    pub(crate) towards: [Row; L],
    /// Lanes whose head is being routed or has a request.
    pub(crate) heads: [u64; L],
    /// Lanes whose output lane has no free space.
    pub(crate) blocked: [u64; L],
    pub(crate) able: [u64; L],
    /// Input lanes with a flit that crossed in this tick.
    pub(crate) crossed: [u64; L],
    /// Lanes that follow the last one served by the crossbar.
    pub(crate) input_after: [u64; L],

    /// Groups of parallel cables; `loose` has the ports of all other cables.
    pub(crate) wires: Vec<Wire>,
    pub(crate) loose: u64,
    /// Heads that request output lanes, and the holders of these lanes.
    pub(crate) requests: Requests<L>,
    pub(crate) cables: Cables,
    pub(crate) packets: Packets<L>,
}

/// By switch: the cable at the port, its far end, and sums over the traffic that it carried.
#[derive(Clone, Debug)]
pub(crate) struct Cables {
    /// Indices of the first lane of the port and of its peer, among all lanes.
    pub(crate) here: [u32; 64],
    pub(crate) there: [u32; 64],
    /// Bit mask of the peer port in its word.
    pub(crate) peer_bit: [u64; 64],
    /// Offset in words from the current ring slot to the first lane of the peer, after the delay of
    /// a flit or of a credit.
    pub(crate) flit_offset: [u32; 64],
    pub(crate) credit_offset: [u32; 64],
    /// Delay of a flit, in ticks.
    pub(crate) latency: [u32; 64],
    pub(crate) flits: [u64; 64],
    /// Sum of the send ticks of flits, except flits to hosts; it may wrap.
    pub(crate) starts: [u64; 64],
    /// Sum of the departure ticks of flits from the lane buffers; it may wrap.
    pub(crate) departures: [u64; 64],
    /// Sum of the end ticks of waits for credits minus their start ticks; it may wrap.
    pub(crate) waited: [u64; 64],
}

impl Cables {
    #[inline(always)]
    pub(crate) fn count_flit(&mut self, bit: usize, tick: u64) {
        self.flits[bit] += 1;
        self.starts[bit] = self.starts[bit].wrapping_add(tick);
    }
}

/// State of the packets in the lanes, by lane and switch.
#[derive(Clone, Debug)]
pub(crate) struct Packets<const L: usize> {
    /// For an input lane that holds an output lane: flits of the packet that have not left it, and
    /// the output lane (column of its port in the group times `L`, plus its lane number).
    pub(crate) left: [[u32; 64]; L],
    pub(crate) out: [[u16; 64]; L],
    /// For an output lane to a host: remaining flits of the packet in progress, after its first
    /// flit.
    pub(crate) passing: [[u32; 64]; L],
}

impl<const L: usize> Column<L> {
    /// Returns a column without cables. `depths` and `output_depths` are those of input and output
    /// lanes, in flits.
    pub(crate) fn new(has_levels: bool, depths: &[u32], output_depths: &[u32]) -> Self {
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

    /// Returns the index of a lane of a switch among all lanes.
    #[inline]
    pub(crate) fn lane_here(&self, lane: usize, bit: usize) -> usize {
        self.cables.here[bit & 63] as usize | lane
    }

    /// Returns the index of the lane at the other end of the cable.
    #[inline]
    pub(crate) fn lane_there(&self, lane: usize, bit: usize) -> usize {
        self.cables.there[bit & 63] as usize | lane
    }

    /// Records that an input lane of a switch holds an output lane for a packet of `flits` flits.
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

    /// Returns the channels with a flit in an output lane, or with a flit before an output lane
    /// that lacks only credits.
    #[inline(always)]
    pub(crate) fn unsent(&self) -> u64 {
        let filled = self.filled.iter().fold(0, |any, lane| any | lane);
        filled | self.short | self.short_at_crossbar
    }

    /// Whether nothing can move before the next arrival.
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
