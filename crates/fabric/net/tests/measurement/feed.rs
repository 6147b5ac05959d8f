//! Collectors fed with messages without a network.

use gingham_kernel::{ByteTime, Span, Time};
use gingham_net::measure::Collector;
use gingham_net::{
    Arbitration, ChannelPlan, ClassId, ClassPlan, Conformance, Delivery, FlowId, FollowPlan,
    InTransitPlan, LanePlan, MeasurePlan, Message, MessageNumber, Plan, Priority, RoutingScheme,
    SegmentationPlan, StopPlan, Switching, WormholePlan,
};
use gingham_topology::EndpointId;
use gingham_topology::generate::{Generator, TwoHosts};
use gingham_topology::routing::{Algorithm, Form, UpDown, route};

pub(crate) fn class() -> ClassId {
    ClassId::new(0)
}

/// Two hosts at one switch, without warm-up, followed for a tenth of `time_ps`.
pub(crate) fn plan(classes: usize, time_ps: u64) -> Plan {
    let fabric = Generator::TwoHosts(TwoHosts { switches: 1, rails: 1 }).generate(1).unwrap();
    let routes = route(&fabric, &Algorithm::UpDown(UpDown::default()), Form::Source).unwrap();
    let channel = ChannelPlan {
        flit: Span::from_ps(10),
        bytes: ByteTime::from_64_kib(Span::from_ps(10 << 16)),
        delay: Span::ZERO,
        slack: None,
    };
    let class_plan = |index| ClassPlan {
        name: format!("class{index}"),
        active: Time::ZERO..Time::MAX,
        priority: Priority::default(),
        vc_class: None,
        segmentation: SegmentationPlan::None,
        policing: None,
        window: None,
        rate_limit: None,
        post: gingham_net::PostPlan::default(),
        sources: Vec::new(),
    };
    let stop = StopPlan::at(Time::from_ps(time_ps));
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
        classes: (0..classes).map(class_plan).collect(),
        stop: StopPlan { warm_up: Some(Time::ZERO), ..stop },
        measure: MeasurePlan::default(),
        follow: FollowPlan::default(),
        marking: None,
        probe: None,
        adapters: None,
        events: gingham_net::NetworkEvents::default(),
        admission: None,
        fabric,
    }
}

/// Times in picoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Journey {
    pub(crate) class: ClassId,
    pub(crate) created: u64,
    /// Start of the network latency.
    pub(crate) entered: u64,
    /// End of the head latency.
    pub(crate) head_arrived: u64,
    pub(crate) delivered: u64,
}

/// Enters the network at its creation.
pub(crate) fn journey(created: u64, delivered: u64) -> Journey {
    Journey { class: class(), created, entered: created, head_arrived: delivered, delivered }
}

pub(crate) struct Feed {
    pub(crate) collector: Collector,
    created: usize,
}

impl Feed {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self { collector: Collector::new(plan), created: 0 }
    }

    /// Ends sections up to and including `ps`, before the events of that instant.
    pub(crate) fn end_sections(&mut self, ps: u64) {
        while self.collector.section_end().is_some_and(|end| end <= Time::from_ps(ps)) {
            self.collector.on_section_end(&[]);
        }
    }

    pub(crate) fn create(&mut self, journey: &Journey) -> Message {
        self.create_of(journey, None)
    }

    pub(crate) fn create_of(&mut self, journey: &Journey, flow: Option<FlowId>) -> Message {
        self.end_sections(journey.created);
        let message = Message {
            number: MessageNumber::new(self.created),
            class: journey.class,
            source: EndpointId::new(0),
            destination: EndpointId::new(1),
            payload_bytes: 100,
            created: Time::from_ps(journey.created),
            flow,
        };
        self.created += 1;
        self.collector.on_created(&message);
        message
    }

    pub(crate) fn deliver(&mut self, journey: &Journey, message: Message) {
        self.end_sections(journey.delivered);
        let delivered = Time::from_ps(journey.delivered);
        self.collector.on_delivered(&Delivery {
            message,
            posted: message.created,
            entered: Time::from_ps(journey.entered),
            head_arrived: Time::from_ps(journey.head_arrived),
            delivered,
            hops: 1,
            in_transit_hosts: 0,
            packets: 1,
            wire_bytes: 104,
            conformance: Conformance::Conforming,
        });
    }

    /// `journeys` are in order of creation.
    pub(crate) fn run(&mut self, journeys: impl IntoIterator<Item = Journey>) {
        let mut in_flight: Vec<(Journey, Message)> = Vec::new();
        for next in journeys {
            self.deliver_until(&mut in_flight, next.created);
            if self.is_over(next.created) {
                return;
            }
            let message = self.create(&next);
            let place = in_flight.partition_point(|(other, _)| other.delivered > next.delivered);
            in_flight.insert(place, (next, message));
        }
        self.deliver_until(&mut in_flight, u64::MAX);
        self.end_sections(u64::MAX);
    }

    /// Delivers messages up to `until`; the list is sorted by delivery, the next one last.
    fn deliver_until(&mut self, in_flight: &mut Vec<(Journey, Message)>, until: u64) {
        while let Some((journey, message)) = in_flight.last().copied() {
            if journey.delivered > until || self.is_over(journey.delivered) {
                return;
            }
            in_flight.pop();
            self.deliver(&journey, message);
        }
    }

    fn is_over(&mut self, ps: u64) -> bool {
        self.end_sections(ps);
        Time::from_ps(ps) > self.collector.end()
    }
}

pub(crate) fn collector_of(plan: &Plan, journeys: impl IntoIterator<Item = Journey>) -> Collector {
    let mut feed = Feed::new(plan);
    feed.run(journeys);
    feed.collector
}
