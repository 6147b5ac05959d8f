//! Memory needed by routes, computed before allocation.
//!
//! ```text
//!   tables           1 byte per pair of switch and endpoint
//!   source routes    1 byte per hop and 4 bytes per path, per pair of switch and endpoint;
//!                    or 2 bytes per pair of switches, if no switch has a choice
//! ```
//!
//! The size of tables is exact. Path lengths, and whether switches have a choice, are estimated
//! from a few destination switches.

use super::assignment::Outlook;
use super::rule::{Form, Rule};
use crate::routing::paths::graph::{SwitchGraph, UNREACHED};
use crate::{Fabric, NodeId};
use std::fmt;

/// Default memory limit in bytes, suitable for a small computer.
pub const ROUTE_BYTES_MAX: u64 = 4 << 30;

/// Minimum number of (switch, endpoint) pairs for an estimate of the memory.
const PAIRS_SMALL: u64 = 1_000_000;

const SAMPLES: usize = 16;

/// Part of the memory needed by routes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryPart {
    /// Description for users.
    pub what: String,
    /// Size in bytes.
    pub bytes: u64,
}

/// Memory needed by routes, divided into parts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RouteMemory {
    parts: Vec<MemoryPart>,
}

impl RouteMemory {
    pub(super) fn estimate(
        fabric: &Fabric,
        graph: &SwitchGraph,
        rule: &Rule<'_>,
        form: Form,
        shares_paths: bool,
    ) -> Self {
        let size = Size::of(fabric, graph, shares_paths);
        if size.switches * size.endpoints < PAIRS_SMALL {
            return Self::default();
        }
        let mut parts = match (rule, form) {
            (Rule::Choices(_, outlooks), Form::Table) => tables(&size, outlooks),
            (Rule::Choices(toward, outlooks), Form::Source) => {
                let has_choices = samples(graph).any(|destination| !toward(destination).are_none());
                if has_choices { paths(graph, &size, outlooks) } else { columns(&size) }
            }
            (Rule::WholePaths(_), _) => paths(graph, &size, &[Outlook::WholePath]),
        };
        parts.sort_by_key(|part| std::cmp::Reverse(part.bytes));
        Self { parts }
    }

    /// Returns the total in bytes.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().fold(0, |sum, part| sum.saturating_add(part.bytes))
    }

    /// Returns the parts, largest first; empty for small fabrics.
    pub fn parts(&self) -> &[MemoryPart] {
        &self.parts
    }
}

impl fmt::Display for RouteMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |part: &MemoryPart| format!("{} for {}", Rounded(part.bytes), part.what);
        let parts: Vec<String> = self.parts.iter().map(part).collect();
        write!(f, "about {} ({})", Rounded(self.bytes()), parts.join(", "))
    }
}

/// Size in bytes, displayed in kB to TB, with one decimal below 100.
pub(super) struct Rounded(pub(super) u64);

impl fmt::Display for Rounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB")];
        let fits = |(size, _): &&(u64, &str)| self.0 >= *size;
        let (size, unit) = units.iter().find(fits).copied().unwrap_or((1_000, "kB"));
        let (whole, tenths) = (self.0 / size, self.0 % size * 10 / size);
        if whole >= 100 || tenths == 0 {
            write!(f, "{whole} {unit}")
        } else {
            write!(f, "{whole}.{tenths} {unit}")
        }
    }
}

struct Size {
    switches: u64,
    sources: u64,
    endpoints: u64,
    rows: u64,
    port: u64,
}

impl Size {
    fn of(fabric: &Fabric, graph: &SwitchGraph, shares_paths: bool) -> Self {
        let sources = graph.switches().filter(|switch| !graph.residents(*switch).is_empty());
        let sources = sources.count() as u64;
        let endpoints = graph.endpoint_count() as u64;
        let ports = fabric.switches().map(|switch| fabric.node(switch).ports).max().unwrap_or(0);
        Self {
            switches: graph.switch_count() as u64,
            sources,
            endpoints,
            rows: if shares_paths { sources } else { endpoints },
            port: if ports > u8::MAX.into() { 2 } else { 1 },
        }
    }
}

fn part(what: String, bytes: u64) -> MemoryPart {
    MemoryPart { what, bytes }
}

fn tables(size: &Size, outlooks: &[Outlook]) -> Vec<MemoryPart> {
    let Size { switches, endpoints, port, .. } = size;
    let bytes = switches.saturating_mul(*endpoints).saturating_mul(*port);
    let what = format!("the ports of {switches} switches toward {endpoints} hosts");
    let second = "the same by another way to balance, while the two are compared";
    let mut parts = vec![part(what, bytes)];
    parts.extend(outlooks.iter().skip(1).map(|_| part(second.to_owned(), bytes)));
    parts
}

