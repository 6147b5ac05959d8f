//! Irregular fabric: equal switches joined at random.
//!
//! ```text
//!        h0..h3        h4..h7
//!          │             │
//!          s0 ────────── s1          every switch: 8 ports, 4 hosts, 4 cables to switches;
//!         / │ \        / │ \         at most one cable between two switches
//!        ?  ?  ?      ?  ?  ?
//! ```
//!
//! With p hosts per switch, host h(i p + k) is attached to port k + 1 of switch i. Then pairs of
//! free ports, drawn uniformly among all permitted pairs, are joined until no permitted pair is
//! left.
//!
//! A draw is repeated, up to 1,000 times, if the fabric is not connected or has at least two cables
//! fewer than possible. With n switches, f ports per switch besides host ports and at most m cables
//! per pair, a switch uses at most d = min(f, m (n - 1)) of these ports and the fabric has at most
//! floor(n d / 2) cables between switches.
//!
//! Source: Flich, Malumbres, Lopez and Duato, "Removing the Latency Overhead of the ITB Mechanism
//! in COWs with Source Routing", 2001, section IV-A (4 hosts per switch, 8 ports, one cable per
//! pair). The procedure of a draw is our reconstruction.
//!
//! Expected values for the defaults: about 2n cables between switches; shortest paths with a mean
//! of 1.45, 1.97, 2.55 and 3.16 cables for 8, 16, 32 and 64 switches.

