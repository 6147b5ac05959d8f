//! Adapter scenarios traced by hand; `sending` and `turns` compare adapters with list-based models.

mod sending;
mod turns;

use super::*;
use crate::flows::FlowState;
use crate::traffic::{MessagePlan, SourcePlan};
use crate::{
    AckPlan, Acknowledged, Arbitration, ChannelPlan, ClassPlan, Content, FlowKey, FollowPlan, Hold,
    InTransitPlan, LanePlan, MeasurePlan, MessageNumber, NetworkEvents, Next, PathId, PolicingPlan,
    PostPlan, REFILL_BYTES, RateLimitPlan, Response, RoutingScheme, SegmentationPlan, StopPlan,
    Switching, WindowPlan, WormholePlan,
};
use gingham_topology::generate::{Generator, TwoHosts};
use gingham_topology::routing::{Algorithm, Form, Routes, UpDown, route};
use gingham_topology::{EndpointId, Fabric};

fn plan(classes: Vec<ClassPlan>) -> Plan {
    let fabric = Generator::TwoHosts(TwoHosts { switches: 0, rails: 1 }).generate(1).unwrap();
    let routes = route(&fabric, &Algorithm::UpDown(UpDown::default()), Form::Source).unwrap();
    Plan { classes, ..plan_over(fabric, routes) }
}

pub(crate) fn plan_over(fabric: Fabric, routes: Routes) -> Plan {
    let channel = ChannelPlan {
        flit: Span::from_ps(10),
        bytes: gingham_kernel::ByteTime::from_64_kib(Span::from_ps(10 << 16)),
        delay: Span::ZERO,
        slack: None,
    };
    Plan {
        seed: 1,
        channels: vec![channel; fabric.channel_count()],
        routing: RoutingScheme::by_pair(routes),
        in_transit: InTransitPlan::default(),
        lanes: LanePlan::free(1),
        switching: Switching::Wormhole(WormholePlan {
            routing_delay: Span::ZERO,
            setup_delay: Span::ZERO,
            route_bytes: true,
            overhead_bytes: 3,
            mark_bytes: 0,
            arbitration: Arbitration::RoundRobin,
        }),
        classes: Vec::new(),
        stop: StopPlan::at(at(1_000_000)),
        measure: MeasurePlan::default(),
        follow: FollowPlan::default(),
        marking: None,
        probe: None,
        adapters: None,
        events: NetworkEvents::default(),
        admission: None,
        fabric,
    }
}

fn class(level: u8) -> ClassPlan {
    let nothing = MessagePlan::Scheduled([].into());
    ClassPlan {
        name: String::new(),
        active: Time::ZERO..Time::MAX,
        priority: Priority::new(level).unwrap(),
        vc_class: None,
        segmentation: SegmentationPlan::None,
        policing: None,
        window: None,
        rate_limit: None,
        post: PostPlan::default(),
        sources: vec![SourcePlan { endpoint: EndpointId::new(0), messages: nothing }],
    }
}

fn window(packets: u32) -> WindowPlan {
    let ack = AckPlan { payload_bytes: 20, priority: Priority::default(), vc_class: None };
    WindowPlan { packets, acknowledged: Acknowledged::All, ack, response: Response::default() }
}

fn rate_limit(byte_ps: u64) -> RateLimitPlan {
    RateLimitPlan { refill: [Span::from_ps(byte_ps * REFILL_BYTES)].into() }
}

fn at(ps: u64) -> Time {
    Time::from_ps(ps)
}

fn level(level: u8) -> Priority {
    Priority::new(level).unwrap()
}

fn message(id: usize, payload_bytes: u32) -> Message {
    Message {
        number: MessageNumber::new(id),
        class: ClassId::new(0),
        source: EndpointId::new(0),
        destination: EndpointId::new(1),
        payload_bytes,
        created: Time::ZERO,
        flow: None,
    }
}

fn outgoing(message: Message, priority: Priority, longest_bytes: u32) -> Outgoing {
    let (vc_class, conformance) = (VcClass(0), Conformance::Conforming);
    Outgoing { message, priority, vc_class, longest_bytes, conformance }
}

