//! Packet policies: the first match in the file determines a packet's class.
//!
//! Invariants: no policy completely covers a later policy; classification does not allocate.

use std::net::IpAddr;

use gingham_input::{InputError, Source};
use gingham_stripe::{Class, Order};

use crate::config::{ClassName, Config, PolicyTable, Ports, Prefix, meet};
use crate::packet::Classified;

const WITH_PORTS: [u8; 4] = [6, 17, 33, 132];
const ICMP: u8 = 1;
const ICMPV6: u8 = 58;
const DSCP_MAX: u8 = 63;

#[derive(Debug, Default)]
pub(crate) struct Policies(Vec<PolicyTable>);

impl Policies {
    pub(crate) fn new(config: &Config) -> Self {
        Self(config.policies.clone())
    }

    pub(crate) fn class(&self, packet: &[u8]) -> Class {
        if self.0.is_empty() {
            return Class::Spread;
        }
        let Some(packet) = Classified::of(packet) else { return Class::Spread };
        let first = self.0.iter().find(|policy| matches(policy, &packet));
        first.map_or(Class::Spread, |policy| policy.send.into())
    }
}

fn matches(policy: &PolicyTable, packet: &Classified) -> bool {
    let PolicyTable { protocol, ports, from, to, dscp, .. } = policy;
    let is_of = |prefixes: &Option<Vec<Prefix>>, address: IpAddr| {
        prefixes.as_ref().is_none_or(|all| all.iter().any(|one| one.contains(address)))
    };
    let has_port = |all: &Vec<Ports>| {
        let is_in = |port: u16| all.iter().any(|one| (one.first..=one.last).contains(&port));
        packet.ports.is_some_and(|ports| ports.into_iter().any(is_in))
    };
    protocol.is_none_or(|protocol| protocol.0 == packet.protocol)
        && dscp.as_ref().is_none_or(|all| all.contains(&packet.dscp))
        && ports.as_ref().is_none_or(has_port)
        && is_of(from, packet.from)
        && is_of(to, packet.to)
}

pub(crate) fn check(source: &Source<Config>) -> Result<(), InputError> {
    let config = &source.scenario;
    for (number, policy) in config.policies.iter().enumerate() {
        let refuse = |key: &str, message: String| {
            Err(source.refuse(&format!("policy.{number}.{key}"), message))
        };
        if let Err((key, message)) = check_channels(config, policy)
            .and_then(|()| check_contradictions(policy))
            .and_then(|()| check_addresses(config, policy))
        {
            return refuse(key, message);
        }
        let earlier = config.policies[..number].iter();
        if let Some(first) = earlier.enumerate().find(|(_, one)| one.covers(policy)) {
            let message = format!(
                "policy[{}] before it has all that it matches: put it first, or leave it out",
                first.0
            );
            return refuse("send", message);
        }
    }
    Ok(())
}

