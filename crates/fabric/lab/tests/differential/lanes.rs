//! Random scenarios of virtual lanes. Draws from a clone of a stream keep other draws unchanged.

use crate::case::{self, Case, pick};
use crate::in_transit;
use gingham_kernel::{Purpose, Stream};
use gingham_lab::compile;
use gingham_topology::Fabric;
use gingham_topology::generate::{Generator, Mesh, Ring, Torus};
use std::fmt::Write as _;

/// Tried in turn if packets with virtual cut-through do not fit.
const DEPTHS: [u64; 5] = [12, 40, 150, 500, 2_500];
const ROOM: &str = "in_transit.pool = \"100 MiB\"";
/// No flit may wait for its link, so that all cables need one rate.
const NO_OUTPUT_BUFFER: &str = "lanes.output_depth = 0";
/// Keys dropped on a conflict.
const GIVING_WAY: [&str; 5] =
    ["datelines", "crossbar_input", "crossbar_output", "link_output", "adapter_port"];

impl Case {
    pub(crate) fn lanes(seed: u64) -> Self {
        let mut draw = Stream::new(seed, "virtual lanes", Purpose::Shuffle);
        let fabric = random_fabric(&mut draw, seed);
        let network = random_network(&mut draw, &[1, 3, 8, 16, 16, 64]);
        let mut own = Stream::new(seed, "classes of lanes", Purpose::Shuffle);
        let mut case = Self::over(&fabric, draw, seed);
        case.bind(&mut own, network);
        if own.below(2) == 0 {
            let routing = std::mem::replace(
                &mut case.routing,
                vec!["algorithm = \"dimension-order\"".to_owned()],
            );
            if compile(&case.source(), true).is_err() {
                case.routing = routing;
            }
        }
        case.settled().with_other_traffic()
    }

    pub(crate) fn adaptive(seed: u64) -> Self {
        let mut case = Self::lanes(seed);
        let mut own = Stream::new(seed, "adaptive", Purpose::Shuffle);
        let select = pick(&mut own, &["first", "random", "least-loaded"]);
        case.form = "table";
        case.leave_out("datelines");
        if own.below(3) == 0 {
            // Tail-credit reallocation makes adaptive lanes safe without virtual cut-through.
            case.leave_out("reallocation");
            case.leave_out("forwarding");
            case.network.push("lanes.reallocation = \"tail-credit\"".to_owned());
        }
        let reselect = pick(&mut own.clone(), &["every-cycle", "never"]);
        let escape = pick(&mut own, &["", "", ", escape_lanes = 0", ", escape_lanes = 2"]);
        for (algorithm, escape) in [
            ("dimension-order", escape),
            ("shortest-path", ", escape_lanes = 1"),
            ("dimension-order", ", escape_lanes = 0"),
            ("shortest-path", ""),
        ] {
            case.routing = vec![
                format!("algorithm = \"{algorithm}\""),
                format!(
                    "adaptive = {{ select = \"{select}\", reselect = \"{reselect}\"{escape} }}"
                ),
            ];
            if compile(&case.source(), true).is_ok() {
                break;
            }
        }
        case.settled()
    }

    pub(crate) fn lanes_in_transit(seed: u64) -> Self {
        let mut draw = Stream::new(seed, "in transit over lanes", Purpose::Shuffle);
        let fabric = in_transit::random_fabric(&mut draw, seed);
        // Hosts are slow: with short cycles a packet would not finish within the run.
        let network = random_network(&mut draw, &[8, 16, 16, 64]);
        let routing = in_transit::random_routing(&mut draw);
        let adapters = in_transit::random_adapters(&mut draw);
        let crowd = in_transit::random_crowd(&mut draw);
        let mut own = Stream::new(seed, "classes of lanes", Purpose::Shuffle);
        let mut case = Self::over(&fabric, draw, seed);
        case.classes.push(crowd);
        case.form = "source";
        case.routing = routing;
        case.bind(&mut own, network);
        case.time_ps *= 2;
        case = case.settled();
        case.network.retain(|line| line != ROOM);
        case.take_first(adapters);
        case.with_other_traffic()
    }

