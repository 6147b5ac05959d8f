//! Random scenarios.

use crate::{in_transit, streams};
use gingham_kernel::{Purpose, Stream};
use gingham_lab::compile;
use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_topology::generate::{Generator, Irregular, Mesh, Ring, Star, Torus, TwoHosts};
use gingham_topology::{Fabric, NodeKind};
use std::fmt::Write as _;
use std::path::Path;

/// A scenario in parts that can be left out.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) seed: u64,
    pub(crate) nodes: Vec<(NodeKind, String)>,
    /// Both ends, rate in bytes per second, length in millimetres.
    pub(crate) cables: Vec<(String, String, u64, u64)>,
    pub(crate) routing: Vec<String>,
    pub(crate) form: &'static str,
    pub(crate) network: Vec<String>,
    pub(crate) classes: Vec<String>,
    pub(crate) time_ps: u64,
    /// Warm-up; detected by the run if `None`.
    pub(crate) warm_up_ps: Option<u64>,
    pub(crate) rules: Vec<String>,
}

impl Case {
    pub(crate) fn random(seed: u64) -> Self {
        let mut draw = Stream::new(seed, "differential", Purpose::Shuffle);
        let fabric = random_fabric(&mut draw, seed);
        Self::over(&fabric, draw, seed).with_other_traffic()
    }

    pub(crate) fn in_transit(seed: u64) -> Self {
        let mut draw = Stream::new(seed, "in transit", Purpose::Shuffle);
        let fabric = in_transit::random_fabric(&mut draw, seed);
        let routing = in_transit::random_routing(&mut draw);
        let adapters = in_transit::random_adapters(&mut draw);
        let mark = format!(", mark_bytes = \"{} B\" }}", draw.below(4));
        let crowd = (draw.below(6) > 0).then(|| in_transit::random_crowd(&mut draw));
        let mut case = Self::over(&fabric, draw, seed);
        case.classes.extend(crowd);
        case.form = "source";
        case.routing = routing;
        let is_header = |line: &&mut String| line.starts_with("header");
        let header = case.network.iter_mut().find(is_header).unwrap();
        *header = header.replace(" }", &mark);
        if compile(&case.source(), true).is_err_and(|error| error.to_string().contains("policing"))
        {
            // Paths are longer now, and adaptive packets may exceed a bucket.
            case.drop_policing();
        }
        case.take_first(adapters);
        case.with_other_traffic()
    }

    pub(crate) fn with_other_traffic(mut self) -> Self {
        let mut draw = Stream::new(self.seed, "other traffic", Purpose::Shuffle);
        for index in 0..self.classes.len() {
            let is_written = |key: &str| self.classes[index].contains(&format!("{key} = "));
            let mut lines = Vec::new();
            if !is_written("destinations") && !is_written("streams") {
                lines.push("destinations = { uniform = { itself = true } }");
            }
            if !is_written("arrivals") && !is_written("streams") {
                lines.push("arrivals = \"bernoulli\"");
            }
            for line in lines {
                let mut changed = self.clone();
                writeln!(changed.classes[index], "{line}").unwrap();
                if draw.below(2) == 0 && compile(&changed.source(), true).is_ok() {
                    self = changed;
                }
            }
        }
        self
    }

    pub(crate) fn drop_policing(&mut self) {
        let is_kept = |line: &&str| !line.starts_with("policing");
        for class in &mut self.classes {
            let kept = class.lines().filter(is_kept);
            *class = kept.fold(String::new(), |text, line| text + line + "\n");
        }
    }

    pub(crate) fn take_first(&mut self, adapters: Vec<String>) {
        self.network.push(String::new());
        for line in adapters {
            *self.network.last_mut().unwrap() = line;
            match compile(&self.source(), true) {
                Ok(_) => break,
                Err(error) if error.to_string().contains("in_transit.pool") => {}
                Err(error) => panic!("{error}\n{}", self.to_toml()),
            }
        }
    }

