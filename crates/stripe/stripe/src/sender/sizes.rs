//! Maximum frame sizes of the channels: configured, or found by probes.
//!
//! ```text
//!            3 base probes lost       acknowledged                  nothing left to probe
//!   [Error] <------------------ [Base] ----------> [Searching] ----------------------> [SearchComplete]
//!      |  acknowledged            ^ ^                 ^   ^                               |       |
//!      +------------------------- | | ----------------+   +------- PMTU_RAISE_TIMER ------+       |
//!                                 | +------- black hole, or packet too big -----------------------+
//!                                 +--------- return of a dead channel
//! ```
//!
//! A probe is a marker padded with zeros, acknowledged by the report that echoes it. The loss of a
//! probe does not indicate congestion, and counts only once a report responds to a later marker.
//!
//! The size of the pipe is the minimum over the active channels; longer packets use only channels
//! that pass them. In strict order, a channel whose size falls is inactive until it passes the
//! former size again.
//!
//! Configured sizes are probed only if all long packets are lost: the channel is then inactive
//! until it passes a packet of that length.
//!
//! A size reported by the network is probed, because ICMP messages can be forged. A frame refused
//! by the local socket (`EMSGSIZE`) counts as a failed probe after a single attempt.
//!
//! Channels that pass frames of any length, such as TCP, are not probed.
//!
//! Source: RFC 8899, sections 4.3 (black holes), 4.6 (packet too big messages) and 5 (states and
//! timers).
//!
//! Invariant: the delivery order does not depend on sizes.

mod evidence;
mod plan;
mod search;