fn adapter(highest: Priority, lanes: &[LaneSet], is_controlled: bool) -> Adapter {
    Adapter::new(highest, Arc::new(Grouping::new(lanes)), is_controlled)
}

fn ordered(payload_bytes: u32, priority: Priority) -> Packet {
    Packet {
        content: Content::Control,
        class: ClassId::new(0),
        flow: None,
        source: EndpointId::new(0),
        destination: EndpointId::new(1),
        payload_bytes,
        priority,
        path_id: PathId::default(),
        vc_class: VcClass(0),
        is_first: false,
        is_last_of_stream: false,
        mark: false,
        is_bad: false,
    }
}

struct Sender {
    plan: Plan,
    adapter: Adapter,
    flows: Flows,
    messages: Messages,
}

impl Sender {
    fn new(classes: Vec<ClassPlan>) -> Self {
        let plan = plan(classes);
        let lanes = [LaneSet::one(0)];
        let adapter = adapter(plan.highest_priority(), &lanes, plan.is_controlled());
        Self { adapter, flows: Flows::new(&plan), messages: Messages::default(), plan }
    }

    fn flow(&mut self, class: usize, destination: usize) -> FlowId {
        let (class, source) = (ClassId::new(class), EndpointId::new(0));
        let destination = EndpointId::new(destination);
        let key = FlowKey { class, source, destination, stream: None };
        self.flows.find(&self.plan, key).0
    }

    fn put(&mut self, class: usize, destination: usize, created: u64, message: Message) {
        let flow = self.flow(class, destination);
        let message = Message {
            class: ClassId::new(class),
            destination: EndpointId::new(destination),
            created: at(created),
            flow: self.flows.is_tracked(ClassId::new(class)).then_some(flow),
            ..message
        };
        let priority = self.plan.classes[class].priority;
        let outgoing = outgoing(message, priority, u32::MAX);
        self.adapter.put(&mut self.flows, &mut self.messages, outgoing);
    }

    fn take(&mut self, now: u64) -> Turn {
        self.adapter.take(&mut self.flows, &mut self.messages, None, 0, at(now))
    }

    fn goes(&mut self, now: u64) -> usize {
        let Turn::Send(packet) = self.take(now) else { panic!("a packet may go") };
        let Content::Data(slot) = packet.content else { panic!("a packet of a message") };
        self.messages.message(slot).number.index()
    }

    fn acknowledged(&mut self, flow: FlowId, now: u64) {
        let priority = self.plan.classes[self.flows.get(flow).key.class.index()].priority;
        match self.flows.acknowledged(flow, 1, false, at(now)) {
            Some(FlowState::MayGo) => self.adapter.reopen(flow, VcClass(0), priority),
            Some(FlowState::Shut) => self.adapter.shut(flow, VcClass(0), priority),
            Some(FlowState::Empty) | None => {}
        }
    }

    /// Returns the waiting intervals recorded since the last call: flow, reason, start and end in
    /// ps.
    fn held(&mut self) -> Vec<(FlowId, Hold, u64, u64)> {
        let held = std::iter::from_fn(|| self.flows.next_held());
        let mut held: Vec<_> =
            held.map(|held| (held.flow, held.by, held.from.as_ps(), held.to.as_ps())).collect();
        held.sort_unstable_by_key(|held| held.2);
        held
    }
}

fn drain(sender: &mut Sender) -> Vec<(usize, u32, bool)> {
    let mut sent = Vec::new();
    while let Turn::Send(packet) = sender.take(0) {
        let Content::Data(slot) = packet.content else { panic!("a packet of a message") };
        let message = sender.messages.message(slot).number.index();
        sent.push((message, packet.payload_bytes, packet.is_first));
    }
    sent
}

fn offer(sender: &mut Sender, id: usize, bytes: u32, priority: u8, longest_bytes: u32) {
    let outgoing = outgoing(message(id, bytes), level(priority), longest_bytes);
    sender.adapter.put(&mut sender.flows, &mut sender.messages, outgoing);
}

