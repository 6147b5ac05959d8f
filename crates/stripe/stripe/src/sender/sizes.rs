//! How long the packets of each channel may be: told, or found by probes.
//!
//! ```text
//!            3 base probes lost       acknowledged                  nothing left to probe
//!   [Error] <------------------ [Base] ----------> [Searching] ----------------------> [SearchComplete]
//!      |  acknowledged            ^ ^                 ^   ^                               |       |
//!      +------------------------- | | ----------------+   +------- PMTU_RAISE_TIMER ------+       |
//!                                 | +------- black hole, or too big a packet ---------------------+
//!                                 +--------- back after death
//! ```
//!
//! A probe is a marker of its own, padded with zeros: the report that echoes it acknowledges it. A
//! lost one is no sign of congestion; three of a size are a sign that it does not pass. None is
//! counted lost before a marker behind it is answered: a channel that is silent says nothing of
//! sizes.
//!
//! A packet goes where it fits: so the size of the whole is the smallest of the channels that are in,
//! and what is longer goes where it can. In strict order nothing goes where it can: a channel that
//! passes less than it did is out until it does.
//!
//! Where sizes are told there are no probes, but that a channel on which long packets vanish is out
//! until it passes one as long as those.
//!
//! Source: RFC 8899 (datagram packetisation layer path MTU discovery), sections 4.3 (black holes),
//! 4.6 (messages of packets too big) and 5 (states and timers).
//!
//! Invariant: nothing here is needed for order.

mod evidence;
mod plan;
mod search;

use super::check::not_after;
use super::{Order, Sender, SenderOptions};
use crate::{
    ChannelSet, Instant, Kind, Numbered, Report, SizeError, TAG_BYTES, TAG_BYTES_MAX,
    first_channels, take_lowest,
};
use core::time::Duration;
use evidence::Evidence;
pub use plan::{Size, SizePlan, SizeState};
use search::Search;

