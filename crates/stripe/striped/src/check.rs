//! Checks of a configuration against this machine, before any changes.

pub(crate) mod addresses;
mod collisions;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::path::{Path, PathBuf};

use gingham_input::{InputError, Overrides, Source};
use gingham_stripe_crypt::PeerPlan;
use gingham_stripe_udp::{BufferPlan, CHANNELS_MAX, OVERHEAD_BYTES_MAX};
use nix::unistd::User;

use self::addresses::ChannelCheck;
use crate::class::Dscp;
use crate::config::{Channel, ChannelAt, Config, Endpoint};
use crate::ethernet;
use crate::machine::{Machine, lacks_tun};
use crate::peer;
use crate::policy;
use crate::problem::Problem;
use crate::quota;
use crate::routes::check_routes;
use crate::tcp;

/// Maximum file size in bytes, enough for about 6,000 peers; guards against reading unrelated
/// files.
const TEXT_BYTES_MAX: usize = 1 << 20;
const NAME_BYTES: usize = 16;
/// Outer header lengths in bytes: IPv4 with UDP, and IPv6 with UDP.
const UNDERLAY_BYTES: [usize; 2] = [20 + 8, 40 + 8];
/// Ethernet MTU, assumed if the kernel does not know the path MTU.
const PATH_MTU: usize = 1_500;

#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) config: Config,
    pub(crate) peers: Vec<PeerPlan>,
}

#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) source: Source<Config>,
    pub(crate) checked: Checked,
    /// Longest packet that fits the buffers allocated at startup, in bytes.
    pub(crate) mtu_max: u16,
}

pub(crate) struct Place<'a> {
    pub(crate) machine: Machine,
    pub(crate) running: Option<&'a Config>,
}

impl Place<'_> {
    fn has_socket(&self, local: SocketAddr) -> bool {
        let has = |at: ChannelAt<'_>| {
            let over_udp = at.channel.plan(None).is_some_and(|plan| plan.local == local);
            over_udp || at.channel.listen() == Some(local)
        };
        self.running.is_some_and(|running| running.channels_at().any(has))
    }
}

pub(crate) fn read(path: &Path) -> Result<Checked, Problem> {
    let source = Source::<Config>::load(path, &Overrides::default())?;
    let peers = peers(&source)?;
    Ok(Checked { config: source.scenario, peers })
}

pub(crate) fn load(paths: &[PathBuf]) -> Result<Vec<Loaded>, Problem> {
    let machine = || Machine::read(&[]).map_err(|error| Problem::environment("interfaces", error));
    let one = |path: &PathBuf| load_one(path, &Place { machine: machine()?, running: None });
    let loaded = paths.iter().map(one).collect::<Result<Vec<_>, _>>()?;
    collisions::check(&loaded)?;
    Ok(loaded)
}

pub(crate) fn load_again(running: &[&Loaded]) -> Result<Vec<Loaded>, Problem> {
    let names: Vec<_> = running.iter().map(|one| one.checked.config.name.as_str()).collect();
    let one = |running: &&Loaded| {
        let machine = Machine::read(&names);
        let machine = machine.map_err(|error| Problem::environment("interfaces", error))?;
        load_one(&running.path, &Place { machine, running: Some(&running.checked.config) })
    };
    let loaded = running.iter().map(one).collect::<Result<Vec<_>, _>>()?;
    collisions::check(&loaded)?;
    Ok(loaded)
}

