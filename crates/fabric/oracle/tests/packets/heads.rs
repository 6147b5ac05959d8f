//! Pipeline of heads of an input port.

use crate::common::chain;
use crate::common::packets::{packets, packets_plan, sends};
use crate::{common::row, last_starts};
use gingham_kernel::Span;

#[test]
fn heads_are_read_at_the_packet_arrival_rate() {
    let mut plan = packets_plan(chain(1), 1);
    packets(&mut plan, |packets| packets.forwarding_delay = Span::from_ps(250));
    sends(&mut plan, 0, 0, &[(0, 1, 10); 3]);
    // On the cable at 0, 100, 200; there at 25, 125, 225; each is read 250 later.
    assert_eq!(last_starts(&plan, 3), [(0, 275), (0, 375), (0, 475)]);
}

#[test]
fn head_interval_separates_reads() {
    let mut plan = packets_plan(chain(1), 1);
    packets(&mut plan, |packets| {
        packets.forwarding_delay = Span::from_ps(250);
        packets.head_interval = Span::from_ps(130);
    });
    sends(&mut plan, 0, 0, &[(0, 1, 10), (0, 1, 10), (0, 1, 10), (900, 1, 10)]);
    // 275; 375 or 275 + 130; 475 or 405 + 130. The last one comes at 925.
    assert_eq!(last_starts(&plan, 4), [(0, 275), (0, 405), (0, 535), (0, 1_175)]);
}

#[test]
fn head_interval_applies_per_port() {
    let mut plan = packets_plan(row(1, &[0, 0, 0]), 2);
    packets(&mut plan, |packets| packets.head_interval = Span::from_ps(130));
    // Round robin: the first on lane 0, the second on lane 1.
    sends(&mut plan, 0, 0, &[(0, 1, 10), (0, 2, 10)]);
    // 125, and 225 or 125 + 130.
    assert_eq!(last_starts(&plan, 2), [(0, 125), (0, 255)]);
}
