//! Creation times and numbers of messages.

use super::support::{compiled, compiled_in, folder, messages, scenario};
use gingham_lab::Engine;
use gingham_net::ClassId;

/// Returns the instants at which h0 creates messages, in ns. Its link takes 6.25 ns a byte: at a
/// load of 0.5 one message of 64 bytes every 800 ns.
fn instants_ns(class: &str) -> Vec<u64> {
    let text = scenario("star.hosts = 3", &format!("{class}\nlength = {{ fixed = \"64 B\" }}"));
    let rows = messages(compiled(&text), Engine::Fast);
    rows.iter().filter(|row| row.source == "h0").map(|row| row.created_ps / 1_000).collect()
}

#[test]
fn class_sends_from_start_inclusive_to_stop_exclusive() {
    let class = |stop: &str| {
        format!(
            "arrivals.constant.phase = \"0 ns\"\nload = 0.5\nstart = \"1 us\"\nstop = \"{stop}\""
        )
    };
    assert_eq!(instants_ns(&class("2600 ns")), [1_000, 1_800]);
    assert_eq!(instants_ns(&class("2600.001 ns")), [1_000, 1_800, 2_600]);
}

#[test]
fn bernoulli_arrivals_fall_on_cycles_at_the_given_load() {
    // Flits of 16 B at 200 MB/s: a cycle of 80 ns. Messages of four flits at a load of 0.8: one in
    // five cycles on average, of 12,500 at each of three hosts.
    let class = "arrivals = \"bernoulli\"\nload = 0.8\nlength.fixed = \"64 B\"\n[network]\npreset = \"yum-1600\"";
    let rows = messages(compiled(&scenario("star.hosts = 3", class)), Engine::Fast);
    assert!(rows.iter().all(|row| row.created_ps.is_multiple_of(80_000)));
    // The standard deviation of 37,500 Bernoulli trials is 77.
    assert!(rows.len().abs_diff(7_500) < 390, "{}", rows.len());
}

#[test]
fn phase_counts_from_the_class_start() {
    let class =
        "arrivals.constant.phase = \"50 ns\"\nload = 0.5\nstart = \"1 us\"\nstop = \"2 us\"";
    assert_eq!(instants_ns(class), [1_050, 1_850]);
}

#[test]
fn hosts_without_a_phase_get_different_phases() {
    let text = scenario(
        "star.hosts = 3",
        "arrivals = \"constant\"\nload = 0.5\nlength = { fixed = \"64 B\" }\nstop = \"800 ns\"",
    );
    let rows = messages(compiled(&text), Engine::Fast);
    let mut created: Vec<u64> = rows.iter().map(|row| row.created_ps).collect();
    created.sort_unstable();
    created.dedup();
    assert_eq!((rows.len(), created.len()), (3, 3), "one message a host, at instants of its own");
}

#[test]
fn backlogged_class_respects_its_start_and_stop() {
    let class = "arrivals = \"backlogged\"\nstart = \"1 us\"\nstop = \"2 us\"\nhosts = [\"h0\"]";
    // A message takes some 400 ns on the link.
    let created = instants_ns(class);
    assert_eq!(created[..2], [1_000, 1_000], "one leaves and one waits");
    assert!(created.len() >= 4 && created.iter().all(|at| *at < 2_000), "{created:?}");
}

/// Returns the first instant of each of three hosts, in ns.
fn firsts_ns(stagger: &str, seed: u64) -> Vec<u64> {
    let class = format!(
        "arrivals = \"backlogged\"\nlength = {{ fixed = \"64 B\" }}\nstart = \"2 us\"\nstagger = {stagger}"
    );
    let text = format!("seed = {seed}\n{}", scenario("star.hosts = 3", &class));
    let rows = messages(compiled(&text), Engine::Fast);
    let first = |host: &str| rows.iter().find(|row| row.source == host).unwrap().created_ps / 1_000;
    ["h0", "h1", "h2"].map(first).to_vec()
}

#[test]
fn staggered_hosts_start_one_after_the_other() {
    assert_eq!(firsts_ns("{ every = \"10 us\" }", 1), [2_000, 12_000, 22_000]);
}

