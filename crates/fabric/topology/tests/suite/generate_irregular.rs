//! Irregular fabrics: their rules, their numbers, and impossible parameters.

use crate::generate_measure::{
    assert_sound, cables_by_pair, degrees, fabric, generator, switch_cables, switch_steps,
};
use gingham_topology::Fabric;
use gingham_topology::generate::{GenerateError, Generator, Irregular};

fn with_defaults(switches: u32, seed: u64) -> Fabric {
    let parameters = format!("irregular = {{ switches = {switches} }}");
    generator(&parameters).generate(seed).expect("there are enough ports")
}

/// Means of a separate program (in Python, listing the permitted pairs at every step) over 300,
/// 200, 100 and 30 fabrics. The mean of one fabric deviates by less than 0.05 (one sigma); 0.06 is
/// nearly four sigma of the mean of ten.
#[test]
#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn mean_shortest_paths_are_in_the_expected_bands() {
    const SEEDS: u64 = 10;
    for (switches, expected) in [(8, 1.447), (16, 1.972), (32, 2.551), (64, 3.156)] {
        let mut sum = 0.0;
        for seed in 0..SEEDS {
            let steps = switch_steps(&with_defaults(switches, seed));
            let total: u32 = steps.into_iter().flatten().sum();
            sum += f64::from(total) / f64::from(switches * (switches - 1));
        }
        let mean = sum / SEEDS as f64;
        assert!((mean - expected).abs() < 0.06, "{switches} switches: {mean}, not {expected}");
    }
}

#[test]
fn irregular_fabrics_follow_the_rules_of_the_paper() {
    for seed in 0..10 {
        for switches in [8, 16, 32, 64] {
            let fabric = with_defaults(switches, seed);
            assert_sound(&fabric);
            assert!(fabric.nodes()[..switches as usize].iter().all(|node| node.ports == 8));
            assert_eq!(fabric.endpoints().len(), 4 * switches as usize);
            assert!(cables_by_pair(&fabric).values().all(|cables| *cables == 1));
            let unused: usize = degrees(&fabric).iter().map(|degree| 4 - degree).sum();
            assert!(unused <= 2, "{unused} ports are unused");
        }
    }
}

#[test]
fn bisection_depends_only_on_the_seed() {
    assert_eq!(with_defaults(16, 7), with_defaults(16, 7));
    assert_ne!(with_defaults(16, 7), with_defaults(16, 8));
    let torus = generator("torus = { dimensions = [3, 3] }");
    assert_eq!(torus.generate(1), torus.generate(2), "regular shapes draw nothing");
}

#[test]
fn few_switches_form_the_complete_graph() {
    for switches in 1..=5_usize {
        let fabric = fabric(&format!("irregular = {{ switches = {switches} }}"));
        assert_eq!(cables_by_pair(&fabric).len(), switches * (switches - 1) / 2);
        assert_eq!(switch_cables(&fabric).len(), switches * (switches - 1) / 2);
    }
}

#[test]
fn parallel_cables_do_not_exceed_the_maximum() {
    let text = "irregular = { switches = 3, ports = 16, cables_per_pair_max = 3 }";
    let by_pair = cables_by_pair(&fabric(text));
    // 12 free ports could carry more than three cables on each of three pairs.
    assert_eq!(by_pair.values().copied().collect::<Vec<_>>(), [3, 3, 3]);
}

#[test]
fn odd_number_of_usable_ports_leaves_one_unused() {
    let fabric = fabric("irregular = { switches = 9, ports = 7 }");
    // 9 switches with 3 free ports each: 27 ports, at most 13 cables, and at least 12.
    assert!((12..=13).contains(&switch_cables(&fabric).len()));
}

#[test]
fn impossible_parameters_are_refused_with_a_message() {
    let refused = |text: &str| generator(text).generate(0).unwrap_err();
    let too_few = refused("irregular = { switches = 4, ports = 5 }");
    assert_eq!(
        too_few.to_string(),
        "ports = 5: expected more ports beside the 4 of hosts, enough for 3 cables to connect 4 \
         switches"
    );
    assert_eq!(refused("irregular = { switches = 2, ports = 4 }").parameter(), "ports");
    assert_eq!(refused("irregular = { switches = 2, ports = 3 }").parameter(), "hosts_per_switch");
}

#[test]
fn exhausted_attempts_are_an_error() {
    // Each switch needs all but one of the 79 others as neighbours: a random order hardly ever
    // leaves so little.
    let dense = Irregular {
        switches: 80,
        ports: 79,
        hosts_per_switch: 1,
        cables_per_pair_max: 1,
        rails: 1,
    };
    let given_up = Generator::Irregular(dense).generate(0);
    let expected =
        GenerateError::NoneFound { parameter: "ports", value: "79".to_owned(), attempts: 1_000 };
    assert_eq!(given_up, Err(expected));
}
