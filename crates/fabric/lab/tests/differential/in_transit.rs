//! Random in-transit hosts.

use crate::case::pick;
use gingham_kernel::Stream;
use gingham_topology::Fabric;
use gingham_topology::generate::{Generator, Irregular, Mesh, Ring, Star, Torus};

/// Draws a fabric with shortest paths that are illegal under up*/down*.
pub(crate) fn random_fabric(draw: &mut Stream, seed: u64) -> Fabric {
    let small = |draw: &mut Stream, most: u64| u32::try_from(1 + draw.below(most)).unwrap();
    let generator = match draw.below(5) {
        0 => Generator::Ring(Ring {
            switches: 4 + small(draw, 4),
            hosts_per_switch: small(draw, 2),
            rails: 1,
        }),
        1 => Generator::Torus(Torus {
            dimensions: vec![2 + small(draw, 2), 1 + small(draw, 2)],
            hosts_per_switch: small(draw, 2),
            rails: 1,
        }),
        2 => Generator::Mesh(Mesh {
            dimensions: vec![1 + small(draw, 3), 1 + small(draw, 2)],
            hosts_per_switch: small(draw, 2),
            rails: 1,
        }),
        _ => Generator::Irregular(Irregular {
            switches: 5 + small(draw, 6),
            ports: 6,
            hosts_per_switch: small(draw, 3),
            cables_per_pair_max: 1 + u32::try_from(draw.below(2)).unwrap(),
            rails: 1,
        }),
    };
    generator
        .generate(seed)
        .unwrap_or_else(|_| Generator::Star(Star { hosts: 3, rails: 1 }).generate(seed).unwrap())
}

pub(crate) fn random_routing(draw: &mut Stream) -> Vec<String> {
    let in_transit = random_algorithm(draw);
    if draw.below(3) > 0 {
        return vec![format!("algorithm = {in_transit}")];
    }
    let other = match draw.below(4) {
        0 => "\"up-down\"".to_owned(),
        1 => "\"simple-routes\"".to_owned(),
        2 => "\"shortest-path\"".to_owned(),
        _ => random_algorithm(draw),
    };
    let (first, second) =
        if draw.below(4) == 0 { (in_transit, other) } else { (other, in_transit) };
    let below = pick(draw, &[1, 20, 64, 200]);
    let percent = pick(draw, &[0, 10, 50, 100]);
    let high = f64::from(u32::try_from(draw.below(4)).unwrap()).mul_add(0.2, 1.1);
    let choose = match draw.below(5) {
        0 => format!("{{ by-length = {{ below = \"{below} B\" }} }}"),
        1 => format!("{{ at-random = {{ percent = {percent} }} }}"),
        2 => "\"by-contention\"".to_owned(),
        _ => format!(
            "{{ by-contention = {{ alpha = {}, beta = {}, above = {high:.1}, below = 1.05 }} }}",
            pick(draw, &[0.0, 0.3, 0.7]),
            pick(draw, &[0.0, 0.5, 0.95])
        ),
    };
    let second = format!("alternative = {{ algorithm = {second}, choose = {choose} }}");
    vec![format!("algorithm = {first}"), second]
}

fn random_algorithm(draw: &mut Stream) -> String {
    let hosts = pick(draw, &["any", "fewest"]);
    let tree = pick(draw, &["breadth-first", "depth-first"]);
    let spread = pick(draw, &["hosts", "switches"]);
    let root = pick(draw, &["lowest-id", "smallest-distance", "largest-distance"]);
    let passes = draw.below(3);
    format!(
        "{{ in-transit = {{ hosts = \"{hosts}\", tree = \"{tree}\", spread = \"{spread}\", \
         root = \"{root}\", passes = {passes} }} }}"
    )
}

pub(crate) fn random_crowd(draw: &mut Stream) -> String {
    let length = pick(draw, &[1, 9, 40, 100, 400]) + draw.below(5);
    let arrivals = pick(draw, &["load = 0.5", "load = 1.0", "arrivals = \"backlogged\""]);
    format!("name = \"crowd\"\n{arrivals}\nlength = {{ fixed = \"{length} B\" }}\n")
}

/// Draws candidate lines, of which the first valid one is taken.
pub(crate) fn random_adapters(draw: &mut Stream) -> Vec<String> {
    let delay = |draw: &mut Stream| pick(draw, &[0, 0, 900, 10_000, 200_000, 1_000_000]);
    let (detection, programming) = (delay(draw), delay(draw));
    let pool = pick(draw, &[1, 1, 1, 150, 500, 20_000]) + draw.below(3);
    let spill_delay = pick(draw, &[0, 700, 100_000, 5_000_000]);
    let spill_rate = pick(draw, &[132_000_000_u64, 2_000_000_000, 1_000_000_000_000]);
    let line = |pool: u64, rest: &str| {
        format!(
            "in_transit = {{ detection = \"{detection} ps\", programming = \"{programming} ps\", \
             pool = \"{pool} B\", {rest} }}"
        )
    };
    let spill = format!(
        "when_full = \"spill\", spill_delay = \"{spill_delay} ps\", spill_rate = \"{spill_rate} B/s\""
    );
    let stop = (draw.below(2) == 0).then_some("when_full = \"stop\"");
    // The longest packet must fit; unlimited lengths need spilling.
    let pools = [pool, 15, 30, 70, 110, 150, 230, 400, 1_050, 2_100, 6_000, 1 << 20];
    let pools = || pools.into_iter().filter(|more| *more >= pool);
    let kinds = stop.into_iter().chain([spill.as_str()]);
    kinds
        .flat_map(|kind| pools().map(move |pool| (pool, kind)))
        .map(|(pool, kind)| line(pool, kind))
        .collect()
}