fn load_one(path: &Path, place: &Place<'_>) -> Result<Loaded, Problem> {
    let (folder, name) = (path.parent().unwrap_or(Path::new("")), path.display().to_string());
    check_length(path)?;
    let text = String::from_utf8(gingham_input::read(path)?);
    let source = match &text {
        Ok(text) => Source::<Config>::parse(&name, text, folder, &Overrides::default())?,
        Err(_) => Source::load(path, &Overrides::default())?,
    };
    check_device(&source, &place.machine)?;
    if source.scenario.is_ethernet() {
        ethernet::check(&source, place)?;
        if source.scenario.dscp != Dscp::default() {
            let message = "Ethernet frames have no outer DSCP; the inner one stays as it is";
            return Err(source.refuse("dscp", message).into());
        }
    } else {
        check_channels(&source, place)?;
        check_mtu(&source, place)?;
    }
    policy::check(&source)?;
    quota::check(&source)?;
    let peers = peers(&source)?;
    check_routes(&source, place)?;
    check_user(&source)?;
    check_metrics(&source, place)?;
    if let Some(message) = lacks_tun() {
        return Err(source.refuse("name", message).into());
    }
    let mut checked = Checked { config: source.scenario.clone(), peers };
    if let Some(running) = place.running {
        checked.config.peers.keep_places(&running.peers);
    }
    let (path, text) = (path.to_path_buf(), text.unwrap_or_default());
    Ok(Loaded { path, text, mtu_max: checked.config.mtu, source, checked })
}

/// Rejects files that are too long or not regular, as reading a pipe might never end.
fn check_length(path: &Path) -> Result<(), Problem> {
    let Ok(metadata) = fs::metadata(path) else { return Ok(()) };
    let refused = if !metadata.is_file() && !metadata.is_dir() {
        "it is not a file".to_owned()
    } else if metadata.is_file() && metadata.len() > TEXT_BYTES_MAX as u64 {
        format!(
            "{} bytes are too long for a configuration, of at most {TEXT_BYTES_MAX}",
            metadata.len()
        )
    } else {
        return Ok(());
    };
    Err(Problem::Refused(format!("{}: {refused}", path.display())))
}

fn check_metrics(source: &Source<Config>, place: &Place<'_>) -> Result<(), InputError> {
    let Config { metrics, metrics_beyond_loopback, .. } = &source.scenario;
    let Some(Endpoint(at)) = metrics else { return Ok(()) };
    if !at.ip().is_loopback() && !metrics_beyond_loopback {
        let message = format!(
            "{at} is reachable from other machines, without authentication: use 127.0.0.1, or set \
             metrics-beyond-loopback = true"
        );
        return Err(source.refuse("metrics", message));
    }
    if place.running.is_some_and(|running| running.metrics == *metrics) {
        return Ok(());
    }
    match TcpListener::bind(at) {
        Ok(_) => Ok(()),
        Err(error) => {
            let cure = match error.kind() {
                io::ErrorKind::AddrInUse => "take another port",
                io::ErrorKind::AddrNotAvailable => {
                    "an address of this machine, whose interface is up"
                }
                _ => "take another address",
            };
            Err(source.refuse("metrics", format!("{at}: {error}: {cure}")))
        }
    }
}

fn peers(source: &Source<Config>) -> Result<Vec<PeerPlan>, InputError> {
    if source.scenario.is_ethernet() { Ok(Vec::new()) } else { peer::load(source) }
}

fn check_user(source: &Source<Config>) -> Result<(), InputError> {
    let Some(user) = &source.scenario.user else { return Ok(()) };
    match User::from_name(user) {
        Ok(Some(_)) => Ok(()),
        Ok(None) => {
            let message = format!("there is no user `{user}`: useradd --system {user}");
            Err(source.refuse("user", message))
        }
        Err(errno) => Err(source.refuse("user", format!("{user}: {errno}"))),
    }
}

