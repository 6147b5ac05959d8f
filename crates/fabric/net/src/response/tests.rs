use super::{
    Aimd, Becn, Dcqcn, Delay, Fimd, Limits, Lipd, Responder, Response, RoundTrip, RoundTrips,
    Swift, Timely,
};
use crate::RateLimit;
use gingham_kernel::{Bytes, Rate, Span, Time};

/// Serialisation time of 64 KiB at the highest rate.
const HIGHEST_PS: u32 = 1_000_000;
const LOWEST: f64 = 1.0 / 256.0;

fn limits() -> Limits {
    Limits {
        window_packets: 1,
        rate_limit: Some(RateLimit::new(Span::from_ps(HIGHEST_PS.into()))),
        gap: Span::ZERO,
    }
}

fn acknowledged(responder: &mut Responder, marked: bool, limits: &mut Limits) {
    if marked { responder.down(limits, Time::ZERO) } else { responder.up(limits, Time::ZERO) }
}

fn rate(limits: &Limits) -> f64 {
    let refill_ps = limits.rate_limit.unwrap().refill().as_ps();
    f64::from(HIGHEST_PS) / f64::from(u32::try_from(refill_ps).unwrap())
}

/// Returns the recovery time after one decrease from the rate `from`, in packet times at the lowest
/// rate.
fn recovery(response: &Response, from: f64) -> f64 {
    let mut limits = limits();
    let mut responder = response.start(&limits);
    for _ in 0..100_000 {
        responder.down(&mut limits, Time::ZERO);
    }
    assert!((rate(&limits) - LOWEST).abs() < 1e-9, "no rate is below the lowest");
    while rate(&limits) < from {
        responder.up(&mut limits, Time::ZERO);
    }
    let before = rate(&limits);
    responder.down(&mut limits, Time::ZERO);
    let mut time = 0.0;
    while rate(&limits) < before * (1.0 - 1e-9) {
        let slower = rate(&limits);
        responder.up(&mut limits, Time::ZERO);
        let part = (before - slower) / (rate(&limits) - slower);
        time += part.min(1.0) / slower;
    }
    time * LOWEST
}

#[test]
fn lipd_and_fimd_recover_in_one_packet_time_at_lowest_rate() {
    let lipd = Response::Lipd(Lipd { lowest: LOWEST });
    let fimd = Response::Fimd(Fimd { lowest: LOWEST, factor: 2.0 });
    for response in [lipd, fimd] {
        for from in [1.0, 0.5, 0.2, 0.1, 0.05] {
            let time = recovery(&response, from);
            assert!((time - 1.0).abs() < 0.05, "{response:?} from {from}: {time}");
        }
    }
}

#[test]
fn aimd_recovery_time_grows_with_the_rate() {
    let aimd = Response::Aimd(Aimd { lowest: LOWEST, factor: 2.0 });
    for (from, expected) in [(1.0, 128.0), (0.5, 64.0), (0.2, 25.6)] {
        let time = recovery(&aimd, from);
        assert!((time - expected).abs() < 0.02 * expected, "from {from}: {time}");
    }
}

#[test]
fn mark_at_full_rate_reduces_it_as_each_response_defines() {
    let after = |response: Response| {
        let mut limits = limits();
        let mut responder = response.start(&limits);
        let rates = [true, true, false].map(|marked| {
            acknowledged(&mut responder, marked, &mut limits);
            limits.rate_limit.unwrap().refill().as_ps()
        });
        assert_eq!(limits.window_packets, 1);
        rates
    };
    // Two marks add one packet time each; then the time between packets falls by 1/256.
    assert_eq!(after(Response::Lipd(Lipd::default())), [2_000_000, 3_000_000, 2_988_281]);
    // The rate is halved twice, then multiplied by 2^(4/256).
    assert_eq!(after(Response::Fimd(Fimd::default())), [2_000_000, 4_000_000, 3_956_912]);
    // The rate is halved twice, then raised to 1/4 + 4/65,536.
    assert_eq!(after(Response::Aimd(Aimd::default())), [2_000_000, 4_000_000, 3_999_024]);
}