fn columns(size: &Size) -> Vec<MemoryPart> {
    let Size { switches, sources, port, .. } = size;
    let bytes = switches.saturating_mul(*sources).saturating_mul(2 * port);
    vec![part(format!("the ports of {switches} switches toward {sources} switches"), bytes)]
}

fn paths(graph: &SwitchGraph, size: &Size, outlooks: &[Outlook]) -> Vec<MemoryPart> {
    let Size { sources, rows, port, .. } = size;
    let count = sources.saturating_mul(*rows);
    let hops = mean_hops(graph);
    // Each path takes an offset (4 bytes), and a port per hop.
    let kept = count.saturating_mul(4 + port * hops);
    let mut parts = vec![part(format!("{count} paths, each of {hops} ports or so"), kept)];
    if outlooks.contains(&Outlook::WholePath) {
        // Each path takes an offset (8 bytes), and a channel (4 bytes) per hop.
        let laid = count.saturating_mul(8 + 4 * hops);
        parts.push(part("the same paths while they are balanced".to_owned(), laid));
    }
    if outlooks.len() > 1 {
        let second = "paths by another way to balance, while the two are compared";
        parts.push(part(second.to_owned(), kept));
    }
    parts
}

fn samples(graph: &SwitchGraph) -> impl Iterator<Item = NodeId> {
    let has_endpoints = |switch: &NodeId| !graph.residents(*switch).is_empty();
    let all: Vec<NodeId> = graph.switches().filter(has_endpoints).collect();
    let step = all.len().div_ceil(SAMPLES).max(1);
    all.into_iter().step_by(step)
}

fn mean_hops(graph: &SwitchGraph) -> u64 {
    let (mut sum, mut count) = (0, 0);
    for destination in samples(graph) {
        let distances = graph.distances(destination);
        for switch in graph.switches().filter(|switch| !graph.residents(*switch).is_empty()) {
            if distances[switch.index()] != UNREACHED {
                sum += u64::from(distances[switch.index()]);
                count += 1;
            }
        }
    }
    sum.div_ceil(count.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{FatTree, Generator, Mesh};
    use crate::routing::{
        Algorithm, DimensionOrder, RouteError, ShortestPath, UpDown, route, route_within,
    };

    fn refused(generator: &Generator, algorithm: &Algorithm, form: Form) -> String {
        let fabric = generator.generate(1).expect("lawful parameters");
        assert!(route(&fabric, algorithm, form).is_ok(), "by default there is room");
        let error = route_within(&fabric, algorithm, form, 1 << 20).expect_err("a MiB is little");
        assert!(matches!(error, RouteError::TooLarge { .. }));
        error.to_string()
    }

    #[test]
    fn route_memory_error_lists_the_parts() {
        let tree = || Generator::FatTree(FatTree { ports: 20, levels: 3, tapering: 1, rails: 1 });
        let up_down = Algorithm::UpDown(UpDown::default());
        let tables = refused(&tree(), &up_down, Form::Table);
        assert_eq!(
            tables,
            "these routes would take about 2 MB (1 MB for the ports of 500 switches toward 2000 hosts, 1 MB for the \
             same by another way to balance, while the two are compared), and may take 1 MB: allow more (memory_max)"
        );
        let paths =
            refused(&tree(), &Algorithm::ShortestPath(ShortestPath::default()), Form::Source);
        assert!(paths.contains("400000 paths, each of 4 ports or so"), "{paths}");
        assert!(paths.ends_with("allow more (memory_max), or take the form \"table\""), "{paths}");
        let mesh = Mesh { dimensions: vec![32, 32], hosts_per_switch: 1, rails: 1 };
        let order = Algorithm::DimensionOrder(DimensionOrder::default());
        let columns = refused(&Generator::Mesh(mesh), &order, Form::Source);
        assert!(columns.contains("the ports of 1024 switches toward 1024 switches"), "{columns}");
    }

    #[test]
    fn small_fabrics_skip_the_memory_check() {
        let tree = Generator::FatTree(FatTree { ports: 4, levels: 2, tapering: 1, rails: 1 });
        let fabric = tree.generate(1).expect("lawful parameters");
        let algorithm = Algorithm::ShortestPath(ShortestPath::default());
        assert!(route_within(&fabric, &algorithm, Form::Table, 0).is_ok());
    }
}
