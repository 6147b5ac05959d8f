//! Hand-calculated deadlines of frames.

use super::clock::{Clock, FrameSums};
use super::report::{law_of_records, over_streams};
use super::stream::StreamFrames;
use crate::traffic::{DeadlinePlan, FramePart, FramePlan, FrameSizes, Spread};
use gingham_kernel::{Purpose, Span, Stream, Time};
use gingham_results::Ratio;
use std::num::NonZeroU32;

const T: u64 = 100;

fn deadlines(warm_up_frames: u32, slack: u64) -> DeadlinePlan {
    DeadlinePlan { warm_up_frames, slack: Span::from_ps(slack) }
}

fn sums(plan: DeadlinePlan, arrivals: &[u64]) -> FrameSums {
    let mut clock = Clock::new(Span::from_ps(T), plan);
    for ps in arrivals {
        clock.arrive(Time::from_ps(*ps));
    }
    clock.sums
}

/// Arrival times in ps. The first frame has no deadline; the others are due at 1100, 1200, 1330,
/// 1440 and 1540 ps. The third is 30 ps late, the fourth 10 ps.
const ARRIVALS: [u64; 6] = [1_000, 1_100, 1_230, 1_340, 1_430, 1_540];

#[test]
fn late_frame_resets_the_deadline_clock() {
    let found = sums(deadlines(0, 0), &ARRIVALS);
    assert_eq!((found.frames, found.missed, found.late_ps), (6, 2, 40));
    // Intervals: 100, 130, 110, 90 and 110 ps.
    assert_eq!((found.intervals, found.excess_ps, found.excess_squared_ps), (5, 40, 1_200));
}

#[test]
fn fixed_deadline_clock_starts_at_the_first_frame() {
    // Deadlines of the fixed clock: 1000, 1100, 1200, 1300, 1400, 1500 ps.
    assert_eq!(sums(deadlines(0, 0), &ARRIVALS).missed_fixed, 4);
    // With 30 ps of slack, the frames at 1230 and 1430 ps are just in time.
    assert_eq!(sums(deadlines(0, 30), &ARRIVALS).missed_fixed, 2);
}

#[test]
fn warm_up_frames_set_clocks_but_are_not_counted() {
    let found = sums(deadlines(3, 0), &ARRIVALS);
    assert_eq!((found.frames, found.missed, found.late_ps), (3, 1, 10));
    assert_eq!((found.missed_fixed, found.intervals), (3, 3));
}

fn stream(warm_up_frames: u32) -> StreamFrames {
    StreamFrames::new(&FramePlan {
        sizes: FrameSizes::Normal { mean: 1.0, deviation: 0.0 },
        interval: Span::from_ps(T),
        message_bytes: 1,
        spread: Spread::AtOnce,
        deadlines: deadlines(warm_up_frames, 0),
    })
}

fn part(number: u32, messages: u32) -> FramePart {
    FramePart { number, messages: NonZeroU32::new(messages).unwrap() }
}

fn create(stream: &mut StreamFrames, number: u32, messages: u32) {
    (0..messages).for_each(|_| stream.created(part(number, messages)));
}

#[test]
fn frame_arrives_with_its_last_message_and_in_frame_order() {
    let mut stream = stream(0);
    create(&mut stream, 0, 2);
    create(&mut stream, 1, 2);
    create(&mut stream, 2, 1);
    // Frame 1 is complete at 30 ps, before frame 0 at 40 ps. Frame 2 is due at 40 + 200 ps.
    for (ps, number, messages) in [(10, 1, 2), (20, 0, 2), (30, 1, 2)] {
        stream.delivered(part(number, messages), Time::from_ps(ps));
        assert_eq!(stream.clock.delivered, 0);
    }
    stream.delivered(part(0, 2), Time::from_ps(40));
    assert_eq!((stream.clock.delivered, stream.clock.sums.missed), (2, 0));
    stream.delivered(part(2, 1), Time::from_ps(241));
    let found = stream.clock.sums;
    assert_eq!((found.frames, found.missed, found.late_ps), (3, 1, 1));
    // Frames arrive at 40, 30 and 241 ps: the intervals are -10 ps and 211 ps, the planned interval
    // is 100 ps.
    assert_eq!((found.intervals, found.excess_ps), (2, -110 + 111));
}

#[test]
fn lost_frame_advances_the_deadline_clock() {
    let mut stream = stream(0);
    create(&mut stream, 0, 1);
    stream.delivered(part(0, 1), Time::from_ps(1_000));
    create(&mut stream, 1, 2);
    stream.dropped(part(1, 2));
    stream.delivered(part(1, 2), Time::from_ps(1_120));
    create(&mut stream, 2, 1);
    stream.delivered(part(2, 1), Time::from_ps(1_205));
    let found = stream.clock.sums;
    assert_eq!((stream.begun, stream.lost, stream.clock.delivered), (3, 1, 2));
    assert_eq!((found.missed, found.late_ps, found.intervals), (1, 5, 0));
}

#[test]
fn record_law_matches_values_computed_by_hand() {
    let close = |found: Option<f64>, expected: f64| (found.unwrap() - expected).abs() < 1e-12;
    assert!(close(law_of_records(2, 2), 7.0 / 24.0));
    assert!(close(law_of_records(0, 3), 5.0 / 18.0));
    assert!(close(law_of_records(1, 2), 5.0 / 12.0));
    assert_eq!(law_of_records(100, 0), None);
    // Expected: approximately ln(400.5 / 100.5) / 300.
    assert!((law_of_records(100, 300).unwrap() - 0.004_608).abs() < 1e-6);
}

fn missed_by_chance(streams: u32, jitter: u64) -> gingham_results::Estimate {
    let of_stream = |number: u32| {
        let mut draw = Stream::new(7, &format!("stream {number}"), Purpose::Jitter);
        let mut clock = Clock::new(Span::from_ps(1_000_000), deadlines(20, 0));
        for frame in 0..120 {
            clock.arrive(Time::from_ps(frame * 1_000_000 + draw.below(jitter)));
        }
        Ratio { sum: clock.sums.missed.into(), over: clock.sums.frames.into() }
    };
    over_streams(&(0..streams).map(of_stream).collect::<Vec<_>>()).unwrap()
}

#[test]
fn independent_frames_miss_by_the_record_law_at_any_jitter() {
    let law = law_of_records(20, 100).unwrap();
    for jitter in [1_000, 100_000, 900_000] {
        let found = missed_by_chance(2_000, jitter);
        let half_width = found.half_width.unwrap();
        assert!((found.mean - law).abs() < 1.5 * half_width, "{found:?}, expected {law}");
        assert!(half_width < 0.05 * law, "the interval is narrow enough to tell: {found:?}");
    }
}

#[test]
fn interval_over_streams_uses_student_t() {
    // The means of three equally long streams are 1, 2 and 3 (standard deviation 1). Half-width:
    // Student's t for two degrees of freedom, divided by sqrt 3.
    let streams = [1.0, 2.0, 3.0].map(|sum| Ratio { sum: 4.0 * sum, over: 4.0 });
    let found = over_streams(&streams).unwrap();
    assert!((found.mean - 2.0).abs() < 1e-12);
    assert!((found.half_width.unwrap() - 4.302_652_73 / 3_f64.sqrt()).abs() < 1e-6);
    assert_eq!(over_streams(&streams[..1]).unwrap().half_width, None);
    assert_eq!(over_streams(&[Ratio::default()]), None);
}
