//! A channel over TCP: whether what a file says of it can be right.

use gingham_input::{InputError, Source};
use gingham_stripe_udp::ChannelPlan;

use crate::check::check_outside;
use crate::config::{ChannelAt, Config};
use crate::machine::Machine;

/// Whether a channel over TCP can be right on this machine.
pub(crate) fn check(
    source: &Source<Config>,
    machine: &Machine,
    at: &ChannelAt<'_>,
) -> Result<(), InputError> {
    let channel = at.channel;
    let refuse = |key: &str, message: String| Err(source.refuse(&at.key(key), message));
    if let Some(key) = channel.key_of_ethernet() {
        return refuse(key, format!("a channel over TCP has no `{key}`"));
    }
    if let Some(name) = channel.interface.as_deref().filter(|name| !machine.has_interface(name)) {
        let error = source.refuse(&at.key("interface"), format!("there is no `{name}`"));
        return Err(error.suggesting(name, "interfaces", &machine.interfaces));
    }
    match (channel.listen(), channel.says_remote()) {
        (Some(_), true) => refuse(
            "listen",
            "one end listens and the other has its address as `remote`: not both here".into(),
        ),
        (Some(_), false) => check_listener(source, machine, at),
        (None, true) => check_connector(source, machine, at),
        (None, false) => refuse(
            "remote",
            "`remote` is missing: remote = \"198.51.100.1:443\", or listen = \"0.0.0.0:443\" and \
             the other end connects"
                .into(),
        ),
    }
}

fn check_listener(
    source: &Source<Config>,
    machine: &Machine,
    at: &ChannelAt<'_>,
) -> Result<(), InputError> {
    let channel = at.channel;
    let refuse = |key: &str, message: String| Err(source.refuse(&at.key(key), message));
    let Some(listen) = channel.listen() else { return Ok(()) };
    if channel.has_local() {
        return refuse("local", "`listen` says where the channel begins".into());
    }
    if listen.port() == 0 {
        return refuse("listen", format!("{listen} has no port that the other end can know"));
    }
    if !listen.ip().is_unspecified() && !machine.addresses.contains(&listen.ip()) {
        return refuse("listen", format!("no interface has the address {}", listen.ip()));
    }
    Ok(())
}

fn check_connector(
    source: &Source<Config>,
    machine: &Machine,
    at: &ChannelAt<'_>,
) -> Result<(), InputError> {
    let channel = at.channel;
    let refuse = |key: &str, message: String| Err(source.refuse(&at.key(key), message));
    let Some(remote) = channel.remote() else { return Ok(()) };
    let local = channel.connect_from(remote);
    if !channel.is_placed() {
        return refuse("remote", "the channel says neither local nor interface".into());
    }
    if local.is_ipv4() != remote.is_ipv4() {
        return refuse("local", format!("{local} and {remote} are not of one family"));
    }
    if !local.ip().is_unspecified() && !machine.addresses.contains(&local.ip()) {
        return refuse("local", format!("no interface has the address {}", local.ip()));
    }
    if local.ip().is_unspecified() && channel.interface.is_none() {
        return refuse("local", "any address, but of which interface?".into());
    }
    if local.port() != 0 {
        let message = "a connection that comes again begins at another port: write port 0, any";
        return refuse("local", message.into());
    }
    if remote.ip().is_unspecified() || remote.port() == 0 {
        return refuse("remote", "the other end has an address and a port".into());
    }
    check_outside(source, at, remote)?;
    let way = ChannelPlan { local, interface: channel.interface.clone(), mark: None, remote };
    match way.path_mtu() {
        Ok(_) => Ok(()),
        Err(error) => refuse("remote", format!("there is no way to {remote}: {error}")),
    }
}
