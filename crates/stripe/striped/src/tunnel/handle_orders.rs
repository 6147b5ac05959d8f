//! Orders from the monitor: status reports, network changes and new configurations.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use gingham_input::{Overrides, Source};
use gingham_stripe_udp::{End, now};
use tracing::{debug, info};

use super::Tunnel;
use crate::config::{ChannelNumber, Config};
use crate::handover;
use crate::logging;
use crate::orders::{Order, Reply};
use crate::status::{Parts, Status};

impl Tunnel {
    pub(super) fn handle_orders(&mut self) -> io::Result<()> {
        while let Some(order) = self.orders.next_order()? {
            let reply = match order {
                Order::Status(to) => {
                    let text = serde_json::to_vec(&self.status()).expect("numbers and names");
                    self.status_replies.reply(now(), to, text);
                    continue;
                }
                Order::Ping => Reply::Alive,
                Order::NetworkChanged => {
                    self.peers.each(End::on_network_change);
                    continue;
                }
                Order::Moved(number) => {
                    let ChannelNumber { place, id } = ChannelNumber::of(number);
                    let peer = self.config.peers.at(place);
                    debug!(peer, channel = id, "the channel goes from another address");
                    if let Some(end) = self.peers.ends.end_mut(place) {
                        let _: Result<(), _> = end.forget_path(id);
                    }
                    continue;
                }
                Order::Lost(address) => {
                    debug!(%address, "this machine does not have the address any more");
                    self.peers.each(|end| end.lose_address(address));
                    continue;
                }
                Order::Reload(number, from) => match self.reload(from) {
                    Ok(()) => Reply::Reloaded(number),
                    Err(message) => Reply::Refused(number, message),
                },
            };
            // Fails only if the monitor has ended, which also ends this process.
            let _: io::Result<()> = self.orders.reply(&reply);
        }
        Ok(())
    }

    pub(super) fn status(&self) -> Status {
        Status::of(&Parts {
            name: &self.config.name,
            config: &self.config,
            peers: &self.peers,
            icmp_errors: &self.icmp_errors,
            began_at: self.began_at,
            interface_refused: self.tun.refused,
            mtu: self.mtu,
        })
    }

    fn reload(&mut self, from: OwnedFd) -> Result<(), String> {
        let handed = handover::take(from).map_err(|error| error.to_string())?;
        let source =
            Source::<Config>::parse("", &handed.text, Path::new(""), &Overrides::default());
        let mut config = source.map_err(|error| error.to_string())?.scenario;
        config.peers.keep_places(&self.config.peers);
        logging::set_level(self.log_level.unwrap_or(config.log_level));
        self.line.forget();
        let before = std::mem::replace(&mut self.config, config);
        let done = self.peers.follow(&before, &self.config, handed.preshared, &self.line);
        info!(error = done.as_ref().err(), "the configuration was reloaded");
        done
    }
}
