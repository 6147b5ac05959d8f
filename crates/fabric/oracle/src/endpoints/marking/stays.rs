//! Packets that switches have read but not yet started to send.

use gingham_net::Stay;
use gingham_topology::ChannelId;

#[derive(Clone, Debug, Default)]
pub(super) struct Stays(Vec<Stay>);

impl Stays {
    pub(super) fn queued(&mut self, stay: &Stay) {
        self.0.push(*stay);
    }

    pub(super) fn started(&mut self, stay: &Stay) {
        let of = |other: &Stay| (other.input, other.lane, other.came);
        let place = self.0.iter().position(|other| of(other) == of(stay));
        self.0.remove(place.expect("what starts was read"));
    }

    /// Returns the number of bytes that wait for a lane. Each packet counts on all its permitted
    /// lanes.
    pub(super) fn bytes(&self, output: ChannelId, lane: u8) -> u64 {
        let waits = |of: &&Stay| of.output == output && of.lanes.contains(lane);
        self.0.iter().filter(waits).map(|of| of.wire_bytes).sum()
    }
}
