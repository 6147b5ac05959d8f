//! Diverted control packets, to which switch ports 0 respond.

use crate::agreement::difference;
use crate::number;
use gingham_kernel::{Purpose, Stream};
use gingham_net::{Noted, Plan, ProbePlan};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) fn with_ends_of_switches(plan: &Plan, seed: u64) -> Plan {
    let mut draw = Stream::new(seed, "ends of switches", Purpose::Shuffle);
    let control_bytes = plan.probe.map_or(1, |probe| probe.control_bytes);
    let mut every = |among: &[u64]| among[usize::try_from(draw.below(among.len() as u64)).unwrap()];
    let probe = ProbePlan {
        control_every: every(&[1, 1, 2, 3]),
        control_bytes,
        weigh_every: seed % 3,
        divert_every: every(&[1, 1, 2, 3, 5]),
    };
    Plan { probe: Some(probe), ..plan.clone().with_ports_0() }
}

pub(crate) fn agree_on_diverted(draw: impl Fn(u64) -> Plan) {
    let (cases, first) = (number("CASES", 60), number("FIRST", 0));
    let mut reached = BTreeMap::new();
    for seed in first..first + cases {
        let plan = with_ends_of_switches(&draw(seed), seed);
        let found = std::panic::catch_unwind(|| difference(&plan));
        let found = found.unwrap_or_else(|_| Some("panic".into()));
        assert_eq!(found, None, "seed {seed}\n{:?}", plan.probe);
        for (what, holds) in reaches(plan) {
            *reached.entry(what).or_insert(0) += u64::from(holds);
        }
    }
    let needed = if cases < 60 { 0 } else { 10 };
    assert!(reached.values().all(|cases| *cases >= needed), "{reached:?}");
}

fn reaches(plan: Plan) -> [(&'static str, bool); 4] {
    let plan = Arc::new(plan);
    let mut simulation = gingham_engine::start(Arc::clone(&plan));
    simulation.advance(u64::MAX);
    let noted = simulation.endpoints().noted();
    let is_end = |endpoint| plan.fabric.is_port_0(endpoint);
    let is = |of: &Noted, what| of.what == what;
    let taken_in = |of: &Noted| of.packet.is_some_and(|packet| is_end(packet.destination));
    let sent = |of: &Noted| of.packet.is_some_and(|packet| is_end(packet.source));
    let any = |holds: &dyn Fn(&Noted) -> bool| noted.iter().any(holds);
    [
        ("an end took a packet in", any(&|of| is(of, "received") && taken_in(of))),
        ("many", noted.iter().filter(|of| is(of, "received") && taken_in(of)).count() > 10),
        ("one of an end was read", any(&|of| is(of, "read") && sent(of))),
        ("a host heard of an end", any(&|of| is(of, "received") && sent(of))),
    ]
}
