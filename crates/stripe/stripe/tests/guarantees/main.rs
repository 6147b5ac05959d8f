//! The table of guarantees on the crate's page, one test per row.

mod pipe;

use std::time::Duration;

use gingham_linkemu::{Loss, Parameters, Probability, Reordering};
use gingham_stripe::{
    Charge, Discard, Guarantee, OrderOptions, ReceiverOptions, RepairPlan, RepairRequests,
    ReportPlan, SenderOptions,
};

use pipe::{Pipe, clean, milliseconds, span};

const PACKETS: u32 = 1_000;

fn percent(percent: u32) -> Probability {
    Probability::new(f64::from(percent) / 100.0).expect("at most a hundred")
}

/// Delays of 5 and 40 ms, with 10 ms of jitter in order.
fn losing(lost_percent: u32) -> Vec<Parameters> {
    let line = |delay_ms| Parameters {
        loss: Loss::Independent(percent(lost_percent)),
        jitter: span(milliseconds(10)),
        ..clean(delay_ms)
    };
    vec![line(5), line(40)]
}

/// Also duplicates a tenth of the frames, and delays a tenth by 5 ms.
fn disorderly(lost_percent: u32) -> Vec<Parameters> {
    let disorder = |line| Parameters {
        duplication: percent(10),
        reordering: Reordering { probability: percent(10), span: span(milliseconds(5)) },
        ..line
    };
    losing(lost_percent).into_iter().map(disorder).collect()
}

fn guaranteed(repair: Option<RepairRequests>) -> ReceiverOptions {
    ReceiverOptions { guaranteed: Some(Guarantee { repair }), ..ReceiverOptions::default() }
}

fn repairing() -> (SenderOptions, ReceiverOptions) {
    let sender = SenderOptions { repair: Some(RepairPlan::default()), ..SenderOptions::default() };
    (sender, guaranteed(Some(RepairRequests::default())))
}

#[allow(clippy::large_types_passed_by_value, reason = "options are given once a test")]
fn run(lines: &[Parameters], sender: SenderOptions, receiver: ReceiverOptions) -> Pipe {
    let mut pipe = Pipe::new(lines, sender, receiver);
    pipe.send(PACKETS);
    pipe.drain();
    pipe
}

fn has_twice(delivered: &[u32]) -> bool {
    let mut sorted = delivered.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).any(|pair| pair[0] == pair[1])
}

#[test]
fn order_is_exact_without_loss_in_every_mode() {
    let (sender, repairing) = repairing();
    for receiver in [ReceiverOptions::default(), guaranteed(None), repairing] {
        let pipe = run(&losing(0), sender, receiver);
        assert!(pipe.delivered.iter().copied().eq(0..PACKETS));
        assert_eq!((pipe.receiver.reception().passed, pipe.receiver.reception().given_up), (0, 0));
    }
}

/// Half of the first thousand packets are lost and none of the second; markers go every 20 ms.
#[test]
fn quasi_fifo_is_restored_by_a_marker_after_the_last_loss() {
    let mut pipe = run(&losing(50), SenderOptions::default(), ReceiverOptions::default());
    assert!(!pipe.delivered.is_sorted(), "half of all lost, and nothing out of order");
    assert!(!has_twice(&pipe.delivered));
    pipe.heal();
    pipe.run_for(milliseconds(20));
    pipe.delivered.clear();
    pipe.send(PACKETS);
    pipe.drain();
    assert!(pipe.delivered.iter().copied().eq(PACKETS..2 * PACKETS));
}

#[test]
fn guaranteed_order_holds_under_loss_and_duplication() {
    let duplicating = losing(50).into_iter();
    let lines: Vec<_> =
        duplicating.map(|line| Parameters { duplication: percent(20), ..line }).collect();
    let pipe = run(&lines, SenderOptions::default(), guaranteed(None));
    assert!(pipe.delivered.is_sorted_by(|one, next| one < next));
    let missing = u64::from(PACKETS) - pipe.delivered.len() as u64;
    assert!(missing > 300 && pipe.receiver.reception().discards.of(Discard::Repeated) > 0);
}

