//! Configuration keys of metrics, logs and limits.
//!
//! ```toml
//! metrics = "127.0.0.1:9090"     # none by default
//! metrics-beyond-loopback = true # required if other machines can reach the unauthenticated metrics
//! log-level = "info"             # off, error, warn, info, debug
//! log-format = "text"            # or json
//! channels-max = 8               # maximum number of channels at any time; identical at both ends
//! ```

use std::net::SocketAddr;

use super::Channel;

/// Default maximum, more than the uplinks of most sites. Each channel adds 0.01 % to the work per
/// packet.
pub(super) const CHANNELS_MAX: usize = 8;

pub(super) const fn default_channels_max() -> usize {
    CHANNELS_MAX
}

impl Channel {
    pub(crate) fn transport_name(&self) -> &'static str {
        match (&self.ethernet, self.is_tcp()) {
            (Some(_), _) => "ethernet",
            (None, true) => "tcp",
            (None, false) => "udp",
        }
    }

    pub(crate) fn in_words(&self) -> String {
        let text = |address: SocketAddr| match address {
            address if address.ip().is_unspecified() => format!("any:{}", address.port()),
            address => address.to_string(),
        };
        if let (Some(name), Some(peer)) = (&self.ethernet, &self.peer) {
            return format!("Ethernet: {name} to {}", peer.0);
        }
        let on = self.interface.as_ref().map(|name| format!(" on {name}")).unwrap_or_default();
        let transport = if self.is_tcp() { "TCP" } else { "UDP" };
        let way = match (self.listen(), self.remote()) {
            (Some(listen), _) => format!("{} listens", text(listen)),
            (None, Some(remote)) if self.has_remote() => {
                format!("{} to {}", text(self.local(remote)), text(remote))
            }
            (None, Some(remote)) => {
                format!("{}, the other end is learned", text(self.local(remote)))
            }
            (None, None) => String::new(),
        };
        format!("{transport}: {way}{on}")
    }
}
