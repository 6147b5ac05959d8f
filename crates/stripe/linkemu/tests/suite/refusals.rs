//! Invalid parameters, and their error messages.

use crate::common::{clean, probability};
use gingham_kernel::{Rate, Span, Time};
use gingham_linkemu::{
    Channel, Competing, GilbertElliott, Loss, Outage, Parameters, Policer, Probability, QueueBound,
    Reordering, Spacing,
};

fn refusal(parameters: Parameters) -> String {
    Channel::new(parameters, 1, "east").expect_err("it makes no sense").to_string()
}

fn outages(spans: &[(u64, u64)]) -> Parameters {
    let outage = |(from, until)| Outage { from: Time::from_ps(from), until: Time::from_ps(until) };
    Parameters { outages: spans.iter().copied().map(outage).collect(), ..clean(1_000) }
}

#[test]
fn empty_queue_is_rejected() {
    assert!(refusal(clean(0)).starts_with("a queue of 0 bytes"));
}

#[test]
fn queue_time_must_be_positive_and_countable() {
    let queue = |span_ps| QueueBound::Time(Span::from_ps(span_ps));
    let waits = |span_ps| Parameters { queue: queue(span_ps), ..clean(1) };
    assert!(refusal(waits(0)).starts_with("a queue of 0 s"));
    // 2^63 bytes at 2^63 bytes per second take a second.
    let fast =
        Parameters { rate: Rate::from_bytes_per_second(1 << 63), ..waits(1_000_000_000_000) };
    assert!(refusal(fast).contains("more bytes than can be counted"));
    let day_ps = Parameters::WAY_PS_MAX;
    assert!(refusal(waits(day_ps)).starts_with("a packet could be on the way for 86401 s"));
    assert!(waits(day_ps - 5_000).check().is_ok());
}

/// A second at 1 GB/s and a packet of 1,000 bytes take 50,000 s at 20 kB/s, and 100,000 s at 10
/// kB/s.
#[test]
fn rate_change_that_delays_packets_over_a_day_is_rejected() {
    let second = QueueBound::Time(Span::from_ps(1_000_000_000_000));
    let waits = Parameters { queue: second, ..clean(1) };
    let change = |to| waits.check_change(Rate::from_bytes_per_second(to), waits.rate, 1_000);
    assert_eq!(change(20_000), Ok(()));
    let error = change(10_000).expect_err("it takes more than a day").to_string();
    assert!(error.starts_with("a packet could be on the way for 100001 s"), "{error}");
}

#[test]
fn policer_without_burst_is_rejected() {
    let policer = Policer { rate: Rate::from_bytes_per_second(1), burst_bytes: 0 };
    assert!(
        refusal(Parameters { policer: Some(policer), ..clean(1_000) }).contains("a burst of 0")
    );
}

#[test]
fn competing_traffic_needs_bytes_and_duration() {
    let competing = Competing {
        rate: Rate::from_bytes_per_second(1),
        packet_bytes: 1,
        spacing: Spacing::Even,
        from: Time::from_ps(7),
        until: Time::from_ps(8),
    };
    let beside = |one| Parameters { competing: vec![competing, one], ..clean(1_000) };
    assert!(beside(competing).check().is_ok());
    let none = Competing { packet_bytes: 0, ..competing };
    assert!(refusal(beside(none)).starts_with("competing packets of 0 bytes"));
    let ended = Competing { until: competing.from, ..competing };
    assert_eq!(
        refusal(beside(ended)),
        "competing traffic that begins at 7 ps ends at 7 ps: its end must be later"
    );
}

#[test]
fn endless_bad_state_is_rejected() {
    let bursts = GilbertElliott {
        to_bad: probability(0.1),
        to_good: Probability::NEVER,
        loss_good: Probability::NEVER,
        loss_bad: Probability::ALWAYS,
    };
    let endless = Parameters { loss: Loss::Bursts(bursts), ..clean(1_000) };
    assert!(refusal(endless).starts_with("to_good is 0"));
}

#[test]
fn reordering_needs_a_positive_span() {
    let reordering = Reordering { probability: probability(0.1), span: Span::ZERO };
    assert!(refusal(Parameters { reordering, ..clean(1_000) }).contains("a span of 0"));
}

#[test]
fn outages_need_positive_length_and_order() {
    let empty = "the outage that begins at 7 ps ends at 7 ps: its end must be later";
    assert_eq!(refusal(outages(&[(1, 2), (7, 7)])), empty);
    assert!(refusal(outages(&[(9, 3)])).starts_with("the outage that begins at 9 ps ends at 3 ps"));
    let order = refusal(outages(&[(5, 10), (9, 20)]));
    assert!(
        order.starts_with("an outage begins at 9 ps, when the one before it lasts until 10 ps"),
        "{order}"
    );
    assert!(outages(&[(0, 10), (10, 20)]).check().is_ok(), "one may follow at once");
}

#[test]
fn delay_of_a_packet_is_at_most_a_day() {
    let day = Parameters::clean(Rate::from_bytes_per_second(1), 86_400, Span::ZERO);
    assert!(day.check().is_ok());
    let longer = Parameters { delay: Span::from_ps(1), ..day.clone() };
    assert!(refusal(longer).starts_with("a packet could be on the way for 86401 s"));
    let longer = Parameters { jitter: Span::from_ps(1), ..day.clone() };
    assert!(longer.check().is_err());
    let reordering = Reordering { probability: Probability::ALWAYS, span: Span::from_ps(1) };
    assert!(Parameters { reordering, ..day }.check().is_err());
    // The check itself does not overflow.
    let slow = Parameters::clean(Rate::from_bytes_per_second(1), u64::MAX, Span::from_ps(u64::MAX));
    assert!(refusal(slow).contains("18446744073727998360 s"));
}
