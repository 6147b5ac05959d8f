//! A path by hand: packets of 1,000 bytes, and reports after 20 ms.

use super::*;
use proptest::prelude::*;

const MILLISECOND: u64 = 1_000_000;

/// A path of packets of 1,000 bytes, one after the other sent, and what is reported of them after
/// 20 ms.
struct Story {
    path: Path,
    sent: Sent,
    now_ns: u64,
}

impl Story {
    fn new() -> Self {
        let path = Path::new(FlightPlan::default(), 1_000, 2_000);
        Self { path, sent: Sent::default(), now_ns: 20 * MILLISECOND }
    }

    /// Sends all that may go, then hears that so much has come, by a marker sent 20 ms ago.
    fn round(&mut self, accounted_bytes: u64) {
        self.lossy_round(accounted_bytes, accounted_bytes);
    }

    /// The same where so much of it came.
    fn lossy_round(&mut self, accounted_bytes: u64, received_bytes: u64) {
        while self.path.admits(self.sent) {
            self.sent.bytes += 1_000;
        }
        let report = Report {
            accounted_bytes,
            received_bytes,
            came_at: Instant::from_nanoseconds(self.now_ns - 10 * MILLISECOND),
            echo: Instant::from_nanoseconds(self.now_ns - 20 * MILLISECOND),
            ..Report::default()
        };
        self.path.take(Instant::from_nanoseconds(self.now_ns), self.sent, &report);
        self.now_ns += 20 * MILLISECOND;
    }
}

proptest! {
    /// Whatever a receiver says, packets may go, and all is as whole numbers can have it.
    #[test]
    fn any_reports_at_all_leave_room_for_packets(
        reports in prop::collection::vec((any::<[u32; 3]>(), any::<[u64; 4]>(), any::<[bool; 3]>()), 1..60),
    ) {
        let mut story = Story::new();
        for (words, longs, plausible) in reports {
            story.sent.bytes += longs[0] % 100_000;
            story.now_ns += longs[1] % 50_000_000;
            let below = |plausible: bool, long: u64, most| if plausible { long % most } else { long };
            let report = Report {
                accounted_packets: words[0],
                received_packets: words[1],
                accounted_bytes: below(plausible[0], longs[2], story.sent.bytes + 1),
                received_bytes: longs[0],
                came_at: Instant::from_nanoseconds(below(plausible[1], longs[3], story.now_ns)),
                echo: Instant::from_nanoseconds(below(plausible[2], longs[1], story.now_ns)),
                held_ns: words[2] % 1_000_000,
                ..Report::default()
            };
            story.path.take(Instant::from_nanoseconds(story.now_ns), story.sent, &report);
            prop_assert!(story.path.window_bytes() >= 4_000);
        }
    }
}

/// Of 20 packets 5 come: 10, 20, 25. What a full queue drops would make it double for ever.
#[test]
fn what_does_not_come_makes_no_window_grow() {
    let mut story = Story::new();
    story.round(10_000);
    story.lossy_round(30_000, 15_000);
    assert_eq!(story.path.window_bytes(), 25_000);
}

/// Ten packets, then as many again as came: 10, 20, 40.
#[test]
fn a_start_doubles_in_a_round_trip() {
    let mut story = Story::new();
    assert_eq!(story.path.window_bytes(), 10_000);
    for (accounted, window) in [(10_000, 20_000), (30_000, 40_000), (70_000, 80_000)] {
        story.round(accounted);
        assert_eq!(story.path.window_bytes(), window);
    }
    assert_eq!(story.path.phase, Phase::Starting);
    // 40,000 in 20 ms.
    assert_eq!(story.path.bytes_per_second(), Some(2_000_000));
}

/// 1 MB/s and 20 ms are 20,000 bytes; reports of 20,000 at once are as much ahead; and a queue of
/// 3,000, one and a half quanta being more than 2 ms.
#[test]
fn a_window_is_way_aggregation_and_queue() {
    let mut story = Story::new();
    story.path.phase = Phase::Steady;
    story.path.window_bytes = 1_000_000;
    for round in 1..=20 {
        story.round(20_000 * round);
    }
    assert_eq!(story.path.bytes_per_second(), Some(1_000_000));
    assert_eq!(story.path.window_bytes(), 20_000 + 20_000 + 3_000);
}

/// What cannot be is not taken: more accounted for than sent, or a marker of the future.
#[test]
fn impossible_reports_change_nothing() {
    let mut story = Story::new();
    story.sent.bytes = 500;
    let now = Instant::from_nanoseconds(MILLISECOND);
    let later = Instant::from_nanoseconds(2 * MILLISECOND);
    let reports = [
        Report { accounted_bytes: 501, ..Report::default() },
        Report { accounted_bytes: 5, echo: later, ..Report::default() },
        Report { accounted_bytes: 5, held_ns: u32::MAX, ..Report::default() },
    ];
    for report in reports {
        story.path.take(now, story.sent, &report);
        assert_eq!(story.path.in_flight_bytes(story.sent), 500);
    }
}

/// A marker of the origin, an hour later: all of that is no round trip.
#[test]
fn a_round_trip_of_an_hour_is_none() {
    let mut story = Story::new();
    story.now_ns = 3_600_000 * MILLISECOND;
    story.round(0);
    let report = Report::default();
    story.path.take(Instant::from_nanoseconds(story.now_ns), story.sent, &report);
    assert_eq!(story.path.round_trip_ns(), 20 * MILLISECOND);
}

/// A round trip that stays above its least for 5 s asks for an empty queue, a little below the way.
#[test]
fn a_queue_is_let_run_empty_before_it_is_taken_for_the_way() {
    let mut story = Story::new();
    story.path.phase = Phase::Steady;
    story.path.tell(1_000_000);
    story.round(0);
    let least_at_ns = story.path.round_trip().least_at_ns();
    let due_ns = least_at_ns + 5_000 * MILLISECOND;
    assert!(!story.path.wants_emptying(due_ns - 1) && story.path.wants_emptying(due_ns));
    story.path.start_emptying();
    story.path.window_bytes = 40_000;
    story.round(0);
    assert_eq!(story.path.window_bytes(), 19_600);
}
