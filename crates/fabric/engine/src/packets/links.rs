//! Sending ends of channels: busy times, and the packets being sent.

use gingham_kernel::{ByteTime, FIFOS, Span};
use gingham_net::{ChannelPlan, PacketsPlan, Plan};
use gingham_topology::{ChannelId, NodeId};
use std::cmp::Reverse;
use std::collections::BTreeMap;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub(crate) bytes: ByteTime,
    pub(crate) delay_ps: u64,
    pub(crate) target: NodeId,
    pub(crate) is_into_switch: bool,
    /// FIFO of the clock for packets that this channel makes ready.
    pub(crate) ready_fifo: u8,
}

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Sender {
    pub(crate) line: Line,
    busy_until_ps: u64,
    started_bytes: u64,
    /// Time when the switch at the end of the channel last read a packet head, in ps.
    head_ps: u64,
    wire_bytes: u32,
    /// Incoming channel of the last packet if a switch forwarded it, otherwise `NONE`.
    from: u32,
    waiting: u32,
    is_awaited: bool,
}

/// Time that a channel spent idle while a packet was ready but lacked credits.
#[derive(Clone, Copy, Debug)]
struct CreditWait {
    since_ps: u64,
    past_ps: u64,
}

const NOT_WAITING: u64 = u64::MAX;

const _: () =
    assert!(size_of::<Sender>() == 64, "the state read at the start of a packet fits a cache line");

// FIFOs of the clock. Packets become ready a constant time after their start, for each cable delay.
const READY_FIFOS: usize = FIFOS - 2;
/// FIFO for whole packets that arrive at hosts.
pub(crate) const DELIVER_FIFO: u8 = 2;
/// FIFO for channels that become idle.
pub(crate) const LEFT_FIFO: u8 = 3;

/// Assigns a FIFO to each delay: the most frequent delays have their own, the others share one.
fn ready_fifos(plan: &Plan) -> BTreeMap<Span, u8> {
    let mut counts: BTreeMap<Span, usize> = BTreeMap::new();
    for channel in &plan.channels {
        *counts.entry(channel.delay).or_default() += 1;
    }
    let mut delays: Vec<Span> = counts.keys().copied().collect();
    delays.sort_by_key(|delay| Reverse(counts[delay]));
    let fifo = |place: usize| u8::try_from(place.min(READY_FIFOS - 1)).expect("FIFOs are few");
    delays.into_iter().enumerate().map(|(place, delay)| (delay, fifo(place))).collect()
}

#[derive(Clone, Debug)]
pub(crate) struct Links {
    senders: Vec<Sender>,
    credit_waits: Vec<CreditWait>,
    is_of_one_rate: bool,
}

impl Links {
    pub(crate) fn new(plan: &Plan) -> Self {
        let ready_fifos = ready_fifos(plan);
        let sender = |channel: ChannelId| {
            let ChannelPlan { bytes, delay, .. } = *plan.channel(channel);
            let target = plan.ends(channel).target.node;
            let is_into_switch = plan.is_switch(target);
            Sender {
                line: Line {
                    bytes,
                    delay_ps: delay.as_ps(),
                    target,
                    is_into_switch,
                    ready_fifo: ready_fifos[&delay],
                },
                busy_until_ps: 0,
                started_bytes: 0,
                head_ps: 0,
                wire_bytes: 0,
                from: NONE,
                waiting: 0,
                is_awaited: false,
            }
        };
        let senders: Vec<_> = ChannelId::first(plan.channels.len()).map(sender).collect();
        let is_of_one_rate =
            senders.windows(2).all(|pair| pair[0].line.bytes == pair[1].line.bytes);
        let credit_wait = CreditWait { since_ps: NOT_WAITING, past_ps: 0 };
        Self { credit_waits: vec![credit_wait; senders.len()], senders, is_of_one_rate }
    }

    #[inline]
    pub(crate) fn set_credit_wait(&mut self, channel: ChannelId, waits: bool, now: u64) {
        let wait = &mut self.credit_waits[channel.index()];
        let waited = wait.since_ps != NOT_WAITING;
        if waits && !waited {
            wait.since_ps = now;
        } else if waited && !waits {
            wait.past_ps += now - wait.since_ps;
            wait.since_ps = NOT_WAITING;
        }
    }

    pub(crate) fn credit_wait_ps(&self, channel: ChannelId, end_ps: u64) -> u64 {
        let CreditWait { since_ps, past_ps } = self.credit_waits[channel.index()];
        past_ps + end_ps.saturating_sub(since_ps)
    }

    #[inline]
    pub(crate) fn line(&self, channel: ChannelId) -> &Line {
        &self.senders[channel.index()].line
    }

