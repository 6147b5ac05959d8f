//! Packets that arrive bad, which endpoints discard.

use crate::common::packets::packets_plan;
use crate::common::{chain, stop_at};
use crate::support::scheduled_to;
use gingham_kernel::Time;
use gingham_net::{Arrival, Endpoints, Notice, Packet, SegmentationPlan, Turn};
use gingham_topology::EndpointId;
use std::sync::Arc;

fn take(endpoints: &mut Endpoints, at: u64) -> Packet {
    match endpoints.turn(EndpointId::new(0), 0, Time::from_ps(at)) {
        Turn::Send(packet) => packet,
        _ => panic!("a packet waits"),
    }
}

fn receive(endpoints: &mut Endpoints, packet: &Packet, at: u64) {
    let arrived = Time::from_ps(at);
    let arrival = Arrival {
        payload_bytes: packet.payload_bytes,
        wire_bytes: packet.payload_bytes.into(),
        hops: 0,
        in_transit_hosts: 0,
        head_arrived: arrived,
        arrived,
    };
    endpoints.notify(arrived, Notice::Received { packet, arrival: &arrival });
}

#[test]
fn message_with_a_bad_packet_is_lost_and_the_next_is_delivered() {
    let mut plan = packets_plan(chain(0), 1);
    scheduled_to(&mut plan, 0, &[(0, 1, 25), (0, 1, 5)]);
    plan.classes[0].segmentation = SegmentationPlan::Fixed(10);
    plan.stop = stop_at(1_000);
    let mut endpoints = Endpoints::new(Arc::new(plan));
    for _ in 0..2 {
        endpoints.create_next(0, Time::ZERO);
    }
    let mut packets = [0, 100, 200, 250].map(|at| take(&mut endpoints, at));
    assert_eq!(packets.map(|packet| packet.payload_bytes), [10, 10, 5, 5]);
    endpoints.conservation().assert_holds(4);
    packets[1].is_bad = true;
    let count = |endpoints: &Endpoints| {
        let collector = endpoints.collector();
        (collector.delivered_messages(), collector.lost_messages(), collector.in_flight_messages())
    };
    let expected = [(0, 0, 2), (0, 1, 1), (0, 1, 1), (1, 1, 0)];
    for (place, (packet, expected)) in packets.iter().zip(expected).enumerate() {
        receive(&mut endpoints, packet, 300 + 100 * place as u64);
        assert_eq!(count(&endpoints), expected, "packet {place}");
        endpoints.conservation().assert_holds(3 - place);
    }
    assert_eq!(endpoints.conservation().lost(), 1);
}
