//! Address checks common to UDP and TCP channels.

use std::net::SocketAddr;

use gingham_input::{InputError, Source};

use crate::config::{ChannelAt, Config};
use crate::machine::Machine;

#[derive(Clone, Copy)]
pub(crate) struct ChannelCheck<'a> {
    pub(crate) source: &'a Source<Config>,
    pub(crate) machine: &'a Machine,
    pub(crate) at: &'a ChannelAt<'a>,
}

impl ChannelCheck<'_> {
    pub(crate) fn refuse<T>(self, key: &str, message: impl Into<String>) -> Result<T, InputError> {
        Err(self.source.refuse(&self.at.key(key), message.into()))
    }

    pub(crate) fn interface(self) -> Result<(), InputError> {
        let named = self.at.channel.interface.as_deref();
        let missing = named.filter(|name| !self.machine.has_interface(name));
        let Some(name) = missing else { return Ok(()) };
        let error = self.source.refuse(&self.at.key("interface"), format!("there is no `{name}`"));
        Err(error.suggesting(name, "interfaces", &self.machine.interfaces))
    }

    pub(crate) fn local(self, local: SocketAddr, remote: SocketAddr) -> Result<(), InputError> {
        if !self.at.channel.is_placed() {
            let message = "the channel has neither local nor interface: interface = \"eth0\", or local = \
                           \"192.0.2.7:7000\"";
            return self.refuse("remote", message);
        }
        if local.is_ipv4() != remote.is_ipv4() {
            return self.refuse("local", format!("{local} and {remote} are of different families"));
        }
        if local.ip().is_unspecified() && self.at.channel.interface.is_none() {
            return self.refuse("local", "the unspecified address needs an interface");
        }
        self.own("local", local)
    }

    pub(crate) fn own(self, key: &str, address: SocketAddr) -> Result<(), InputError> {
        let ip = address.ip();
        if ip.is_unspecified() || self.machine.addresses.contains(&ip) {
            return Ok(());
        }
        let message =
            format!("no interface has the address {ip}: ip address lists those that there are");
        self.refuse(key, message)
    }

    pub(crate) fn remote(self, remote: SocketAddr) -> Result<(), InputError> {
        let ip = remote.ip();
        if ip.is_unspecified() || remote.port() == 0 {
            return self.refuse("remote", "the other end of a channel has an address and a port");
        }
        match self.source.scenario.addresses.iter().find(|prefix| prefix.contains(ip)) {
            None => Ok(()),
            Some(prefix) => self.refuse(
                "remote",
                format!(
                    "{ip} is in the interface's own {prefix}: the other end's address outside the bundle"
                ),
            ),
        }
    }
}
