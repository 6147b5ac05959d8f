//! Checks of TCP channels.

use std::net::SocketAddr;

use gingham_input::InputError;
use gingham_stripe_udp::ChannelPlan;

use crate::check::addresses::ChannelCheck;

pub(crate) fn check(check: ChannelCheck<'_>) -> Result<(), InputError> {
    let channel = check.at.channel;
    if let Some(key) = channel.key_of_ethernet() {
        return check.refuse(key, format!("a channel over TCP has no `{key}`"));
    }
    check.interface()?;
    match (channel.listen(), channel.remote().filter(|_| channel.has_remote())) {
        (Some(_), Some(_)) => check.refuse(
            "listen",
            "one end listens and the other has its address as `remote`: not both here",
        ),
        (Some(listen), None) => check_listener(check, listen),
        (None, Some(remote)) => check_connector(check, remote),
        (None, None) => check.refuse(
            "remote",
            "`remote` is missing: remote = \"198.51.100.1:443\", or listen = \"0.0.0.0:443\" and \
             the other end connects",
        ),
    }
}

fn check_listener(check: ChannelCheck<'_>, listen: SocketAddr) -> Result<(), InputError> {
    if check.at.channel.has_local() {
        return check.refuse("local", "`listen` already sets the local address");
    }
    if listen.port() == 0 {
        return check.refuse(
            "listen",
            format!("the other end must know the port of {listen}: it cannot be 0"),
        );
    }
    check.own("listen", listen)
}

fn check_connector(check: ChannelCheck<'_>, remote: SocketAddr) -> Result<(), InputError> {
    let channel = check.at.channel;
    let local = channel.connect_from(remote);
    check.local(local, remote)?;
    if local.port() != 0 {
        let message = "a connection that is made again needs another port: write port 0, any";
        return check.refuse("local", message);
    }
    check.remote(remote)?;
    let plan = ChannelPlan { local, interface: channel.interface.clone(), mark: None, remote };
    match plan.path_mtu() {
        Ok(_) => Ok(()),
        Err(error) => check.refuse("remote", format!("no route to {remote}: {error}")),
    }
}
