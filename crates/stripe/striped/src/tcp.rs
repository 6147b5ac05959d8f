//! Checks of the configuration of channels over TCP.

use gingham_input::{InputError, Source};
use gingham_stripe_udp::ChannelPlan;

use crate::check::addresses::{check_interface, check_local, check_own, check_remote};
use crate::config::{ChannelAt, Config};
use crate::machine::Machine;

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
    check_interface(source, machine, at)?;
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
    check_own(source, machine, at, "listen", listen)
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
    check_local(source, machine, at, local, remote)?;
    if local.port() != 0 {
        let message = "a connection that is made again needs another port: write port 0, any";
        return refuse("local", message.into());
    }
    check_remote(source, at, remote)?;
    let way = ChannelPlan { local, interface: channel.interface.clone(), mark: None, remote };
    match way.path_mtu() {
        Ok(_) => Ok(()),
        Err(error) => refuse("remote", format!("there is no route to {remote}: {error}")),
    }
}
