//! Pipes over Ethernet: configuration checks, and derived parameters.

use std::io;

use gingham_input::{InputError, Source};
use gingham_stripe_udp::{
    EndPlan, EtherTypeUse, EtherTypes, EthernetPlan, Interface, SchedulerPlan, StripingPlan,
};
use nix::errno::Errno;

use crate::check::Place;
use crate::config::{Channel, Config, SchedulerName};

const WHOLE_BYTES: u32 = 65_535;
/// Maximum quanta in the send queue: a quantum takes 1 to 2 ms, and the process may be delayed by
/// 20 ms.
const QUANTA_WAITING: u32 = 16;

impl Config {
    pub(crate) fn is_ethernet(&self) -> bool {
        self.channels.iter().any(|channel| channel.ethernet.is_some())
    }

    fn longest_bytes(&self) -> u32 {
        if self.offload { WHOLE_BYTES } else { self.mtu.into() }
    }

    pub(crate) fn ethernet_plans(&self) -> Vec<EthernetPlan> {
        let plan = |channel: &Channel| {
            let quantum_bytes = channel.quantum_bytes.unwrap_or(self.longest_bytes());
            Some(EthernetPlan {
                interface: channel.ethernet.clone()?,
                peer: channel.peer?.0,
                ether_types: self.ether_types.into(),
                longest_bytes: self.mtu.into(),
                is_offloaded: self.offload,
                waiting_bytes: quantum_bytes.saturating_mul(QUANTA_WAITING) as usize,
            })
        };
        self.channels.iter().filter_map(plan).collect()
    }

    pub(crate) fn ethernet_plan(&self) -> Result<EndPlan, String> {
        let longest_bytes = self.longest_bytes();
        let striping = StripingPlan::quasi_fifo(longest_bytes);
        let scheduler = self.scheduler_plan()?;
        Ok(EndPlan { striping, scheduler, ..EndPlan::free(longest_bytes) })
    }

    fn scheduler_plan(&self) -> Result<SchedulerPlan, String> {
        let longest_bytes = self.longest_bytes();
        let quantum = |channel: &Channel| channel.quantum_bytes.unwrap_or(longest_bytes);
        let quanta: Vec<u32> = self.channels.iter().map(quantum).collect();
        match self.scheduler {
            SchedulerName::SurplusRoundRobin => Ok(SchedulerPlan::Surplus(quanta)),
            SchedulerName::Grr => {
                SchedulerPlan::closest(&quanta).map_err(|error| error.to_string())
            }
            SchedulerName::RoundRobin => Ok(SchedulerPlan::Packets(vec![1; quanta.len()])),
        }
    }
}

pub(crate) fn check(source: &Source<Config>, place: &Place<'_>) -> Result<(), InputError> {
    let (config, machine) = (&source.scenario, &place.machine);
    check_ether_types(source)?;
    let unused =
        [("private-key", config.private_key.is_some()), ("peer", !config.peers.list.is_empty())];
    if let Some((key, _)) = unused.into_iter().find(|(_, is_there)| *is_there) {
        return Err(source.refuse(key, "Ethernet frames are not encrypted: keys have no effect"));
    }
    for (number, channel) in config.channels.iter().enumerate() {
        let refuse = |key: &str, message: String| Err(source.refuse(&key_of(number, key), message));
        let Some(name) = &channel.ethernet else {
            return refuse("remote", "all channels of a pipe are over UDP or over Ethernet".into());
        };
        if let Some(key) = channel.key_of_udp() {
            return refuse(key, format!("a channel over Ethernet has no `{key}`"));
        }
        if !config.allow_plaintext {
            return refuse(
                "ethernet",
                "Ethernet frames are not encrypted, so anyone on the link can read and forge them: set \
                 allow-plaintext = true at the top of the file, or use UDP"
                    .into(),
            );
        }
        if !machine.has_interface(name) {
            let error = source.refuse(&key_of(number, "ethernet"), format!("there is no `{name}`"));
            return Err(error.suggesting(name, "interfaces", &machine.interfaces));
        }
        let is_taken = |one: &Channel| one.ethernet == channel.ethernet;
        if let Some(other) = config.channels[..number].iter().position(is_taken) {
            return refuse("ethernet", format!("channel[{other}] already uses `{name}`"));
        }
        check_channel(source, place, number, channel, name)?;
    }
    Ok(())
}

