use super::{Aimd, Fimd, Limits, Lipd, Response};
use crate::Pace;
use gingham_kernel::Span;

/// A packet of 64 KiB takes 1 us at the highest rate: the pace says how long it takes.
const HIGHEST_PS: u32 = 1_000_000;
const LOWEST: f64 = 1.0 / 256.0;

fn limits() -> Limits {
    Limits { window_packets: 1, pace: Some(Pace::new(Span::from_ps(HIGHEST_PS.into()))) }
}

fn rate(limits: &Limits) -> f64 {
    let refill_ps = limits.pace.unwrap().refill().as_ps();
    f64::from(HIGHEST_PS) / f64::from(u32::try_from(refill_ps).unwrap())
}

/// Goes down from a rate once, and up until it is back: the time that this takes, a packet at each
/// rate, in packets at the lowest one. Of the last packet only the part counts that is needed.
fn recovery(response: Response, from: f64) -> f64 {
    let mut limits = limits();
    let mut responder = response.start(&limits);
    // Down to the lowest, then up to about where it is asked.
    for _ in 0..100_000 {
        responder.answered(true, &mut limits);
    }
    assert!((rate(&limits) - LOWEST).abs() < 1e-9, "no rate is below the lowest");
    while rate(&limits) < from {
        responder.answered(false, &mut limits);
    }
    let before = rate(&limits);
    responder.answered(true, &mut limits);
    let mut time = 0.0;
    while rate(&limits) < before * (1.0 - 1e-9) {
        let slower = rate(&limits);
        responder.answered(false, &mut limits);
        let part = (before - slower) / (rate(&limits) - slower);
        time += part.min(1.0) / slower;
    }
    time * LOWEST
}

#[test]
fn lipd_and_fimd_recover_in_the_time_of_a_packet_at_the_lowest_rate() {
    let lipd = Response::Lipd(Lipd { lowest: LOWEST });
    let fimd = Response::Fimd(Fimd { lowest: LOWEST, factor: 2.0 });
    for response in [lipd, fimd] {
        for from in [1.0, 0.5, 0.2, 0.1, 0.05] {
            let time = recovery(response, from);
            assert!((time - 1.0).abs() < 0.05, "{response:?} from {from}: {time}");
        }
    }
}

#[test]
fn aimd_recovers_the_slower_the_higher_its_rate() {
    let aimd = Response::Aimd(Aimd { lowest: LOWEST, factor: 2.0 });
    for (from, expected) in [(1.0, 128.0), (0.5, 64.0), (0.2, 25.6)] {
        let time = recovery(aimd, from);
        assert!((time - expected).abs() < 0.02 * expected, "from {from}: {time}");
    }
}

#[test]
fn a_mark_at_the_full_rate_is_what_each_says() {
    let after = |response: Response| {
        let mut limits = limits();
        let mut responder = response.start(&limits);
        let rates = [true, true, false].map(|marked| {
            responder.answered(marked, &mut limits);
            limits.pace.unwrap().refill().as_ps()
        });
        assert_eq!(limits.window_packets, 1);
        rates
    };
    // A time more, another, and a 256th less.
    assert_eq!(after(Response::Lipd(Lipd::default())), [2_000_000, 3_000_000, 2_988_281]);
    // Halved twice; then 2^(4/256) of it.
    assert_eq!(after(Response::Fimd(Fimd::default())), [2_000_000, 4_000_000, 3_956_912]);
    // Then 1/256^2 over 1/4 more: 1/4 + 4/65,536.
    assert_eq!(after(Response::Aimd(Aimd::default())), [2_000_000, 4_000_000, 3_999_024]);
}