/// What is known of all channels.
#[derive(Clone, Debug)]
pub(super) struct Sizes {
    plan: Option<SizePlan>,
    channels: Vec<Search>,
    /// Those that pass frames however long they are.
    whole: ChannelSet,
    /// What stands before a packet.
    header_bytes: u32,
    /// Channels on which a probe is to go.
    due: ChannelSet,
    /// When to look at the channels; never where sizes are told.
    next_at: Option<Instant>,
    /// The message that was given out last is to be as long as that.
    padded: Option<(usize, u32)>,
    /// How long the packet is that was not taken last.
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
            channels: Vec::new(),
            whole: 0,
            header_bytes: u32::try_from(header_bytes).expect("twenty"),
            due: 0,
            next_at: options.sizes.map(|_| Instant::ORIGIN),
            padded: None,
            waiting_bytes: 0,
        };
        sizes.channels = vec![sizes.initial(); channels];
        sizes
    }

    /// What is known of a channel at first.
    fn initial(&self) -> Search {
        let (state, frame_bytes, probe_bytes, too_long_bytes) = match &self.plan {
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
            is_unknown: self.plan.is_some(),
            evidence: Evidence::default(),
        }
    }

    /// Packets have tags.
    pub(super) fn set_tagged(&mut self) {
        self.header_bytes = self.header_bytes.max(u32::try_from(TAG_BYTES).expect("twelve"));
    }

    /// Whether packets have tags.
    pub(super) const fn has_tags(&self) -> bool {
        self.header_bytes > 0
    }

    /// Whether packets of so many bytes go on a channel.
    #[inline]
    pub(super) fn fits(&self, channel: usize, length_bytes: u32) -> bool {
        length_bytes.saturating_add(self.header_bytes) <= self.channels[channel].frame_bytes
    }

    /// The longest packet that goes on a channel.
    fn longest_bytes(&self, channel: usize) -> u32 {
        self.channels[channel].frame_bytes.saturating_sub(self.header_bytes)
    }

    /// A packet that is not taken waits, or none does.
    pub(super) const fn wait_with(&mut self, length_bytes: u32) {
        self.waiting_bytes = length_bytes;
    }

    /// Whether the packet that waits, if one does, goes on a channel.
    pub(super) fn fits_waiting(&self, channel: usize) -> bool {
        self.fits(channel, self.waiting_bytes)
    }

    /// A packet or a copy goes on a channel.
    #[inline]
    pub(super) fn sent(&mut self, now: Instant, channel: usize, length_bytes: u32) {
        self.channels[channel].evidence.sent(now, length_bytes);
    }

    /// A marker goes on a channel. One of a channel that is out for its size is to be as long.
    pub(super) fn mark(&mut self, now: Instant, channel: usize, is_out: bool) {
        let one = &mut self.channels[channel];
        one.evidence.mark(now);
        if is_out && one.state == SizeState::Error {
            self.padded = Some((channel, one.probe_bytes));
        }
    }

    /// A report has come.
    pub(super) fn hear(&mut self, now: Instant, channel: usize, report: &Report) {
        let one = &mut self.channels[channel];
        one.evidence.hear(report);
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

    /// For how long a channel is known to have lost all packets longer than those that came, and
    /// until when, where no probes find that out.
    pub(super) fn losing_for(&self, channel: usize) -> Option<(Duration, Instant)> {
        self.channels[channel].evidence.losing_for()
    }

    /// Whether long packets are known not to have come lately: copies had better go elsewhere.
    pub(super) fn doubts(&self, channel: usize) -> bool {
        self.channels[channel].evidence.lost > 0
    }

    /// A channel is out until a frame of so many bytes gets through.
    fn lose(&mut self, channel: usize, frame_bytes: u32) {
        let one = &mut self.channels[channel];
        (one.state, one.probe_bytes) = (SizeState::Error, frame_bytes);
    }

    /// A channel is out: nothing is asked of it.
    pub(super) fn leave(&mut self, channel: usize) {
        self.channels[channel].forget();
        self.due &= !(1 << channel);
    }

    /// A channel is alive: one that was out for its size has passed a probe, any other begins anew.
    pub(super) fn revive(&mut self, now: Instant, channel: usize) {
        let initial = self.initial_on(channel);
        let one = &mut self.channels[channel];
        match &self.plan {
            Some(plan) if one.state == SizeState::Error => one.acknowledge(now, plan),
            _ => *one = initial,
        }
        self.next_at = self.plan.map(|_| now);
    }

    /// Another channel takes the place of one, or another path.
    pub(super) fn begin(&mut self, channel: usize) {
        self.leave(channel);
        self.channels[channel] = self.initial_on(channel);
        self.next_at = self.plan.map(|_| Instant::ORIGIN);
    }

    /// Where a probe goes, and how long it is.
    fn take_due(&mut self) -> Option<(usize, u32)> {
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

    /// Another message is given out, of its own length.
    pub(super) const fn pad_nothing(&mut self) {
        self.padded = None;
    }

    /// What can be, of each channel.
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
            one.sent_at = one.sent_at.filter(|at| *at <= just_after(now));
            not_after(&mut one.raise_at, now, plan.raise);
            not_after(&mut one.until, now, span_max);
        }
        if let (Some(plan), Some(next_at)) = (&self.plan, &mut self.next_at) {
            not_after(next_at, now, plan.raise);
        }
    }

    /// A new epoch, with all channels.
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
}

/// What a probe says of when it is sent: not what a marker of the same time says, so that answers
/// tell them apart.
fn just_after(now: Instant) -> Instant {
    now.after(Duration::from_nanos(1))
}

impl<S: Numbered> Sender<S> {
    /// The longest packet that every channel takes that is in, in bytes: the size of the whole. It
    /// follows as sizes are found and channels come and go. What is longer goes where it fits, as
    /// long as it fits anywhere, if the choice of channels is free.
    pub fn longest_bytes(&self) -> u32 {
        let channels = 0..self.scheduler.channels();
        let is_in = |channel: &usize| self.carries(*channel);
        let longest = channels.filter(is_in).map(|channel| self.sizes.longest_bytes(channel));
        longest.fold(self.scheduler.longest_bytes(), u32::min)
    }

