//! Checks of local and remote addresses, for channels over UDP and TCP.

use std::net::SocketAddr;

use gingham_input::{InputError, Source};

use crate::config::{ChannelAt, Config};
use crate::machine::Machine;

pub(crate) fn check_interface(
    source: &Source<Config>,
    machine: &Machine,
    at: &ChannelAt<'_>,
) -> Result<(), InputError> {
    let named = at.channel.interface.as_deref();
    let Some(name) = named.filter(|name| !machine.has_interface(name)) else { return Ok(()) };
    let error = source.refuse(&at.key("interface"), format!("there is no `{name}`"));
    Err(error.suggesting(name, "interfaces", &machine.interfaces))
}

/// Checks the local address of a channel to `remote`.
pub(crate) fn check_local(
    source: &Source<Config>,
    machine: &Machine,
    at: &ChannelAt<'_>,
    local: SocketAddr,
    remote: SocketAddr,
) -> Result<(), InputError> {
    let refuse = |key: &str, message: String| Err(source.refuse(&at.key(key), message));
    if !at.channel.is_placed() {
        let message = "the channel has neither local nor interface: interface = \"eth0\", or local = \
                       \"192.0.2.7:7000\"";
        return refuse("remote", message.into());
    }
    if local.is_ipv4() != remote.is_ipv4() {
        return refuse("local", format!("{local} and {remote} are not of one family"));
    }
    if local.ip().is_unspecified() && at.channel.interface.is_none() {
        return refuse("local", "any address, but of which interface?".into());
    }
    check_own(source, machine, at, "local", local)
}

/// Checks that an address, the value of `key`, is unspecified or belongs to this machine.
pub(crate) fn check_own(
    source: &Source<Config>,
    machine: &Machine,
    at: &ChannelAt<'_>,
    key: &str,
    address: SocketAddr,
) -> Result<(), InputError> {
    let ip = address.ip();
    if ip.is_unspecified() || machine.addresses.contains(&ip) {
        return Ok(());
    }
    let message =
        format!("no interface has the address {ip}: ip address lists those that there are");
    Err(source.refuse(&at.key(key), message))
}

/// Checks that a remote address is specified, and not inside the bundle's own network.
pub(crate) fn check_remote(
    source: &Source<Config>,
    at: &ChannelAt<'_>,
    remote: SocketAddr,
) -> Result<(), InputError> {
    let refuse = |message: String| Err(source.refuse(&at.key("remote"), message));
    if remote.ip().is_unspecified() || remote.port() == 0 {
        return refuse("the other end of a channel has an address and a port".into());
    }
    let inside = source.scenario.addresses.iter().find(|prefix| prefix.contains(remote.ip()));
    let Some(prefix) = inside else { return Ok(()) };
    refuse(format!(
        "{} is in the interface's own {prefix}: the other end's address outside the bundle",
        remote.ip()
    ))
}