    pub(crate) fn over(fabric: &Fabric, mut draw: Stream, seed: u64) -> Self {
        let nodes = fabric.nodes().iter().map(|n| (n.kind, n.name.clone())).collect();
        let (uniform_rate, uniform_length) = (draw.below(2) == 0, draw.below(2) == 0);
        let rates = [1_000_000_000, 500_000_000, 250_000_000, 333_000_000, 2_000_000_000];
        let common = (pick(&mut draw, &rates), random_length_mm(&mut draw));
        let cables = fabric
            .cables()
            .iter()
            .map(|cable| {
                let [a, b] = cable.ends.map(|end| fabric.node(end.node).name.clone());
                let rate = if uniform_rate { common.0 } else { pick(&mut draw, &rates) };
                let length = if uniform_length { common.1 } else { random_length_mm(&mut draw) };
                (a, b, rate, length)
            })
            .collect();
        let hosts: Vec<String> = fabric
            .nodes()
            .iter()
            .filter(|node| node.kind == NodeKind::Host)
            .map(|node| node.name.clone())
            .collect();
        let last = draw.below(3);
        let class = |n| {
            let class = random_class(&mut draw, n, &hosts);
            streams::or_streams(class, &mut draw.clone())
        };
        let classes = (0..=last).map(class).collect();
        let mut case = Self {
            seed,
            nodes,
            cables,
            routing: vec![format!(
                "algorithm = \"{}\"",
                pick(&mut draw, &["up-down", "shortest-path"])
            )],
            form: pick(&mut draw, &["source", "source", "table"]),
            network: random_network(&mut draw),
            classes,
            time_ps: 4_000_000 + draw.below(30_000_000),
            warm_up_ps: None,
            rules: Vec::new(),
        };
        case.draw_stop(&mut draw);
        let classes = std::mem::take(&mut case.classes);
        case.classes = classes.into_iter().filter(|class| case.has_senders(class)).collect();
        if case.classes.is_empty() {
            case.classes.push("load = 0.3\nlength = { fixed = \"64 B\" }\n".to_owned());
        }
        for index in 0..case.classes.len() {
            case.draw_policing(&mut draw, index);
        }
        case
    }

    fn draw_policing(&mut self, draw: &mut Stream, index: usize) {
        if draw.below(2) == 0 {
            return;
        }
        let rate = pick(draw, &[0.02, 0.1, 0.3, 0.7, 1.0]);
        let burst = pick(draw, &[2, 70, 300, 1_100, 5_000]) + draw.below(3);
        let within = 1 + draw.below(burst);
        let longest = pick(draw, &[None, Some(within), Some(burst)]);
        let longest =
            longest.map_or_else(String::new, |bytes| format!(", longest = \"{bytes} B\""));
        let excesses = match draw.below(4) {
            0 => vec!["\"drop\"".to_owned()],
            1 | 2 => (0..4).map(|class| format!("{{ demote = \"class{class}\" }}")).collect(),
            _ => vec!["\"delay\"".to_owned()],
        };
        for excess in excesses {
            let mut policed = self.clone();
            let rest = format!("{longest}, excess = {excess}");
            let policing = format!("policing = {{ rate = {rate}, burst = \"{burst} B\"{rest} }}");
            writeln!(policed.classes[index], "{policing}").unwrap();
            match compile(&policed.source(), true) {
                Ok(_) => {
                    *self = policed;
                    return;
                }
                Err(error) if error.to_string().contains("policing") => {}
                Err(error) => panic!("{error}\n{}", policed.to_toml()),
            }
        }
    }