    /// How long frames and packets of a channel may be.
    pub fn size(&self, channel: usize) -> Size {
        let Search { state, frame_bytes, .. } = self.sizes.channels[channel];
        let told_bytes = self.scheduler.longest_bytes();
        let longest_bytes = self.sizes.longest_bytes(channel).min(told_bytes);
        let told_bytes = told_bytes.saturating_add(self.sizes.header_bytes);
        Size { state, frame_bytes: frame_bytes.min(told_bytes), longest_bytes }
    }

    /// Whether a packet of so many bytes fits a channel that is in, or in strict order the one whose
    /// turn it is.
    pub fn fits_somewhere(&self, length_bytes: u32) -> bool {
        let may_take = |channel: &usize| match self.options.order {
            Order::Free => self.carries(*channel),
            Order::Strict => *channel == self.scheduler.current(),
        };
        let mut channels = (0..self.scheduler.channels()).filter(may_take);
        channels.any(|channel| self.sizes.fits(channel, length_bytes))
    }

    /// To how many bytes the message that was given out last for a channel is to be padded, with
    /// zeros: to none, 0, but for probes, which are as long as the frames that they stand for.
    pub fn padded_bytes(&self, channel: usize) -> usize {
        let padded = self.sizes.padded.filter(|(on, _)| *on == channel);
        padded.map_or(0, |(_, bytes)| bytes as usize)
    }

    /// Whether a channel whose size falls stays in with less.
    pub(super) fn may_shrink(&self) -> bool {
        self.options.sizes.is_some() && self.options.order == Order::Free
    }

    /// A channel has lost all long packets for long: it is out until it passes them. The last one
    /// stays in, and is to pass the base.
    pub(super) fn lose_long(&mut self, channel: usize, now: Instant) {
        let longest_bytes = self.sizes.channels[channel].evidence.longest_bytes;
        let lost_bytes = longest_bytes.saturating_add(self.sizes.header_bytes);
        if self.lose(channel, now) {
            self.sizes.lose(channel, lost_bytes);
        } else if let Some(plan) = self.sizes.plan {
            let one = &mut self.sizes.channels[channel];
            one.confirm(plan.base, one.frame_bytes);
        }
    }

    /// Looks at what time brings, if it is time.
    pub(super) fn advance_sizes(&mut self, now: Instant) {
        if self.sizes.next_at.is_some_and(|at| at <= now) {
            self.look_at_sizes(now);
        }
    }

    /// Looks at the size of every channel that is in: what is to be probed, and what does not pass.
    pub(super) fn look_at_sizes(&mut self, now: Instant) {
        let Some(plan) = self.sizes.plan else { return };
        let mut next_at = now.after(plan.raise);
        for channel in 0..self.scheduler.channels() {
            if !self.is_open() || !self.carries(channel) {
                self.sizes.due &= !(1 << channel);
                continue;
            }
            let takes = self.probe_takes(channel);
            let one = &mut self.sizes.channels[channel];
            one.advance(now, &plan);
            let (is_asked, probe_bytes) = (one.sent_at.is_some(), one.probe_bytes);
            if is_asked && one.until <= now {
                // A marker behind it tells whether it is the probe alone that does not come.
                one.until = now.after(takes);
                self.due |= 1 << channel;
            }
            next_at = one.next_at().map_or(next_at, |at| next_at.min(at));
            if one.state == SizeState::Error && self.lose(channel, now) {
                continue;
            }
            if probe_bytes > 0 && !is_asked {
                self.sizes.due |= 1 << channel;
            }
        }
        self.sizes.next_at = Some(next_at);
    }

    /// `PROBE_TIMER`: how long an answer to a probe is waited for, by the time there and back (RFC
    /// 8899, section 5.1.1).
    fn probe_takes(&self, channel: usize) -> Duration {
        self.answer_takes(channel).saturating_add(self.options.markers.interval)
    }

    /// A probe: a marker of its own.
    pub(super) fn poll_probe(&mut self, now: Instant) -> Option<(usize, Kind)> {
        let (channel, bytes) = self.sizes.take_due()?;
        let mut kind = self.marker(channel, now);
        let sent_at = just_after(now);
        if let Kind::Marker(marker) = &mut kind {
            marker.sent_at = sent_at;
        }
        let until = now.after(self.probe_takes(channel));
        let one = &mut self.sizes.channels[channel];
        (one.sent_at, one.until, one.is_passed) = (Some(sent_at), until, false);
        self.sizes.padded = Some((channel, bytes));
        self.sizes.next_at = self.sizes.next_at.map(|at| at.min(until));
        Some((channel, kind))
    }
}