    #[inline]
    pub(crate) fn are_of_one_rate(&self, one: ChannelId, other: ChannelId) -> bool {
        self.is_of_one_rate || self.line(one).bytes == self.line(other).bytes
    }

    /// Returns the earliest start time on `to`, in ps, that never leaves the sender waiting for
    /// bytes. The last byte arrives on `from` at `last_ps`. If `to` is faster than `from`, the
    /// packet may have to start later than its head arrives.
    #[inline]
    pub(crate) fn never_dry_ps(
        &self,
        (from, to): (ChannelId, ChannelId),
        wire_bytes: u32,
        last_ps: u64,
    ) -> u64 {
        if self.are_of_one_rate(from, to) {
            return 0;
        }
        let onward = self.line(to).bytes.of(u64::from(wire_bytes) - 1);
        last_ps.saturating_sub(onward.as_ps())
    }

    #[inline]
    pub(crate) fn is_into_switch(&self, channel: ChannelId) -> bool {
        self.line(channel).is_into_switch
    }

    #[inline]
    pub(crate) fn busy_until_ps(&self, channel: ChannelId) -> u64 {
        self.senders[channel.index()].busy_until_ps
    }

    #[inline]
    pub(crate) fn is_any_waiting(&self, channel: ChannelId) -> bool {
        self.senders[channel.index()].waiting > 0
    }

    #[inline]
    pub(crate) fn is_free(&self, channel: ChannelId, now: u64) -> bool {
        let sender = &self.senders[channel.index()];
        sender.busy_until_ps <= now && sender.waiting == 0
    }

    #[inline]
    pub(crate) fn wait(&mut self, channel: ChannelId) {
        self.senders[channel.index()].waiting += 1;
    }

    #[inline]
    pub(crate) fn wait_no_more(&mut self, channel: ChannelId) {
        self.senders[channel.index()].waiting -= 1;
    }

    /// Requests an event for the end of the current packet. Returns whether the caller must
    /// schedule the event.
    #[inline]
    pub(crate) fn await_end(&mut self, channel: ChannelId) -> bool {
        !std::mem::replace(&mut self.senders[channel.index()].is_awaited, true)
    }

    #[inline]
    pub(crate) fn end(&mut self, channel: ChannelId) {
        self.senders[channel.index()].is_awaited = false;
    }

    #[inline]
    pub(crate) fn sender_mut(&mut self, channel: ChannelId) -> &mut Sender {
        &mut self.senders[channel.index()]
    }

    /// Returns the size (in bytes on the wire) and transmission time of the current or last packet.
    pub(crate) fn last(&self, channel: ChannelId) -> (u64, Span) {
        let wire_bytes = self.senders[channel.index()].wire_bytes.into();
        (wire_bytes, self.line(channel).bytes.of(wire_bytes))
    }

    pub(crate) fn came_by(&self, channel: ChannelId) -> Option<ChannelId> {
        let from = self.senders[channel.index()].from;
        (from != NONE).then(|| ChannelId::new(from as usize))
    }

    /// Returns the number of bytes sent before `end_ps`, a time at or after the start of the last
    /// packet.
    pub(crate) fn bytes_before(&self, channel: ChannelId, end_ps: u64) -> u64 {
        let started = self.senders[channel.index()].started_bytes;
        let busy_until_ps = self.busy_until_ps(channel);
        if busy_until_ps < end_ps {
            return started;
        }
        let (wire_bytes, span) = self.last(channel);
        let begun = Span::from_ps(end_ps.saturating_sub(busy_until_ps - span.as_ps()));
        started - wire_bytes + self.line(channel).bytes.started(begun).min(wire_bytes)
    }
}

impl Sender {
    /// Starts a packet. `from` is its incoming channel if a switch forwards it.
    #[inline]
    pub(crate) fn begin(&mut self, wire_bytes: u32, busy_until_ps: u64, from: Option<ChannelId>) {
        debug_assert!(!self.is_awaited, "a channel carries one packet at a time");
        self.busy_until_ps = busy_until_ps;
        self.wire_bytes = wire_bytes;
        self.started_bytes += u64::from(wire_bytes);
        self.from =
            from.map_or(NONE, |from| u32::try_from(from.index()).expect("ids have 32 bits"));
    }

    /// Returns the time when the switch at the end of the channel reads the head of a packet whose
    /// first byte arrives at `arrival_ps`.
    #[inline]
    pub(crate) fn read_head(&mut self, arrival_ps: u64, of: &PacketsPlan) -> u64 {
        let forwarded = arrival_ps + of.forwarding_delay.as_ps();
        let is_first = self.head_ps == 0;
        let spaced = if is_first { 0 } else { self.head_ps + of.head_interval.as_ps() };
        self.head_ps = forwarded.max(spaced);
        self.head_ps
    }
}