/// With a loss of 20 %, also of copies, .2^4 = .16 % are missing after three attempts.
#[test]
fn repair_recovers_lost_packets_in_order() {
    let (sender, receiver) = repairing();
    let pipe = run(&losing(20), sender, receiver);
    assert!(pipe.delivered.is_sorted_by(|one, next| one < next));
    let missing = PACKETS as usize - pipe.delivered.len();
    let repaired = pipe.receiver.reception().repaired;
    assert!(missing <= 10 && repaired > 150, "{missing} missing, {repaired} repaired");
}

#[test]
fn resequenced_channel_has_the_guarantees_of_a_lossy_one() {
    let order = OrderOptions { wait: milliseconds(10), ..OrderOptions::default() };
    for (lost_percent, repairs) in [(0, false), (30, false), (10, true)] {
        let (sender, repairing) = repairing();
        let receiver = if repairs { repairing } else { guaranteed(None) };
        let mut pipe = Pipe::new(&disorderly(lost_percent), sender, receiver).in_order(order);
        pipe.send(PACKETS);
        pipe.drain();
        assert!(pipe.delivered.is_sorted_by(|one, next| one < next));
        let missing = PACKETS as usize - pipe.delivered.len();
        let missing_max = if repairs { 10 } else { PACKETS as usize * lost_percent as usize / 80 };
        assert!(missing <= missing_max, "{missing} missing of {lost_percent} % lost");
    }
}

#[test]
fn quasi_fifo_with_reordering_and_duplication_only_progresses() {
    let pipe = run(&disorderly(0), SenderOptions::default(), ReceiverOptions::default());
    assert!(!pipe.delivered.is_sorted() && has_twice(&pipe.delivered));
    let given = pipe.delivered.len() as u64;
    let discarded = pipe.receiver.reception().discards.total();
    assert!(given + discarded >= u64::from(PACKETS), "{given} given out, {discarded} discarded");
    assert_eq!(pipe.waiting(), 0);
}

/// Memory for 38 packets; the fast channel alone is further ahead of the slow one than that.
#[test]
fn credits_prevent_buffer_overflow() {
    for credits in [false, true] {
        let charge = credits.then(Charge::default);
        let sender = SenderOptions { credits: charge, ..SenderOptions::default() };
        let receiver = ReceiverOptions {
            buffer_bytes_max: 40 * 1_064,
            reports: Some(ReportPlan::default()),
            ..ReceiverOptions::default()
        };
        let pipe = run(&losing(0), sender, receiver);
        let full = pipe.receiver.reception().discards.of(Discard::BufferFull);
        assert_eq!(full == 0, credits, "{full} packets found no room");
        assert_eq!(credits, pipe.delivered.iter().copied().eq(0..PACKETS));
    }
}

/// The sender does not detect that one of three channels is dead.
#[test]
fn packet_delay_is_bounded_by_the_waits() {
    let (sender, repairing) = repairing();
    let sender = SenderOptions { silence: None, ..sender };
    for (receiver, most) in [
        (ReceiverOptions::default(), milliseconds(200)),
        (guaranteed(None), milliseconds(200)),
        (repairing, milliseconds(400)),
    ] {
        let dead = Parameters { loss: Loss::Independent(Probability::ALWAYS), ..clean(5) };
        let pipe = run(&[clean(5), dead, clean(40)], sender, receiver);
        assert!(pipe.delivered.len() > 600, "{} packets", pipe.delivered.len());
        assert!(
            Duration::ZERO < pipe.waited_max && pipe.waited_max <= most,
            "{:?}",
            pipe.waited_max
        );
        assert_eq!(pipe.waiting(), 0);
    }
}