#[cfg(test)]
crate::corruption::corrupt!(Sizes: channels, due, waiting_bytes; next_at);

// What somebody else says of sizes: the network, and our own sockets.
//
// | who | says | is it true | then |
// |---|---|---|---|
// | the network (ICMP) | nothing longer than that passes | perhaps: anybody can say it | that size is probed |
// | our socket (`EMSGSIZE`) | this one is too long | yes | it is lost, without three probes |

impl<S: Numbered> Sender<S> {
    /// The network says that frames longer than so many bytes do not pass a channel. It is heeded
    /// where that is below the channel's size or what is probed, and then probed (RFC 8899, section
    /// 4.6).
    pub fn handle_too_big(
        &mut self,
        now: Instant,
        channel: usize,
        frame_bytes: u32,
    ) -> Result<(), SizeError> {
        let one = self.sizes.channels.get_mut(channel).ok_or(SizeError::NoSuchChannel)?;
        let plan = self.sizes.plan.ok_or(SizeError::Told)?;
        let too_long_bytes = frame_bytes.saturating_add(1);
        if frame_bytes >= one.frame_bytes.max(one.probe_bytes) {
            return Err(SizeError::NotBelow { frame_bytes: one.frame_bytes });
        }
        self.sizes.next_at = Some(now);
        if frame_bytes >= one.frame_bytes {
            (one.sent_at, one.lost, one.too_long_bytes) = (None, 0, too_long_bytes);
            one.go_on(now, &plan);
            if frame_bytes > one.frame_bytes {
                (one.state, one.probe_bytes) = (SizeState::Searching, frame_bytes);
            }
            return Ok(());
        }
        if !self.shrink_out(now, channel) {
            self.sizes.channels[channel].confirm(frame_bytes.max(plan.base), too_long_bytes);
        }
        Ok(())
    }

    /// In strict order a channel that passes less than it did goes out, unless it is the last.
    fn shrink_out(&mut self, now: Instant, channel: usize) -> bool {
        let frame_bytes = self.sizes.channels[channel].frame_bytes;
        let is_out = self.options.order == Order::Strict && self.lose(channel, now);
        if is_out {
            self.sizes.lose(channel, frame_bytes);
        }
        is_out
    }

    /// A socket refuses a frame of so many bytes (`EMSGSIZE`): it is longer than the interface takes.
    /// That is known for sure: the search goes on below, from the base where such frames have
    /// passed.
    pub fn handle_refused(
        &mut self,
        now: Instant,
        channel: usize,
        frame_bytes: u32,
    ) -> Result<(), SizeError> {
        let one = self.sizes.channels.get_mut(channel).ok_or(SizeError::NoSuchChannel)?;
        let plan = self.sizes.plan.ok_or(SizeError::Told)?;
        self.sizes.next_at = Some(now);
        if frame_bytes > one.frame_bytes {
            one.refuse(now, frame_bytes, &plan);
            return Ok(());
        }
        // Where not even the base passes, the search says that the channel is out.
        if frame_bytes <= plan.base || !self.shrink_out(now, channel) {
            self.sizes.channels[channel].refuse(now, frame_bytes, &plan);
        }
        Ok(())
    }
}

// Channels that pass frames however long they are, since what is below cuts them and puts them
// together, as TCP does: nothing is to be found out.

impl Sizes {
    /// What is known of a channel at first.
    fn initial_on(&self, channel: usize) -> Search {
        let initial = self.initial();
        match &self.plan {
            Some(plan) if self.whole & 1 << channel != 0 => Search {
                state: SizeState::SearchComplete,
                frame_bytes: plan.max,
                probe_bytes: 0,
                is_unknown: false,
                ..initial
            },
            _ => initial,
        }
    }
}