use super::draft::{Draft, Size};
use super::error::{at_least, at_most};
use super::{GenerateError, is_one, one};
use crate::{DraftNode, Fabric};
use gingham_kernel::{Purpose, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Randomly connected switches, as in the studies of Myrinet clusters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Irregular {
    /// Number of switches, at least 1.
    #[schemars(range(min = 1))]
    pub switches: u32,
    /// Number of ports of each switch, from 1 to 65,535.
    #[serde(default = "ports_default")]
    #[schemars(range(min = 1, max = 65_535))]
    pub ports: u32,
    /// Number of hosts on each switch, from 1 to `ports`.
    #[serde(default = "hosts_per_switch_default")]
    #[schemars(range(min = 1, max = 65_535))]
    pub hosts_per_switch: u32,
    /// Maximum number of parallel cables between two switches, at least 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub cables_per_pair_max: u32,
    /// Number of disjoint copies, at least 1. Each host has an adapter in every copy.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1), extend("default" = 1))]
    pub rails: u32,
}

const fn ports_default() -> u32 {
    8
}

const fn hosts_per_switch_default() -> u32 {
    4
}

const ATTEMPTS_MAX: usize = 1_000;

const ATTEMPTS_MIN: usize = 10;

/// Maximum number of cables over all draws.
const CABLES_DRAWN_MAX: usize = 50_000_000;

/// Number of rejected pairs after which the permitted pairs are listed instead.
const REJECTIONS_MAX: u32 = 64;

impl Irregular {
    pub(super) fn generate(&self, seed: u64) -> Result<Fabric, GenerateError> {
        self.check()?;
        let mut stream = Stream::new(seed, "irregular", Purpose::Topology);
        let switch_count = self.switches as usize;
        let attempts = self.attempts();
        let pairs = (0..attempts)
            .map(|_| self.draw(&mut stream))
            .find(|pairs| pairs.len() + 1 >= self.cables_max() && joins(switch_count, pairs));
        match pairs {
            Some(pairs) => Ok(self.build(&pairs)),
            None => Err(GenerateError::NoneFound {
                parameter: "ports",
                value: self.ports.to_string(),
                attempts,
            }),
        }
    }

    fn check(&self) -> Result<(), GenerateError> {
        at_least("switches", self.switches, 1)?;
        at_least("ports", self.ports, 1)?;
        at_least("hosts_per_switch", self.hosts_per_switch, 1)?;
        let ports = u128::from(self.ports);
        at_most("hosts_per_switch", self.hosts_per_switch, ports, "the ports of a switch")?;
        at_least("cables_per_pair_max", self.cables_per_pair_max, 1)?;
        Size { switches: 1, hosts: 1, ports_per_switch: ports }.check("ports", &self.ports)?;
        let switches = u128::from(self.switches);
        let hosts = switches * u128::from(self.hosts_per_switch);
        Size { switches, hosts, ports_per_switch: ports }.check("switches", &self.switches)?;
        self.check_connectable()
    }

    fn check_connectable(&self) -> Result<(), GenerateError> {
        if self.cables_max() + 1 >= self.switches as usize {
            return Ok(());
        }
        let expected = format!(
            "more ports beside the {} of hosts, enough for {} cables to connect {} switches",
            self.hosts_per_switch,
            self.switches - 1,
            self.switches
        );
        Err(GenerateError::OutOfRange {
            parameter: "ports",
            value: self.ports.to_string(),
            expected,
        })
    }

    fn usable_ports(&self) -> u32 {
        let others = self.cables_per_pair_max.saturating_mul(self.switches - 1);
        (self.ports - self.hosts_per_switch).min(others)
    }

    fn cables_max(&self) -> usize {
        self.switches as usize * self.usable_ports() as usize / 2
    }

    fn attempts(&self) -> usize {
        (CABLES_DRAWN_MAX / self.cables_max().max(1)).clamp(ATTEMPTS_MIN, ATTEMPTS_MAX)
    }

    fn draw(&self, stream: &mut Stream) -> Vec<Pair> {
        let mut free = FreePorts::new(self);
        let mut pairs = Vec::with_capacity(self.cables_max());
        while let Some(positions) = free.draw(stream) {
            pairs.push(free.take(positions));
        }
        pairs
    }

    fn build(&self, pairs: &[Pair]) -> Fabric {
        let mut draft = Draft::default();
        let mut switches: Vec<DraftNode> = Vec::new();
        for index in 0..self.switches {
            let switch = draft.switch(&format!("s{index}"), self.ports);
            draft.numbered_hosts(switch, self.hosts_per_switch);
            switches.push(switch);
        }
        let mut port_next = vec![self.hosts_per_switch + 1; switches.len()];
        for pair in pairs {
            let [a, b] = pair.map(|index| {
                port_next[index] += 1;
                (switches[index], port_next[index] - 1)
            });
            draft.cable(a, b);
        }
        draft.build()
    }
}

type Pair = [usize; 2];

#[derive(Debug)]
struct FreePorts {
    switches: Vec<usize>,
    cables: BTreeMap<Pair, u32>,
    cables_per_pair_max: u32,
}

impl FreePorts {
    fn new(parameters: &Irregular) -> Self {
        let usable = parameters.usable_ports() as usize;
        let ports = (0..parameters.switches as usize).flat_map(|s| std::iter::repeat_n(s, usable));
        Self {
            switches: ports.collect(),
            cables: BTreeMap::new(),
            cables_per_pair_max: parameters.cables_per_pair_max,
        }
    }

    fn draw(&self, stream: &mut Stream) -> Option<[usize; 2]> {
        let port_count = self.switches.len() as u64;
        if port_count == 0 {
            return None;
        }
        for _ in 0..REJECTIONS_MAX {
            let positions = [(); 2].map(|()| draw_index(stream, port_count));
            if self.may_join(self.pair(positions)) {
                return Some(positions);
            }
        }
        self.draw_from_list(stream)
    }

    fn draw_from_list(&self, stream: &mut Stream) -> Option<[usize; 2]> {
        let mut ports_by_switch: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (position, switch) in self.switches.iter().enumerate() {
            ports_by_switch.entry(*switch).or_default().push(position);
        }
        let mut listed = Vec::new();
        for (low, low_ports) in &ports_by_switch {
            for (high, high_ports) in ports_by_switch.range(low + 1..) {
                if self.may_join([*low, *high]) {
                    let pairs = |a| high_ports.iter().map(move |b| [a, *b]);
                    listed.extend(low_ports.iter().flat_map(|a| pairs(*a)));
                }
            }
        }
        (!listed.is_empty()).then(|| listed[draw_index(stream, listed.len() as u64)])
    }

    fn pair(&self, positions: [usize; 2]) -> Pair {
        let [a, b] = positions.map(|position| self.switches[position]);
        [a.min(b), a.max(b)]
    }

    fn may_join(&self, pair: Pair) -> bool {
        let cables = self.cables.get(&pair).copied().unwrap_or(0);
        pair[0] != pair[1] && cables < self.cables_per_pair_max
    }

    fn take(&mut self, positions: [usize; 2]) -> Pair {
        let pair = self.pair(positions);
        *self.cables.entry(pair).or_default() += 1;
        // The higher position is removed first, so that the lower position stays valid.
        self.switches.swap_remove(positions[0].max(positions[1]));
        self.switches.swap_remove(positions[0].min(positions[1]));
        pair
    }
}

fn draw_index(stream: &mut Stream, count: u64) -> usize {
    usize::try_from(stream.below(count)).expect("below a length")
}

fn joins(switch_count: usize, pairs: &[Pair]) -> bool {
    let mut neighbours = vec![Vec::new(); switch_count];
    for [a, b] in pairs {
        neighbours[*a].push(*b);
        neighbours[*b].push(*a);
    }
    let mut reached = vec![false; switch_count];
    reached[0] = true;
    let mut waiting = vec![0];
    while let Some(switch) = waiting.pop() {
        for other in &neighbours[switch] {
            if !reached[*other] {
                reached[*other] = true;
                waiting.push(*other);
            }
        }
    }
    reached.into_iter().all(|is_reached| is_reached)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expects uniformly drawn pairs of free ports. Switch 0 has two free ports, and each other
    /// switch has one; switches 1 and 3 are already joined.
    fn assert_uniform(draw: impl Fn(&FreePorts, &mut Stream) -> Option<[usize; 2]>) {
        const DRAWS: u32 = 20_000;
        let free = FreePorts {
            switches: vec![0, 1, 0, 2, 3],
            cables: BTreeMap::from([([1, 3], 1)]),
            cables_per_pair_max: 1,
        };
        let mut stream = Stream::new(5, "uniform", Purpose::Topology);
        let mut count: BTreeMap<Pair, u32> = BTreeMap::new();
        for _ in 0..DRAWS {
            let positions = draw(&free, &mut stream).expect("some may be joined");
            *count.entry(free.pair(positions)).or_default() += 1;
        }
        // Probabilities of the pairs (0,1), (0,2), (0,3), (1,2), (2,3) in eighths: 2, 2, 2, 1, 1.
        assert_eq!(
            count.keys().copied().collect::<Vec<_>>(),
            [[0, 1], [0, 2], [0, 3], [1, 2], [2, 3]]
        );
        for ([low, _], count) in count {
            let share = if low == 0 { 0.25 } else { 0.125 };
            let deviation = (f64::from(DRAWS) * share * (1.0 - share)).sqrt();
            assert!((f64::from(count) - f64::from(DRAWS) * share).abs() < 5.0 * deviation);
        }
    }

    #[test]
    fn rejection_and_list_sampling_are_both_uniform() {
        assert_uniform(FreePorts::draw);
        assert_uniform(FreePorts::draw_from_list);
    }

    #[test]
    fn no_pair_is_drawn_if_none_can_be_joined() {
        let free = FreePorts {
            switches: vec![0, 0, 1, 1],
            cables: BTreeMap::from([([0, 1], 1)]),
            cables_per_pair_max: 1,
        };
        assert_eq!(free.draw(&mut Stream::new(1, "none", Purpose::Topology)), None);
    }
}