    pub(crate) fn draw_stop(&mut self, draw: &mut Stream) {
        // The last of 64 sections would leave nothing to measure.
        let within = draw.below(self.time_ps / 64 * 63);
        let given = [None, Some(0), Some(self.time_ps / 10), Some(within)];
        self.warm_up_ps = pick(draw, &given);
        if draw.below(3) == 0 {
            self.rules.push(format!("messages = {}", 1 + draw.below(40)));
        }
        if draw.below(3) == 0 {
            // An interval needs two thirds of the run.
            self.warm_up_ps = self.warm_up_ps.map(|warm_up| warm_up.min(self.time_ps / 4));
            self.rules.push(format!("relative_width = {}", pick(draw, &[0.9, 0.5, 0.2])));
            let quantities =
                ["latency", "network-latency", "head-latency", "accepted-load", "hops"];
            self.rules.push(format!("quantity = \"{}\"", pick(draw, &quantities)));
        }
        if draw.below(2) == 0 {
            let follow = pick(draw, &[0, self.time_ps / 100, self.time_ps / 2, 2 * self.time_ps]);
            self.rules.push(format!("follow = \"{follow} ps\""));
        }
    }

    /// Whether any host sends: a permutation may map every host to itself.
    fn has_senders(&self, class: &str) -> bool {
        let alone = Self { classes: vec![class.to_owned()], ..self.clone() };
        match compile(&alone.source(), true) {
            Ok(_) => true,
            Err(error) if error.to_string().contains("has anywhere to send to") => false,
            Err(error) if error.to_string().contains("to send a stream to") => false,
            Err(error) => panic!("{error}\n{}", alone.to_toml()),
        }
    }

    pub(crate) fn source(&self) -> ScenarioSource {
        let overrides = Overrides::default();
        ScenarioSource::parse("case.toml", &self.to_toml(), Path::new("."), &overrides)
            .unwrap_or_else(|error| panic!("{error}\n{}", self.to_toml()))
    }

    pub(crate) fn to_toml(&self) -> String {
        let mut text = format!("seed = {}\n[topology]\ninline = '''\n", self.seed);
        for (kind, name) in &self.nodes {
            let table = if *kind == NodeKind::Switch { "switch" } else { "host" };
            writeln!(text, "[[{table}]]\nname = \"{name}\"").unwrap();
        }
        for (a, b, rate, length) in &self.cables {
            writeln!(
                text,
                "[[cable]]\nends = [\"{a}\", \"{b}\"]\nspeed = \"{rate} B/s\"\nlength = \"{length} mm\""
            )
            .unwrap();
        }
        let (routing, form) = (self.routing.join("\n"), self.form);
        writeln!(text, "'''\n[routing]\n{routing}\nform = \"{form}\"").unwrap();
        writeln!(text, "[network]\n{}", self.network.join("\n")).unwrap();
        for class in &self.classes {
            writeln!(text, "[[traffic]]\n{class}").unwrap();
        }
        writeln!(text, "[stop]\ntime = \"{} ps\"", self.time_ps).unwrap();
        if let Some(warm_up) = self.warm_up_ps {
            writeln!(text, "warm_up = \"{warm_up} ps\"").unwrap();
        }
        text + &self.rules.join("\n") + "\n"
    }
}

pub(crate) fn pick<T: Copy>(draw: &mut Stream, from: &[T]) -> T {
    from[usize::try_from(draw.below(from.len() as u64)).unwrap()]
}

pub(crate) fn random_fabric(draw: &mut Stream, seed: u64) -> Fabric {
    let small = |draw: &mut Stream, most: u64| u32::try_from(1 + draw.below(most)).unwrap();
    let generator = match draw.below(6) {
        0 => Generator::Star(Star { hosts: 1 + small(draw, 4), rails: 1 }),
        1 => Generator::Ring(Ring {
            switches: 2 + small(draw, 4),
            hosts_per_switch: small(draw, 2),
            rails: 1,
        }),
        2 => Generator::TwoHosts(TwoHosts { switches: small(draw, 4) - 1, rails: 1 }),
        3 => Generator::Torus(Torus {
            dimensions: vec![1 + small(draw, 3), 1 + small(draw, 2)],
            hosts_per_switch: small(draw, 2),
            rails: 1,
        }),
        4 => Generator::Mesh(Mesh {
            dimensions: vec![small(draw, 4), 1 + small(draw, 1)],
            hosts_per_switch: small(draw, 2),
            rails: 1,
        }),
        _ => Generator::Irregular(Irregular {
            switches: 2 + small(draw, 5),
            ports: 6,
            hosts_per_switch: small(draw, 3),
            cables_per_pair_max: 1 + u32::try_from(draw.below(2)).unwrap(),
            rails: 1,
        }),
    };
    generator
        .generate(seed)
        .unwrap_or_else(|_| Generator::Star(Star { hosts: 3, rails: 1 }).generate(seed).unwrap())
}