fn check_device(source: &Source<Config>, machine: &Machine) -> Result<(), InputError> {
    let Config { name, addresses, .. } = &source.scenario;
    let is_name = !name.is_empty() && name.len() < NAME_BYTES && !name.contains(['/', ' ', '%']);
    if !is_name || name == "." || name == ".." {
        let message = format!(
            "`{name}` is not an interface name: 1 to {} bytes without `/`, `%` and spaces",
            NAME_BYTES - 1
        );
        return Err(source.refuse("name", message));
    }
    if machine.has_interface(name) {
        let message = format!(
            "there is an interface `{name}` already: striped reload {name} where it is this bundle's, \
             else another name"
        );
        return Err(source.refuse("name", message));
    }
    if addresses.is_empty() {
        let message = "the interface has no address: addresses = [\"10.90.0.1/24\"]";
        return Err(source.refuse("addresses", message));
    }
    for (number, prefix) in addresses.iter().enumerate() {
        let path = format!("addresses.{number}");
        if addresses[..number].contains(prefix) {
            return Err(source.refuse(&path, "this address is given twice"));
        }
        if prefix.address().is_ipv4()
            && addresses[..number].iter().any(|one| one.address().is_ipv4())
        {
            return Err(source.refuse(&path, "of IPv4 the interface has one address"));
        }
        if prefix.address().is_ipv4() && prefix.bits() < 31 && prefix.network() == *prefix {
            let message = format!("{prefix} is the network itself: an address in it");
            return Err(source.refuse(&path, message));
        }
        if machine.addresses.contains(&prefix.address()) {
            return Err(
                source.refuse(&path, "another interface has this address: take another one")
            );
        }
    }
    Ok(())
}

fn check_channels(source: &Source<Config>, place: &Place<'_>) -> Result<(), InputError> {
    let (config, machine) = (&source.scenario, &place.machine);
    check_owners(source)?;
    if config.offload {
        return Err(source.refuse("offload", "only channels over Ethernet pass frames whole"));
    }
    let mut places: BTreeMap<_, Vec<ChannelAt<'_>>> = BTreeMap::new();
    // All sockets stay open until the last test, to detect conflicting channels.
    let mut ports = Vec::new();
    for at in config.channels_at() {
        if at.channel.is_tcp() {
            tcp::check(ChannelCheck { source, machine, at: &at })?;
            continue;
        }
        let local = check_channel(ChannelCheck { source, machine, at: &at })?;
        let others = places.entry((local, at.channel.interface.as_deref())).or_default();
        if let Some(other) = others.iter().find(|other| are_one(other, &at)) {
            let message = format!("{other} already uses {local}: take another port");
            return Err(source.refuse(&at.key(local_key(at.channel)), message));
        }
        if others.is_empty() {
            ports.extend(check_port(source, place, &at)?);
        }
        others.push(at);
    }
    Ok(())
}

/// Returns whether two channels with the same local address are indistinguishable: both have a
/// remote address, and these addresses are identical or a peer uses both channels.
fn are_one(one: &ChannelAt<'_>, other: &ChannelAt<'_>) -> bool {
    let both_have = one.channel.has_remote() && other.channel.has_remote();
    let is_same_peer = one.peer == other.peer || one.peer.is_none() || other.peer.is_none();
    both_have && (is_same_peer || one.channel.remote() == other.channel.remote())
}

fn check_owners(source: &Source<Config>) -> Result<(), InputError> {
    let Config { channels, peers, .. } = &source.scenario;
    if channels.is_empty() && peers.list.iter().all(|peer| peer.channels.is_empty()) {
        let message =
            "no channel is configured: expected [[channel]] with remote, and local or interface";
        return Err(source.refuse("channel", message));
    }
    let own = peers.list.iter().map(|peer| peer.channels.len()).max().unwrap_or(0);
    let (count, most) = (channels.len() + own, source.scenario.channels_max);
    if count > most || most > CHANNELS_MAX {
        let message = format!(
            "a peer has {count} channels, of at most {most}: channels-max is from {count} to \
             {CHANNELS_MAX}, alike at both ends"
        );
        return Err(source.refuse("channels-max", message));
    }
    for (number, peer) in peers.list.iter().enumerate() {
        if channels.is_empty() && peer.channels.is_empty() {
            let message =
                format!("{} has no channel: [[channel]] are those of all", peers.title(number));
            return Err(source.refuse(&peers.key(number, "channel"), message));
        }
    }
    if peers.list.len() < 2 {
        return Ok(());
    }
    for at in source.scenario.channels_at().filter(|at| at.peer.is_none()) {
        if at.channel.has_remote() {
            let message = "whose address is this? A channel of all peers has none: [[peer.channel]] \
                           below the one whose it is";
            return Err(source.refuse(&at.key("remote"), message));
        }
        if at.channel.listen().is_some() {
            let message = "channels over TCP are one peer's: [[peer.channel]] with a port for each";
            return Err(source.refuse(&at.key("listen"), message));
        }
    }
    Ok(())
}