impl<S: Numbered> Sender<S> {
    /// A channel passes frames however long they are, or may not: then sizes are found as on others.
    pub fn set_passes_all(&mut self, channel: usize, passes_all: bool) {
        let bit = 1 << channel;
        let before = self.sizes.whole;
        self.sizes.whole = if passes_all { before | bit } else { before & !bit };
        if before != self.sizes.whole {
            self.sizes.begin(channel);
        }
    }
}

// The size of the whole, for who fills the pipe.
//
// ```text
//   channel 0   1,472                         the bundle: 1,252, the smallest that is known
//   channel 1   1,252
//   channel 2   1,200 at least: just there    is left out until it is known
// ```
//
// A size that follows each channel that comes would fall to the base and rise again, and what is
// told of it, as the MTU of an interface, lasts. So a channel counts once it is known what it
// passes, and as long as nothing is known of any, packets wait for what is found, and are not
// refused.

impl<S: Numbered> Sender<S> {
    /// The longest packet, in bytes, that all channels take that are in and of which that is known:
    /// what whoever fills the pipe had better send. What the scheduler takes as long as it is known
    /// of none.
    pub fn bundle_bytes(&self) -> u32 {
        let is_known =
            |channel: &usize| self.carries(*channel) && !self.sizes.channels[*channel].is_unknown;
        let known = (0..self.scheduler.channels()).filter(is_known);
        let longest = known.map(|channel| self.sizes.longest_bytes(channel));
        longest.fold(self.scheduler.longest_bytes(), u32::min)
    }

    /// Whether a channel that is in, and of which it is not known what it passes, may turn out to
    /// pass packets of so many bytes: one that fits nowhere is worth to wait.
    pub fn may_fit(&self, length_bytes: u32) -> bool {
        let frame_bytes = length_bytes.saturating_add(self.sizes.header_bytes);
        let may_take = |channel: usize| {
            let one = &self.sizes.channels[channel];
            one.is_unknown && frame_bytes < one.too_long_bytes && self.carries(channel)
        };
        (0..self.scheduler.channels()).any(may_take)
    }
}

#[cfg(test)]
mod refused_tests {
    use gingham_fairq::SurplusRoundRobin;

    use super::*;
    use crate::{ControlPlan, Epoch, Kind, Report, SenderOptions, SizePlan};

    type Ends = Sender<SurplusRoundRobin<2>>;

    fn sender() -> Ends {
        let scheduler = SurplusRoundRobin::new(1_500, &[1_500; 2]).expect("quanta");
        let options = SenderOptions {
            order: Order::Free,
            control: Some(ControlPlan::default()),
            sizes: Some(SizePlan { max: 1_512, ..SizePlan::default() }),
            ..SenderOptions::default()
        };
        Sender::synchronised(scheduler, options, Epoch::new(1), Instant::ORIGIN).expect("options")
    }

    /// Lets an interface take frames of so many bytes from now on, and answers all that goes, a
    /// millisecond later: the lengths of the probes of the first channel.
    fn run(sender: &mut Ends, from_ms: u64, takes: u32) -> Vec<u32> {
        let mut probes = Vec::new();
        for milliseconds in from_ms..from_ms + 40 {
            let now = Instant::from_nanoseconds(milliseconds * 1_000_000);
            let mut answers = Vec::new();
            while let Some((channel, message)) = sender.poll_message(now) {
                let bytes = u32::try_from(sender.padded_bytes(channel)).expect("short");
                if bytes > 0 && channel == 0 {
                    probes.push(bytes);
                }
                if bytes > takes && channel == 0 {
                    sender.handle_refused(now, channel, bytes).expect("sizes are found");
                } else if let Kind::Marker(marker) = message.kind {
                    answers.push((channel, message, marker));
                }
            }
            for (channel, message, marker) in answers {
                let report = Report { echo: marker.sent_at, ..Report::default() };
                let message = crate::Message { kind: Kind::Report(report), ..message };
                sender.handle_message(now, channel, message).expect("a report");
            }
        }
        probes
    }

