//! Conversion of counters to rates and fractions.

use crate::measure::ByteSections;
use crate::run::Engine;
use gingham_kernel::Time;
use gingham_results::{Estimate, Ratio, real};

/// Returns the mean rate in the window. If the run ended early, only completed sections count.
pub(super) fn bits_per_s(bytes: &ByteSections, engine: &Engine) -> Option<Estimate> {
    let window = engine.meter().sections;
    let section_s = real(u128::from(window.window().as_ps())) / 1e12 / real(bytes.len() as u128);
    let section = |bytes: &u64| Ratio { sum: real(u128::from(*bytes) * 8), over: section_s };
    let all = engine.is_done() && engine.now() > window.start();
    let over = if all { bytes.len() } else { window.over(engine.now()) };
    Estimate::of_sections(&bytes[..over].iter().map(section).collect::<Vec<_>>())
}

pub(super) fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| real(u128::from(part)) / real(u128::from(whole)))
}

pub(super) const fn ns(time: Time) -> u64 {
    time.as_ps() / 1_000
}
