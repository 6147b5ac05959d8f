//! Policing from scenario text to record.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use gingham_kernel::Time;
use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{Engine, LongestPayload, Record, Run, Verdict, compile};
use gingham_net::{
    ClassId, Conformance, Delivery, Excess, KeptMessages, MeasurePlan, Plan, REFILL_BYTES,
};
use std::path::Path;
use std::sync::Arc;

const TWO: &str = r#"
[topology.generate.star]
hosts = 2

[network]
preset = "myrinet-1280"

[[traffic]]
name = "urgent"
hosts = ["h0"]
priority = 1
load = 0.4
length = { fixed = "256 B" }
policing = { rate = 0.2, burst = "1 KiB" }

[[traffic]]
name = "bulk"
hosts = ["h1"]
load = 0.1
length = { fixed = "256 B" }

[stop]
time = "20 ms"
"#;

fn source(settings: &[(&str, &str)]) -> ScenarioSource {
    let own = |(path, value): &(&str, &str)| ((*path).to_owned(), (*value).to_owned());
    let settings = settings.iter().map(own).collect();
    let overrides = Overrides::texts(settings);
    ScenarioSource::parse("two.toml", TWO, Path::new("."), &overrides).unwrap()
}

fn record(settings: &[(&str, &str)]) -> Record {
    let mut run = Run::new(compile(&source(settings), false).unwrap(), Engine::Fast);
    while !run.advance(100_000).expect("time goes on").done {}
    run.record()
}

fn deliveries(settings: &[(&str, &str)]) -> (Arc<Plan>, Vec<Delivery>) {
    let plan = compile(&source(settings), false).unwrap().plan;
    let measure = MeasurePlan { messages: KeptMessages::All, ..plan.measure };
    let plan = Arc::new(Plan { measure, ..(*plan).clone() });
    let mut simulation = gingham_engine::start(Arc::clone(&plan));
    simulation.advance(u64::MAX);
    let found = simulation.take_messages();
    (plan, found)
}

/// Asserts at most rate x time + burst bytes in any interval; `at` is the time of conformance.
fn assert_bound(plan: &Plan, mut conforming: Vec<&Delivery>, at: impl Fn(&Delivery) -> Time) {
    let policing = plan.classes[0].policing.as_ref().unwrap();
    let (refill, burst) = (policing.refill[0].as_ps(), policing.burst_bytes);
    assert!(conforming.len() > 300, "{} messages tell little", conforming.len());
    conforming.sort_by_key(|delivery| at(delivery));
    let mut tight = 0;
    for (first, from) in conforming.iter().enumerate() {
        let mut bytes = 0_u128;
        for to in &conforming[first..] {
            bytes += u128::from(to.message.payload_bytes);
            let flown = u128::from(at(to).since(at(from)).as_ps()) * u128::from(REFILL_BYTES);
            let most = flown + u128::from(burst) * u128::from(refill);
            assert!(bytes * u128::from(refill) <= most, "{from:?} to {to:?}");
            tight += u32::from(bytes * u128::from(refill) + u128::from(refill) > most);
        }
    }
    assert!(tight > 0, "no interval comes within a byte of the bound");
}

#[test]
fn no_interval_exceeds_rate_and_burst() {
    // Delayed traffic conforms as it enters; at twice the rate the bucket is always empty.
    let (plan, found) = deliveries(&[]);
    let of_class = |delivery: &&Delivery| delivery.message.class == ClassId::new(0);
    assert_bound(&plan, found.iter().filter(of_class).collect(), |delivery| delivery.entered);
    for excess in ["drop", "{ demote = \"bulk\" }"] {
        let (plan, found) = deliveries(&[(EXCESS, excess), (LENGTH, "{ exponential = \"64 B\" }")]);
        let conforming = found.iter().filter(of_class);
        let conforming = conforming.filter(|found| found.conformance == Conformance::Conforming);
        assert_bound(&plan, conforming.collect(), |delivery| delivery.message.created);
    }
}

fn error(settings: &[(&str, &str)]) -> String {
    compile(&source(settings), false).unwrap_err().to_string().replace('\n', " ")
}

const BURST: &str = "traffic.0.policing.burst";
const EXCESS: &str = "traffic.0.policing.excess";
const SEGMENTATION: &str = "traffic.0.segmentation";
const LENGTH: &str = "traffic.0.length";

