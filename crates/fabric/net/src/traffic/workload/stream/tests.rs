//! Hand-calculated message sequences of streams.

use super::*;
use crate::traffic::{DeadlinePlan, LaterPlan, OnOffStream, PeriodLaw, PeriodPlan};
use gingham_topology::EndpointId;

/// Time in ps, payload bytes, frame (number and message count), and whether the message is the last
/// of the stream.
type Row = (u64, u32, Option<(u32, u32)>, bool);

fn trace(bytes: &[u32], first: usize, spread: Spread) -> DataPlan {
    DataPlan::Frames(FramePlan {
        sizes: FrameSizes::Trace { bytes: bytes.into(), first: FirstFrame::At(first) },
        interval: Span::from_ps(1_000),
        message_bytes: 100,
        spread,
        deadlines: DeadlinePlan { warm_up_frames: 0, slack: Span::ZERO },
    })
}

fn plan(data: DataPlan, lifetime: Option<u64>) -> StreamPlan {
    StreamPlan {
        destination: EndpointId::new(3),
        number: 0,
        data: Arc::new(data),
        later: LaterPlan { turn: Span::from_ps(50), jitter: Span::ZERO },
        lifetime: lifetime.map(Span::from_ps),
        solicits: 1.5,
        crashes: 0.0,
    }
}

fn rows(plan: &StreamPlan, stop: Time, count: usize) -> Vec<Row> {
    let stream_of = |purpose| Stream::new(1, "h0[1]/video/0", purpose);
    let active = Time::from_ps(1_000)..stop;
    let mut sender = StreamSender::in_period(StreamId::new(5), plan, &active, stream_of);
    let next = || {
        let at = sender.next_at()?;
        let Draft { destination, payload_bytes } = sender.due(at)?;
        let part = sender.part().unwrap();
        assert_eq!((destination, part.stream), (EndpointId::new(3), StreamId::new(5)));
        let frame = part.frame.map(|frame| (frame.number, frame.messages.get()));
        Some((at.as_ps(), payload_bytes, frame, part.is_last))
    };
    std::iter::from_fn(next).take(count).collect()
}

#[test]
fn frame_is_segmented_and_its_messages_created_together() {
    // Frames of 250 B, 100 B and, with wrap-around of the trace, 30 B.
    let plan = plan(trace(&[30, 250, 100], 1, Spread::AtOnce), None);
    let expected = [
        (1_050, 100, Some((0, 3)), false),
        (1_050, 100, Some((0, 3)), false),
        (1_050, 50, Some((0, 3)), false),
        (2_050, 100, Some((1, 1)), false),
        (3_050, 30, Some((2, 1)), false),
        (4_050, 100, Some((3, 3)), false),
    ];
    assert_eq!(rows(&plan, Time::MAX, 6), expected);
}

#[test]
fn frame_messages_are_spread_over_the_interval() {
    let plan = plan(trace(&[250, 100], 0, Spread::Even), None);
    let expected = [
        (1_050, 100, Some((0, 3)), false),
        (1_383, 100, Some((0, 3)), false),
        (1_716, 50, Some((0, 3)), false),
        (2_050, 100, Some((1, 1)), false),
    ];
    assert_eq!(rows(&plan, Time::MAX, 4), expected);
}

#[test]
fn stream_has_whole_frames_and_flags_its_last_message() {
    // The first frame lasts from 1,050 to 2,050 ps, the second until 3,050 ps.
    let ends = [
        (plan(trace(&[150], 0, Spread::Even), Some(2_000)), Time::MAX),
        (plan(trace(&[150], 0, Spread::Even), Some(2_999)), Time::MAX),
        (plan(trace(&[150], 0, Spread::Even), None), Time::from_ps(3_050)),
    ];
    let expected = [
        (1_050, 100, Some((0, 2)), false),
        (1_550, 50, Some((0, 2)), false),
        (2_050, 100, Some((1, 2)), false),
        (2_550, 50, Some((1, 2)), true),
    ];
    for (plan, stop) in ends {
        assert_eq!(rows(&plan, stop, 9), expected);
    }
    assert!(rows(&plan(trace(&[150], 0, Spread::Even), Some(999)), Time::MAX, 9).is_empty());
}

