//! Comparison of the pipe with its best channel alone.

use crate::support::run;

const SLOW: &str = "[[channel]]\nname = \"slow\"\nrate = \"5 Mbit/s\"\ndelay = \"10 ms\"\n";
/// Channel that is faster than the other one for half of the time.
const FAST: &str = "[[channel]]\nname = \"fast\"\nrate = \"5 Mbit/s\"\ndelay = \"30 ms\"\n\
    rates = [{ at = \"500 ms\", rate = \"20 Mbit/s\" }]\n";

fn scenario(channels: &str, kind: &str) -> String {
    format!("stop.time = \"4 s\"\n{channels}[[source]]\nkind.{kind}\npackets.fixed = \"1400 B\"\n")
}

#[test]
fn transport_is_compared_with_the_best_channel_alone() {
    let record = run(&scenario(&format!("{SLOW}{FAST}"), "cubic = {}"));
    let alone = run(&scenario(FAST, "cubic = {}"));
    assert_eq!(record.best_channel_alone.as_deref(), Some("fast"));
    assert_eq!(record.best_channel_alone_bits_per_s, alone.sources[0].goodput_bits_per_s);
    let all = record.sources[0].goodput_bits_per_s.expect("something was delivered");
    let best = record.best_channel_alone_bits_per_s.expect("something was delivered");
    assert_eq!(record.best_channel_multiple, Some(all / best));
    assert_eq!(alone.best_channel_alone, None);
}

#[test]
fn limiting_receive_window_is_named() {
    let record = run(&scenario(&format!("{SLOW}{FAST}"), "cubic = { window = \"40 kB\" }"));
    let share = record.sources[0].receive_window_share.expect("it is a transport");
    assert!(share > 0.9, "{share}");
    let key = "`source.0.kind.cubic.window`";
    assert!(record.verdict_reason.contains(key), "{}", record.verdict_reason);
    // The round trip over the slow channel alone is shorter.
    let single = run(&scenario(SLOW, "cubic = { window = \"40 kB\" }"));
    assert!(single.notes.is_empty(), "{:?}", single.notes);
}

#[test]
fn pipe_slower_than_its_best_channel_has_a_note() {
    let text = scenario(&format!("{SLOW}{FAST}"), "cubic = {}");
    let record = run(&format!("entry = {{ queue = \"fifo\", limit = \"15 kB\" }}\n{text}"));
    let multiple = record.best_channel_multiple.expect("both were run");
    assert_eq!(record.notes.iter().any(|note| note.contains("`fast`")), multiple < 1.0);
    assert!(record.verdict_reason.contains("`entry.limit`"), "{}", record.verdict_reason);
}

#[test]
fn comparison_requires_a_transport() {
    let record = run(&scenario(&format!("{SLOW}{FAST}"), "constant.rate = \"1 Mbit/s\""));
    assert_eq!((record.best_channel_alone, record.best_channel_multiple), (None, None));
    assert_eq!(record.sources[0].receive_window_share, None);
}