    /// What a socket refuses need not be refused three times; and what is as long as what went until
    /// now, and is refused, is no chance.
    #[test]
    fn what_a_socket_refuses_is_too_long_at_once() {
        let mut sender = sender();
        let probes = run(&mut sender, 0, 1_420);
        assert_eq!(probes, [1_200, 1_512, 1_500, 1_492, 1_420, 1_456, 1_438, 1_429, 1_424]);
        assert_eq!(sender.size(0).state, SizeState::SearchComplete);
        let now = Instant::from_nanoseconds(50_000_000);
        sender.handle_refused(now, 0, 1_420).expect("sizes are found");
        assert_eq!((sender.size(0).frame_bytes, sender.size(0).state), (1_200, SizeState::Base));
        let probes = run(&mut sender, 50, 1_280);
        assert_eq!(probes[..3], [1_200, 1_400, 1_280]);
        assert_eq!(sender.size(0).frame_bytes, 1_280);
    }

    /// A base that is refused is not tried again before its time: a refusal costs no time.
    #[test]
    fn a_base_that_is_refused_takes_the_channel_out() {
        let mut sender = sender();
        let probes = run(&mut sender, 0, 1_000);
        assert!(sender.is_dead(0) && probes.len() < 5, "{probes:?}");
        assert_eq!(sender.size(0).state, SizeState::Error);
        assert!(!sender.is_dead(1));
    }
}

#[cfg(test)]
mod whole_tests {
    use gingham_fairq::SurplusRoundRobin;

    use super::*;
    use crate::{ControlPlan, Epoch, Instant, Order, SenderOptions, SizePlan};

    #[test]
    fn what_passes_all_is_neither_probed_nor_short() {
        let now = Instant::from_nanoseconds(50_000_000);
        let scheduler = SurplusRoundRobin::<2>::new(9_000, &[9_000, 9_000]).expect("quanta");
        let options = SenderOptions {
            order: Order::Free,
            control: Some(ControlPlan::default()),
            sizes: Some(SizePlan { max: 9_000, ..SizePlan::default() }),
            ..SenderOptions::default()
        };
        let mut sender =
            Sender::synchronised(scheduler, options, Epoch::new(1), now).expect("options");
        sender.set_passes_all(1, true);
        let mut padded = 0;
        while let Some((channel, _)) = sender.poll_message(now) {
            assert!(channel == 0 || sender.padded_bytes(channel) == 0);
            padded += usize::from(sender.padded_bytes(channel) > 0);
        }
        assert_eq!(padded, 1);
        assert_eq!(sender.size(1).state, SizeState::SearchComplete);
        assert_eq!(sender.handle_packet(now, 8_900), Ok(1));
        // Also where it comes back, and after a reset.
        assert!(sender.lose_channel(now, 1));
        sender.revive(now, 1);
        sender.reset(now);
        assert_eq!(sender.size(1).state, SizeState::SearchComplete);
        sender.set_passes_all(1, false);
        assert_eq!(sender.size(1).state, SizeState::Base);
    }
}

#[cfg(test)]
mod bundle_tests {
    use gingham_fairq::SurplusRoundRobin;

    use crate::{ControlPlan, Epoch, Instant, Order, Sender, SenderOptions, SizePlan};

    /// As long as nothing is known, all that the scheduler takes may fit; what is refused does not.
    #[test]
    fn a_channel_counts_once_it_is_known() {
        let scheduler = SurplusRoundRobin::<2>::new(1_500, &[1_500; 2]).expect("quanta");
        let options = SenderOptions {
            order: Order::Free,
            control: Some(ControlPlan::default()),
            sizes: Some(SizePlan { max: 1_512, ..SizePlan::default() }),
            ..SenderOptions::default()
        };
        let now = Instant::ORIGIN;
        let mut sender =
            Sender::synchronised(scheduler, options, Epoch::new(1), now).expect("options");
        assert_eq!((sender.bundle_bytes(), sender.longest_bytes()), (1_500, 1_188));
        assert!(sender.may_fit(1_500) && !sender.may_fit(1_501));
        assert!(!sender.fits_somewhere(1_500));
        sender.handle_refused(now, 0, 1_200).expect("sizes are found");
        assert_eq!(sender.bundle_bytes(), 1_188);
        assert!(sender.may_fit(1_500), "the other channel may take it");
        sender.handle_refused(now, 1, 1_512).expect("sizes are found");
        assert!(!sender.may_fit(1_500));
    }
}
