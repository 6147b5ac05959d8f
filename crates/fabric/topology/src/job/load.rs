//! Channel loads by phase, and the score of a node order.

use super::bound::capacities;
use super::paths::{PathError, Paths, WHOLE};
use super::pattern::Phase;
use crate::ChannelId;
use crate::routing::joins_switches;
use std::collections::BTreeSet;

const SLOWNESS_ONE: u64 = 64;

#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub(super) struct Score {
    /// Total time of all phases, relative to the reference capacity.
    pub(super) time: f64,
    /// Highest load of any channel between switches, in units of 1/[`WHOLE`] of a flow.
    pub(super) highest: u64,
    pub(super) cost: u128,
}

#[derive(Debug, Clone)]
pub(super) struct Scale {
    /// Capacity of a channel with slowness [`SLOWNESS_ONE`], in bytes per second.
    reference: f64,
    /// By channel: reference capacity divided by channel capacity, in units of 1/[`SLOWNESS_ONE`].
    slowness: Vec<u64>,
    is_trunk: Vec<bool>,
    standing: Vec<u64>,
    shares: Vec<f64>,
    weights: Vec<u64>,
    pub(super) has_equal_adapters: bool,
}

impl Scale {
    /// Sets the reference to the capacity of the slowest adapter, or of the fastest cable between
    /// switches if that is lower. `standing` is the load of other jobs on each channel, or empty.
    pub(super) fn new(paths: &Paths<'_>, phases: &[Phase], standing: &[u64]) -> Self {
        let (fabric, capacities) = (paths.fabric(), capacities(paths.fabric()));
        let is_trunk: Vec<bool> =
            ChannelId::first(capacities.len()).map(|one| joins_switches(fabric, one)).collect();
        let trunks = capacities.iter().zip(&is_trunk).filter(|(_, is_trunk)| **is_trunk);
        let fastest = trunks.map(|(capacity, _)| *capacity).reduce(f64::max);
        let slowest = paths.adapter_channels().map(|one| capacities[one.index()]).reduce(f64::min);
        let reference = [fastest, slowest].into_iter().flatten().reduce(f64::min).unwrap_or(1.0);
        let largest = phases.iter().map(|phase| phase.share).fold(0.0, f64::max);
        let mut standing = standing.to_vec();
        standing.resize(capacities.len(), 0);
        let kind = |one: ChannelId| (capacities[one.index()].to_bits(), standing[one.index()]);
        let kinds: BTreeSet<_> = paths.adapter_channels().map(kind).collect();
        Self {
            has_equal_adapters: kinds.len() <= 1,
            reference,
            slowness: capacities.iter().map(|one| part(reference / one)).collect(),
            is_trunk,
            standing,
            shares: phases.iter().map(|phase| phase.share).collect(),
            weights: phases.iter().map(|phase| part(phase.share / largest)).collect(),
        }
    }

    pub(super) fn seconds(&self, time: f64) -> f64 {
        time / self.reference
    }

    /// Returns the time of a single phase with this load on the fastest channel between switches; 0
    /// with several phases.
    pub(super) fn time_of(&self, load: u64) -> f64 {
        let trunks = self.slowness.iter().zip(&self.is_trunk).filter(|(_, is_trunk)| **is_trunk);
        let least = trunks.map(|(slowness, _)| *slowness).min().unwrap_or(SLOWNESS_ONE);
        match self.shares[..] {
            [share] => share * time(load * least),
            _ => 0.0,
        }
    }

    fn load(&self, own: u64, channel: usize) -> u64 {
        if own == 0 { 0 } else { own + self.standing[channel] }
    }

    /// Returns the penalty for the load of a channel: zero up to one flow at the reference
    /// capacity, and above it the weighted square of the excess.
    fn excess(&self, own: u64, phase: usize, channel: usize) -> u128 {
        if !self.is_trunk[channel] {
            return 0;
        }
        let load = self.load(own, channel) * self.slowness[channel] / SLOWNESS_ONE;
        let above = u128::from(load.saturating_sub(WHOLE) / (WHOLE / 720));
        above * above * u128::from(self.weights[phase])
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "ratios are positive and small"
)]
fn part(ratio: f64) -> u64 {
    ((ratio * 64.0).ceil() as u64).max(1)
}

