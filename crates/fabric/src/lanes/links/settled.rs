//! What columns write of links, where they step switches, and what checks read.

use super::{Links, TO_HOST};
use crate::lanes::layout::{SHIFT, bit_of};

impl Links {
    /// An output lane of a switch is as columns have it.
    pub(crate) fn write_lane(&mut self, lane: usize, fill: u16, credit: u16) {
        let (output, port) = (&mut self.lanes[lane], &mut self.ports[lane >> SHIFT]);
        output.fill = fill;
        port.filled = port.filled & !bit_of(lane) | if fill > 0 { bit_of(lane) } else { 0 };
        if !port.is(TO_HOST) {
            output.credit = credit;
            port.credited =
                port.credited & !bit_of(lane) | if credit > 0 { bit_of(lane) } else { 0 };
        }
    }

    /// Of the credits of an output lane so many are promised to flits that were not sent.
    pub(crate) fn write_promised(&mut self, lane: usize, promised: u32) {
        let output = &mut self.lanes[lane];
        let promised = u16::try_from(promised).unwrap_or(u16::MAX);
        output.unpromised = output.credit.saturating_sub(promised);
    }

    /// Columns know themselves what was released in a tick.
    pub(crate) fn forget_released(&mut self) {
        self.released = None;
    }

    /// Who holds the output lanes of a port of a switch, as columns have it: by lane the number of
    /// an input lane in its switch.
    pub(crate) fn write_holders(
        &mut self,
        port: usize,
        holders: impl Iterator<Item = (usize, u16)>,
    ) {
        self.ports[port].held = 0;
        for (lane, holder) in holders {
            self.ports[port].held |= 1 << lane;
            self.lanes[port << SHIFT | lane].holder = holder;
        }
    }

    /// The channel of a port of a switch took so many flits more.
    pub(crate) fn add_flits(&mut self, port: usize, flits: u64) {
        self.ports[port].flits += flits;
    }

    /// A credit counts at an output lane from a tick on.
    #[inline]
    pub(crate) fn send_credit(&mut self, lane: usize, tick: u64) {
        self.credits.push(tick, lane);
    }

    /// By output lane: its credits that neither count nor are taken by a flit in the buffer at the
    /// other end.
    pub(crate) fn credits_on_wire(&self) -> Vec<u32> {
        let mut on_wire = vec![0; self.lanes.len()];
        self.returning_credits().for_each(|lane| on_wire[lane] += 1);
        let flits = self.arrivals.iter().chain(self.ejections.iter());
        flits.for_each(|lane| on_wire[self.opposite(lane)] += 1);
        on_wire
    }
}