type Wrong = (&'static str, String);

fn check_channels(config: &Config, policy: &PolicyTable) -> Result<(), Wrong> {
    let says = |message: &str| Err(("send", message.to_owned()));
    if config.is_ethernet() {
        return says("channels over Ethernet take packets in turn: policies are of those over UDP");
    }
    match policy.send {
        ClassName::Redundant if !has_two_channels(config) => {
            says("redundant packets go on two channels, and there is one: add a [[channel]]")
        }
        ClassName::Fastest if Order::from(config.order) == Order::Strict => {
            says("in strict order no packet has a choice: say order = \"free\"")
        }
        _ => Ok(()),
    }
}

fn has_two_channels(config: &Config) -> bool {
    (0..config.peers.list.len()).any(|peer| config.channels_of(peer).nth(1).is_some())
}

fn check_contradictions(policy: &PolicyTable) -> Result<(), Wrong> {
    let PolicyTable { protocol, ports, from, to, dscp, .. } = policy;
    let empty = [
        ("ports", ports.as_ref().is_some_and(Vec::is_empty)),
        ("from", from.as_ref().is_some_and(Vec::is_empty)),
        ("to", to.as_ref().is_some_and(Vec::is_empty)),
        ("dscp", dscp.as_ref().is_some_and(Vec::is_empty)),
    ];
    if let Some((key, _)) = empty.into_iter().find(|(_, is_empty)| *is_empty) {
        return Err((key, "an empty list matches nothing: leave it out for any".into()));
    }
    if let (Some(protocol), Some(_)) = (protocol, ports)
        && !WITH_PORTS.contains(&protocol.0)
    {
        let message = "packets of this protocol have no ports, so it matches nothing";
        return Err(("ports", message.into()));
    }
    if let Some(wrong) = dscp.iter().flatten().find(|point| **point > DSCP_MAX) {
        return Err(("dscp", format!("{wrong} is not a code point: the highest is {DSCP_MAX}")));
    }
    let families = |prefixes: &Option<Vec<Prefix>>| {
        let all = prefixes.as_deref().unwrap_or_default();
        let is_v6 = |one: &Prefix| one.address().is_ipv6();
        let says_nothing = all.is_empty();
        (says_nothing || !all.iter().all(is_v6), says_nothing || all.iter().any(is_v6))
    };
    let protocol = protocol.map(|protocol| protocol.0);
    let ((from_v4, from_v6), (to_v4, to_v6)) = (families(from), families(to));
    let v4 = from_v4 && to_v4 && protocol != Some(ICMPV6);
    let v6 = from_v6 && to_v6 && protocol != Some(ICMP);
    if !v4 && !v6 {
        let key = if to.is_some() { "to" } else { "from" };
        return Err((key, "no packet has addresses of both families: it matches nothing".into()));
    }
    Ok(())
}

fn check_addresses(config: &Config, policy: &PolicyTable) -> Result<(), Wrong> {
    let allowed: Vec<_> = config.allowed().flatten().collect();
    let is_reached = |one: &Prefix| allowed.iter().any(|other| meet(*one, *other));
    match policy.to.iter().flatten().find(|one| !is_reached(one)) {
        Some(prefix) => {
            let message = format!(
                "no packet goes to {prefix}: it is outside of all addresses, routes and allowed-ips"
            );
            Err(("to", message))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use gingham_input::Overrides;

    use super::*;

    fn source(policies: &str) -> Source<Config> {
        let text = format!(
            "name = \"b\"\naddresses = [\"10.90.0.1/24\", \"fd00::1/64\"]\nroutes = [\"10.1.0.0/16\"]\n\
             [peer]\npublic-key = \"{}\"\n\
             [[channel]]\nlocal = \"192.0.2.7:7000\"\n[[channel]]\nlocal = \"192.0.2.7:7001\"\n{policies}",
            "0f".repeat(32)
        );
        let source = Source::parse("b.toml", &text, Path::new("."), &Overrides::default());
        source.unwrap_or_else(|error| panic!("{error}"))
    }

    fn packet() -> Vec<u8> {
        let mut packet = vec![0x45, 46 << 2, 0, 28, 0, 7, 0x40, 0, 64, 17, 0, 0];
        packet.extend([10, 90, 0, 1, 10, 1, 2, 3, 3, 232, 19, 196, 0, 8, 0, 0]);
        packet
    }

    #[test]
    fn first_matching_policy_applies() {
        for (table, class) in [
            ("protocol = \"udp\"", Class::Redundant),
            ("protocol = 6", Class::Fastest),
            ("ports = [\"5000-5100\"]", Class::Redundant),
            ("ports = [1000]", Class::Redundant),
            ("ports = [5061]", Class::Fastest),
            ("dscp = [46, 0]", Class::Redundant),
            ("dscp = [10]", Class::Fastest),
            ("to = [\"10.1.0.0/16\"]", Class::Redundant),
            ("from = [\"10.1.0.0/16\"]", Class::Fastest),
            ("from = [\"10.90.0.0/24\"]\nto = [\"fd00::/64\", \"10.1.2.3/32\"]", Class::Redundant),
        ] {
            let both = format!(
                "[[policy]]\n{table}\nsend = \"redundant\"\n[[policy]]\nsend = \"fastest\"\n"
            );
            let source = source(&both);
            check(&source).expect("both match something");
            let policies = Policies::new(&source.scenario);
            assert_eq!(policies.class(&packet()), class, "{table}");
            assert_eq!(policies.class(b"nothing"), Class::Spread);
        }
    }

    #[test]
    fn unmatchable_policy_is_rejected_with_its_key() {
        for (table, key) in [
            ("protocol = \"icmp\"\nports = [1]", "policy[0].ports"),
            ("ports = []", "policy[0].ports"),
            ("dscp = [64]", "policy[0].dscp"),
            ("to = [\"10.2.0.0/16\"]", "policy[0].to"),
            ("from = [\"10.2.0.0/16\"]\nto = [\"fd00::/64\"]", "policy[0].to"),
            ("protocol = \"icmpv6\"\nto = [\"10.1.0.0/16\"]", "policy[0].to"),
            (
                "ports = [\"10-30\"]\nsend = \"spread\"\n[[policy]]\nprotocol = 17\nports = [20]",
                "policy[1].send",
            ),
        ] {
            let source = source(&format!("[[policy]]\n{table}\nsend = \"redundant\"\n"));
            let error = check(&source).expect_err(table).to_string();
            assert!(error.contains("b.toml:") && error.contains(key), "{error}");
        }
    }
}
