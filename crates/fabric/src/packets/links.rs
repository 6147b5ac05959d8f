//! Where channels begin: until when each is busy, and with what.

use gingham_kernel::Span;
use gingham_model::Plan;
use gingham_topology::ChannelId;

/// No channel.
const NONE: u32 = u32::MAX;

/// The start of a channel.
#[derive(Clone, Copy, Debug)]
struct Sender {
    /// The tail of the last packet leaves then.
    busy_until_ps: u64,
    /// The bytes of that packet.
    wire_bytes: u32,
    /// The channel by which it came, where a switch sends.
    from: u32,
    is_into_switch: bool,
    /// Whether the end of the last packet is an event.
    is_awaited: bool,
}

/// The starts of all channels.
#[derive(Clone, Debug)]
pub(crate) struct Links {
    senders: Vec<Sender>,
    /// By channel: bytes of packets that have begun.
    started_bytes: Vec<u64>,
}

impl Links {
    pub(crate) fn new(plan: &Plan) -> Self {
        let sender = |channel: ChannelId| Sender {
            busy_until_ps: 0,
            wire_bytes: 0,
            from: NONE,
            is_into_switch: plan.is_switch(plan.ends(channel).target.node),
            is_awaited: false,
        };
        let senders: Vec<_> = ChannelId::first(plan.channels.len()).map(sender).collect();
        Self { started_bytes: vec![0; senders.len()], senders }
    }

    /// Whether a channel leads into a switch, so that there is a buffer at its end.
    #[inline]
    pub(crate) fn is_into_switch(&self, channel: ChannelId) -> bool {
        self.senders[channel.index()].is_into_switch
    }

    /// When the channel is idle again, or was.
    #[inline]
    pub(crate) fn busy_until_ps(&self, channel: ChannelId) -> u64 {
        self.senders[channel.index()].busy_until_ps
    }

    /// Somebody waits for the end of the packet on a channel: whether that is to become an event.
    #[inline]
    pub(crate) fn await_end(&mut self, channel: ChannelId) -> bool {
        !std::mem::replace(&mut self.senders[channel.index()].is_awaited, true)
    }

    /// The end of the packet on a channel, which was awaited, is here.
    #[inline]
    pub(crate) fn end(&mut self, channel: ChannelId) {
        self.senders[channel.index()].is_awaited = false;
    }

    /// A packet of so many bytes begins on a channel and keeps it busy until an instant; `from` is
    /// the channel by which it came, if a switch sends it.
    #[inline]
    pub(crate) fn begin(
        &mut self,
        channel: ChannelId,
        wire_bytes: u32,
        busy_until_ps: u64,
        from: Option<ChannelId>,
    ) {
        let sender = &mut self.senders[channel.index()];
        debug_assert!(!sender.is_awaited, "a channel carries one packet at a time");
        sender.busy_until_ps = busy_until_ps;
        sender.wire_bytes = wire_bytes;
        sender.from =
            from.map_or(NONE, |from| u32::try_from(from.index()).expect("ids have 32 bits"));
        self.started_bytes[channel.index()] += u64::from(wire_bytes);
    }

    /// The packet that is or was last on a channel: its bytes, and how long it takes.
    pub(crate) fn last(&self, plan: &Plan, channel: ChannelId) -> (u64, Span) {
        let wire_bytes = self.senders[channel.index()].wire_bytes.into();
        (wire_bytes, plan.channel(channel).bytes.of(wire_bytes))
    }

    /// The channel by which the packet came that is or was last on a channel.
    pub(crate) fn came_by(&self, channel: ChannelId) -> Option<ChannelId> {
        let from = self.senders[channel.index()].from;
        (from != NONE).then(|| ChannelId::new(from as usize))
    }

    /// Bytes that have started on a channel before an instant, which is not long past.
    pub(crate) fn bytes_before(&self, plan: &Plan, channel: ChannelId, end_ps: u64) -> u64 {
        let started = self.started_bytes[channel.index()];
        let busy_until_ps = self.busy_until_ps(channel);
        if busy_until_ps < end_ps {
            return started;
        }
        let (wire_bytes, span) = self.last(plan, channel);
        let begun = Span::from_ps(end_ps.saturating_sub(busy_until_ps - span.as_ps()));
        started - wire_bytes + plan.channel(channel).bytes.started(begun).min(wire_bytes)
    }
}
