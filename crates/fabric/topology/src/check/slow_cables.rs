//! Check for cables slower than comparable cables, which may be damaged or badly seated.
//!
//! ```text
//!   spine0 ──1x── leaf0      slow: spine0 and leaf0 both have a faster cable to a switch,
//!   spine0 ──4x── leaf1      and most cables between these levels are faster
//!   spine1 ──4x── leaf0
//!   spine1 ──4x── leaf1
//!   spine0 ──2x── old        not slow: old has no faster cable to a switch
//! ```
//!
//! - **Between switches** a cable is slow if each of its switches has a faster cable to a switch
//!   (or to a host, if the switch has no other cable to a switch), and over half of the cables
//!   between these levels are faster. Outside trees, all cables between switches count as one
//!   level.
//! - **At a host** a cable is slow if over half of the other adapters at its switch (at least two)
//!   and over half of its host's other cables are faster. A cable with one lane is also slow if
//!   over half of all host cables have more lanes.

use super::levels::Levels;
use crate::hostname::host_name;
use crate::{Cable, Fabric, Finding, FindingKind, LinkSpeed, NodeId, NodeKind};
use gingham_kernel::Rate;
use std::collections::BTreeMap;

pub(super) fn check(fabric: &Fabric, levels: &Levels) -> Vec<Finding> {
    let speeds = Speeds::of(fabric, levels);
    let is_slow = |cable: &&Cable| {
        cable.speed.is_some_and(|speed| match speeds.peers_of(fabric, levels, cable) {
            Peers::Switches(peers) => speeds.is_slow_trunk(cable, speed, peers),
            Peers::Hosts { at_switch, of_host } => speeds.is_slow_host(speed, &at_switch, of_host),
            Peers::None => false,
        })
    };
    let slow = fabric.cables().iter().filter(is_slow);
    slow.map(|cable| finding(fabric, cable)).collect()
}

fn finding(fabric: &Fabric, cable: &Cable) -> Finding {
    let [one, other] = cable.ends.map(|end| fabric.port_name(end));
    let speed = cable.speed.expect("slow cables have a speed");
    let text = format!("{one} to {other} runs at {speed}, and most of its neighbours are faster");
    Finding::of_fabric(FindingKind::SlowCable, text)
}

const OTHERS_MIN: usize = 2;

type Rates = BTreeMap<Rate, usize>;

enum Peers<'a> {
    Switches(&'a Rates),
    /// Rates of the fastest cable of each other adapter at the switch, and of all cables of the
    /// host.
    Hosts {
        at_switch: Rates,
        of_host: Option<&'a Rates>,
    },
    None,
}

struct Speeds<'a> {
    between_levels: BTreeMap<[usize; 2], Rates>,
    to_switches: BTreeMap<NodeId, Rates>,
    to_hosts: BTreeMap<NodeId, BTreeMap<NodeId, Rate>>,
    of_hosts: BTreeMap<&'a str, Rates>,
    widths: BTreeMap<u8, usize>,
}

impl<'a> Speeds<'a> {
    fn of(fabric: &'a Fabric, levels: &Levels) -> Self {
        let mut speeds = Self {
            between_levels: BTreeMap::new(),
            to_switches: BTreeMap::new(),
            to_hosts: BTreeMap::new(),
            of_hosts: BTreeMap::new(),
            widths: BTreeMap::new(),
        };
        for cable in fabric.cables() {
            if let Some(speed) = cable.speed {
                speeds.add(fabric, levels, cable, speed);
            }
        }
        speeds
    }

    fn add(&mut self, fabric: &'a Fabric, levels: &Levels, cable: &Cable, speed: LinkSpeed) {
        let rate = speed.rate();
        let [a, b] = cable.ends.map(|end| end.node);
        if joins_switches(fabric, cable) {
            let key = levels.between(a, b);
            *self.between_levels.entry(key).or_default().entry(rate).or_default() += 1;
            for switch in [a, b] {
                *self.to_switches.entry(switch).or_default().entry(rate).or_default() += 1;
            }
        } else if is_host_cable(fabric, cable) {
            let fastest = self.to_hosts.entry(a).or_default().entry(b).or_insert(rate);
            *fastest = rate.max(*fastest);
            if let Some(host) = host_name(fabric.node(b)) {
                *self.of_hosts.entry(host).or_default().entry(rate).or_default() += 1;
            }
            if let LinkSpeed::InfiniBand { width, .. } = speed {
                *self.widths.entry(width).or_default() += 1;
            }
        }
    }

    fn peers_of(&self, fabric: &Fabric, levels: &Levels, cable: &Cable) -> Peers<'_> {
        let [a, b] = cable.ends.map(|end| end.node);
        if joins_switches(fabric, cable) {
            Peers::Switches(&self.between_levels[&levels.between(a, b)])
        } else if is_host_cable(fabric, cable) {
            let of_host = host_name(fabric.node(b)).map(|host| &self.of_hosts[host]);
            let mut at_switch = Rates::new();
            for (_, rate) in self.to_hosts[&a].iter().filter(|(adapter, _)| **adapter != b) {
                *at_switch.entry(*rate).or_default() += 1;
            }
            Peers::Hosts { at_switch, of_host }
        } else {
            Peers::None
        }
    }

    fn is_slow_trunk(&self, cable: &Cable, speed: LinkSpeed, peers: &Rates) -> bool {
        let rate = speed.rate();
        let has_faster = |switch: NodeId| {
            let to_switches = &self.to_switches[&switch];
            let is_only = to_switches.values().sum::<usize>() == 1;
            let to_hosts = self.to_hosts.get(&switch).filter(|_| is_only);
            let has_faster_host =
                |rates: &BTreeMap<_, Rate>| rates.values().any(|other| *other > rate);
            faster(to_switches, rate) > 0 || to_hosts.is_some_and(has_faster_host)
        };
        are_mostly_faster(peers, rate, 0) && cable.ends.iter().all(|end| has_faster(end.node))
    }

    fn is_slow_host(&self, speed: LinkSpeed, at_switch: &Rates, of_host: Option<&Rates>) -> bool {
        let rate = speed.rate();
        let by_rate = at_switch.values().sum::<usize>() >= OTHERS_MIN
            && are_mostly_faster(at_switch, rate, 0)
            && of_host.is_some_and(|of_host| are_mostly_faster(of_host, rate, 1));
        by_rate || self.is_narrow(speed)
    }

    fn is_narrow(&self, speed: LinkSpeed) -> bool {
        let wider: usize =
            self.widths.iter().filter(|(width, _)| **width > 1).map(|(_, n)| n).sum();
        let all: usize = self.widths.values().sum();
        matches!(speed, LinkSpeed::InfiniBand { width: 1, .. }) && 2 * wider > all
    }
}

fn are_mostly_faster(rates: &Rates, rate: Rate, own: usize) -> bool {
    2 * faster(rates, rate) > rates.values().sum::<usize>() - own
}

fn faster(rates: &Rates, than: Rate) -> usize {
    rates.iter().filter(|(rate, _)| **rate > than).map(|(_, count)| count).sum()
}

fn joins_switches(fabric: &Fabric, cable: &Cable) -> bool {
    let [a, b] = cable.ends.map(|end| end.node);
    a != b && fabric.node(a).is_switch() && fabric.node(b).is_switch()
}

fn is_host_cable(fabric: &Fabric, cable: &Cable) -> bool {
    let [a, b] = cable.ends.map(|end| fabric.node(end.node));
    a.is_switch() && b.kind == NodeKind::Host
}
