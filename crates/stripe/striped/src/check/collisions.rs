//! Conflicts between bundles of one daemon.

use gingham_input::InputError;

use super::Loaded;
use crate::config::{Channel, ChannelAt, Config};
use crate::routes::PRIORITIES;

pub(super) fn check(loaded: &[Loaded]) -> Result<(), InputError> {
    for (number, one) in loaded.iter().enumerate() {
        for earlier in &loaded[..number] {
            if let Some((key, what)) = collision(&earlier.checked.config, &one.checked.config) {
                let message = format!("{what} is that of {} as well", earlier.path.display());
                return Err(one.source.refuse(&key, message));
            }
        }
    }
    Ok(())
}

fn collision(earlier: &Config, later: &Config) -> Option<(String, String)> {
    if earlier.name == later.name {
        return Some(("name".into(), format!("the name `{}`", later.name)));
    }
    for (number, prefix) in later.addresses.iter().enumerate() {
        if earlier.addresses.iter().any(|other| other.address() == prefix.address()) {
            let what = format!("the address {}", prefix.address());
            return Some((format!("addresses.{number}"), what));
        }
    }
    if later.metrics.is_some() && later.metrics == earlier.metrics {
        return Some(("metrics".into(), "this address".into()));
    }
    if !earlier.routes.is_empty() && !later.routes.is_empty() {
        if earlier.table == later.table {
            return Some(("table".into(), format!("table {}", later.table)));
        }
        if earlier.priority.abs_diff(later.priority) < PRIORITIES {
            let what = format!("one of the {PRIORITIES} priorities from {} on", later.priority);
            return Some(("priority".into(), what));
        }
    }
    channel_collision(earlier, later)
}

fn channel_collision(earlier: &Config, later: &Config) -> Option<(String, String)> {
    for at in later.channels_at() {
        let (key, what) = begins(at.channel)?;
        let is_same =
            |other: ChannelAt<'_>| begins(other.channel).is_some_and(|(_, other)| other == what);
        if earlier.channels_at().any(is_same) {
            return Some((at.key(key), what));
        }
    }
    None
}

fn begins(channel: &Channel) -> Option<(&'static str, String)> {
    if let Some(name) = &channel.ethernet {
        return Some(("ethernet", format!("the interface `{name}`, with its EtherTypes,")));
    }
    if let Some(listen) = channel.listen() {
        return Some(("listen", format!("TCP at {listen}")));
    }
    let remote = channel.remote()?;
    let local = channel.local(remote);
    let on = channel.interface.as_ref().map(|name| format!(" on `{name}`")).unwrap_or_default();
    let key = if channel.has_local() { "local" } else { "remote" };
    let what = if channel.is_tcp() {
        // Several connections may share a local address whose port is not fixed.
        format!("TCP from {local}{on} to {remote}")
    } else {
        format!("UDP at {local}{on}")
    };
    Some((key, what))
}