#[test]
fn message_is_cut_into_full_segments_and_a_remainder() {
    let mut sender = Sender::new(vec![class(0)]);
    offer(&mut sender, 0, 250, 0, 100);
    offer(&mut sender, 1, 200, 0, 100);
    offer(&mut sender, 2, 7, 0, u32::MAX);
    let sent = drain(&mut sender);
    let of_first = [(0, 100, true), (0, 100, false), (0, 50, false)];
    assert_eq!(sent[..3], of_first);
    assert_eq!(sent[3..], [(1, 100, true), (1, 100, false), (2, 7, true)]);
}

#[test]
fn higher_level_preempts_segments_and_levels_are_fifo() {
    let mut sender = Sender::new(vec![class(7)]);
    offer(&mut sender, 0, 30, 0, 10);
    assert!(matches!(sender.take(0), Turn::Send(packet) if packet.payload_bytes == 10));
    for (id, priority) in [(1, 3), (2, 7), (3, 3), (4, 0)] {
        offer(&mut sender, id, 5, priority, u32::MAX);
    }
    let order: Vec<_> = drain(&mut sender).iter().map(|sent| (sent.0, sent.1)).collect();
    assert_eq!(order, [(2, 5), (1, 5), (3, 5), (0, 10), (0, 10), (4, 5)]);
}

#[test]
fn packets_queue_by_their_permitted_lane_set() {
    let lanes = [0b0011, 0b1000, 0b0011].map(LaneSet::from_bits);
    let mut sender = Sender::new(vec![class(1)]);
    sender.adapter = adapter(level(1), &lanes, false);
    assert!(sender.adapter.groups().eq([lanes[0], lanes[1]]));
    let groups = [0, 1, 2].map(|vc_class| sender.adapter.group_of(VcClass(vc_class)));
    assert_eq!(groups, [0, 1, 0]);
    for (id, vc_class) in [(0, 1), (1, 2), (2, 0)] {
        let message = message(id, 10 + u32::from(vc_class));
        let outgoing = outgoing(message, level(vc_class % 2), 100);
        let outgoing = Outgoing { vc_class: VcClass(vc_class), ..outgoing };
        sender.adapter.put(&mut sender.flows, &mut sender.messages, outgoing);
    }
    let Sender { adapter, flows, messages, .. } = &mut sender;
    let mut next = |group| {
        let next = adapter.next(flows, messages, None, group, Time::ZERO);
        (next, adapter.take(flows, messages, None, group, Time::ZERO))
    };
    for (group, payload_bytes, vc_class) in [(0, 12, 2), (1, 11, 1), (0, 10, 0)] {
        let (seen, Turn::Send(packet)) = next(group) else { panic!("a packet waits") };
        assert_eq!(seen, Next::Packet { payload_bytes, created: Time::ZERO });
        assert_eq!((packet.payload_bytes, packet.vc_class.0), (payload_bytes, vc_class));
    }
    assert_eq!(next(0), (Next::Nothing, Turn::Nothing));
}

#[test]
fn reopened_flow_queues_behind_all_others() {
    let windowed = ClassPlan { window: Some(window(1)), ..class(0) };
    let mut sender = Sender::new(vec![windowed, class(0)]);
    for id in 0..2 {
        sender.put(0, 1, 0, message(id, 5));
    }
    for id in 2..4 {
        sender.put(0, 2, 0, message(id, 5));
    }
    for id in 4..7 {
        sender.put(1, 1, 0, message(id, 5));
    }
    // Two flows and the shared queue take turns until both windows are closed.
    assert_eq!([0, 10, 20, 30].map(|now| sender.goes(now)), [0, 2, 4, 5]);
    let (first, second) = (sender.flow(0, 1), sender.flow(0, 2));
    sender.acknowledged(second, 33);
    sender.acknowledged(first, 37);
    assert_eq!([40, 50, 60].map(|now| sender.goes(now)), [6, 3, 1]);
    assert_eq!(sender.take(70), Turn::Nothing);
    let window = Hold::Window;
    assert_eq!(sender.held(), [(first, window, 0, 37), (second, window, 10, 33)]);
    // The flow has no message waiting and an open window, so a new message is sent immediately.
    sender.acknowledged(first, 75);
    sender.put(0, 1, 80, message(7, 5));
    assert_eq!(sender.goes(80), 7);
    assert_eq!(sender.held(), []);
}