struct Flow {
    limits: Limits,
    responder: Responder,
}

impl Flow {
    fn new(response: &Response) -> Self {
        Self::on(response, Span::from_ps(HIGHEST_PS.into()))
    }

    fn on(response: &Response, highest: Span) -> Self {
        let limits = Limits {
            window_packets: 1,
            rate_limit: Some(RateLimit::new(highest)),
            gap: Span::ZERO,
        };
        Self { responder: response.start(&limits), limits }
    }

    /// Returns the time between packets of 64 KiB after a packet has started, in ps.
    fn sends(&mut self, payload_bytes: u32, at_ps: u64) -> u64 {
        self.responder.sends(payload_bytes, &mut self.limits, Time::from_ps(at_ps));
        self.limits.rate_limit.unwrap().refill().as_ps()
    }

    fn marked(&mut self, at_ps: u64) -> u64 {
        self.responder.down(&mut self.limits, Time::from_ps(at_ps));
        self.limits.rate_limit.unwrap().refill().as_ps()
    }
}

#[test]
fn becn_raises_the_table_index_and_the_timer_lowers_it() {
    let becn = Becn { timer: 1, limit: 3, ..Becn::default() };
    let mut flow = Flow::new(&Response::Becn(becn.clone()));
    assert_eq!([flow.marked(0), flow.marked(100_000)], [2_000_000, 3_000_000]);
    // The timer of 1.024 us starts with the first mark.
    assert_eq!([1_023_999, 1_024_000].map(|at| flow.sends(1, at)), [3_000_000, 2_000_000]);
    // The timer has expired again at 2.048 us, and stopped.
    assert_eq!(flow.sends(1, 3_000_000), 1_000_000);
    // The index rises to its limit; the timer restarts with the first of these marks.
    assert_eq!([0; 5].map(|_| flow.marked(3_000_000)).last(), Some(&4_000_000));
    assert_eq!([4_023_999, 4_024_000].map(|at| flow.sends(1, at)), [4_000_000, 3_000_000]);
    let mut faster = Flow::new(&Response::Becn(Becn { increase: 2, ..becn.clone() }));
    assert_eq!([faster.marked(0), faster.marked(1_500_000)], [3_000_000, 4_000_000]);
    let mut bounded = Flow::new(&Response::Becn(Becn { min: 1, ..becn }));
    assert_eq!(bounded.sends(1, 0), 2_000_000);
    assert_eq!([bounded.marked(0), bounded.sends(1, 9_000_000)], [3_000_000, 2_000_000]);
}

#[test]
fn becn_table_entries_are_shift_and_multiplier() {
    let table = ["0:0", "1:1", "0:4"].map(|entry| entry.parse().unwrap()).to_vec();
    let mut flow = Flow::new(&Response::Becn(Becn { limit: 2, table, ..Becn::default() }));
    assert_eq!(
        [flow.sends(1, 0), flow.marked(0), flow.marked(0)],
        [1_000_000, 1_500_000, 5_000_000]
    );
    for wrong in ["", "1", "4:0", "0:16384", "a:1", "0:-1"] {
        assert!(
            wrong.parse::<Delay>().is_err_and(|message| message.contains("shift:multiplier")),
            "{wrong}"
        );
    }
}