#[test]
fn policing_rate_becomes_the_time_of_64_kib() {
    // A byte takes 6,250 ps of 160 MB/s: at a third of that 18,750 ps a token.
    let third = 1.0_f64 / 3.0;
    let compiled = compile(&source(&[("traffic.0.policing.rate", &third.to_string())]), false);
    let plan = compiled.unwrap().plan;
    let policing = plan.classes[0].policing.as_ref().unwrap();
    assert_eq!(policing.refill[0].as_ps(), 65_536 * 18_750);
    assert_eq!((policing.burst_bytes, policing.longest_bytes), (1_024, u32::MAX));
    assert_eq!(policing.excess, Excess::Delay);
    let demoted = compile(&source(&[(EXCESS, "{ demote = \"bulk\" }")]), false).unwrap().plan;
    let excess = demoted.classes[0].policing.as_ref().unwrap().excess;
    assert_eq!(excess, Excess::Demote(ClassId::new(1)));
}

#[test]
fn longest_packet_obeys_segmentation_and_policing() {
    let longest = |settings: &[(&str, &str)]| {
        let sending = compile(&source(settings), false).unwrap().sending();
        sending[0].longest_payload_bytes.clone()
    };
    let cap = ("traffic.0.policing.longest", "100 B");
    assert_eq!(longest(&[]), LongestPayload::Unlimited);
    assert_eq!(longest(&[cap]), LongestPayload::Fixed(100));
    assert_eq!(longest(&[cap, (SEGMENTATION, "{ fixed = \"60 B\" }")]), LongestPayload::Fixed(60));
    let by_route = |bytes| LongestPayload::ByRoute([(1, bytes)].into());
    assert_eq!(longest(&[cap, (SEGMENTATION, "{ adaptive = \"160 B\" }")]), by_route(100));
    assert_eq!(longest(&[(SEGMENTATION, "{ adaptive = \"160 B\" }")]), by_route(160));
}

#[test]
fn unworkable_policing_is_refused_at_its_key() {
    for rate in ["0", "-0.1", "1.5", "nan"] {
        let found = error(&[("traffic.0.policing.rate", rate)]);
        assert!(found.contains("`traffic[0].policing.rate`"), "{found}");
        assert!(found.contains("above 0 and at most 1"), "{found}");
    }
    // 64 KiB at 6,250 ps a byte: 0.41 ms at the whole link, 10^6 s at 4.1e-10 of it.
    let found = error(&[("traffic.0.policing.rate", "4e-10")]);
    assert!(found.contains("no run lasts as long"), "{found}");
    assert!(compile(&source(&[("traffic.0.policing.rate", "4.2e-10")]), false).is_ok());
    assert!(error(&[(BURST, "0 B")]).contains("from 1 B to 1024 MiB"));
    assert!(error(&[("traffic.0.policing.longest", "0 B")]).contains("from 1 B to 1024 MiB"));
    let found = error(&[(EXCESS, "{ demote = \"bilk\" }")]);
    assert!(found.contains("no class is called `bilk`") && found.contains("`bulk`?"), "{found}");
    for (name, priority) in [("urgent", "1"), ("bulk", "1")] {
        let excess = format!("{{ demote = \"{name}\" }}");
        let found = error(&[(EXCESS, &excess), ("traffic.1.priority", priority)]);
        assert!(found.contains("lower priority than 1"), "{found}");
    }
    let found = error(&[(EXCESS, "{ demote = \"urgent\" }")]);
    assert!(
        found.contains("is 1") && found.ends_with("classes of lower priority: bulk"),
        "{found}"
    );
    for name in ["bulk", "bilk"] {
        let excess = format!("{{ demote = \"{name}\" }}");
        let found = error(&[(EXCESS, &excess), ("traffic.0.priority", "0")]);
        assert!(found.contains("raise the priority of this one"), "{found}");
    }
    let backlogged = TWO.replacen("load = 0.4", "arrivals = \"backlogged\"", 1);
    let backlogged = backlogged.replacen("\"1 KiB\"", "\"1 KiB\", excess = \"drop\"", 1);
    let overrides = Overrides::default();
    let source = ScenarioSource::parse("two.toml", &backlogged, Path::new("."), &overrides);
    let found = compile(&source.unwrap(), false).unwrap_err().to_string();
    assert!(found.contains("no end of dropping"), "{found}");
}