#[test]
fn rate_limited_flow_keeps_its_turn_and_blocks_no_other() {
    let paced = ClassPlan { rate_limit: Some(rate_limit(10)), ..class(0) };
    let mut sender = Sender::new(vec![paced, class(0)]);
    sender.put(0, 1, 0, message(0, 5));
    sender.put(0, 1, 0, message(1, 3));
    for id in 2..5 {
        sender.put(1, 1, 0, message(id, 5));
    }
    // The flow's first packet has 5 B at 10 ps per byte, so its second packet may start at 50 ps,
    // and then precedes the shared queue.
    assert_eq!([0, 10, 49, 50, 50].map(|now| sender.goes(now)), [0, 2, 3, 1, 4]);
    let flow = sender.flow(0, 1);
    assert_eq!(sender.held(), [(flow, Hold::RateLimit, 0, 50)]);
    // An empty flow keeps its rate limit: after the 3-byte packet of 50 ps, its next packet may
    // start at 50 + 3 x 10 = 80 ps.
    sender.put(0, 1, 60, message(5, 2));
    assert_eq!((sender.take(60), sender.take(79)), (Turn::At(at(80)), Turn::At(at(80))));
    assert_eq!(sender.goes(80), 5);
    assert_eq!(sender.held(), [(flow, Hold::RateLimit, 60, 80)]);
}

/// Returns a class that waits for tokens from a bucket of 10 B, refilled at 20 ps per byte.
fn policed(level: u8) -> (ClassPlan, Policer) {
    let refill = Span::from_ps(20 * REFILL_BYTES);
    let policing = PolicingPlan {
        refill: [refill].into(),
        burst_bytes: 10,
        longest_bytes: u32::MAX,
        excess: Excess::Delay,
    };
    let policer = Policer { bucket: policing.bucket(0), excess: Excess::Delay };
    (ClassPlan { policing: Some(policing), ..class(level) }, policer)
}

#[test]
fn policed_class_waits_for_tokens_of_its_first_flow() {
    let (class_plan, policer) = policed(0);
    let mut sender = Sender::new(vec![class_plan, class(0)]);
    sender.adapter.beside().policers = [Some(policer), None].into();
    sender.put(0, 1, 0, message(0, 8));
    sender.put(0, 1, 0, message(1, 8));
    sender.put(0, 2, 0, message(2, 8));
    sender.put(0, 2, 0, message(3, 2));
    sender.put(1, 1, 0, message(4, 5));
    // The first packet leaves 2 tokens. The second flow is next and needs 8 tokens; while it waits,
    // the shared queue sends.
    assert_eq!([0, 10].map(|now| sender.goes(now)), [0, 4]);
    // The bucket has 2 + 6 = 8 tokens at 120 ps, 8 again at 280 ps (for the first flow) and 2 at
    // 320 ps (for the second flow).
    assert_eq!((sender.take(20), sender.take(119)), (Turn::At(at(120)), Turn::At(at(120))));
    assert_eq!(sender.goes(120), 2);
    assert_eq!((sender.take(130), sender.take(160)), (Turn::At(at(280)), Turn::At(at(280))));
    assert_eq!([280, 320].map(|now| sender.goes(now)), [1, 3]);
    let (first, second) = (sender.flow(0, 1), sender.flow(0, 2));
    let tokens = Hold::Tokens;
    assert_eq!(sender.held(), [(second, tokens, 10, 120), (first, tokens, 130, 280)]);
}

#[test]
fn control_packets_precede_messages_of_their_level() {
    let windowed = ClassPlan { window: Some(window(1)), ..class(1) };
    let mut sender = Sender::new(vec![windowed, class(0)]);
    sender.put(0, 1, 0, message(0, 5));
    sender.put(1, 1, 0, message(1, 5));
    let queued = [(41, 0), (42, 1), (43, 1)]
        .map(|(bytes, priority)| sender.adapter.order(ordered(bytes, level(priority)), at(3)));
    assert_eq!(queued, [1, 2, 3]);
    let Sender { adapter, flows, messages, .. } = &mut sender;
    assert_eq!(
        adapter.next(flows, messages, None, 0, at(9)),
        Next::Packet { payload_bytes: 42, created: at(3) }
    );
    let mut sizes = Vec::new();
    while let Turn::Send(packet) = sender.take(9) {
        sizes.push(packet.payload_bytes);
    }
    assert_eq!(sizes, [42, 43, 5, 41, 5]);
}