#[test]
fn cnp_cuts_the_dcqcn_rate_and_timer_and_bytes_raise_it() {
    let us = Span::from_ps(1_000_000);
    let mut flow = Flow::new(&Response::Dcqcn(Dcqcn {
        g: 0.5,
        alpha_timer: us * 10,
        timer: us * 20,
        byte_counter: Some(Bytes(1_000)),
        fast_recovery: 2,
        // A tenth and a fifth of the highest rate, which is 64 KiB per microsecond.
        additive: Some(Rate::from_bytes_per_second(6_553_600_000)),
        hyper: Some(Rate::from_bytes_per_second(13_107_200_000)),
        lowest: 0.001,
    }));
    assert_eq!(flow.sends(5_000, 0), 1_000_000);
    // The rate is halved; alpha stays at 1, so the rate is halved again.
    assert_eq!([flow.marked(0), flow.marked(5_000_000)], [2_000_000, 4_000_000]);
    // At 25 us, the timer recovers half of the last cut: the rate is 0.375.
    assert_eq!([flow.sends(500, 24_999_999), flow.sends(499, 26_000_000)], [4_000_000, 2_666_667]);
    // The byte counter's first increase: rate 0.4375. Its second: target 0.5 to 0.6, rate 0.51875.
    assert_eq!([flow.sends(1, 27_000_000), flow.sends(1_000, 28_000_000)], [2_285_714, 1_927_711]);
    // The timer's second increase, at 45 us: target 0.7, rate 0.609375. The byte counter's third:
    // target 0.8, rate 0.7046875.
    assert_eq!([flow.sends(1, 45_000_000), flow.sends(1_000, 46_000_000)], [1_641_026, 1_419_069]);
    // The timer's third increase: both counts exceed 2, so the target rises by 0.2 to 1. The rate
    // is 0.85234375.
    assert_eq!(flow.sends(1, 65_000_000), 1_173_236);
    // alpha was halved six times, to 1/64, so the mark leaves 1 - 1/128 of the rate.
    assert_eq!(flow.marked(66_000_000), 1_182_474);
    assert_eq!(flow.sends(1, 3_600_000_000_000_000), 1_000_000);
}

#[test]
#[expect(clippy::cast_precision_loss, reason = "times of a run")]
fn dcqcn_defaults_scale_with_the_rate() {
    let default = Response::Dcqcn(Dcqcn::default());
    let written = Response::Dcqcn(Dcqcn {
        byte_counter: Some(Bytes(10_000_000)),
        additive: Some(Rate::from_bytes_per_second(5_000_000)),
        hyper: Some(Rate::from_bytes_per_second(50_000_000)),
        ..Dcqcn::default()
    });
    // Two notifications, then 100 kB (1 MB at 400 Gbit/s) every 50 us for 50 ms.
    let course = |response: &Response, highest_ps: u64, bytes: u32| -> Vec<f64> {
        let mut flow = Flow::on(response, Span::from_ps(highest_ps));
        flow.marked(0);
        flow.marked(50_000_000);
        let share = |step: u64| {
            let refill = flow.sends(bytes, step * 50_000_000);
            libm::round(1e4 * highest_ps as f64 / refill as f64)
        };
        (1..1_000).map(share).collect()
    };
    let of_paper = course(&written, 13_107_200, 100_000);
    assert_eq!(course(&default, 13_107_200, 100_000), of_paper);
    assert_eq!(course(&default, 1_310_720, 1_000_000), of_paper);
    // The parameters for 40 Gbit/s are too slow at 400 Gbit/s.
    assert_eq!((of_paper[0], of_paper[998]), (2_500.0, 10_000.0));
    assert!(of_paper[499] > 9_000.0 && course(&written, 1_310_720, 100_000)[499] < 6_000.0);
}