fn random_length_mm(draw: &mut Stream) -> u64 {
    if draw.below(8) == 0 { 0 } else { draw.below(60_000) }
}

fn random_class(draw: &mut Stream, index: u64, hosts: &[String]) -> String {
    let mut text = format!("name = \"class{index}\"\n");
    text += &random_arrivals(draw);
    writeln!(text, "length = {{ {} }}", random_length(draw)).unwrap();
    let senders = random_hosts(draw, hosts);
    writeln!(text, "hosts = {senders:?}").unwrap();
    if let Some(destinations) = random_destinations(draw, hosts, &senders) {
        writeln!(text, "destinations = {destinations}").unwrap();
    }
    text += &random_sending(draw);
    let later = draw.below(2_000_000);
    let start = pick(draw, &[0, later]);
    if start > 0 {
        writeln!(text, "start = \"{start} ps\"").unwrap();
    }
    if draw.below(2) == 0 {
        writeln!(text, "stop = \"{} ps\"", start + 1 + draw.below(6_000_000)).unwrap();
    } else {
        text += &random_stagger(&mut draw.clone());
    }
    text
}

/// Draws from a copy, so that other draws do not change.
fn random_stagger(draw: &mut Stream) -> String {
    if draw.below(4) > 0 {
        return String::new();
    }
    let (every, jitter) = (draw.below(20_000), draw.below(50_000));
    format!("stagger = {{ every = \"{every} ps\", jitter = \"{jitter} ps\" }}\n")
}

fn random_sending(draw: &mut Stream) -> String {
    let mut text = String::new();
    if draw.below(2) == 0 {
        writeln!(text, "priority = {}", pick(draw, &[0, 1, 2, 7])).unwrap();
    }
    let bytes = |draw: &mut Stream| {
        let most = pick(draw, &[1_u64, 2, 16, 64, 100, 500]);
        format!("\"{} B\"", most + draw.below(3))
    };
    let segmentation = match draw.below(8) {
        0 | 1 => format!("{{ fixed = {} }}", bytes(draw)),
        2 => "\"adaptive\"".to_owned(),
        3 => format!("{{ adaptive = {} }}", bytes(draw)),
        4 => format!("{{ by-hops = [{}, {}] }}", bytes(draw), bytes(draw)),
        _ => return text,
    };
    text + &format!("segmentation = {segmentation}\n")
}

fn random_arrivals(draw: &mut Stream) -> String {
    let load = pick(draw, &[0.05, 0.1, 0.3, 0.6, 1.0]);
    let (on, off) = (100_000 + draw.below(3_000_000), draw.below(2_000_000));
    let periods = format!("on = \"{on} ps\", off = \"{off} ps\"");
    // Load that the peak allows, rounded down.
    let share = f64::from(u32::try_from(1_000 * on / (on + off)).unwrap()) / 1_000.0;
    let arrivals = match draw.below(8) {
        0 => return "arrivals = \"backlogged\"\n".to_owned(),
        1 => "\"constant\"".to_owned(),
        2 => format!("{{ constant = {{ phase = \"{} ps\" }} }}", draw.below(1_000_000)),
        3 => format!("{{ on-off = {{ {periods} }} }}"),
        4 => format!("{{ on-off-pareto = {{ {periods}, shape = 1.5 }} }}"),
        _ => return format!("load = {load}\n"),
    };
    format!("arrivals = {arrivals}\nload = {}\n", f64::max(load * share, 0.001))
}

