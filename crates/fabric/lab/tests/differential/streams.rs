//! Classes of streams.

use crate::case::{Case, pick};
use gingham_kernel::Stream;
use gingham_lab::compile;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

const BESIDE: [&str; 5] = ["arrivals", "load", "length", "destinations", "stagger"];

/// Returns the class, or in a quarter of the cases a class of streams, drawn from a copy so that
/// other draws do not change.
pub(crate) fn or_streams(class: String, draw: &mut Stream) -> String {
    if draw.below(4) > 0 {
        return class;
    }
    let is_kept = |line: &&str| !BESIDE.iter().any(|key| line.starts_with(key));
    let mut text =
        class.lines().filter(is_kept).fold(String::new(), |text, line| text + line + "\n");
    writeln!(text, "streams = {{ {} }}", random_streams(draw)).unwrap();
    text
}

fn random_streams(draw: &mut Stream) -> String {
    let message = pick(draw, &[8, 20, 64, 100, 300]) + draw.below(3);
    let mut text = format!("count = {}, message = \"{message} B\"", 1 + draw.below(4));
    let placement = pick(draw, &["even", "random"]);
    write!(text, ", placement = \"{placement}\"").unwrap();
    let interval = 300_000 + draw.below(3_000_000);
    if draw.below(3) == 0 {
        write!(text, ", start = \"{} ps\"", draw.below(50)).unwrap();
    }
    if draw.below(3) == 0 {
        let lifetime = interval + draw.below(4 * interval);
        write!(text, ", lifetime = \"{lifetime} ps\"").unwrap();
    }
    if draw.below(4) == 0 {
        let (on, off) = (100_000 + draw.below(2_000_000), draw.below(2_000_000));
        let rate = pick(draw, &[20, 100, 300]);
        return text
            + &format!(
                ", data = {{ on-off = {{ rate = \"{rate} MB/s\", on = \"{on} ps\", off = \"{off} ps\" }} }}"
            );
    }
    let (mean, deviation) = (1 + draw.below(900), draw.below(200));
    let spread = pick(draw, &["at-once", "even"]);
    let (warm_up, slack) = (draw.below(3), draw.below(400_000));
    text + &format!(
        ", data = {{ mpeg2 = {{ mean = \"{mean} B\", deviation = \"{deviation} B\" }} }}, interval = \"{interval} ps\", \
         spread = \"{spread}\", deadline = {{ warm_up_frames = {warm_up}, slack = \"{slack} ps\" }}"
    )
}

#[test]
fn random_streams_cover_every_kind() {
    let mut reached: BTreeMap<&str, u32> = BTreeMap::new();
    let kinds: [fn(u64) -> Case; 2] = [Case::random, Case::lanes];
    for (kind, seed) in kinds.iter().flat_map(|kind| (0..150).map(move |seed| (kind, seed))) {
        let plan = compile(&kind(seed).source(), true).unwrap().plan;
        if plan.streams().next().is_none() {
            continue;
        }
        let mut simulation = gingham_engine::start(Arc::clone(&plan));
        simulation.advance(u64::MAX);
        let deadlines = simulation.collector().deadlines();
        let frames: Vec<_> = deadlines.streams(&plan).flatten().collect();
        let mut pairs: Vec<_> = plan
            .streams()
            .map(|(class, source, stream)| (class, source.endpoint, stream.destination))
            .collect();
        let all = pairs.len();
        pairs.sort();
        pairs.dedup();
        for (what, holds) in [
            ("streams", true),
            ("several between two hosts", pairs.len() < all),
            ("bursts", plan.streams().any(|(_, _, stream)| stream.data.frames().is_none())),
            ("frames counted", frames.iter().any(|stream| stream.frames > 0)),
            ("frames that miss", frames.iter().any(|stream| stream.missed_frames > 0)),
            ("frames lost", frames.iter().any(|stream| stream.lost_frames > 0)),
        ] {
            *reached.entry(what).or_default() += u32::from(holds);
        }
    }
    assert!(reached.values().all(|cases| *cases >= 4), "{reached:#?}");
}
