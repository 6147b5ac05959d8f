//! The sending half of a host's adapter: a queue a level of priority, and messages cut into
//! packets.
//!
//! ```text
//!   offered ─┬─► level 1   [ m4 ][ m7 ]              a turn:  the highest level that has something
//!            └─► level 0   [ m2: 2 of 5 sent ][ m3 ]          the next segment of its first message
//! ```
//!
//! Whoever sends asks for a turn each time the link is free. A level is first in, first out, and
//! the segments of a message follow each other within it; between two of them a higher level may
//! go, since a packet that has begun is never interrupted (Kwan et al. 1996, section 2:
//! "non-preemptive priority").
//!
//! A class that is policed has a bucket here ([`TokenBucket`]). Where excess is dropped or demoted
//! a message is judged when it is created; where it is delayed every packet when its turn has come,
//! and what waits for tokens holds up what is behind it in its level, but no other level.
//!
//! Over virtual lanes packets that may leave on the same set of lanes have a group of queues to
//! themselves, with levels of its own; whoever sends asks each group by its number. In a wormhole
//! network there is but group 0.
//!
//! Invariant: every payload byte of a message that was offered leaves in exactly one packet, in
//! order.

mod policers;
mod waiting;

use crate::{
    ClassId, Conformance, Contention, Excess, Message, Packet, PathChooser, Plan, Priority,
    Reassembly,
};
use gingham_kernel::{Span, Time};
use gingham_topology::EndpointId;
use gingham_topology::routing::{LaneSet, VcClass};
use policers::{Policer, delaying, policer_of};
use std::collections::VecDeque;
use waiting::Waiting;

/// What an adapter does when its link is free.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// It sends this packet, now.
    Send(Packet),
    /// Nothing before this instant, at which it is to be asked again: what waits, waits for tokens.
    At(Time),
    /// It has nothing to send.
    Nothing,
}

/// What an adapter would send next of a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// A packet with so much payload, of a message created then.
    Packet {
        /// Its payload.
        payload_bytes: u32,
        /// When its message was created.
        created: Time,
    },
    /// Nothing before this instant.
    At(Time),
    /// Nothing.
    Nothing,
}

/// Messages that wait at one endpoint.
#[derive(Clone, Debug)]
pub struct Adapter {
    /// In ascending order of their lanes.
    groups: Box<[Group]>,
    /// By VC class: its group.
    group_of: Box<[u8]>,
    /// By class, the bucket of one that is policed; empty where none is.
    policers: Box<[Option<Policer>]>,
    /// Which path a packet takes.
    paths: PathChooser,
}

/// Queues of packets that may leave on the same lanes.
#[derive(Clone, Debug)]
struct Group {
    lanes: LaneSet,
    /// By level of priority.
    levels: Box<[VecDeque<Waiting>]>,
    /// The levels in which something waits, as bits.
    occupied: u8,
}

impl Group {
    fn new(lanes: LaneSet, highest: Priority) -> Self {
        let levels = (0..=highest.level()).map(|_| VecDeque::new()).collect();
        Self { lanes, levels, occupied: 0 }
    }
}

impl Adapter {
    /// An adapter with nothing to send and one group of queues, for priorities up to `highest`.
    pub fn new(highest: Priority) -> Self {
        Self::with_lanes(highest, &[LaneSet::one(0)])
    }

    /// An adapter with nothing to send, for packets that may leave on these lanes, by their VC
    /// class. Packets of a VC class without lanes are never offered.
    fn with_lanes(highest: Priority, lanes: &[LaneSet]) -> Self {
        let mut sets = lanes.to_vec();
        sets.sort_unstable();
        sets.dedup();
        let group_of = |of: &LaneSet| {
            let place = sets.partition_point(|set| set < of);
            u8::try_from(place).expect("a group a VC class at the most")
        };
        let group_of = lanes.iter().map(group_of).collect();
        let groups = sets.into_iter().map(|set| Group::new(set, highest)).collect();
        Self { groups, group_of, policers: Box::default(), paths: PathChooser::default() }
    }