fn random_length(draw: &mut Stream) -> String {
    let bytes =
        |draw: &mut Stream| pick(draw, &[1_u64, 2, 8, 20, 60, 64, 100, 300, 1_000]) + draw.below(3);
    let (length, more) = (bytes(draw), bytes(draw));
    match draw.below(6) {
        0 => format!("exponential = \"{length} B\""),
        1 => format!("uniform = {{ from = \"{length} B\", to = \"{} B\" }}", length + more),
        2 => {
            format!("bimodal = {{ short = \"{length} B\", long = \"{more} B\", long_share = 0.2 }}")
        }
        _ => format!("fixed = \"{length} B\""),
    }
}

fn random_hosts(draw: &mut Stream, hosts: &[String]) -> Vec<String> {
    if draw.below(3) > 0 {
        return vec!["*".to_owned()];
    }
    let count = pick(draw, &[1, 2, 4, hosts.len()]).min(hosts.len());
    hosts[..count].to_vec()
}

fn random_destinations(draw: &mut Stream, hosts: &[String], senders: &[String]) -> Option<String> {
    let any = |draw: &mut Stream| &hosts[pick(draw, &(0..hosts.len()).collect::<Vec<_>>())];
    let count = if senders[0] == "*" { hosts.len() } else { senders.len() };
    let power = count.is_power_of_two();
    let square = count.isqrt() * count.isqrt() == count;
    Some(match draw.below(14) {
        0..3 => format!("{{ host = \"{}\" }}", any(draw)),
        3 => {
            format!(
                "{{ hot-spot = {{ hosts = [\"{}\"], share = 0.{} }} }}",
                any(draw),
                1 + draw.below(9)
            )
        }
        4 if hosts.len() > 1 && senders[0] == "*" => {
            format!(
                "{{ pairs = {{ {} = \"{}\", {} = \"{}\" }} }}",
                hosts[0], hosts[1], hosts[1], hosts[0]
            )
        }
        5 if square => "\"transpose\"".to_owned(),
        6 if power => "\"bit-complement\"".to_owned(),
        7 if power => "\"bit-reversal\"".to_owned(),
        8 if power => "\"shuffle\"".to_owned(),
        9 => "\"tornado\"".to_owned(),
        10 => format!("{{ neighbour = {{ dimensions = [{count}] }} }}"),
        11 => "\"random-permutation\"".to_owned(),
        _ => return None,
    })
}

fn random_network(draw: &mut Stream) -> Vec<String> {
    let delay = |draw: &mut Stream| pick(draw, &[0, 0, 1_000, 7_000, 40_000, 150_000]);
    let mut lines = vec![
        format!("preset = \"{}\"", pick(draw, &["myrinet-640", "myrinet-1280"])),
        format!("arbitration = \"{}\"", pick(draw, &["round-robin", "strict-priority"])),
        format!("delay_per_metre = \"{} ps\"", pick(draw, &[0, 500, 4_920])),
        format!("routing_delay = \"{} ps\"", delay(draw)),
        format!("setup_delay = \"{} ps\"", delay(draw)),
        format!(
            "header = {{ route_bytes = {}, type_bytes = \"{} B\", trailer_bytes = \"{} B\" }}",
            draw.below(2) == 0,
            draw.below(3),
            draw.below(2)
        ),
    ];
    if draw.below(2) == 0 {
        // Just enough for the longest and fastest cable of these cases.
        let go = 1 + draw.below(20);
        let stop = go + draw.below(20);
        let capacity = stop + 1_190 + draw.below(3);
        lines.push(format!("slack = {{ capacity = {capacity}, stop = {stop}, go = {go} }}"));
    }
    lines
}
