//! Admission control over three switches: one stream is admitted, one refused in the middle.
//!
//! A packet of one flit is at the next switch 4 ticks after its start, read 2 later, and on the
//! next link, or on the ideal cable to port 0 of the switch, 2 later; from that port it is back at
//! its switch after a tick.

use crate::common::lanes::lane_plan;
use crate::common::{add_class, channel, row, stop_at};
use crate::support::run;
use gingham_kernel::{Span, Time};
use gingham_net::traffic::{
    DataPlan, DeadlinePlan, FirstFrame, FramePlan, FrameSizes, LaterPlan, MessagePlan, SourcePlan,
    Spread, StreamPlan,
};
use gingham_net::{AdmissionPlan, Content, Plan, Priority, Signal, StreamState};
use gingham_topology::EndpointId;
use gingham_topology::routing::{Algorithm, Form, UpDown, route};
use std::sync::Arc;

/// Adds a stream of one-flit frames, one every 10 ns.
fn stream(plan: &mut Plan, [from, to]: [usize; 2], start: u64, frames: u64) {
    let interval = Span::from_ps(10_000);
    let data = Arc::new(DataPlan::Frames(FramePlan {
        sizes: FrameSizes::Trace { bytes: [16].into(), first: FirstFrame::At(0) },
        interval,
        message_bytes: 16,
        spread: Spread::AtOnce,
        deadlines: DeadlinePlan { warm_up_frames: 0, slack: Span::ZERO },
    }));
    let stream = StreamPlan {
        destination: EndpointId::new(to),
        number: 0,
        data,
        later: LaterPlan { turn: Span::from_ps(start), jitter: Span::ZERO },
        lifetime: Some(interval * frames),
        solicits: 1.0,
        crashes: 0.0,
    };
    let name = format!("h{from} to h{to}");
    let messages = MessagePlan::Stream(stream);
    add_class(plan, name, SourcePlan { endpoint: EndpointId::new(from), messages });
}

/// Of each link 2 GB/s may be reserved, which is one stream of 1.6 GB/s.
fn three_switches() -> Plan {
    let mut plan = lane_plan(row(3, &[0, 1, 2]), 1);
    let fabric = plan.fabric.clone().with_ports_0();
    let algorithm = Algorithm::UpDown(UpDown::default());
    plan.routing.paths = vec![route(&fabric, &algorithm, Form::Source).unwrap()];
    stream(&mut plan, [1, 2], 0, 2);
    stream(&mut plan, [0, 2], 1_000, 2);
    plan.stop = stop_at(40_000);
    let channels = plan.channels.len();
    plan.admission = Some(Arc::new(AdmissionPlan {
        classes: [true, true].into(),
        limits: vec![2_000_000_000; channels].into(),
        rates: vec![2_500_000_000; channels].into(),
        lease: None,
        others_min: 1,
        payload_bytes: 16,
        priority: Priority::new(7).unwrap(),
        vc_class: None,
    }));
    plan.with_ports_0()
}

#[test]
fn refused_probe_is_released_up_to_the_previous_node() {
    let plan = three_switches();
    let found = run(&plan);
    let signals = found.noted.iter().filter_map(|noted| match noted.packet?.content {
        Content::Signal(signal) if matches!(noted.what, "read" | "received") => {
            Some((noted.time.as_ps(), noted.what, signal))
        }
        _ => None,
    });
    let [first, second] = [0, 1].map(gingham_net::StreamId::new);
    let full = channel(&plan.fabric, "s1", "s2");
    let (probe, ack) = (Signal::Probe(first), Signal::Ack(first));
    let (other, nack) = (Signal::Probe(second), Signal::Nack(second, full));
    let release = Signal::Release(second, full);
    let expected = [
        // From tick 0: read by s1 at 6, and by s2, the last switch, at 8 + 6; as an ACK at port 0
        // of s2 at 160 + 10.
        (60, "read", probe),
        (140, "read", probe),
        (170, "received", ack),
        // That port responds at tick 17: read by s2 at 20, by s1 at 28, at h1 at 300 + 35.
        (200, "read", ack),
        (280, "read", ack),
        (335, "received", ack),
        // From tick 100: read by s0 at 106, and refused by s1 at 114.
        (1_060, "read", other),
        (1_140, "read", other),
        (1_170, "received", nack),
        (1_200, "read", nack),
        (1_280, "read", nack),
        (1_335, "received", nack),
        // The release begins at tick 134 and ends at s0, the node before s1.
        (1_400, "read", release),
        (1_430, "received", release),
    ];
    assert_eq!(signals.collect::<Vec<_>>(), expected);
    // The first stream sends nothing before its admission, which delays it as a whole.
    let sent: Vec<[u64; 2]> = found
        .deliveries
        .iter()
        .map(|of| [of.message.created, of.entered].map(Time::as_ps))
        .collect();
    assert_eq!(sent, [[335, 340], [10_335, 10_340]]);
}

/// The refused stream holds s0 from 1,060 to 1,400, the admitted one until its last packet, of tick
/// 1,034, has passed.
#[test]
fn ledgers_match_probes_and_releases() {
    let plan = Arc::new(three_switches());
    let named = |from, to| channel(&plan.fabric, from, to);
    let links = [("h0", "s0"), ("s0", "s1"), ("h1", "s1"), ("s1", "s2"), ("s2", "h2")];
    let links = links.map(|(from, to)| named(from, to));
    // Time, and reserved bandwidth of each link in units of the rate.
    let course = [
        (0, [0, 0, 1, 0, 0]),
        (60, [0, 0, 1, 1, 0]),
        (140, [0, 0, 1, 1, 1]),
        (1_000, [1, 0, 1, 1, 1]),
        (1_060, [1, 1, 1, 1, 1]),
        (1_335, [0, 1, 1, 1, 1]),
        (1_400, [0, 0, 1, 1, 1]),
        (10_350, [0, 0, 0, 1, 1]),
        (10_400, [0, 0, 0, 0, 1]),
        (10_480, [0; 5]),
    ];
    for mut simulation in
        [gingham_oracle::start(Arc::clone(&plan)), gingham_engine::start(Arc::clone(&plan))]
    {
        let mut seen = Vec::new();
        while simulation.endpoints().is_running() {
            simulation.advance(1);
            let ledger = simulation.endpoints().ledger().unwrap();
            let reserved = links.map(|link| ledger.reserved(link) / 1_600_000_000);
            if seen.last().is_none_or(|(_, before)| *before != reserved) {
                seen.push((simulation.now().as_ps(), reserved));
            }
        }
        assert_eq!(seen, course);
        let requests = simulation.endpoints().requests();
        let states = requests.iter().map(|request| request.state);
        let refused = StreamState::Refused(channel(&plan.fabric, "s1", "s2"));
        assert_eq!(states.collect::<Vec<_>>(), [StreamState::Ended, refused]);
        assert_eq!(requests[0].set_up(), Some(Span::from_ps(335)));
        assert_eq!(requests[1].set_up(), Some(Span::from_ps(335)));
        assert!(simulation.endpoints().ledger().unwrap().is_empty());
    }
}
