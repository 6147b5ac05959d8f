//! Head-of-line blocking: different saturation loads of whole packets and virtual lanes on one
//! fabric; see `docs/concepts/which-model.md`.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use gingham_lab::compile;
use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_net::ClassId;
use std::path::Path;

/// Returns the accepted load of the hosts of one NDR switch at an offered load of 1, as a share of
/// their links.
fn accepted(hosts: u32, network: &str) -> f64 {
    let text = format!(
        r#"
        topology.generate.star.hosts = {hosts}
        network = {{ preset = "infiniband-ndr", {network} }}
        traffic = [{{ load = 1.0, destinations.uniform.itself = true }}]
        stop = {{ time = "80 us", warm_up = "20 us" }}
        "#
    );
    let folder = Path::new(".");
    let source = ScenarioSource::parse("star.toml", &text, folder, &Overrides::default()).unwrap();
    let mut run = gingham_engine::start(compile(&source, false).unwrap().plan);
    run.advance(u64::MAX);
    let rate = run.collector().report().class(ClassId::new(0)).accepted_bytes_per_ps.unwrap();
    // 50 GB/s are .05 bytes per picosecond.
    rate.mean / (0.05 * f64::from(hosts))
}

const LANES: &str = "switching = \"virtual-lanes\"";

/// Karol, Hluchyj and Morgan 1987, table I: a switch with one first-in-first-out queue at each of N
/// inputs carries .7500, .6553 and .6184 for N = 2, 4 and 8. A packet of 4,122 B has 65 flits of 64
/// B, and a lane carries one every 66 cycles: 4,096 B of payload in the time of 4,224.
#[test]
fn single_lane_saturates_like_an_input_queue() {
    for (hosts, karol) in [(2, 0.75), (4, 0.6553), (8, 0.6184)] {
        let expected = karol * 4_096.0 / 4_224.0;
        let found = accepted(hosts, LANES);
        assert!((found / expected - 1.0).abs() < 0.05, "{hosts}: {found}, expected {expected}");
        for other in ["crossbar = \"full\"", "output_depth = 0"] {
            let same = accepted(hosts, &format!("{LANES}, lanes = {{ {other} }}"));
            assert!((same / found - 1.0).abs() < 0.01, "{other}: {same}, expected {found}");
        }
    }
}

/// Whole-packet switches read any number of packets of an input at once; so do two lanes with a
/// crossbar port each.
#[test]
fn switching_kinds_agree_with_equal_input_reads() {
    let [packets, one] = ["", "packets.read = \"one\""].map(|network| accepted(8, network));
    let lanes = |keys: &str| accepted(8, &format!("{LANES}, lanes = {{ {keys} }}"));
    let [fifo, full] = ["count = 1", "count = 2, crossbar = \"full\""].map(lanes);
    assert!(packets > 0.95 && fifo < 0.65, "{packets} {fifo}");
    assert!((full / packets - 1.0).abs() < 0.03, "{full}, expected {packets}");
    assert!((one / fifo - 1.0).abs() < 0.10, "{one}, expected {fifo}");
    // A quarter of the buffer space costs a tenth: buffers are not the reason.
    let quarter = accepted(8, "packets.buffer = \"32768 B\"");
    assert!(quarter > 0.8 * packets, "{quarter}");
}