    fn of_endpoint(plan: &Plan, endpoint: EndpointId) -> Self {
        let highest = plan.highest_priority();
        let paths = PathChooser::new(plan, endpoint);
        Self { paths, ..Self::with_lanes(highest, &plan.lanes.first_lanes(endpoint)) }
    }

    /// The adapters of a plan, by endpoint, with nothing to send and full buckets.
    pub fn all(plan: &Plan) -> Vec<Self> {
        let adapter = |endpoint| Self::of_endpoint(plan, endpoint);
        let mut adapters: Vec<Self> = plan.fabric.endpoint_ids().map(adapter).collect();
        for (class, class_plan) in plan.classes.iter().enumerate() {
            let Some(policing) = &class_plan.policing else { continue };
            for (index, source) in class_plan.sources.iter().enumerate() {
                let policers = &mut adapters[source.endpoint.index()].policers;
                if policers.is_empty() {
                    *policers = vec![None; plan.classes.len()].into();
                }
                let bucket = policing.bucket(index);
                policers[class] = Some(Policer { bucket, excess: policing.excess });
            }
        }
        adapters
    }

    /// Takes in a message that was just created, unless policing drops it.
    pub fn admit(&mut self, plan: &Plan, message: Message) -> Conformance {
        let (class, conformance) = self.judge(&message);
        if conformance != Conformance::Dropped {
            let vc_class = plan.vc_class(class, message.source, message.destination);
            let class = &plan.classes[class.index()];
            let switches = || plan.switches(message.source, message.destination);
            let longest_bytes = class.longest_packet_bytes(switches);
            self.put(message, conformance, class.priority, vc_class, longest_bytes);
        }
        conformance
    }

    /// Of which class a message is sent, and what that makes of it.
    fn judge(&mut self, message: &Message) -> (ClassId, Conformance) {
        let class = message.class;
        let Some(policer) = policer_of(&mut self.policers, class) else {
            return (class, Conformance::Conforming);
        };
        let holds = policer.bucket.holds(message.created, message.payload_bytes);
        match policer.excess {
            Excess::Delay => (class, Conformance::Conforming),
            Excess::Demote(other) if !holds => (other, Conformance::Demoted),
            Excess::Drop if !holds => (class, Conformance::Dropped),
            Excess::Drop | Excess::Demote(_) => {
                policer.bucket.take(message.created, message.payload_bytes);
                (class, Conformance::Conforming)
            }
        }
    }

    /// Puts a message behind those of its priority that wait, to be sent in packets of at most
    /// `longest_bytes` of payload.
    pub fn offer(&mut self, message: Message, priority: Priority, longest_bytes: u32) {
        let vc_class = VcClass::default();
        self.put(message, Conformance::Conforming, priority, vc_class, longest_bytes);
    }

    fn put(
        &mut self,
        message: Message,
        conformance: Conformance,
        priority: Priority,
        vc_class: VcClass,
        longest_bytes: u32,
    ) {
        debug_assert!(longest_bytes > 0, "a packet carries payload");
        let (left_bytes, assembly) = (message.payload_bytes, None);
        let waiting = Waiting {
            message,
            priority,
            vc_class,
            longest_bytes,
            left_bytes,
            conformance,
            assembly,
        };
        let group = &mut self.groups[usize::from(self.group_of[usize::from(vc_class.0)])];
        group.levels[priority.level()].push_back(waiting);
        group.occupied |= 1 << priority.level();
    }

    /// Whether it may hold something back although the link is free.
    pub fn may_hold_back(&self) -> bool {
        !self.policers.is_empty()
    }