#[test]
fn shrunken_window_blocks_an_eligible_flow() {
    let mut sender = Sender::new(vec![ClassPlan { window: Some(window(3)), ..class(0) }]);
    let flow = sender.flow(0, 1);
    for id in 0..5 {
        sender.put(0, 1, 0, message(id, 10));
    }
    assert_eq!([sender.goes(0), sender.goes(1)], [0, 1]);
    // Two packets are in flight, and the window of 3 still permits a third.
    sender.flows.get_mut(flow).limits.window_packets = 1;
    sender.acknowledged(flow, 5);
    assert_eq!(sender.take(6), Turn::Nothing);
    sender.acknowledged(flow, 9);
    assert_eq!((sender.goes(9), sender.take(9)), (2, Turn::Nothing));
    assert_eq!(sender.held(), [(flow, Hold::Window, 5, 9)]);
}

#[test]
fn blocked_time_has_one_cause_at_a_time_when_a_window_shrinks() {
    let (tokens, policer) = policed(0);
    let paced = ClassPlan { rate_limit: Some(rate_limit(10)), ..class(0) };
    for (class, policer, expected) in [
        (
            paced,
            None,
            [(Hold::RateLimit, 0, 80), (Hold::RateLimit, 120, 200), (Hold::Window, 200, 290)],
        ),
        // The first packet leaves 2 of 10 tokens; the bucket has 8 at 120 ps, and 8 again at 280
        // ps.
        (
            tokens,
            Some(policer),
            [(Hold::Tokens, 10, 120), (Hold::Tokens, 130, 150), (Hold::Window, 150, 290)],
        ),
    ] {
        let windowed = ClassPlan { window: Some(window(3)), ..class };
        let mut sender = Sender::new(vec![windowed]);
        sender.adapter.beside().policers = [policer].into();
        for id in 0..3 {
            sender.put(0, 1, 0, message(id, 8));
        }
        assert_eq!(sender.goes(0), 0);
        assert!(matches!(sender.take(10), Turn::At(_)));
        assert_eq!(sender.goes(120), 1);
        assert!(matches!(sender.take(130), Turn::At(_)));
        let flow = sender.flow(0, 1);
        sender.flows.get_mut(flow).limits.window_packets = 1;
        sender.acknowledged(flow, 150);
        assert_eq!(sender.take(280), Turn::Nothing);
        sender.acknowledged(flow, 290);
        assert_eq!(sender.goes(290), 2);
        assert_eq!(sender.held(), expected.map(|(by, from, to)| (flow, by, from, to)));
    }
}

#[test]
fn unwindowed_flow_counts_no_packets_in_flight() {
    let mut sender = Sender::new(vec![ClassPlan { rate_limit: Some(rate_limit(10)), ..class(0) }]);
    let flow = sender.flow(0, 1);
    // The window is 2 packets instead of 2^32 - 1. If the flow counted packets in flight, the
    // window would close and never reopen.
    sender.flows.get_mut(flow).limits.window_packets = 2;
    for id in 0..4 {
        sender.put(0, 1, 0, message(id, 5));
    }
    assert_eq!([0, 50, 100, 150].map(|now| sender.goes(now)), [0, 1, 2, 3]);
}

#[test]
fn long_blocked_time_is_recorded_in_parts() {
    let mut sender = Sender::new(vec![ClassPlan { window: Some(window(1)), ..class(0) }]);
    let flow = sender.flow(0, 1);
    for id in 0..2 {
        sender.put(0, 1, 0, message(id, 10));
    }
    assert_eq!(sender.goes(3), 0);
    sender.flows.settle(at(3));
    sender.flows.settle(at(10));
    sender.acknowledged(flow, 12);
    assert_eq!(sender.held(), [(flow, Hold::Window, 3, 10), (flow, Hold::Window, 10, 12)]);
}