#[test]
fn packet_must_fit_its_bucket() {
    let found = error(&[(BURST, "255 B")]);
    assert!(found.contains("`traffic[0].policing.burst`"), "{found}");
    assert!(found.contains("may have 256 B") && found.contains("holds 255 B"), "{found}");
    let exponential = (LENGTH, "{ exponential = \"256 B\" }");
    assert!(error(&[exponential]).contains("may be of any length"));
    let fits = |cut| assert!(compile(&source(&[exponential, cut]), false).is_ok(), "{cut:?}");
    fits(("traffic.0.policing.longest", "1 KiB"));
    fits((SEGMENTATION, "{ fixed = \"1024 B\" }"));
    fits((SEGMENTATION, "{ adaptive = \"1024 B\" }"));
    let longer = error(&[exponential, (SEGMENTATION, "{ adaptive = \"1025 B\" }")]);
    assert!(longer.contains("may have 1025 B"), "{longer}");
    // Lists need not increase: only the existing routes count, all of one switch.
    let by_hops = |list| (SEGMENTATION, list);
    assert!(
        compile(&source(&[exponential, by_hops("{ by-hops = [\"1 KiB\", \"2 KiB\"] }")]), false)
            .is_ok()
    );
    let falling = error(&[exponential, by_hops("{ by-hops = [\"1025 B\", \"64 B\"] }")]);
    assert!(falling.contains("may have 1025 B"), "{falling}");
}

#[test]
fn dropping_needs_messages_that_can_fit_the_bucket() {
    let found = error(&[(BURST, "255 B"), (EXCESS, "drop")]);
    assert!(found.contains("all would be excess"), "{found}");
    let some = [(LENGTH, "{ exponential = \"256 B\" }"), (EXCESS, "drop")];
    let notes = compile(&source(&some), false).unwrap().notes;
    let note = "class `urgent`: messages longer than its bucket of 1 KiB are always excess";
    assert!(notes.iter().any(|described| described == note), "{notes:?}");
}

#[test]
fn dropping_passes_the_rate_without_saturation() {
    let record = record(&[(EXCESS, "drop")]);
    assert_eq!(record.verdict, Verdict::Ok, "{}", record.verdict_reason);
    let class = &record.classes[0];
    assert!((class.generated_load - 0.4).abs() < 0.02, "{class:?}");
    // At twice the rate the bucket of four messages nearly always has too few tokens for one.
    assert!((class.accepted_load - 0.2).abs() < 0.01, "{class:?}");
    let [created, followed] = [class.messages_created, class.messages_followed];
    assert_eq!(created, followed + class.messages_dropped + class.messages_censored);
    assert!(class.messages_dropped * 5 > created * 2, "{class:?}");
    let described = format!("less {} messages that policing dropped", class.messages_dropped);
    assert!(class.verdict_reason.contains(&described), "{}", class.verdict_reason);
    assert!(record.verdict_reason.contains("that policing dropped"), "{}", record.verdict_reason);
    let bulk = &record.classes[1];
    assert_eq!((bulk.messages_dropped, bulk.messages_delayed, bulk.messages_demoted), (0, 0, 0));
}

#[test]
fn demoted_messages_pass_and_count_in_their_own_class() {
    let record = record(&[(EXCESS, "{ demote = \"bulk\" }")]);
    assert_eq!(record.verdict, Verdict::Ok, "{}", record.verdict_reason);
    let class = &record.classes[0];
    assert!((class.accepted_load - class.generated_load).abs() < 0.01, "{class:?}");
    // The part of 0.4 above the 0.2 that conform.
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    let share = class.messages_demoted as f64 / class.messages_followed as f64;
    assert!((share - 0.5).abs() < 0.05, "{share}");
}

#[test]
fn delaying_a_load_above_the_rate_saturates() {
    let record = record(&[]);
    let class = &record.classes[0];
    assert_eq!(class.verdict, Verdict::Saturated, "{class:?}");
    assert!((class.accepted_load - 0.2).abs() < 0.002, "{class:?}");
    assert!(class.verdict_reason.contains("behind the policing of the class"), "{class:?}");
    assert!(class.verdict_reason.ends_with("traffic.0.policing.rate"), "{class:?}");
    assert_ne!(record.classes[1].verdict, Verdict::Saturated);
}

#[test]
fn delaying_a_load_below_the_rate_stays_ok() {
    let record = record(&[("traffic.0.load", "0.12"), ("stop.time", "300 ms")]);
    let class = &record.classes[0];
    assert_eq!(class.verdict, Verdict::Ok, "{class:?}");
    assert!(class.messages_delayed > 0 && class.messages_delayed < class.messages_followed / 2);
    assert_eq!((class.messages_dropped, class.messages_demoted), (0, 0));
}