fn check_ether_types(source: &Source<Config>) -> Result<(), InputError> {
    let EtherTypes { packets, messages } = source.scenario.ether_types.into();
    for (key, one) in [("packets", packets), ("messages", messages)] {
        if one < EtherTypes::MIN {
            let message = format!("{one:#06x} is not an EtherType, which is at least 0x0600");
            return Err(source.refuse(&format!("ether-types.{key}"), message));
        }
    }
    if packets == messages {
        let message = format!("{messages:#06x} is already that of packets");
        return Err(source.refuse("ether-types.messages", message));
    }
    Ok(())
}

fn check_channel(
    source: &Source<Config>,
    place: &Place<'_>,
    number: usize,
    channel: &Channel,
    name: &str,
) -> Result<(), InputError> {
    let config = &source.scenario;
    let refuse = |key: &str, message: String| Err(source.refuse(&key_of(number, key), message));
    let Some(peer) = channel.peer else {
        return refuse(
            "peer",
            "the MAC address of the interface at the other end is missing".into(),
        );
    };
    if peer.0.is_group() {
        return refuse("peer", format!("{} is not the address of one interface", peer.0));
    }
    let interface = match Interface::named(name) {
        Ok(interface) => interface,
        Err(error) => {
            return refuse("ethernet", format!("`{name}` is not an Ethernet interface: {error}"));
        }
    };
    if interface.mac == peer.0 {
        return refuse("peer", format!("{} is the address of `{name}` itself", peer.0));
    }
    if let Err(error) = interface.open() {
        return refuse("ethernet", no_socket(name, &error));
    }
    if let Some(mtu) = interface.mtu(name).filter(|mtu| *mtu < config.mtu.into()) {
        let message = format!("{} is too long: `{name}` carries {mtu} bytes", config.mtu);
        return Err(source.refuse("mtu", message));
    }
    let longest_bytes = config.longest_bytes();
    let least_bytes =
        if config.scheduler == SchedulerName::SurplusRoundRobin { longest_bytes } else { 1 };
    if let Some(quantum_bytes) = channel.quantum_bytes.filter(|quantum| *quantum < least_bytes) {
        let message = format!("{quantum_bytes} is less than the longest packet, {least_bytes}");
        return refuse("quantum-bytes", message);
    }
    if place.running.is_some() { Ok(()) } else { check_use(source, name, &interface) }
}

fn check_use(source: &Source<Config>, name: &str, interface: &Interface) -> Result<(), InputError> {
    let EtherTypes { packets, messages } = source.scenario.ether_types.into();
    for (key, one) in [("packets", packets), ("messages", messages)] {
        let user = match interface.used(one) {
            Ok(Some(EtherTypeUse::Kernel)) => "the kernel",
            Ok(Some(EtherTypeUse::Socket)) => "another program",
            // The kernel may be unable to report EtherType use.
            Ok(None) | Err(_) => continue,
        };
        let message = format!(
            "{one:#06x} is in use on `{name}`, by {user}: choose another one between 0x0600 and 0xffff, at both ends"
        );
        return Err(source.refuse(&format!("ether-types.{key}"), message));
    }
    Ok(())
}

fn key_of(channel: usize, key: &str) -> String {
    format!("channel.{channel}.{key}")
}

fn no_socket(name: &str, error: &io::Error) -> String {
    match error.raw_os_error().map(Errno::from_raw) {
        Some(Errno::EPERM | Errno::EACCES) => {
            format!("no permission to send frames on `{name}`: it takes root, or CAP_NET_RAW")
        }
        _ => format!("no socket on `{name}`: {error}"),
    }
}
