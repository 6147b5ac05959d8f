//! Channels whose longest frames differ.

use crate::support::{refused, run};

/// Ten and twenty Mbit/s; from 2 s on the second passes frames of 1,300 bytes. Packets of 100 to
/// 1,500 bytes.
fn scenario(stripe: &str) -> String {
    format!(
        "stop = {{ time = \"8 s\", warm_up = \"4 s\" }}\n\
         [stripe]\norder = \"free\"\nrepair = {{ wait = \"1500 ms\" }}\nwait = \"800 ms\"\n{stripe}\n\
         [[channel]]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n\
         [[channel]]\nrate = \"20 Mbit/s\"\ndelay = \"25 ms\"\n\
         mtus = [{{ at = \"2 s\", mtu = \"1300 B\" }}]\n\
         [[source]]\npackets = {{ uniform = {{ from = \"100 B\", to = \"1500 B\" }} }}\n"
    )
}

/// Where sizes are told, the channel is out; where they are found, it carries what it passes.
#[test]
fn a_channel_that_passes_shorter_frames_carries_those() {
    let [told, found] = ["", "sizes = {}"].map(|stripe| run(&scenario(stripe)));
    assert_eq!((told.packets_lost, found.packets_lost), (0, 0));
    let carried = |record: &gingham_stripelab::Record| record.channels[1].arrived_bits_per_s;
    assert_eq!(carried(&told).map(|rate| rate < 1e6), Some(true), "{:?}", carried(&told));
    assert_eq!(carried(&found).map(|rate| rate > 12e6), Some(true), "{:?}", carried(&found));
}

#[test]
fn a_base_that_is_no_frame_is_refused() {
    for (sizes, key) in [
        ("sizes.base = \"60 B\"", "stripe.sizes.base"),
        ("sizes.base = \"1521 B\"", "stripe.sizes.base"),
        ("sizes.raise = \"0 s\"", "stripe.sizes.raise"),
        ("sizes = {}\nreception = \"none\"", "stripe"),
    ] {
        let message = refused(&scenario(sizes)).expect("it cannot be run");
        assert!(message.contains(key), "{message}");
    }
}
