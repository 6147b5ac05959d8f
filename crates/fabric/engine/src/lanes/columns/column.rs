//! A column: the ports of one number of up to 64 switches, a bit each.
//!
//! Invariants, between ticks: `filled`, `credited` and `there` say where a count is not zero, `full`
//! where that of an output lane is its depth, or where a flit takes its credit as it crosses and
//! there is none; `able` is the input lanes that hold an output lane
//! with room and have a flit.

use super::count::Count;
use super::group::{RADIX_MAX, Row};
use super::requests::{Requests, narrow};
use super::wires::Wire;
use crate::lanes::layout::NONE;

/// A port of 64 switches, with a word for each of its lanes.
#[derive(Clone, Debug)]
pub(crate) struct Column<const L: usize> {
    // Output lanes, and the channels that begin there.
    pub(crate) fill: Count<L>,
    pub(crate) credit: Count<L>,
    pub(crate) filled: [u64; L],
    pub(crate) credited: [u64; L],
    pub(crate) full: [u64; L],
    /// Lanes that the link took a flit of in this tick.
    pub(crate) sent: [u64; L],
    /// Lanes that were released in this tick, where they are given from the next one on.
    pub(crate) released: [u64; L],
    /// Lanes after the last that the link served.
    pub(crate) link_after: [u64; L],
    /// Channels that end at a host which takes in all that comes.
    pub(crate) to_host: u64,
    /// Channels that took a flit since the network last collected them.
    pub(crate) active: u64,
    /// Channels that wait for credits.
    pub(crate) waits: u64,
    /// Channels whose VC allocation left a head without a lane for lack of credits alone.
    pub(crate) short: u64,
    /// Channels that flits could have crossed to with more credits, if these are taken at the
    /// crossbar.
    pub(crate) short_at_crossbar: u64,

    // Input lanes, and what crosses.
    pub(crate) present: Count<L>,
    pub(crate) there: [u64; L],
    /// Lanes that hold an output lane.
    pub(crate) holds: [u64; L],
    /// By lane: those of them whose output lane is of each output.
    pub(crate) towards: [Row; L],
    /// Lanes whose head is being routed, or has a request.
    pub(crate) heads: [u64; L],
    /// Lanes whose output lane has no room.
    pub(crate) blocked: [u64; L],
    pub(crate) able: [u64; L],
    /// Lanes that a flit left in this tick.
    pub(crate) crossed: [u64; L],
    /// Lanes after the last that the crossbar served.
    pub(crate) input_after: [u64; L],

    /// Cables that lead to another column side by side, and the ports of all others.
    pub(crate) wires: Vec<Wire>,
    pub(crate) loose: u64,
    /// Heads that request output lanes, and who holds these.
    pub(crate) requests: Requests<L>,
    /// By switch.
    pub(crate) cables: Cables,
    pub(crate) packets: Packets<L>,
}

/// What is at the other end of the cable of each switch, and sums of what it carried.
#[derive(Clone, Debug)]
pub(crate) struct Cables {
    /// The first lane here, and that at the other end, by their numbers in all of them.
    pub(crate) here: [u32; 64],
    pub(crate) there: [u32; 64],
    /// The bit of the port there in its word.
    pub(crate) peer_bit: [u64; 64],
    /// From the present slot of a ring to the word of the first lane there, as many ticks later as
    /// a flit takes, or a credit.
    pub(crate) flit_offset: [u32; 64],
    pub(crate) credit_offset: [u32; 64],
    /// Ticks that a flit takes.
    pub(crate) latency: [u32; 64],
    /// Number of flits sent.
    pub(crate) flits: [u64; 64],
    /// Sum of the ticks at which they were sent, except flits to hosts; it may wrap.
    pub(crate) starts: [u64; 64],
    /// Ticks at which flits left the lane buffers, all added; it may wrap.
    pub(crate) departures: [u64; 64],
    /// Sum of the end ticks of waits for credits minus their start ticks; it may wrap.
    pub(crate) waited: [u64; 64],
}

impl Cables {
    /// A flit is sent by a switch at a tick.
    #[inline(always)]
    pub(crate) fn count_flit(&mut self, bit: usize, tick: u64) {
        self.flits[bit] += 1;
        self.starts[bit] = self.starts[bit].wrapping_add(tick);
    }
}

/// What is known of the packets in lanes, by lane and switch.
#[derive(Clone, Debug)]
pub(crate) struct Packets<const L: usize> {
    /// Where the input lane holds an output lane: flits of the packet that have not left it, and
    /// which lane it is: the column of its port in the group times the lanes of a port, and its
    /// number there.
    pub(crate) left: [[u32; 64]; L],
    pub(crate) out: [[u16; 64]; L],
    /// As output lanes to hosts: flits of the packet that passes which have not left, once its
    /// first has.
    pub(crate) passing: [[u32; 64]; L],
}

impl<const L: usize> Column<L> {
    /// Without cables; heads may have levels. Input lanes hold so many flits, and output lanes.
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

    /// A lane of a switch, by its number in all of them.
    #[inline]
    pub(crate) fn lane_here(&self, lane: usize, bit: usize) -> usize {
        self.cables.here[bit & 63] as usize | lane
    }

    /// The lane at the other end of its cable.
    #[inline]
    pub(crate) fn lane_there(&self, lane: usize, bit: usize) -> usize {
        self.cables.there[bit & 63] as usize | lane
    }

    /// An input lane of a switch holds this output lane from now on, for a packet of so many flits;
    /// whether that is full.
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

    /// Channels with a flit in an output lane, or something before it that lacks nothing but credits.
    #[inline(always)]
    pub(crate) fn unsent(&self) -> u64 {
        let filled = self.filled.iter().fold(0, |any, lane| any | lane);
        filled | self.short | self.short_at_crossbar
    }

    /// Whether nothing can move before something comes.
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