    fn bind(&mut self, draw: &mut Stream, network: Network) {
        let Network { count, flit_bytes, lines, has_cut_through } = network;
        self.network = lines;
        if self.network.iter().any(|line| line == NO_OUTPUT_BUFFER) {
            let rate = self.cables[0].2;
            self.cables.iter_mut().for_each(|cable| cable.2 = rate);
        }
        // Some hundred cycles, whatever their length.
        let fastest = self.cables.iter().map(|(_, _, rate, _)| *rate).max().unwrap_or(1);
        let cycle_ps = 1_000_000_000_000 * flit_bytes / fastest;
        self.time_ps = (150 + draw.below(900)) * cycle_ps;
        self.rules.clear();
        self.draw_stop(draw);
        let one_for_all = random_lanes(draw, count);
        let are_alike = draw.below(3) == 0;
        for class in &mut self.classes {
            *class = lasting(class, self.time_ps, draw);
            let own = random_lanes(draw, count);
            let lanes = if are_alike { &one_for_all } else { &own };
            if let Some(lanes) = lanes {
                writeln!(class, "lanes = {lanes:?}").unwrap();
            }
            if has_cut_through && !class.contains("segmentation") && draw.below(4) > 0 {
                let longest = pick(draw, &[1, 16, 50, 64, 200]) + draw.below(2);
                writeln!(class, "segmentation = {{ fixed = \"{longest} B\" }}").unwrap();
            }
        }
    }

    fn settled(mut self) -> Self {
        let mut depths = DEPTHS.into_iter();
        loop {
            let Err(error) = compile(&self.source(), true) else { return self };
            let described = error.to_string();
            let key = GIVING_WAY.iter().find(|key| described.contains(&format!("lanes.{key}")));
            if let Some(key) = key {
                self.leave_out(key);
            } else if described.contains("cut-through holds") {
                self.leave_out("depth");
                match depths.next() {
                    Some(depth) => self.network.push(format!("lanes.depth = {depth}")),
                    None => self.leave_out("forwarding"),
                }
            } else if described.contains("in_transit.pool") {
                self.network.push(ROOM.to_owned());
            } else if described.contains("policing") {
                self.drop_policing();
            } else {
                panic!("{error}\n{}", self.to_toml());
            }
        }
    }

    fn leave_out(&mut self, key: &str) {
        let line = format!("lanes.{key} ");
        self.network.retain(|written| !written.starts_with(&line));
    }
}

fn lasting(class: &str, time_ps: u64, draw: &mut Stream) -> String {
    let keys = ["start = ", "stop = ", "stagger = "];
    let line = |line: &str| match keys.iter().position(|key| line.starts_with(key)) {
        Some(0) => format!("start = \"{} ps\"\n", time_ps / (2 + draw.below(20))),
        Some(1) => format!("stop = \"{} ps\"\n", time_ps / 2 + 1 + draw.below(time_ps)),
        Some(_) => {
            let mut draw = draw.clone();
            let (every, jitter) = (draw.below(time_ps / 400), draw.below(time_ps / 10));
            format!("stagger = {{ every = \"{every} ps\", jitter = \"{jitter} ps\" }}\n")
        }
        None => format!("{line}\n"),
    };
    class.lines().map(line).collect()
}

fn random_fabric(draw: &mut Stream, seed: u64) -> Fabric {
    let from =
        |draw: &mut Stream, least: u32, more: u64| least + u32::try_from(draw.below(more)).unwrap();
    let generator = match draw.below(5) {
        0 => Generator::Ring(Ring {
            switches: from(draw, 3, 4),
            hosts_per_switch: from(draw, 1, 2),
            rails: 1,
        }),
        1 => Generator::Torus(Torus {
            dimensions: vec![from(draw, 3, 3), from(draw, 2, 3)],
            hosts_per_switch: from(draw, 1, 2),
            rails: 1,
        }),
        2 => Generator::Mesh(Mesh {
            dimensions: vec![from(draw, 2, 3), from(draw, 1, 3)],
            hosts_per_switch: from(draw, 1, 2),
            rails: 1,
        }),
        _ => return case::random_fabric(draw, seed),
    };
    generator.generate(seed).unwrap()
}

struct Network {
    count: u64,
    flit_bytes: u64,
    lines: Vec<String>,
    has_cut_through: bool,
}

