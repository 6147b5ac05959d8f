//! Runs in both simulations, which must report equal notices.

use crate::common::add_class;
use gingham_kernel::{Span, Time};
use gingham_net::traffic::{Draft, LengthPlan, MessagePlan, ReplyPlan, Scheduled, SourcePlan};
use gingham_net::{
    AckPlan, Acknowledged, ClassId, Content, Delivery, Noted, Packet, Plan, Priority, ProbePlan,
    REFILL_BYTES, RateLimitPlan, Response, Simulation, Status, WindowPlan,
};
use gingham_topology::EndpointId;
use std::sync::Arc;

pub(crate) const LOOKS_ON: ProbePlan =
    ProbePlan { control_every: 0, control_bytes: 0, divert_every: 0, weigh_every: 0 };

#[derive(PartialEq, Debug)]
pub(crate) struct Run {
    pub(crate) deliveries: Vec<Delivery>,
    pub(crate) noted: Vec<Noted>,
    pub(crate) status: Status,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Data,
    Ack,
}

/// Simulates a plan in both simulations, with and without a probe.
pub(crate) fn run(plan: &Plan) -> Run {
    let seen = Plan { probe: plan.probe.or(Some(LOOKS_ON)), ..plan.clone() };
    let found = of_oracle(&seen);
    let engine = of(gingham_engine::start(Arc::new(seen)));
    for (place, (oracle, engine)) in found.noted.iter().zip(&engine.noted).enumerate() {
        assert_eq!(oracle, engine, "notice {place}: oracle, engine");
    }
    assert_eq!(found, engine, "oracle, engine");
    if plan.probe.is_none() {
        let unseen = of_oracle(plan);
        assert_eq!(unseen.deliveries, found.deliveries, "nobody changes anything by looking on");
        assert_eq!(unseen, of(gingham_engine::start(Arc::new(plan.clone()))), "oracle, engine");
    }
    found
}

fn of_oracle(plan: &Plan) -> Run {
    of(gingham_oracle::start(Arc::new(plan.clone())))
}

fn of(mut simulation: Box<dyn Simulation>) -> Run {
    simulation.advance(u64::MAX);
    simulation.assert_invariants();
    Run {
        deliveries: simulation.take_messages(),
        noted: simulation.endpoints().noted().to_vec(),
        status: simulation.status().clone(),
    }
}

impl Run {
    /// Returns packets with times in ps.
    fn packets(&self, what: &str, host: usize, kind: Kind) -> impl Iterator<Item = (u64, &Packet)> {
        let is_it = move |noted: &&Noted| noted.what == what && noted.place == host;
        let packets = self.noted.iter().filter(is_it).filter_map(|noted| {
            let packet = noted.packet.as_ref()?;
            Some((noted.time.as_ps(), packet))
        });
        packets.filter(move |(_, packet)| kind_of(packet) == kind)
    }

    /// Returns start times in ps.
    pub(crate) fn began(&self, host: usize, kind: Kind) -> Vec<u64> {
        self.packets("began", host, kind).map(|(time, _)| time).collect()
    }

    /// Returns times of complete arrival in ps.
    pub(crate) fn received(&self, host: usize, kind: Kind) -> Vec<u64> {
        self.packets("received", host, kind).map(|(time, _)| time).collect()
    }

    /// Returns start times of data in ps, and their class.
    pub(crate) fn began_by_class(&self, host: usize) -> Vec<(u64, usize)> {
        let began = self.packets("began", host, Kind::Data);
        began.map(|(time, packet)| (time, packet.class.index())).collect()
    }

    /// Returns the mark of each acknowledgement.
    pub(crate) fn marks(&self, host: usize) -> Vec<bool> {
        let acks = self.packets("received", host, Kind::Ack);
        acks.map(|(_, packet)| packet.content == Content::Ack { packets: 1, marked: 1 }).collect()
    }

    /// Returns all notices at an instant, each with its source, endpoint or channel.
    pub(crate) fn at(&self, ps: u64) -> Vec<(&'static str, usize)> {
        let noted = self.noted.iter().filter(|noted| noted.time == Time::from_ps(ps));
        noted.map(|noted| (noted.what, noted.place)).collect()
    }

    /// Returns the times of creation, entry and delivery, in ps.
    pub(crate) fn messages(&self, class: usize) -> Vec<(u64, u64, u64)> {
        let of_class = |delivery: &&Delivery| delivery.message.class == ClassId::new(class);
        let instants = |delivery: &Delivery| {
            let Delivery { message, entered, delivered, .. } = delivery;
            (message.created.as_ps(), entered.as_ps(), delivered.as_ps())
        };
        self.deliveries.iter().filter(of_class).map(instants).collect()
    }
}

fn kind_of(packet: &Packet) -> Kind {
    match packet.content {
        Content::Data(_) => Kind::Data,
        Content::Ack { .. } => Kind::Ack,
        Content::Signal(_) | Content::Control => panic!("nobody sends control packets here"),
    }
}

pub(crate) fn window(packets: u32, ack_bytes: u32) -> WindowPlan {
    let ack = AckPlan { payload_bytes: ack_bytes, priority: Priority::default(), vc_class: None };
    WindowPlan { packets, acknowledged: Acknowledged::All, ack, response: Response::default() }
}

/// Returns a rate limit of `byte_ps` ps and `parts` 64 Ki-ths of one per byte, at every host.
pub(crate) fn rate_limit(plan: &Plan, byte_ps: u64, parts: u64) -> RateLimitPlan {
    let refill = Span::from_ps(byte_ps * REFILL_BYTES + parts);
    RateLimitPlan { refill: vec![refill; plan.fabric.endpoints().len()].into() }
}

/// Adds messages given by time in ps, destination and bytes.
pub(crate) fn scheduled_to(plan: &mut Plan, from: usize, messages: &[(u64, usize, u32)]) {
    let message = |&(ps, to, payload_bytes): &(u64, usize, u32)| Scheduled {
        created: Time::from_ps(ps),
        draft: Draft { destination: EndpointId::new(to), payload_bytes },
    };
    let messages = MessagePlan::Scheduled(messages.iter().map(message).collect());
    let name = format!("class {}", plan.classes.len());
    add_class(plan, name, SourcePlan { endpoint: EndpointId::new(from), messages });
}

pub(crate) fn replying(plan: &mut Plan, host: usize, to: usize, think: u64, bytes: u32) {
    let messages = MessagePlan::Replies(ReplyPlan {
        to: ClassId::new(to),
        think: Span::from_ps(think),
        lengths: LengthPlan::Fixed(bytes),
    });
    let name = format!("replies {}", plan.classes.len());
    add_class(plan, name, SourcePlan { endpoint: EndpointId::new(host), messages });
}
