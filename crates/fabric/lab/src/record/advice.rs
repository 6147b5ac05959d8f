//! Advice on longer runs and lower loads, with rounded numbers.

use super::verdict::Asked;
use super::view::RunView;
use gingham_net::measure::Estimate;
use gingham_net::{ClassId, Status};

const SAFE: f64 = 0.95;
/// Advised load as a fraction of the load bound; below 1, because the bound ignores gaps between
/// packets.
const SAFE_OF_BOUND: f64 = 0.9;
const MARGIN: f64 = 1.1;

/// Lower limit of an advised `stop.messages`, so that each of the run's 20 sections usually has
/// messages.
const MESSAGES_FOR_INTERVAL: f64 = 500.0;

const DIGITS_MAX: usize = 4;

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Need {
    /// Lengthen the window by this factor.
    Window(f64),
    /// Lengthen the run by this factor, including warm-up.
    Run(f64),
}

impl Need {
    const fn factor(self) -> f64 {
        match self {
            Self::Window(factor) | Self::Run(factor) => factor,
        }
    }

    fn enough_ps(self, view: &RunView<'_>, class: ClassId) -> f64 {
        match self {
            Self::Window(factor) => {
                let window = view.report.class_window(class);
                let window_ps = real(window.span().as_ps().max(1));
                real(window.start.as_ps()) + window_ps * factor * MARGIN
            }
            Self::Run(factor) => real(view.report.window().end.as_ps()) * factor,
        }
    }
}

pub(super) fn longer(view: &RunView<'_>, class: ClassId, needs: &[Need]) -> String {
    let factor = needs.iter().map(|need| need.factor()).fold(0.0, f64::max);
    let enough_ps = needs.iter().map(|need| need.enough_ps(view, class)).fold(0.0, f64::max);
    if let Some(ended) = ended(view, class) {
        return ended;
    }
    let stop = &view.plan().stop;
    let status = view.simulation.status();
    if *status == Status::Finished {
        return "its sources had ended; let them send for longer".to_owned();
    }
    // The configured length of an interrupted run may be much longer than needed.
    let floor = if *status == Status::Running { 0.0 } else { real(stop.time.as_ps()) * MARGIN };
    if let (true, Some(messages)) = (view.report.window().end < stop.time, stop.messages) {
        let enough =
            two_digits_above((real(messages) * factor * MARGIN).max(MESSAGES_FOR_INTERVAL));
        return format!("raise stop.messages to about {enough:.0}");
    }
    let enough_ps = two_digits_above(enough_ps.max(floor));
    format!("let the run last about {} (stop.time)", formatted(enough_ps))
}

/// Explains that the sources of this class, or of the class that it replies to, had ended: a longer
/// run would create no more messages.
fn ended(view: &RunView<'_>, class: ClassId) -> Option<String> {
    let end = view.report.window().end;
    let classes = &view.plan().classes;
    let ended = view.plan().reply_chain(class).find(|id| classes[id.index()].active.end <= end)?;
    let whose = if ended == class {
        "its sources".to_owned()
    } else {
        format!("those of class `{}`", classes[ended.index()].name)
    };
    let index = ended.index();
    Some(format!("{whose} had ended; let them send for longer (traffic.{index}.stop)"))
}

pub(super) fn has_ended(view: &RunView<'_>, class: ClassId) -> bool {
    ended(view, class).is_some()
}

/// Advises a lower load for a saturated class.
///
/// Past saturation, the accepted load may be higher than the load that the fullest channel can
/// carry for all flows. The advised load therefore also leaves capacity on every channel for the
/// other classes.
pub(super) fn less(view: &RunView<'_>, asked: Asked) -> String {
    let plan = view.plan();
    let class = asked.class.index();
    let bound = &view.compiled.bound;
    let room = bound.load_beside_others(plan, asked.class, SAFE_OF_BOUND).unwrap_or(f64::INFINITY);
    if room <= 0.0 {
        return alike(view, asked);
    }
    if asked.offered_load.is_some() {
        let Some(safe) = load(class, room.min(SAFE * asked.accepted_load)) else {
            return "offer less".to_owned();
        };
        if plan.classes[class].sources.iter().any(|source| source.stream().is_some()) {
            return format!(
                "offer less: fewer streams a host ({safe}, or traffic.{class}.streams.count)"
            );
        }
        return format!("offer less, such as {safe}");
    }
    let first = plan.reply_root(asked.class);
    if first == asked.class {
        return "offer less".to_owned();
    }
    let index = first.index();
    // Each message with a reply has exactly one reply, so both classes scale alike.
    let fewer = match plan.offered_load(first) {
        Some(offered) => {
            let accepted = offered * asked.accepted_load / asked.generated_load;
            load(index, room.min(SAFE * accepted))
        }
        None => Some(format!("a traffic.{index}.rate_limit")),
    };
    let such = fewer.map(|fewer| format!(", such as with {fewer}")).unwrap_or_default();
    format!(
        "let fewer messages be replied to{such}, or make replies shorter (traffic.{class}.length)"
    )
}