fn random_network(draw: &mut Stream, flits: &[u64]) -> Network {
    let count = pick(draw, &[1, 2, 2, 3, 4, 4, 8, 16]);
    let depths = [1, 2, 3, 5, 10, 10, 40];
    let forwardings = ["\"wormhole\"", "\"virtual-cut-through\""];
    let flit_bytes = pick(draw, flits);
    let forwarding = match draw.below(4) {
        0 => format!("[{}]", list(draw, count, |draw| pick(draw, &forwardings).to_owned())),
        1 | 2 => forwardings[1].to_owned(),
        _ => forwardings[0].to_owned(),
    };
    let mut lines = vec![
        "preset = \"yum-1600\"".to_owned(),
        format!("arbitration = \"{}\"", pick(draw, &["round-robin", "strict-priority"])),
        format!("delay_per_metre = \"{} ps\"", pick(draw, &[0, 500, 4_920])),
        format!(
            "header = {{ type_bytes = \"{} B\", trailer_bytes = \"{} B\" }}",
            draw.below(3),
            draw.below(2)
        ),
        format!("lanes.count = {count}"),
        format!("lanes.flit = \"{flit_bytes} B\""),
        format!("lanes.depth = {}", all_or_each(draw, count, &depths)),
        format!("lanes.forwarding = {forwarding}"),
        format!("lanes.routing_cycles = {}", pick(draw, &[0, 1, 1, 2, 5])),
        format!("lanes.crossbar = \"{}\"", pick(draw, &["multiplexed", "full"])),
    ];
    if draw.below(2) == 0 {
        lines.push(format!("lanes.output_depth = {}", all_or_each(draw, count, &[1, 1, 2, 3, 10])));
    }
    if draw.below(3) == 0 {
        let by_wrap = draw.clone().below(2) > 0;
        let asked = draw.below(3) > 0;
        let rule = if asked && by_wrap {
            "\"by-wrap\""
        } else if asked {
            "true"
        } else {
            "false"
        };
        lines.push(format!("lanes.datelines = {rule}"));
    }
    for place in ["crossbar_input", "link_output", "adapter_port"] {
        if draw.below(4) > 0 {
            lines.push(format!("lanes.{place} = {}", random_scheduler(draw, count)));
        }
    }
    let mut own = draw.clone();
    if own.below(3) > 0 {
        lines.push(format!("lanes.crossbar_output = {}", random_scheduler(&mut own, count)));
    }
    if own.below(3) == 0 {
        lines.push("lanes.injection = \"one-at-a-time\"".to_owned());
    }
    if draw.below(3) == 0 {
        lines.push(format!("lanes.pipeline_cycles = {}", pick(draw, &[1, 4, 9])));
    }
    draw_router(&mut draw.clone(), count, &mut lines);
    Network { count, flit_bytes, has_cut_through: forwarding.contains("cut"), lines }
}

fn draw_router(draw: &mut Stream, count: u64, lines: &mut Vec<String>) {
    if draw.below(3) == 0 {
        lines.push(format!("lanes.credit_delay = {}", pick(draw, &[0, 1, 4, 30])));
    }
    if draw.below(3) == 0 {
        let reallocation = pick(draw, &["after-tail", "tail-credit"]);
        lines.push(format!("lanes.reallocation = \"{reallocation}\""));
    }
    if draw.below(3) == 0 {
        // Allocators conflict with other arbiters, and with a full crossbar.
        lines.retain(|line| !line.starts_with("lanes.crossbar"));
        let allocators = [
            "\"maximal\"",
            "\"islip\"",
            "{ islip = { iterations = 2 } }",
            "\"separable-input-first\"",
            "\"separable-output-first\"",
        ];
        lines.push(format!("lanes.allocator = {}", pick(draw, &allocators)));
        for side in ["input", "output"] {
            let speedup = pick(draw, &[1, 1, 2, 3, 16]).min(count);
            lines.push(format!("lanes.{side}_speedup = {speedup}"));
        }
    }
    let vc_allocators = ["\"maximal\"", "\"islip\"", "{ islip = { iterations = 2 } }"];
    let mut own = draw.clone();
    if own.below(2) == 0 {
        lines.push(format!("lanes.vc_allocator = {}", pick(&mut own, &vc_allocators)));
    }
    if draw.below(4) == 0 {
        let keeps_waiting = ["output_depth", "link_output", "output_speedup", "crossbar ="];
        lines
            .retain(|line| !keeps_waiting.iter().any(|key| line.contains(&format!("lanes.{key}"))));
        lines.push(NO_OUTPUT_BUFFER.to_owned());
    }
}