fn time(weighted: u64) -> f64 {
    flows(weighted) / 64.0
}

#[expect(clippy::cast_precision_loss, reason = "loads are far below 2^53")]
pub(super) fn flows(load: u64) -> f64 {
    load as f64 / WHOLE as f64
}

#[derive(Debug, Clone)]
pub(super) struct Loads<'s> {
    scale: &'s Scale,
    channels: usize,
    own: Vec<u64>,
    touched: Vec<Vec<usize>>,
    is_touched: Vec<bool>,
    cost: u128,
}

impl<'s> Loads<'s> {
    pub(super) fn new(scale: &'s Scale) -> Self {
        let (channels, phases) = (scale.slowness.len(), scale.shares.len());
        Self {
            scale,
            channels,
            own: vec![0; channels * phases],
            touched: vec![Vec::new(); phases],
            is_touched: vec![false; channels * phases],
            cost: 0,
        }
    }

    pub(super) fn of(
        paths: &mut Paths<'_>,
        scale: &'s Scale,
        phases: &[Phase],
        order: &[usize],
    ) -> Result<Self, PathError> {
        let mut loads = Self::new(scale);
        for (number, phase) in phases.iter().enumerate() {
            for edge in &phase.edges {
                loads.change(paths, number, edge.nodes(order), true)?;
            }
        }
        Ok(loads)
    }

    pub(super) fn change(
        &mut self,
        paths: &mut Paths<'_>,
        phase: usize,
        (from, to): (usize, usize),
        is_added: bool,
    ) -> Result<(), PathError> {
        for rail in 0..paths.rails() {
            for channel in paths.ends(from, to, rail) {
                self.change_channel(phase, channel.index(), WHOLE, is_added);
            }
            for step in paths.between(from, to, rail)? {
                self.change_channel(phase, step.channel.index(), u64::from(step.part), is_added);
            }
        }
        Ok(())
    }

    fn change_channel(&mut self, phase: usize, channel: usize, part: u64, is_added: bool) {
        let place = phase * self.channels + channel;
        let before = self.own[place];
        let after = if is_added { before + part } else { before - part };
        self.own[place] = after;
        self.cost -= self.scale.excess(before, phase, channel);
        self.cost += self.scale.excess(after, phase, channel);
        if !std::mem::replace(&mut self.is_touched[place], true) {
            self.touched[phase].push(channel);
        }
    }

    pub(super) fn cost(&self) -> u128 {
        self.cost
    }

    pub(super) fn score(&self) -> Score {
        let (mut total, mut highest) = (0.0, 0);
        for (phase, share) in self.scale.shares.iter().enumerate() {
            let mut longest = 0;
            for &channel in &self.touched[phase] {
                let load = self.load(phase, channel);
                longest = longest.max(load * self.scale.slowness[channel]);
                if self.scale.is_trunk[channel] {
                    highest = highest.max(load);
                }
            }
            total += share * time(longest);
        }
        Score { time: total, highest, cost: self.cost }
    }

    pub(super) fn time_at_one_switch(&self) -> f64 {
        let mut total = 0.0;
        for (phase, share) in self.scale.shares.iter().enumerate() {
            let ends = self.touched[phase].iter().filter(|one| !self.scale.is_trunk[**one]);
            let times = ends.map(|one| self.load(phase, *one) * self.scale.slowness[*one]);
            total += share * time(times.max().unwrap_or(0));
        }
        total
    }

    /// Returns the load of all jobs, in units of 1/[`WHOLE`] of a flow; zero if this job does not
    /// use the channel.
    pub(super) fn load(&self, phase: usize, channel: usize) -> u64 {
        self.scale.load(self.own[phase * self.channels + channel], channel)
    }

    pub(super) fn is_crowded(&self, phase: usize, channel: usize) -> bool {
        let weighted = self.load(phase, channel) * self.scale.slowness[channel];
        weighted > WHOLE * SLOWNESS_ONE
    }
}