fn alike(view: &RunView<'_>, asked: Asked) -> String {
    let bound = view.compiled.bound.class(view.plan(), asked.class);
    let room = bound.fullest.map_or(1.0, |fullest| SAFE_OF_BOUND / fullest.share);
    let accepted = SAFE * asked.accepted_load / asked.generated_load;
    let factor = two_digits_below(room.min(accepted));
    let such =
        if factor > 0.0 { format!(", such as every load times {factor}") } else { String::new() };
    format!("the other classes leave no room for it: offer less in all of them{such}")
}

fn load(class: usize, at_most: f64) -> Option<String> {
    let safe = two_digits_below(at_most);
    (safe > 0.0 && safe.is_finite()).then(|| format!("traffic.{class}.load = {safe}"))
}

#[expect(clippy::cast_precision_loss, reason = "advice")]
fn real(number: u64) -> f64 {
    number as f64
}

pub(super) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent >= 10.0 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}

pub(super) fn share(estimate: Estimate) -> String {
    let [mean, half] = [estimate.mean, estimate.half_width.unwrap_or(0.0)].map(|it| 100.0 * it);
    let tenths = std::iter::successors(Some(1.0), |unit| Some(unit / 10.0)).take(DIGITS_MAX);
    let places = if half > 0.0 { tenths.take_while(|unit| half < 10.0 * *unit).count() } else { 0 };
    format!("{mean:.places$} ± {half:.places$} %")
}

pub(super) fn short(ps: u64) -> String {
    let mut unit = 1;
    while ps / unit >= 1_000 {
        unit *= 10;
    }
    formatted(real((ps + unit / 2) / unit * unit))
}

fn formatted(ps: f64) -> String {
    const UNITS: [(&str, f64); 4] = [("s", 1e12), ("ms", 1e9), ("us", 1e6), ("ns", 1e3)];
    let suits = UNITS.iter().find(|(_, unit_ps)| ps >= *unit_ps);
    let (name, unit_ps) = *suits.unwrap_or(&("ps", 1.0));
    format!("{} {name}", ps / unit_ps)
}

pub(super) fn two_digits_below(value: f64) -> f64 {
    in_two_digits(value, f64::floor)
}

pub(super) fn two_digits_above(value: f64) -> f64 {
    in_two_digits(value, f64::ceil)
}

fn in_two_digits(value: f64, round: impl Fn(f64) -> f64) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return value;
    }
    // The scale is an exact power of ten, so 0.38 stays exactly 0.38.
    let (mut digits, mut power) = (value, 0_i32);
    while digits >= 100.0 {
        digits /= 10.0;
        power += 1;
    }
    while digits < 10.0 {
        digits *= 10.0;
        power -= 1;
    }
    let scale = (0..power.abs()).fold(1.0, |scale, _| scale * 10.0);
    if power >= 0 { round(digits) * scale } else { round(digits) / scale }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_digit_rounding_prints_plain_decimals() {
        assert_eq!(two_digits_below(0.38911).to_string(), "0.38");
        assert_eq!(two_digits_below(0.0389).to_string(), "0.038");
        assert_eq!(two_digits_above(26_100_000_001.0).to_string(), "27000000000");
        assert_eq!(two_digits_below(0.1).to_string(), "0.1");
        assert_eq!(two_digits_above(90.0).to_string(), "90");
        assert_eq!(two_digits_below(0.0).to_string(), "0");
    }

    #[test]
    fn zero_load_is_never_advised() {
        assert_eq!(load(2, 0.389).as_deref(), Some("traffic.2.load = 0.38"));
        assert_eq!(
            [0.0, f64::NAN, f64::INFINITY].map(|at_most| load(2, at_most)),
            [None, None, None]
        );
    }

    #[test]
    fn share_precision_follows_its_interval() {
        let formatted = |mean, half| share(Estimate { mean, half_width: Some(half) });
        assert_eq!(formatted(0.6664, 0.031), "66.6 ± 3.1 %");
        assert_eq!(formatted(0.0234, 0.0081), "2.34 ± 0.81 %");
        assert_eq!(formatted(1e-6, 4e-7), "0.0001 ± 0.0000 %");
        assert_eq!(formatted(0.5, 0.0), "50 ± 0 %");
    }

    #[test]
    fn times_are_printed_short_with_a_unit() {
        let formatted = [0, 999, 99_951, 1_234_567, 3_200_000_000, 26_400_000_000_000].map(short);
        assert_eq!(formatted, ["0 ps", "999 ps", "100 ns", "1.23 us", "3.2 ms", "26.4 s"]);
    }
}