use super::{Order, SenderOptions};
use crate::time::not_after;
use crate::{
    ChannelSet, Instant, Report, SizeError, TAG_BYTES, TAG_BYTES_MAX, channels_of, first_channels,
    take_lowest,
};
use core::time::Duration;
use evidence::Evidence;
pub use plan::{Size, SizePlan, SizeState};
use search::Search;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Look {
    /// Whether to send a marker, whose report would show that only the probe was lost.
    pub(super) asks: bool,
    /// Whether the base size does not pass, so that the channel must be deactivated.
    pub(super) fails: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Sizes {
    plan: Option<SizePlan>,
    order: Order,
    channels: Vec<Search>,
    whole: ChannelSet,
    header_bytes: u32,
    due: ChannelSet,
    next_at: Option<Instant>,
    padded: Option<(usize, u32)>,
    waiting_bytes: u32,
}

impl Sizes {
    pub(super) fn new(options: &SenderOptions, channels: usize) -> Self {
        let header_bytes = match (options.repair, options.order) {
            (Some(_), _) => TAG_BYTES_MAX,
            (None, Order::Free) => TAG_BYTES,
            (None, Order::Strict) => 0,
        };
        let mut sizes = Self {
            plan: options.sizes,
            order: options.order,
            channels: Vec::new(),
            whole: 0,
            header_bytes: u32::try_from(header_bytes).expect("twenty"),
            due: 0,
            next_at: options.sizes.map(|_| Instant::ORIGIN),
            padded: None,
            waiting_bytes: 0,
        };
        sizes.channels = (0..channels).map(|channel| sizes.initial_on(channel)).collect();
        sizes
    }

    fn initial_on(&self, channel: usize) -> Search {
        let (state, frame_bytes, probe_bytes, too_long_bytes) = match &self.plan {
            Some(plan) if self.whole & 1 << channel != 0 => {
                (SizeState::SearchComplete, plan.max, 0, plan.beyond())
            }
            Some(plan) => (SizeState::Base, plan.base, plan.base, plan.beyond()),
            None => (SizeState::SearchComplete, u32::MAX, 0, u32::MAX),
        };
        Search {
            state,
            frame_bytes,
            too_long_bytes,
            probe_bytes,
            sent_at: None,
            until: Instant::ORIGIN,
            is_passed: false,
            lost: 0,
            raise_at: Instant::ORIGIN,
            is_unknown: state == SizeState::Base,
            evidence: Evidence::default(),
        }
    }

    pub(super) fn set_tagged(&mut self) {
        self.header_bytes = self.header_bytes.max(u32::try_from(TAG_BYTES).expect("twelve"));
    }

    pub(super) const fn has_tags(&self) -> bool {
        self.header_bytes > 0
    }

    #[inline]
    pub(super) fn fits(&self, channel: usize, length_bytes: u32) -> bool {
        length_bytes.saturating_add(self.header_bytes) <= self.channels[channel].frame_bytes
    }

    fn longest_bytes(&self, channel: usize) -> u32 {
        self.channels[channel].frame_bytes.saturating_sub(self.header_bytes)
    }

    pub(super) const fn wait_with(&mut self, length_bytes: u32) {
        self.waiting_bytes = length_bytes;
    }

    pub(super) fn fits_waiting(&self, channel: usize) -> bool {
        self.fits(channel, self.waiting_bytes)
    }

    #[inline]
    pub(super) fn sent(&mut self, now: Instant, channel: usize, length_bytes: u32) {
        self.channels[channel].evidence.sent(now, length_bytes);
    }

    pub(super) fn mark(&mut self, now: Instant, channel: usize, is_out: bool) {
        let one = &mut self.channels[channel];
        one.evidence.mark(now);
        if is_out && one.state == SizeState::Error {
            self.padded = Some((channel, one.probe_bytes));
        }
    }

    pub(super) fn handle_report(&mut self, now: Instant, channel: usize, report: &Report) {
        let one = &mut self.channels[channel];
        one.evidence.record_report(report);
        let Some(plan) = &self.plan else { return };
        match one.sent_at {
            Some(sent_at) if report.echo == sent_at => one.acknowledge(now, plan),
            Some(sent_at) if report.echo > sent_at => {
                one.is_passed = true;
                return;
            }
            _ if one.is_in_doubt() => {}
            _ => return,
        }
        self.next_at = Some(now);
    }

    /// Returns how long a channel has been losing all packets longer than those received, and when
    /// the last lost packet was sent.
    pub(super) fn losing_for(&self, channel: usize) -> Option<(Duration, Instant)> {
        self.channels[channel].evidence.losing_for()
    }

    /// Returns whether a channel has recently lost long packets, so that copies should avoid it.
    pub(super) fn doubts(&self, channel: usize) -> bool {
        self.channels[channel].evidence.lost > 0
    }

    pub(super) fn lose(&mut self, channel: usize, frame_bytes: u32) {
        let one = &mut self.channels[channel];
        (one.state, one.probe_bytes) = (SizeState::Error, frame_bytes);
    }

    pub(super) fn leave(&mut self, channel: usize) {
        self.channels[channel].forget();
        self.due &= !(1 << channel);
    }

    /// Handles the return of a channel. A channel that was inactive because of its size has passed
    /// a probe; other channels start a new search.
    pub(super) fn revive(&mut self, now: Instant, channel: usize) {
        let initial = self.initial_on(channel);
        let one = &mut self.channels[channel];
        match &self.plan {
            Some(plan) if one.state == SizeState::Error => one.acknowledge(now, plan),
            _ => *one = initial,
        }
        self.next_at = self.plan.map(|_| now);
    }

    pub(super) fn begin(&mut self, channel: usize) {
        self.leave(channel);
        self.channels[channel] = self.initial_on(channel);
        self.next_at = self.plan.map(|_| Instant::ORIGIN);
    }

    pub(super) fn take_due(&mut self) -> Option<(usize, u32)> {
        self.due &= first_channels(self.channels.len());
        while let Some(channel) = take_lowest(&mut self.due) {
            let bytes = self.channels[channel].probe_bytes;
            if bytes > 0 {
                return Some((channel, bytes));
            }
        }
        None
    }

    pub(super) const fn are_due(&self) -> bool {
        self.due != 0
    }

    pub(super) const fn next_at(&self) -> Option<Instant> {
        self.next_at
    }

    pub(super) const fn pad_nothing(&mut self) {
        self.padded = None;
    }

    pub(super) fn repair_state(&mut self, now: Instant, longest_bytes: u32, span_max: Duration) {
        self.due &= first_channels(self.channels.len());
        let frame_max = longest_bytes.saturating_add(self.header_bytes);
        for channel in 0..self.channels.len() {
            let initial = self.initial_on(channel);
            let one = &mut self.channels[channel];
            one.evidence.repair_state(now, span_max);
            let Some(plan) = &self.plan else {
                one.frame_bytes = u32::MAX;
                one.probe_bytes = one.probe_bytes.min(frame_max);
                continue;
            };
            let rests = one.state == SizeState::SearchComplete;
            let sizes = [one.frame_bytes, one.probe_bytes];
            let can_be = |bytes: &u32| (plan.base..=plan.max).contains(bytes);
            if !can_be(&sizes[0]) || !(can_be(&sizes[1]) || (rests && sizes[1] == 0)) {
                *one = initial;
            }
            one.too_long_bytes = one.too_long_bytes.min(plan.beyond());
            one.sent_at = one.sent_at.filter(|at| *at <= Self::probe_at(now));
            not_after(&mut one.raise_at, now, plan.raise);
            not_after(&mut one.until, now, span_max);
        }
        if let (Some(plan), Some(next_at)) = (&self.plan, &mut self.next_at) {
            not_after(next_at, now, plan.raise);
        }
    }

    pub(super) fn restart(&mut self) {
        for channel in 0..self.channels.len() {
            let initial = self.initial_on(channel);
            let one = &mut self.channels[channel];
            one.forget();
            if one.state == SizeState::Error {
                *one = initial;
            }
        }
        self.due = 0;
    }

    pub(super) fn may_shrink(&self) -> bool {
        self.plan.is_some() && self.order == Order::Free
    }

    pub(super) fn longest_on(&self, channels: ChannelSet, most_bytes: u32) -> u32 {
        channels_of(channels).map(|channel| self.longest_bytes(channel)).fold(most_bytes, u32::min)
    }

    pub(super) fn longest_known(&self, channels: ChannelSet, most_bytes: u32) -> u32 {
        let is_known = |channel: &usize| !self.channels[*channel].is_unknown;
        let known = channels_of(channels).filter(is_known);
        known.map(|channel| self.longest_bytes(channel)).fold(most_bytes, u32::min)
    }

    pub(super) fn fits_some(&self, channels: ChannelSet, length_bytes: u32) -> bool {
        channels_of(channels).any(|channel| self.fits(channel, length_bytes))
    }

    pub(super) fn may_fit(&self, channels: ChannelSet, length_bytes: u32) -> bool {
        let frame_bytes = length_bytes.saturating_add(self.header_bytes);
        channels_of(channels).any(|channel| {
            let one = &self.channels[channel];
            one.is_unknown && frame_bytes < one.too_long_bytes
        })
    }

    pub(super) fn size(&self, channel: usize, most_bytes: u32) -> Size {
        let Search { state, frame_bytes, .. } = self.channels[channel];
        let longest_bytes = self.longest_bytes(channel).min(most_bytes);
        let most_bytes = most_bytes.saturating_add(self.header_bytes);
        Size { state, frame_bytes: frame_bytes.min(most_bytes), longest_bytes }
    }

    pub(super) fn is_out(&self, channel: usize) -> bool {
        self.channels[channel].state == SizeState::Error
    }

    pub(super) fn padded_bytes(&self, channel: usize) -> usize {
        let padded = self.padded.filter(|(on, _)| *on == channel);
        padded.map_or(0, |(_, bytes)| bytes as usize)
    }

    pub(super) fn lost_bytes(&self, channel: usize) -> u32 {
        self.channels[channel].evidence.longest_bytes.saturating_add(self.header_bytes)
    }

    pub(super) fn frame_bytes(&self, channel: usize) -> u32 {
        self.channels[channel].frame_bytes
    }

    /// Starts probing the base size of a channel that stays active despite a black hole.
    pub(super) fn confirm_base(&mut self, channel: usize) {
        if let Some(plan) = self.plan {
            let one = &mut self.channels[channel];
            one.confirm(plan.base, one.frame_bytes);
        }
    }

    /// Schedules the next check; returns false if sizes are configured.
    pub(super) fn begin_check(&mut self, now: Instant) -> bool {
        self.next_at = self.plan.map(|plan| now.after(plan.raise));
        self.plan.is_some()
    }

    /// Advances the search of a channel. `probe_takes` is the maximum wait for a response
    /// (`PROBE_TIMER`, RFC 8899, section 5.1.1); `None` if the channel is inactive.
    pub(super) fn check_channel(
        &mut self,
        now: Instant,
        channel: usize,
        probe_takes: Option<Duration>,
    ) -> Look {
        let (bit, one) = (1 << channel, &mut self.channels[channel]);
        let (Some(plan), Some(probe_takes)) = (&self.plan, probe_takes) else {
            self.due &= !bit;
            return Look::default();
        };
        one.advance(now, plan);
        let is_asked = one.sent_at.is_some();
        let asks = is_asked && one.until <= now;
        if asks {
            one.until = now.after(probe_takes);
        }
        if one.probe_bytes > 0 && !is_asked {
            self.due |= bit;
        }
        let fails = one.state == SizeState::Error;
        self.next_at = self.next_at.into_iter().chain(one.next_at()).min();
        Look { asks, fails }
    }

    /// Returns the time stamp of a probe, which differs from a marker's to distinguish their
    /// responses.
    pub(super) fn probe_at(now: Instant) -> Instant {
        now.after(Duration::from_nanos(1))
    }

    pub(super) fn probe(&mut self, now: Instant, channel: usize, bytes: u32, until: Instant) {
        let one = &mut self.channels[channel];
        (one.sent_at, one.until, one.is_passed) = (Some(Self::probe_at(now)), until, false);
        self.padded = Some((channel, bytes));
        self.next_at = self.next_at.map(|at| at.min(until));
    }

    /// Handles a size reported by the network. A size that is not below the channel's size or the
    /// probe is ignored; any other size is probed (RFC 8899, section 4.6). Returns whether the size
    /// contradicts the channel's size.
    pub(super) fn handle_too_big(
        &mut self,
        now: Instant,
        channel: usize,
        frame_bytes: u32,
    ) -> Result<bool, SizeError> {
        let one = self.channels.get_mut(channel).ok_or(SizeError::NoSuchChannel)?;
        let plan = self.plan.as_ref().ok_or(SizeError::Configured)?;
        if frame_bytes >= one.frame_bytes.max(one.probe_bytes) {
            return Err(SizeError::NotBelow { frame_bytes: one.frame_bytes });
        }
        self.next_at = Some(now);
        if frame_bytes < one.frame_bytes {
            return Ok(true);
        }
        (one.sent_at, one.lost, one.too_long_bytes) = (None, 0, frame_bytes.saturating_add(1));
        one.go_on(now, plan);
        if frame_bytes > one.frame_bytes {
            (one.state, one.probe_bytes) = (SizeState::Searching, frame_bytes);
        }
        Ok(false)
    }

    pub(super) fn shrink(&mut self, channel: usize, frame_bytes: u32) {
        let base_bytes = self.plan.as_ref().expect("only probed sizes are in doubt").base;
        let too_long_bytes = frame_bytes.saturating_add(1);
        self.channels[channel].confirm(frame_bytes.max(base_bytes), too_long_bytes);
    }

    /// Handles a refused frame; returns whether frames of this size passed before. If so, a channel
    /// whose size cannot fall is deactivated.
    pub(super) fn handle_refused(
        &mut self,
        now: Instant,
        channel: usize,
        frame_bytes: u32,
    ) -> Result<bool, SizeError> {
        let one = self.channels.get(channel).ok_or(SizeError::NoSuchChannel)?;
        let plan = self.plan.as_ref().ok_or(SizeError::Configured)?;
        self.next_at = Some(now);
        // If even the base size does not pass, the search deactivates the channel.
        Ok(frame_bytes <= one.frame_bytes && frame_bytes > plan.base)
    }

    /// Continues the search below the size of a refused frame.
    pub(super) fn refuse(&mut self, now: Instant, channel: usize, frame_bytes: u32) {
        let plan = self.plan.as_ref().expect("only probed sizes are refused");
        self.channels[channel].refuse(now, frame_bytes, plan);
    }

    pub(super) fn set_passes_all(&mut self, channel: usize, passes_all: bool) {
        let bit = 1 << channel;
        let before = self.whole;
        self.whole = if passes_all { before | bit } else { before & !bit };
        if before != self.whole {
            self.begin(channel);
        }
    }
}

#[cfg(test)]
crate::corruption::corrupt!(Sizes: channels, due, waiting_bytes; next_at);