/// Checks `timer (F - 1 + 1 / (2 additive))`. By default, this is 55 us x (4 + 500), longer than
/// `alpha_timer / g` = 55 us x 256.
#[test]
#[expect(clippy::cast_precision_loss, reason = "times of a run")]
fn dcqcn_settles_within_the_closed_form() {
    let timer = 55_000_000;
    let highest = RateLimit::new(Span::from_ps(13_107_200));
    let settling = |of: Dcqcn| Response::Dcqcn(of).settling(highest).unwrap().as_ps();
    assert_eq!(settling(Dcqcn::default()), 504 * timer);
    // Each expiration raises the target by a thousandth; the rate follows one step behind.
    let mut flow = Flow::on(&Response::Dcqcn(Dcqcn::default()), Span::from_ps(13_107_200));
    flow.marked(0);
    flow.marked(0);
    let mut missing =
        |expirations: u64| 1.0 - 13_107_200.0 / flow.sends(0, expirations * timer) as f64;
    assert!((missing(502) - 0.003).abs() < 1e-5 && (missing(504) - 0.001).abs() < 1e-5);
    assert!(missing(520) < 1e-6);
    let quick = Rate::from_bytes_per_second(500_000_000);
    assert_eq!(settling(Dcqcn { additive: Some(quick), ..Dcqcn::default() }), 256 * timer);
    // The index falls from `limit` to `min` in four timer periods. LIPD changes rates only on
    // acknowledgements.
    let becn = Becn { timer: 10, limit: 5, min: 1, ..Becn::default() };
    assert_eq!(Response::Becn(becn).settling(highest), Some(Span::from_ps(40 * 1_024_000)));
    assert_eq!(Response::Lipd(Lipd { lowest: LOWEST }).settling(highest), None);
}

#[test]
fn ack_ends_round_trips_of_the_oldest_packets() {
    let mut record = RoundTrips::default();
    for at in [10, 20, 30, 40] {
        record.start(Time::from_ps(at));
    }
    let mut end = |packets, at| record.end(packets, Time::from_ps(at)).span.as_ps();
    assert_eq!([end(1, 110), end(2, 120), end(1, 145)], [100, 90, 105]);
}

impl Flow {
    fn measured(&mut self, rtt_us: u64, packets: u32, at_us: u64) {
        let trip = RoundTrip { span: Span::from_ps(rtt_us * 1_000_000), packets };
        self.responder.measured(trip, &mut self.limits, Time::from_ps(at_us * 1_000_000));
    }
}

/// Checks gradients `d / 20 us`, where `d` is half its old value plus half the latest difference.
#[test]
fn timely_follows_the_gradient_between_its_thresholds() {
    let mut flow = Flow::new(&Response::Timely(Timely {
        alpha: 0.5,
        beta: 0.5,
        additive: Some(Rate::from_bytes_per_second(6_553_600_000)),
        lowest: 0.01,
        ..Timely::default()
    }));
    let mut rates = |rtts: &[u64]| -> Vec<f64> {
        let rate = |rtt: &u64| {
            flow.measured(*rtt, 1, 0);
            libm::round(rate(&flow.limits) * 1e4) / 1e4
        };
        rtts.iter().map(rate).collect()
    };
    // The first round trip changes nothing. The others result in d = 10, 0, -5 and -2.5 us: one
    // decrease to 1 - 1/2 x 10/20 = 0.75, and three increases by at most 0.1.
    assert_eq!(rates(&[60, 80, 70, 60, 60]), [1.0, 0.75, 0.85, 0.95, 1.0]);
    // A round trip above 500 us: 1 - (1 - 500/1,000) / 2 = 0.75; below 50 us: one step up.
    assert_eq!(rates(&[1_000, 40]), [0.75, 0.85]);
}

#[test]
fn timely_rises_5x_faster_from_the_fifth_gradient_in_a_row() {
    let mut flow = Flow::new(&Response::Timely(Timely {
        additive: Some(Rate::from_bytes_per_second(655_360_000)),
        ..Timely::default()
    }));
    // The rate falls to 1 - 0.8 (1 - 500 / 4,000) = 0.3.
    flow.measured(60, 1, 0);
    flow.measured(4_000, 1, 0);
    let start = rate(&flow.limits);
    let mut steps = |rtt| {
        let before = rate(&flow.limits);
        flow.measured(rtt, 1, 0);
        format!("{:.2}", rate(&flow.limits) - before)
    };
    assert!((start - 0.3).abs() < 1e-6, "{start}");
    // The averaged difference stays negative, so steps are fast from the fifth on. Round trips
    // below 50 us cause slow steps.
    let [slow, fast] = ["0.01", "0.05"];
    assert_eq!([60; 7].map(&mut steps), [slow, slow, slow, slow, fast, fast, fast]);
    assert_eq!([40; 3].map(&mut steps), [slow; 3]);
}

