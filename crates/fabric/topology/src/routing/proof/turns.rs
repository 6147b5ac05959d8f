//! Turns (pairs of consecutive channels with their states), stored as bit rows.
//!
//! ```text
//!   channel into a switch ──►  row    0 1 1 0 ...   a bit for each state of each channel out of it
//! ```
//!
//! A state is a group of lanes, or a dateline class. The two channels of a turn meet at a node, so
//! one row per state of an incoming channel represents all turns.

use super::ejection::BackpressuredHosts;
use super::lane_groups::LaneGroups;
use crate::routing::lanes::route_set::Buffers;
use crate::{ChannelId, Fabric};

/// Marker for a channel without dependencies.
const NO_COLUMN: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub(super) struct Turns {
    states: usize,
    columns: Vec<u32>,
    widths: Vec<u32>,
    first: Vec<u32>,
    bits: Vec<u64>,
}

impl Turns {
    /// Allows turns between channels that join switches or belong to hosts that may be full.
    pub(super) fn new(fabric: &Fabric, states: usize, stopping: &BackpressuredHosts) -> Self {
        let channels = || ChannelId::first(fabric.channel_count());
        let passes_on = |end| match fabric.endpoint_at(end) {
            Some(endpoint) => stopping.may_stop(endpoint),
            None => fabric.node(end.node).is_switch(),
        };
        let mut columns = vec![NO_COLUMN; fabric.channel_count()];
        let mut counts = vec![0; fabric.nodes().len()];
        for channel in channels() {
            let (from, to) = (fabric.source(channel), fabric.target(channel));
            if passes_on(from) && passes_on(to) {
                let count = &mut counts[from.node.index()];
                columns[channel.index()] = *count;
                *count += 1;
            }
        }
        let (mut widths, mut first, mut size) = (Vec::new(), Vec::new(), 0);
        for channel in channels() {
            let outgoing = counts[fabric.target(channel).node.index()] as usize;
            let is_there = columns[channel.index()] != NO_COLUMN;
            let width = if is_there { (outgoing * states).div_ceil(64) } else { 0 };
            widths.push(word(width));
            first.push(word(size));
            size += width * states;
        }
        Self { states, columns, widths, first, bits: vec![0; size] }
    }

    #[inline]
    pub(super) fn add(&mut self, held: (ChannelId, usize), wanted: (ChannelId, usize)) {
        let column = self.columns[wanted.0.index()];
        if column == NO_COLUMN || self.columns[held.0.index()] == NO_COLUMN {
            return;
        }
        let bit = column as usize * self.states + wanted.1;
        let row = self.row(held.0, held.1);
        self.bits[row + bit / 64] |= 1 << (bit % 64);
    }

    pub(super) fn add_between(&mut self, groups: &LaneGroups, held: Buffers, wanted: Buffers) {
        for group in groups.within(held.lanes) {
            for after in groups.within(wanted.lanes) {
                self.add((held.channel, group), (wanted.channel, after));
            }
        }
    }

    pub(super) fn join(&mut self, part: &Self) {
        assert_eq!(self.first, part.first, "parts of the same routes have the same rows");
        for (all, more) in self.bits.iter_mut().zip(&part.bits) {
            *all |= more;
        }
    }

    pub(super) fn is_outside(&self, channel: ChannelId) -> bool {
        self.columns[channel.index()] == NO_COLUMN
    }

    /// Visits the states that packets holding `held` may request next. `outgoing` lists the channels
    /// that leave the node at the end of the held channel, and determines the order of the visits.
    pub(super) fn each_after(
        &self,
        held: (ChannelId, usize),
        outgoing: &[ChannelId],
        mut visit: impl FnMut((ChannelId, usize)),
    ) {
        if self.is_outside(held.0) {
            return;
        }
        let row = self.row(held.0, held.1);
        for &wanted in outgoing.iter().filter(|wanted| !self.is_outside(**wanted)) {
            let first = self.columns[wanted.index()] as usize * self.states;
            for state in 0..self.states {
                let bit = first + state;
                if self.bits[row + bit / 64] >> (bit % 64) & 1 == 1 {
                    visit((wanted, state));
                }
            }
        }
    }

    #[inline]
    fn row(&self, channel: ChannelId, state: usize) -> usize {
        let [first, width] = [&self.first, &self.widths].map(|of| of[channel.index()] as usize);
        first + state * width
    }
}

fn word(number: usize) -> u32 {
    u32::try_from(number).expect("fewer than 2^32 words of turns")
}
