//! Configuration changes that a reload accepts or rejects.
//!
//! | key | can change while the bundle is up |
//! |---|---|
//! | `channel` over UDP and TCP: added, removed, moved | yes; each keeps its position among its peer's channels |
//! | `peer`: added, removed; another name or preshared key, which restarts it | yes |
//! | `allowed-ips`, `routes`, `log-level`, `policy`, `priority` and `rate` of a channel | yes |
//! | `quota` | no; it is removed with its channel |
//! | `mtu` | yes, up to the initial value |
//! | all others | no: they take effect at startup |

use gingham_input::InputError;

use crate::check::Loaded;
use crate::config::{Channel, Config};
use crate::quota;

pub(crate) fn check(old: &Loaded, new: &Loaded) -> Result<(), InputError> {
    let refuse = |key: &str, why: &str| Err(fixed_while_up(old, new, key, why));
    let (was, is) = (&old.checked.config, &new.checked.config);
    if let Some(key) = fixed(was, is) {
        return refuse(key, "cannot change");
    }
    if let Some(key) = quota::changed(was, is) {
        return refuse(&key, "quotas cannot come, change or go");
    }
    let private = |one: &Loaded| one.checked.peers.first().map(|peer| peer.private.clone());
    if private(old) != private(new) {
        return refuse("private-key", "the key of this end cannot change");
    }
    if is.mtu > old.mtu_max {
        let why =
            format!("{} is more than the {} of the start, which cannot be", is.mtu, old.mtu_max);
        return refuse("mtu", &why);
    }
    if is.is_ethernet() && format!("{:?}", is.channels) != format!("{:?}", was.channels) {
        return refuse("channel", "channels over Ethernet cannot change");
    }
    for peer in 0..is.peers.list.len() {
        if let Some((at, before)) = shifted(was, is, peer) {
            let message = format!(
                "this was channel {before}, and its place is its number at both ends: keep the order, \
                 and add new ones at the end"
            );
            return Err(new.source.refuse(&at, message));
        }
    }
    Ok(())
}

fn fixed(was: &Config, is: &Config) -> Option<&'static str> {
    let changed = [
        ("name", was.name != is.name),
        ("addresses", was.addresses != is.addresses),
        ("user", was.user != is.user),
        ("order", was.order != is.order),
        ("control", was.control != is.control),
        ("scheduler", was.scheduler != is.scheduler),
        ("dscp", was.dscp != is.dscp),
        ("offload", was.offload != is.offload),
        ("ether-types", was.ether_types != is.ether_types),
        ("table", was.table != is.table),
        ("priority", was.priority != is.priority),
        ("mark", was.mark.is_some() && was.mark != is.mark),
        ("routes", was.mark.is_none() && is.mark.is_some()),
        ("metrics", was.metrics != is.metrics),
        ("channels-max", was.channels_max != is.channels_max),
        ("log-format", was.log_format != is.log_format),
        ("channel", was.is_ethernet() != is.is_ethernet()),
    ];
    changed.into_iter().find(|(_, has_changed)| *has_changed).map(|(key, _)| key)
}

fn fixed_while_up(old: &Loaded, new: &Loaded, key: &str, why: &str) -> InputError {
    let name = &old.checked.config.name;
    let message = format!("{why} while `{name}` is up: striped down {name}, then up again");
    new.source.refuse(key, message)
}

fn shifted(was: &Config, is: &Config, peer: usize) -> Option<(String, usize)> {
    let text = |channel: &Channel| format!("{channel:?}");
    let before = was.peers.at(is.peers.place(peer))?;
    let before: Vec<_> = was.channels_of(before).map(|at| text(at.channel)).collect();
    is.channels_of(peer).enumerate().find_map(|(id, at)| {
        let channel = text(at.channel);
        let was_here = before.get(id) == Some(&channel);
        let elsewhere = before.iter().position(|other| *other == channel)?;
        (!was_here).then(|| (at.table(), elsewhere))
    })
}