#[test]
fn on_off_stream_has_no_frames_but_a_last_message() {
    // A shape of 10^9 leaves no spread: on for 300 ps, off for 200 ps, with 8 B every 100 ps while
    // on.
    let periods = PeriodPlan {
        on_mean: Span::from_ps(300),
        off_mean: Span::from_ps(200),
        law: PeriodLaw::Pareto { shape: 1e9 },
    };
    let data = DataPlan::OnOff(OnOffStream { periods, interval_ps: 100.0, message_bytes: 8 });
    // Mean rate: 8 B every 100 ps for three fifths of the time.
    assert!((data.bytes_per_ps() - 0.048).abs() < 1e-12);
    let plan = plan(data, Some(100_000));
    let found = rows(&plan, Time::MAX, 10_000);
    // Expected: 600 messages, plus or minus the 3 messages of one on-period.
    assert!(found.len().abs_diff(600) <= 3, "{}", found.len());
    assert!(found.iter().all(|(_, bytes, frame, _)| *bytes == 8 && frame.is_none()));
    let last = found.iter().filter(|(_, _, _, is_last)| *is_last).count();
    assert!(last == 1 && found.last().unwrap().3);
    assert!((plan.solicited_bytes_per_ps() - 0.072).abs() < 1e-12);
}

#[test]
fn normal_frame_sizes_have_their_mean_and_deviation() {
    let sizes = FrameSizes::Normal { mean: 16_666.0, deviation: 3_333.0 };
    let data = DataPlan::Frames(FramePlan {
        sizes,
        interval: Span::from_ps(1_000),
        message_bytes: 1 << 20,
        spread: Spread::AtOnce,
        deadlines: DeadlinePlan { warm_up_frames: 0, slack: Span::ZERO },
    });
    let found = rows(&plan(data, None), Time::MAX, 40_000);
    let sizes: Vec<f64> = found.iter().map(|(_, bytes, _, _)| f64::from(*bytes)).collect();
    let mean = sizes.iter().sum::<f64>() / 40_000.0;
    // Standard errors: 3,333 / 200 = 17 for the mean, 3,333 / sqrt(80,000) = 12 for the deviation.
    assert!((mean - 16_666.0).abs() < 85.0, "{mean}");
    let square = sizes.iter().map(|size| (size - mean) * (size - mean)).sum::<f64>() / 40_000.0;
    assert!((square.sqrt() - 3_333.0).abs() < 60.0, "{}", square.sqrt());
}

#[test]
fn mean_frame_size_is_that_of_a_clamped_normal_distribution() {
    let mean = |mean, deviation| FrameSizes::Normal { mean, deviation }.mean_bytes();
    assert!((mean(16_666.0, 3_333.0) - 16_666.0).abs() < 0.01);
    // Half of the values become 1. The others exceed 1 by 10 / sqrt(2 pi), averaged over all
    // values.
    assert!((mean(1.0, 10.0) - (1.0 + 10.0 * 0.398_942_28)).abs() < 1e-6);
    assert!((mean(20.0, 0.0) - 20.0).abs() < 1e-12);
}

#[test]
fn data_plan_reports_its_message_sizes_and_rates() {
    let data = trace(&[30, 250, 100], 0, Spread::AtOnce);
    assert_eq!(data.payload_bytes(), 30..=100);
    // Mean rates: 380 B and 5 messages in 3,000 ps.
    assert!((data.bytes_per_ps() - 380.0 / 3_000.0).abs() < 1e-12);
    assert!((data.messages_per_ps() - 5.0 / 3_000.0).abs() < 1e-12);
    assert_eq!(trace(&[30, 40], 0, Spread::AtOnce).payload_bytes(), 30..=40);
}
