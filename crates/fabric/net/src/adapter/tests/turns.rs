//! Comparison of an adapter's round robin with a list-based model.

use super::*;
use crate::Arrival;
use proptest::prelude::*;

const CLASSES: usize = 4;
const LEVELS: usize = 3;

#[derive(Clone, Copy, Debug)]
struct Control {
    level: usize,
    group: usize,
    window: Option<u32>,
    /// Rate limit in ps per byte.
    rate_limit: Option<u64>,
    /// Token bucket: time per token in ps, and burst in bytes.
    bucket: Option<(u64, u32)>,
}

type Setting = [Control; CLASSES];

#[derive(Clone, Copy, Debug)]
enum Step {
    Offer { class: usize, destination: usize, bytes: u32, longest: u32 },
    Order { level: usize, group: usize, bytes: u32 },
    Take { group: usize },
    Ack { which: usize },
    Pass { ps: u64 },
}

fn control() -> impl Strategy<Value = Control> {
    let held = (
        prop::option::of(1_u32..4),
        prop::option::of(1_u64..30),
        prop::option::of((1_u64..40, 10_u32..60)),
    );
    (0..LEVELS, 0..2_usize, prop_oneof![1 => Just((None, None, None)), 4 => held]).prop_map(
        |(level, group, (window, rate_limit, bucket))| Control {
            level,
            group,
            window,
            rate_limit,
            bucket,
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let offer = (0..CLASSES, 1..3_usize, 1..40_u32, 1..=10_u32);
    prop_oneof![
        6 => offer.prop_map(|(class, destination, bytes, longest)| {
            Step::Offer { class, destination, bytes, longest }
        }),
        1 => (0..LEVELS, 0..2_usize, 1..10_u32)
            .prop_map(|(level, group, bytes)| Step::Order { level, group, bytes }),
        12 => (0..2_usize).prop_map(|group| Step::Take { group }),
        5 => (0..8_usize).prop_map(|which| Step::Ack { which }),
        6 => (1..300_u64).prop_map(|ps| Step::Pass { ps }),
    ]
}

#[derive(Clone, Copy, Debug)]
struct Listed {
    id: usize,
    class: usize,
    destination: usize,
    left: u32,
    longest: u32,
    is_delayed: bool,
}

impl Listed {
    fn next_bytes(&self) -> u32 {
        self.left.min(self.longest)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Member {
    Shared { level: usize, group: usize },
    Flow { class: usize, destination: usize },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Goes {
    Ordered(usize),
    Message(usize, Member),
}

struct Lists {
    setting: Setting,
    waiting: Vec<Listed>,
    /// Packets without a message: level, group and payload bytes.
    ordered: Vec<(usize, usize, u32)>,
    /// Ring members of all levels and groups; the first member is served next.
    ring: Vec<Member>,
    /// Packets of controlled classes: class, destination, start time in ps, payload bytes.
    sent: Vec<(usize, usize, u64, u32)>,
    /// Acknowledged packets: class and destination.
    acknowledged: Vec<(usize, usize)>,
}

impl Lists {
    fn new(setting: Setting) -> Self {
        let (waiting, ordered, ring) = (Vec::new(), Vec::new(), Vec::new());
        Self { setting, waiting, ordered, ring, sent: Vec::new(), acknowledged: Vec::new() }
    }

    fn member(&self, listed: &Listed) -> Member {
        let Listed { class, destination, .. } = *listed;
        let Control { level, group, window, rate_limit, bucket } = self.setting[class];
        if window.is_none() && rate_limit.is_none() && bucket.is_none() {
            return Member::Shared { level, group };
        }
        Member::Flow { class, destination }
    }

    fn place(&self, member: Member) -> (usize, usize) {
        match member {
            Member::Shared { level, group } => (level, group),
            Member::Flow { class, .. } => (self.setting[class].level, self.setting[class].group),
        }
    }

    fn first(&self, member: Member) -> Option<usize> {
        self.waiting.iter().position(|listed| self.member(listed) == member)
    }

    fn unacknowledged(&self, class: usize, destination: usize) -> usize {
        let sent = self.sent.iter().filter(|sent| (sent.0, sent.1) == (class, destination));
        let acknowledged = self.acknowledged.iter().filter(|flow| **flow == (class, destination));
        sent.count() - acknowledged.count()
    }

    fn belongs_to_ring(&self, member: Member) -> bool {
        let is_open = match member {
            Member::Shared { .. } => true,
            Member::Flow { class, destination } => self.setting[class]
                .window
                .is_none_or(|packets| self.unacknowledged(class, destination) < packets as usize),
        };
        is_open && self.first(member).is_some()
    }

    fn settle(&mut self) {
        let ring = std::mem::take(&mut self.ring);
        self.ring = ring.into_iter().filter(|member| self.belongs_to_ring(*member)).collect();
        for listed in &self.waiting {
            let member = self.member(listed);
            if self.belongs_to_ring(member) && !self.ring.contains(&member) {
                self.ring.push(member);
            }
        }
    }

    fn paced_until(&self, class: usize, destination: usize) -> u64 {
        let last = self.sent.iter().rfind(|sent| (sent.0, sent.1) == (class, destination));
        let (Some((_, _, went, bytes)), Some(byte_ps)) = (last, self.setting[class].rate_limit)
        else {
            return 0;
        };
        went + byte_ps * u64::from(*bytes)
    }

    fn has_tokens(&self, class: usize, bytes: u32, now: u64) -> bool {
        let Some((token_ps, burst)) = self.setting[class].bucket else { return true };
        let full = u64::from(burst) * token_ps;
        let (mut there, mut since) = (full, 0);
        for (_, _, went, bytes) in self.sent.iter().filter(|sent| sent.0 == class) {
            there = (there + went - since).min(full) - u64::from(*bytes) * token_ps;
            since = *went;
        }
        (there + now - since).min(full) / token_ps >= u64::from(bytes)
    }

    fn who(&self, group: usize, now: u64) -> (Option<Goes>, Vec<usize>) {
        let mut short = Vec::new();
        for level in (0..LEVELS).rev() {
            let is_here = |ordered: &(usize, usize, u32)| (ordered.0, ordered.1) == (level, group);
            if let Some(place) = self.ordered.iter().position(is_here) {
                return (Some(Goes::Ordered(place)), short);
            }
            for member in self.ring.iter().filter(|who| self.place(**who) == (level, group)) {
                let place = self.first(*member).unwrap();
                let listed = &self.waiting[place];
                if let Member::Flow { class, destination } = *member {
                    let was_asked =
                        short.iter().any(|other: &usize| self.waiting[*other].class == class);
                    if self.paced_until(class, destination) > now || was_asked {
                        continue;
                    }
                    if !self.has_tokens(class, listed.next_bytes(), now) {
                        short.push(place);
                        continue;
                    }
                }
                return (Some(Goes::Message(place, *member)), short);
            }
        }
        (None, short)
    }

    fn take(&mut self, goes: Goes, now: u64) -> u32 {
        let (place, member) = match goes {
            Goes::Ordered(place) => return self.ordered.remove(place).2,
            Goes::Message(place, member) => (place, member),
        };
        let listed = &mut self.waiting[place];
        let bytes = listed.next_bytes();
        listed.left -= bytes;
        if let Member::Flow { class, destination } = member {
            self.sent.push((class, destination, now, bytes));
        }
        self.waiting.retain(|listed| listed.left > 0);
        self.ring.retain(|other| *other != member);
        self.settle();
        bytes
    }

    /// Returns whether `at` is a valid retry time for an adapter that sends nothing at `now`.
    fn is_next_chance(&self, group: usize, now: u64, at: u64) -> bool {
        let ends = |member: &Member| match *member {
            Member::Flow { class, destination } => self.paced_until(class, destination) == at,
            Member::Shared { .. } => false,
        };
        let in_vain = |instant| self.who(group, instant).0.is_none();
        let mut before = (now..at).step_by(usize::try_from((at - now) / 8 + 1).unwrap());
        before.all(in_vain)
            && in_vain(at - 1)
            && (self.ring.iter().any(ends) || self.who(group, at).0.is_some())
    }
}

fn sender(setting: &Setting) -> Sender {
    let policing = |(token_ps, burst_bytes): (u64, u32)| PolicingPlan {
        refill: [Span::from_ps(token_ps * REFILL_BYTES)].into(),
        burst_bytes,
        longest_bytes: u32::MAX,
        excess: Excess::Delay,
    };
    let class_plan = |control: &Control| ClassPlan {
        window: control.window.map(window),
        rate_limit: control.rate_limit.map(rate_limit),
        policing: control.bucket.map(policing),
        ..class(u8::try_from(control.level).unwrap())
    };
    let mut sender = Sender::new(setting.iter().map(class_plan).collect());
    let lanes = [LaneSet::one(0), LaneSet::one(1)];
    sender.adapter = adapter(level(2), &lanes, true);
    let policers = sender.plan.classes.iter().map(|class| {
        let bucket = class.policing.as_ref()?.bucket(0);
        Some(Policer { bucket, excess: Excess::Delay })
    });
    sender.adapter.beside().policers = policers.collect();
    sender
}

struct Both {
    sender: Sender,
    lists: Lists,
    now: u64,
    messages: usize,
    /// Unacknowledged packets: flow, class and destination.
    in_flight: Vec<(FlowId, usize, usize)>,
}

impl Both {
    fn step(&mut self, step: Step) {
        match step {
            Step::Offer { class, destination, bytes, longest } => {
                self.offer(class, destination, bytes, longest);
            }
            Step::Order { level: priority, group, bytes } => {
                self.lists.ordered.push((priority, group, bytes));
                let vc_class = VcClass(u8::try_from(group).unwrap());
                let priority = level(u8::try_from(priority).unwrap());
                let packet = Packet { vc_class, ..ordered(bytes, priority) };
                let queued = self.sender.adapter.order(packet, at(self.now));
                assert_eq!(queued, self.lists.ordered.len());
            }
            Step::Take { group } => self.take(group),
            Step::Ack { which } if which < self.in_flight.len() => {
                let (flow, class, destination) = self.in_flight.remove(which);
                self.lists.acknowledged.push((class, destination));
                self.lists.settle();
                if self.sender.flows.acknowledged(flow, 1, false, at(self.now))
                    == Some(FlowState::MayGo)
                {
                    let Control { level: priority, group, .. } = self.lists.setting[class];
                    let vc_class = VcClass(u8::try_from(group).unwrap());
                    let priority = level(u8::try_from(priority).unwrap());
                    self.sender.adapter.reopen(flow, vc_class, priority);
                }
            }
            Step::Ack { .. } => {}
            Step::Pass { ps } => self.now += ps,
        }
    }

    fn offer(&mut self, class: usize, destination: usize, bytes: u32, longest: u32) {
        let id = self.messages;
        self.messages += 1;
        let left = bytes;
        let listed = Listed { id, class, destination, left, longest, is_delayed: false };
        self.lists.waiting.push(listed);
        self.lists.settle();
        let flow = self.sender.flow(class, destination);
        let is_controlled = self.sender.plan.classes[class].is_controlled();
        let message = Message {
            class: ClassId::new(class),
            destination: EndpointId::new(destination),
            created: at(self.now),
            flow: is_controlled.then_some(flow),
            ..message(id, bytes)
        };
        let Control { level: priority, group, .. } = self.lists.setting[class];
        let outgoing = outgoing(message, level(u8::try_from(priority).unwrap()), longest);
        let vc_class = VcClass(u8::try_from(group).unwrap());
        let Sender { adapter, flows, messages, .. } = &mut self.sender;
        adapter.put(flows, messages, Outgoing { vc_class, ..outgoing });
    }

    fn take(&mut self, group: usize) {
        let (goes, short) = self.lists.who(group, self.now);
        for place in short {
            self.lists.waiting[place].is_delayed = true;
        }
        let Sender { adapter, flows, messages, .. } = &mut self.sender;
        let now = at(self.now);
        let next = adapter.next(flows, messages, None, group, now);
        let turn = adapter.take(flows, messages, None, group, now);
        match (turn, goes) {
            (Turn::Send(packet), Some(goes)) => {
                let Next::Packet { payload_bytes, .. } = next else { panic!("{next:?}") };
                assert_eq!(payload_bytes, packet.payload_bytes);
                let listed = match goes {
                    Goes::Ordered(_) => None,
                    Goes::Message(place, _) => Some(self.lists.waiting[place]),
                };
                assert_eq!(self.lists.take(goes, self.now), packet.payload_bytes);
                self.sent(&packet, listed);
            }
            (Turn::At(time), None) => {
                assert_eq!(next, Next::At(time));
                let chance = time.as_ps();
                assert!(chance > self.now && self.lists.is_next_chance(group, self.now, chance));
            }
            (Turn::Nothing, None) => {
                assert_eq!(next, Next::Nothing);
                let waits = |member: &Member| self.lists.place(*member).1 == group;
                assert!(
                    !self.lists.ring.iter().any(waits),
                    "all that waits waits for acknowledgements"
                );
            }
            (turn, goes) => panic!("{turn:?}, but {goes:?}"),
        }
    }

    fn sent(&mut self, packet: &Packet, listed: Option<Listed>) {
        let Some(listed) = listed else { return assert_eq!(packet.content, Content::Control) };
        let Content::Data(slot) = packet.content else { panic!("a packet of a message") };
        let id = self.sender.messages.message(slot).number.index();
        assert_eq!((id, packet.class.index()), (listed.id, listed.class));
        if let Some(flow) = packet.flow
            && self.lists.setting[listed.class].window.is_some()
        {
            self.in_flight.push((flow, listed.class, listed.destination));
        }
        let arrival = Arrival {
            payload_bytes: packet.payload_bytes,
            wire_bytes: 1,
            hops: 1,
            in_transit_hosts: 0,
            head_arrived: at(self.now),
            arrived: at(self.now),
        };
        let delivery = self.sender.messages.arrive(slot, &arrival);
        assert_eq!(delivery.is_some(), listed.left == packet.payload_bytes);
        if let Some(delivery) = delivery {
            let is_delayed = delivery.conformance == Conformance::Delayed;
            assert_eq!(is_delayed, listed.is_delayed);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn turns_match_the_list_based_model(
        setting in prop::array::uniform4(control()),
        steps in prop::collection::vec(step(), 1..150),
    ) {
        let (sender, lists) = (sender(&setting), Lists::new(setting));
        let mut both = Both { sender, lists, now: 0, messages: 0, in_flight: Vec::new() };
        for step in steps {
            both.step(step);
        }
    }
}