#[test]
fn jitter_is_drawn_per_host_from_the_seed() {
    let stagger = "{ every = \"10 us\", jitter = \"10 us\" }";
    let seen: Vec<Vec<u64>> = (1..=20).map(|seed| firsts_ns(stagger, seed)).collect();
    for firsts in &seen {
        for (host, first) in firsts.iter().enumerate() {
            let turn = 2_000 + 10_000 * host as u64;
            assert!((turn..turn + 10_000).contains(first), "{firsts:?}");
        }
    }
    // Of 60 uniform draws, none below half of the range, or none above, has a chance of 2^-60;
    // their mean is off by 5 us / sqrt(3 x 60) = .37 us times 5 once in a million.
    let late = seen.iter().flat_map(|firsts| firsts.iter().enumerate());
    let drawn: Vec<u64> = late.map(|(host, first)| first - 2_000 - 10_000 * host as u64).collect();
    assert!(drawn.iter().any(|ns| *ns < 5_000) && drawn.iter().any(|ns| *ns >= 5_000), "{drawn:?}");
    let mean = drawn.iter().sum::<u64>() / drawn.len() as u64;
    assert!((3_150..6_850).contains(&mean), "{mean}");
    assert_eq!(firsts_ns(stagger, 7), seen[6], "the same seed, the same starts");
}

#[test]
fn run_ends_when_stopped_classes_are_delivered() {
    let text =
        scenario("star.hosts = 3", "load = 0.5\nlength = { fixed = \"64 B\" }\nstop = \"10 us\"");
    for engine in [Engine::Fast, Engine::Oracle] {
        let mut run = gingham_lab::Run::new(compiled(&text), engine);
        let progress = run.advance(1_000_000).expect("time goes on");
        assert!(progress.done && progress.in_flight == 0, "{progress:?}");
        let record = run.record();
        let class = &record.classes[0];
        assert!(class.messages_created > 10, "{class:?}");
        assert_eq!(class.messages_created, class.messages_followed);
    }
}

#[test]
fn bursts_arrive_at_their_peak_rate() {
    // Peak 0.1 x (20 + 80) / 20 = 0.5: within a burst one message every 800 ns.
    for law in [
        "on-off = { on = \"20 us\", off = \"80 us\" }",
        "on-off-pareto = { on = \"20 us\", off = \"80 us\", shape = 1.5 }",
    ] {
        let instants = instants_ns(&format!("arrivals = {{ {law} }}\nload = 0.1"));
        let gaps: Vec<u64> = instants.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.iter().all(|gap| *gap >= 799), "{law}: {gaps:?}");
        assert!(gaps.iter().filter(|gap| (799..=801).contains(*gap)).count() > gaps.len() / 2);
        assert!(gaps.iter().any(|gap| *gap > 5_000), "{law}: {gaps:?}");
    }
}

#[test]
fn empirical_lengths_are_drawn_by_weight() {
    let lengths = "weight, payload_bytes\n3,64\n1,512\n0,9999\n";
    let folder = folder("lengths", &[("lengths.csv", lengths)]);
    let text = scenario("star.hosts = 3", "load = 0.5\nlength.empirical = \"lengths.csv\"");
    let rows = messages(compiled_in(&folder, &text).unwrap(), Engine::Fast);
    let long = rows.iter().filter(|row| row.payload_bytes == 512).count();
    let share =
        f64::from(u32::try_from(long).unwrap()) / f64::from(u32::try_from(rows.len()).unwrap());
    // Some 1,360 messages: a standard error of 0.012.
    assert!((share - 0.25).abs() < 0.06, "{share} of {}", rows.len());
    assert!(rows.iter().all(|row| [64, 512].contains(&row.payload_bytes)));
}

#[test]
fn offered_load_equals_the_configured_load() {
    let class = |arrivals: &str| {
        scenario("star.hosts = 3", &format!("{arrivals}\nlength = {{ fixed = \"64 B\" }}"))
    };
    let offered = |text: &str| compiled(text).plan.offered_load(ClassId::new(0));
    assert_eq!(offered(&class("load = 0.3")), Some(0.3));
    assert_eq!(offered(&class("arrivals = \"constant\"\nload = 0.3")), Some(0.3));
    assert_eq!(offered(&class("arrivals = \"backlogged\"")), None);
}