fn windowed(window_packets: u32, swift: Swift) -> Flow {
    let limits = Limits { window_packets, rate_limit: None, gap: Span::ZERO };
    Flow { responder: Response::Swift(swift).start(&limits), limits }
}

/// Checks decreases by `0.8 (rtt - 10 us) / rtt`, with a target of 10 us at every window.
#[test]
fn swift_decreases_at_most_once_per_round_trip() {
    let swift = Swift {
        base_target: Span::from_ps(10_000_000),
        fs_range: Some(Span::ZERO),
        ..Swift::default()
    };
    let mut flow = windowed(4, swift);
    let mut after = |rtt, packets, at| {
        flow.measured(rtt, packets, at);
        (flow.limits.window_packets, flow.limits.gap.as_ps())
    };
    // The window falls to 4 (1 - 0.4) = 2.4, without a second decrease within 20 us.
    assert_eq!([after(20, 1, 20), after(20, 1, 25)], [(2, 0); 2]);
    // The window is halved to 1.2, the largest permitted decrease.
    assert_eq!(after(40, 1, 65), (1, 0));
    // The window is halved to 0.6: one packet every 50 us / 0.6.
    assert_eq!(after(50, 1, 120), (1, 83_333_333));
    // At the target, the window stays at 0.6.
    assert_eq!(after(10, 1, 135), (1, 16_666_666));
    // The window grows to 0.6 + 1 = 1.6, to 1.6 + 2 / 1.6 = 2.85, and to 4, the window of the
    // class.
    assert_eq!([after(5, 1, 136), after(5, 2, 137), after(5, 100, 138)], [(1, 0), (2, 0), (4, 0)]);
}

#[test]
fn swift_accepts_the_longest_times() {
    let longest = Span::from_ps(u64::MAX);
    let mut flow = windowed(2, Swift { base_target: longest, ..Swift::default() });
    flow.measured(1_000, 1, 1_000);
    assert_eq!((flow.limits.window_packets, flow.limits.gap), (2, Span::ZERO));
    let mut flow = windowed(2, Swift { min_cwnd: 1e-300, ..Swift::default() });
    for second in 1..2_000 {
        flow.measured(1_000_000, 1, second * 1_000_000);
    }
    assert_eq!(flow.limits.gap, Span::from_ps(1_000_000_000_000_000_000));
}

/// Checks targets of 10 us + 20 us (1 / sqrt(w) - 1 / 2) for a window of w packets, where 20 us is
/// 30 us / (1 / sqrt(0.25) - 1 / sqrt(4)).
#[test]
fn swift_target_delay_grows_for_small_windows() {
    let swift = Swift {
        base_target: Span::from_ps(10_000_000),
        fs_range: Some(Span::from_ps(30_000_000)),
        fs_min_cwnd: 0.25,
        fs_max_cwnd: 4.0,
        ai: 0.25,
        ..Swift::default()
    };
    let mut flow = windowed(1, swift);
    let mut gap = |rtt, at| {
        flow.measured(rtt, 1, at);
        flow.limits.gap.as_ps()
    };
    // A round trip of 20 us equals the target, so the window stays at 1 packet. A round trip of 40 us
    // reduces the window to 1 - 0.8 x 20 / 40 = 0.6, and one of 200 us halves it, the largest
    // permitted decrease, to 0.3.
    assert_eq!([gap(20, 20), gap(40, 60), gap(200, 300)], [0, 66_666_666, 666_666_666]);
    // At a window of 0.3 packets, the target is 36.51 us. The window falls to 0.3 (1 - 0.8 x 0.49 /
    // 37), then rises by 0.25.
    assert_eq!([gap(37, 340), gap(36, 341)], [124_640_816, 65_831_219]);
}