fn check_port(
    source: &Source<Config>,
    place: &Place<'_>,
    at: &ChannelAt<'_>,
) -> Result<Option<UdpSocket>, InputError> {
    let Some(plan) = at.channel.plan(None).filter(|plan| !place.has_socket(plan.local)) else {
        return Ok(None);
    };
    match plan.open(&BufferPlan::default()) {
        Ok(socket) => Ok(Some(socket)),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            let message = format!(
                "{} is in use, by another program (see ss -lunp) or another channel: take another port",
                plan.local
            );
            Err(source.refuse(&at.key(local_key(at.channel)), message))
        }
        Err(_) => Ok(None),
    }
}

fn check_channel(check: ChannelCheck<'_>) -> Result<SocketAddr, InputError> {
    let channel = check.at.channel;
    if let Some(key) = channel.key_of_ethernet() {
        return check.refuse(key, format!("a channel over UDP has no `{key}`"));
    }
    if channel.listen().is_some() {
        let message = "a channel over UDP listens always: local and remote, or transport = \"tcp\"";
        return check.refuse("listen", message);
    }
    let Some(remote) = channel.remote() else {
        let message = "`remote` is missing: remote = \"198.51.100.1:7000\", or local alone where the other \
                       end begins, or ethernet and peer";
        return check.refuse("remote", message);
    };
    let local = channel.local(remote);
    check.interface()?;
    check.local(local, remote)?;
    if local.port() == 0 {
        return check.refuse("local", "the other end must know the port: it cannot be 0");
    }
    if channel.has_remote() {
        check.remote(remote)?;
    }
    Ok(local)
}

fn check_mtu(source: &Source<Config>, place: &Place<'_>) -> Result<(), InputError> {
    let config = &source.scenario;
    let mtu_min = config.mtu_min();
    if config.mtu < mtu_min {
        let family = if config.has_v6() { "IPv6" } else { "IPv4" };
        let message = format!("{} is less than the {mtu_min} of {family}", config.mtu);
        return Err(source.refuse("mtu", message));
    }
    let mark = place.running.and(config.mark);
    for at in config.channels_at() {
        let Some(plan) = at.channel.plan(mark) else { continue };
        let unreachable = |error| {
            let message = format!("no route to {}: {error}", plan.remote);
            source.refuse(&at.key("remote"), message)
        };
        let path_mtu = plan.path_mtu().map_err(unreachable)?.unwrap_or(PATH_MTU);
        let header_bytes = UNDERLAY_BYTES[usize::from(plan.remote.is_ipv6())] + OVERHEAD_BYTES_MAX;
        let mtu_max = path_mtu.saturating_sub(header_bytes);
        if usize::from(config.mtu) > mtu_max {
            let message = format!(
                "{} is too long: {at} carries {path_mtu} bytes, {header_bytes} of them \
                 headers; at most {mtu_max}",
                config.mtu
            );
            return Err(source.refuse("mtu", message));
        }
    }
    Ok(())
}

const fn local_key(channel: &Channel) -> &'static str {
    if channel.interface.is_some() { "interface" } else { "local" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configuration_file_is_at_most_one_mebibyte() {
        let name = format!("striped-check-{}.toml", std::process::id());
        let path = std::env::temp_dir().join(name);
        let length = |bytes: usize| {
            fs::write(&path, vec![b'#'; bytes]).expect("a file");
            check_length(&path)
        };
        let (few, most, more) = (length(160_000), length(1 << 20), length((1 << 20) + 1));
        fs::remove_file(&path).expect("a file");
        assert!(few.is_ok() && most.is_ok());
        let error = more.expect_err("it is longer").to_string();
        assert!(error.contains("1048577 bytes are too long"), "{error}");
    }
}