    /// The lanes of each group of queues, in ascending order.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = LaneSet> {
        self.groups.iter().map(|group| group.lanes)
    }

    /// The group in which packets of a VC class wait.
    pub fn group_of(&self, vc_class: VcClass) -> usize {
        self.group_of[usize::from(vc_class.0)].into()
    }

    /// Whether anything waits in a group, allowed or not.
    pub fn is_waiting(&self, group: usize) -> bool {
        self.groups[group].occupied != 0
    }

    /// What it would send of a group `now`: what [`Self::take`] gives. A message that could go but
    /// for policing is delayed by that from now on.
    pub fn next(&mut self, group: usize, now: Time) -> Next {
        match self.allowed_level(group, now) {
            Ok(level) => {
                let waiting = self.groups[group].levels[level].front();
                let waiting = waiting.expect("something waits in this level");
                let (payload_bytes, created) = (waiting.next_bytes(), waiting.message.created);
                Next::Packet { payload_bytes, created }
            }
            Err(Some(time)) => Next::At(time),
            Err(None) => Next::Nothing,
        }
    }

    /// What it does with a link that is free `now`, of one group. The first packet of a message
    /// opens its assembly.
    pub fn take(&mut self, group: usize, now: Time, reassembly: &mut Reassembly) -> Turn {
        let level = match self.allowed_level(group, now) {
            Ok(level) => level,
            Err(Some(time)) => return Turn::At(time),
            Err(None) => return Turn::Nothing,
        };
        let packet = self.send(group, level, now, reassembly);
        if let Some(bucket) = delaying(&mut self.policers, packet.class) {
            bucket.take(now, packet.payload_bytes);
        }
        Turn::Send(packet)
    }

    /// The highest level of a group of which a packet may be sent; else the first instant at which
    /// one may, if any waits.
    fn allowed_level(&mut self, group: usize, now: Time) -> Result<usize, Option<Time>> {
        let mut untried = self.groups[group].occupied;
        let mut soonest: Option<Time> = None;
        while let Some(level) = untried.checked_ilog2() {
            let level = level as usize;
            let allowed =
                if self.may_hold_back() { self.allowed_at(group, level, now) } else { now };
            if allowed <= now {
                return Ok(level);
            }
            soonest = Some(soonest.map_or(allowed, |other| other.min(allowed)));
            untried ^= 1 << level;
        }
        Err(soonest)
    }

    /// When the first packet of a level may be sent, and if that is later than `now`, that its
    /// message is delayed.
    fn allowed_at(&mut self, group: usize, level: usize, now: Time) -> Time {
        let waiting = self.groups[group].levels[level].front_mut();
        let waiting = waiting.expect("something waits in this level");
        let Some(bucket) = delaying(&mut self.policers, waiting.message.class) else { return now };
        let allowed = bucket.holds_at(now, waiting.next_bytes());
        if allowed > now {
            waiting.conformance = Conformance::Delayed;
        }
        allowed
    }

    fn send(
        &mut self,
        group: usize,
        level: usize,
        now: Time,
        reassembly: &mut Reassembly,
    ) -> Packet {
        let group = &mut self.groups[group];
        let queue = &mut group.levels[level];
        let waiting = queue.front_mut().expect("something waits in this level");
        let path_set = self.paths.choose(waiting.message.payload_bytes);
        let packet = waiting.next_packet(now, path_set, reassembly);
        if waiting.left_bytes == 0 {
            queue.pop_front();
            if queue.is_empty() {
                group.occupied ^= 1 << level;
            }
        }
        packet
    }

    /// The tail of a packet of its own of `flits` flits, whose first started at `started`, has left
    /// at `left` by a link of that flit time: what it makes of the network, if it looks at it.
    pub fn on_left(
        &mut self,
        started: Time,
        left: Time,
        flits: u64,
        flit: Span,
    ) -> Option<Contention> {
        self.paths.on_left(started, left, flits, flit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TokenBucket;
    use crate::{ClassId, MessageId, REFILL_BYTES};
    use gingham_kernel::Span;
    use gingham_topology::EndpointId;
    use proptest::prelude::*;

    fn message(id: usize, payload_bytes: u32) -> Message {
        Message {
            id: MessageId::new(id),
            class: ClassId::new(0),
            source: EndpointId::new(0),
            destination: EndpointId::new(1),
            payload_bytes,
            created: Time::ZERO,
            flow: None,
        }
    }

    fn level(level: u8) -> Priority {
        Priority::new(level).unwrap()
    }

    /// Takes turns until nothing is left: (message, payload, whether it is the first packet).
    fn drain(adapter: &mut Adapter, reassembly: &mut Reassembly) -> Vec<(usize, u32, bool)> {
        let mut sent = Vec::new();
        while let Turn::Send(packet) = adapter.take(0, Time::ZERO, reassembly) {
            let message = reassembly.message(packet.assembly).id.index();
            sent.push((message, packet.payload_bytes, packet.is_first));
        }
        sent
    }

    #[test]
    fn a_message_is_cut_into_full_segments_and_a_rest() {
        let (mut adapter, mut reassembly) = (Adapter::new(level(0)), Reassembly::default());
        adapter.offer(message(0, 250), level(0), 100);
        adapter.offer(message(1, 200), level(0), 100);
        adapter.offer(message(2, 7), level(0), u32::MAX);
        let sent = drain(&mut adapter, &mut reassembly);
        let of_first = [(0, 100, true), (0, 100, false), (0, 50, false)];
        assert_eq!(sent[..3], of_first);
        assert_eq!(sent[3..], [(1, 100, true), (1, 100, false), (2, 7, true)]);
    }

    #[test]
    fn a_higher_level_goes_between_segments_and_a_level_keeps_its_order() {
        let (mut adapter, mut reassembly) = (Adapter::new(level(7)), Reassembly::default());
        adapter.offer(message(0, 30), level(0), 10);
        let first = adapter.take(0, Time::ZERO, &mut reassembly);
        assert!(matches!(first, Turn::Send(packet) if packet.payload_bytes == 10));
        for (id, priority) in [(1, 3), (2, 7), (3, 3), (4, 0)] {
            adapter.offer(message(id, 5), level(priority), u32::MAX);
        }
        let order: Vec<_> =
            drain(&mut adapter, &mut reassembly).iter().map(|sent| (sent.0, sent.1)).collect();
        assert_eq!(order, [(2, 5), (1, 5), (3, 5), (0, 10), (0, 10), (4, 5)]);
    }

    #[test]
    fn packets_wait_by_the_lanes_on_which_they_may_leave() {
        let lanes = [0b0011, 0b1000, 0b0011].map(LaneSet::from_bits);
        let mut adapter = Adapter::with_lanes(level(1), &lanes);
        assert!(adapter.groups().eq([lanes[0], lanes[1]]));
        let groups = [0, 1, 2].map(|vc_class| adapter.group_of(VcClass(vc_class)));
        assert_eq!(groups, [0, 1, 0]);
        for (id, vc_class) in [(0, 1), (1, 2), (2, 0)] {
            let message = message(id, 10 + u32::from(vc_class));
            let conforming = Conformance::Conforming;
            adapter.put(message, conforming, level(vc_class % 2), VcClass(vc_class), 100);
        }
        let mut reassembly = Reassembly::default();
        let mut next = |group| {
            let next = adapter.next(group, Time::ZERO);
            (next, adapter.take(group, Time::ZERO, &mut reassembly))
        };
        // VC classes 2 and 0 share a group, in the order in which their messages came; VC class 1
        // has its own.
        for (group, payload_bytes, vc_class) in [(0, 12, 2), (1, 11, 1), (0, 10, 0)] {
            let (seen, Turn::Send(packet)) = next(group) else { panic!("a packet waits") };
            assert_eq!(seen, Next::Packet { payload_bytes, created: Time::ZERO });
            assert_eq!((packet.payload_bytes, packet.vc_class.0), (payload_bytes, vc_class));
        }
        assert_eq!(next(0), (Next::Nothing, Turn::Nothing));
    }

    /// An adapter of three classes, each of a level of its own or not, with the buckets of those
    /// that wait.
    #[derive(Clone, Debug)]
    struct Setting {
        levels: [u8; 3],
        /// Time of a token in picoseconds, and the burst.
        buckets: [Option<(u64, u32)>; 3],
    }

    /// Who waits, in order: class, payload that is left, and longest packet.
    type Listed = (usize, u32, u32);

    fn setting() -> impl Strategy<Value = Setting> {
        let bucket = prop::option::of((1_u64..40, 10_u32..60));
        (prop::array::uniform3(0_u8..3), prop::array::uniform3(bucket))
            .prop_map(|(levels, buckets)| Setting { levels, buckets })
    }

    /// What was taken of a class, and when: what is there follows from all of it, by the
    /// definition.
    fn tokens((token_ps, burst): (u64, u32), taken: &[(u64, u32)], now: u64) -> u64 {
        let full = u64::from(burst) * token_ps;
        let (mut there, mut since) = (full, 0);
        for (at, bytes) in taken {
            there = (there + at - since).min(full) - u64::from(*bytes) * token_ps;
            since = *at;
        }
        (there + now - since).min(full) / token_ps
    }

    impl Setting {
        fn adapter(&self) -> Adapter {
            let policer = |(token_ps, burst): (u64, u32)| Policer {
                bucket: TokenBucket::full(Span::from_ps(token_ps * REFILL_BYTES), burst),
                excess: Excess::Delay,
            };
            let policers = self.buckets.map(|bucket| bucket.map(policer)).into();
            Adapter { policers, ..Adapter::new(level(2)) }
        }

        /// The first message of each level, from the highest on, as a place in the list.
        fn firsts(&self, waiting: &[Listed]) -> impl Iterator<Item = usize> {
            let first = |level| waiting.iter().position(|listed| self.levels[listed.0] == level);
            [2, 1, 0].map(first).into_iter().flatten()
        }

        fn may_go(&self, listed: Listed, taken: &[Vec<(u64, u32)>; 3], now: u64) -> bool {
            let (class, left, longest) = listed;
            let needed = u64::from(left.min(longest));
            self.buckets[class].is_none_or(|bucket| tokens(bucket, &taken[class], now) >= needed)
        }
    }

    proptest! {
        /// Each turn is what the definition says: the highest level whose first packet finds its
        /// tokens, and if there is none the first instant at which one does.
        #[test]
        fn a_turn_goes_to_the_highest_level_that_may(
            setting in setting(),
            steps in prop::collection::vec((0_u64..400, 0_usize..4, 1_u32..120, 1_u32..=10), 1..60),
        ) {
            let (mut adapter, mut reassembly) = (setting.adapter(), Reassembly::default());
            let (mut waiting, mut taken) = (Vec::<Listed>::new(), [const { Vec::new() }; 3]);
            let mut now = 0;
            for (span, class, bytes, longest) in steps {
                if class < 3 {
                    let offered = Message { class: ClassId::new(class), ..message(0, bytes) };
                    adapter.offer(offered, level(setting.levels[class]), longest);
                    waiting.push((class, bytes, longest));
                }
                now += span;
                let goes = setting.firsts(&waiting).find(|place| setting.may_go(waiting[*place], &taken, now));
                match (adapter.take(0, Time::from_ps(now), &mut reassembly), goes) {
                    (Turn::Send(packet), Some(place)) => {
                        let (class, left, longest) = &mut waiting[place];
                        let expected = (*class, (*left).min(*longest));
                        prop_assert_eq!((packet.class.index(), packet.payload_bytes), expected);
                        *left -= packet.payload_bytes;
                        taken[*class].push((now, packet.payload_bytes));
                        waiting.retain(|listed| listed.1 > 0);
                    }
                    (Turn::At(time), None) => {
                        let at = time.as_ps();
                        let any_at = |now| setting.firsts(&waiting).any(|place| setting.may_go(waiting[place], &taken, now));
                        prop_assert!(at > now && any_at(at) && !any_at(at - 1));
                    }
                    (Turn::Nothing, None) => prop_assert!(waiting.is_empty()),
                    (turn, goes) => prop_assert!(false, "{:?}, but {:?}", turn, goes),
                }
            }
        }
    }
}