fn list(draw: &mut Stream, count: u64, mut one: impl FnMut(&mut Stream) -> String) -> String {
    (0..count).map(|_| one(draw)).collect::<Vec<_>>().join(", ")
}

fn all_or_each(draw: &mut Stream, count: u64, values: &[u64]) -> String {
    if draw.below(2) == 0 {
        return pick(draw, values).to_string();
    }
    format!("[{}]", list(draw, count, |draw| pick(draw, values).to_string()))
}

fn random_lanes(draw: &mut Stream, count: u64) -> Option<Vec<u64>> {
    match draw.below(4) {
        0 => None,
        1 => Some(vec![draw.below(count)]),
        _ => {
            let lanes: Vec<u64> = (0..count).filter(|_| draw.below(2) == 0).collect();
            Some(lanes).filter(|lanes| !lanes.is_empty())
        }
    }
}

fn random_scheduler(draw: &mut Stream, count: u64) -> String {
    let by = pick(draw, &["flit", "flit", "packet"]);
    let weight = |draw: &mut Stream| pick(draw, &[1, 1, 2, 3, 7]).to_string();
    let quantum = |draw: &mut Stream| format!("\"{} B\"", pick(draw, &[64, 65, 100, 300, 1_000]));
    let rate = |draw: &mut Stream| match draw.below(4) {
        0 => "\"best-effort\"".to_owned(),
        _ => format!("\"{} B/s\"", pick(draw, &[1_000_000, 77_000_000, 300_000_000])),
    };
    match draw.below(9) {
        0 => format!("{{ round-robin = {{ by = \"{by}\" }} }}"),
        1 => {
            let weights = list(draw, count, weight);
            format!("{{ weighted-round-robin = {{ weights = [{weights}], by = \"{by}\" }} }}")
        }
        2 => {
            let quanta = list(draw, count, quantum);
            format!("{{ surplus-round-robin = {{ quanta = [{quanta}], by = \"{by}\" }} }}")
        }
        3 => {
            let quanta = list(draw, count, quantum);
            format!("{{ deficit-round-robin = {{ quanta = [{quanta}], by = \"{by}\" }} }}")
        }
        4 => {
            let rates = list(draw, count, rate);
            format!("{{ virtual-clock = {{ rates = [{rates}], by = \"{by}\" }} }}")
        }
        5 => format!("{{ first-come-first-served = {{ by = \"{by}\" }} }}"),
        6 => {
            let levels = list(draw, count, |draw| draw.below(4).to_string());
            format!("{{ strict-priority = {{ levels = [{levels}], by = \"{by}\" }} }}")
        }
        7 => {
            let levels = list(draw, count, |draw| draw.below(3).to_string());
            let weights = list(draw, count, weight);
            let yields = pick(draw, &["", ", yield_after = 1", ", yield_after = 3"]);
            format!(
                "{{ priority-weighted-round-robin = {{ levels = [{levels}], weights = [{weights}]{yields}, by = \"{by}\" }} }}"
            )
        }
        _ => random_tables(draw, count),
    }
}

/// Draws InfiniBand's tables: every lane in the low table, some in the high one.
fn random_tables(draw: &mut Stream, count: u64) -> String {
    let lanes = count.min(15);
    let slot = |lane: u64, weight: u64| format!("{{ lane = {lane}, weight = {weight} }}");
    let mut low: Vec<String> =
        (0..lanes).map(|lane| slot(lane, pick(draw, &[1, 1, 2, 5, 255]))).collect();
    low.extend((0..draw.below(4)).map(|_| slot(draw.below(lanes), draw.below(9))));
    let high: Vec<String> =
        (0..draw.below(5)).map(|_| slot(draw.below(lanes), draw.below(4))).collect();
    let limit = pick(draw, &[0, 0, 1, 255]);
    format!(
        "{{ infiniband = {{ high = [{}], low = [{}], high_limit = {limit} }} }}",
        high.join(", "),
        low.join(", ")
    )
}
