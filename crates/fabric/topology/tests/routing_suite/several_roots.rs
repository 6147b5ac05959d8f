//! Several roots: tops of damaged and intact trees, and roots of the user.

use crate::support::{
    FORMS, any_plan, fabric, generated, pairs, ring, routed, switch_of, up_down, way,
};
use gingham_topology::generate::{FoldedClos, Generator, Irregular, KAryNTree, Mesh, Torus};
use gingham_topology::routing::Algorithm;
use gingham_topology::routing::{
    Form, Root, RouteError, SpanningTree, Statistics, UpDown, prove, roots_taken, route,
};
use gingham_topology::{Fabric, NodeId};
use proptest::prelude::*;

fn tree(arity: u32, levels: u32) -> Fabric {
    generated(&Generator::KAryNTree(KAryNTree { arity, levels, rails: 1 }), 0)
}

fn named<const N: usize>(names: [&str; N]) -> Root {
    Root::Named(names.map(str::to_owned).into_iter().collect())
}

fn tops(fabric: &Fabric) -> Vec<String> {
    taken(fabric, &up_down(Root::TopSwitches))
}

fn taken(fabric: &Fabric, algorithm: &Algorithm) -> Vec<String> {
    let roots = roots_taken(fabric, algorithm).expect("the roots are switches");
    roots.into_iter().map(|root| fabric.node(root).name.clone()).collect()
}

fn busiest(fabric: &Fabric, root: Root, form: Form) -> u64 {
    Statistics::new(fabric, &routed(fabric, &up_down(root), form)).max_channel_paths()
}

/// Every connected pair has a path, and waits have no cycle.
fn assert_whole(fabric: &Fabric, root: &Root) {
    for form in FORMS {
        let routes = routed(fabric, &up_down(root.clone()), form);
        assert_eq!(routes.trace(fabric).faults, vec![]);
        assert!(prove(fabric, &routes).is_free());
        let hops = crate::support::hops(fabric);
        for (from, to) in pairs(fabric) {
            let ends = (switch_of(fabric, from), switch_of(fabric, to));
            let (Some(first), Some(last)) = ends else { continue };
            let is_joined = hops[first.index()][last.index()].is_some();
            assert_eq!(routes.path(fabric, from, to).is_some(), is_joined);
        }
    }
}

/// Pairs of hosts with a path longer than the shortest.
fn detours(fabric: &Fabric, form: Form) -> u64 {
    let routes = routed(fabric, &up_down(Root::TopSwitches), form);
    let statistics = Statistics::new(fabric, &routes);
    statistics.switches.total() - statistics.minimal.total()
}

#[test]
fn tops_of_a_tree_are_its_roots() {
    for (arity, levels) in [(2, 2), (3, 2), (2, 3), (3, 3), (4, 3), (2, 4), (3, 4)] {
        let fabric = tree(arity, levels);
        let expected: Vec<_> = (0..arity.pow(levels - 1)).map(|n| format!("s0-{n}")).collect();
        assert_eq!(tops(&fabric), expected, "{arity}-ary {levels}-tree");
        assert_whole(&fabric, &Root::TopSwitches);
        for form in FORMS {
            assert_eq!(detours(&fabric, form), 0, "{arity}-ary {levels}-tree");
        }
    }
}

#[test]
fn several_roots_share_the_load_of_one_root() {
    // Eight hosts send seven messages each, one of them on the leaf. Each of a leaf's two cables
    // carries half of its 2 x 6 pairs; with one root a cable carries all.
    let shape =
        FoldedClos { leaves: 4, spines: 2, hosts_per_leaf: 2, cables_per_pair: 1, rails: 1 };
    let fabric = generated(&Generator::FoldedClos(shape), 0);
    for form in FORMS {
        assert_eq!(busiest(&fabric, Root::LowestId, form), 12);
        assert_eq!(busiest(&fabric, Root::TopSwitches, form), 6);
    }
}

#[test]
fn non_tree_fabrics_have_the_lowest_switch_as_root() {
    let torus = Torus { dimensions: vec![4, 4], hosts_per_switch: 2, rails: 1 };
    let mesh = Mesh { dimensions: vec![3, 3], hosts_per_switch: 1, rails: 1 };
    let irregular =
        Irregular { switches: 16, ports: 8, hosts_per_switch: 4, cables_per_pair_max: 1, rails: 1 };
    // Rings and squares with no host at s0.
    let with_gap = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)];
    let square = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)];
    let fabrics = [
        generated(&Generator::Torus(torus), 0),
        generated(&Generator::Mesh(mesh), 0),
        generated(&Generator::Irregular(irregular), 3),
        ring(6, 2),
        fabric(6, &[1, 2, 3, 4, 5], &with_gap),
        fabric(4, &[1, 2, 3], &square),
        fabric(3, &[], &[(0, 1), (1, 2)]),
        fabric(1, &[0, 0], &[]),
    ];
    for (number, fabric) in fabrics.iter().enumerate() {
        let lowest = &fabric.node(NodeId::new(0)).name;
        assert_eq!(&tops(fabric), std::slice::from_ref(lowest), "fabric {number}");
    }
}

/// A k-ary 3-tree to be damaged: k k tops, k pods of k middle switches and k leaves, and k hosts
/// per leaf. The i-th middle switch of each pod is joined to the tops i k to i k + k - 1.
struct Tree {
    arity: usize,
    host_on: Vec<usize>,
    cables: Vec<(usize, usize)>,
}

impl Tree {
    fn new(arity: usize) -> Self {
        let mut tree = Self { arity, host_on: Vec::new(), cables: Vec::new() };
        let digits = || (0..arity).flat_map(move |a| (0..arity).map(move |b| (a, b)));
        for (pod, middle) in digits() {
            for n in 0..arity {
                tree.cables.push((tree.middle(pod, middle), tree.top(middle, n)));
                tree.cables.push((tree.leaf(pod, n), tree.middle(pod, middle)));
            }
        }
        for (pod, leaf) in digits() {
            tree.host_on.extend(vec![tree.leaf(pod, leaf); arity]);
        }
        tree
    }

    fn top(&self, group: usize, n: usize) -> usize {
        group * self.arity + n
    }

    fn middle(&self, pod: usize, n: usize) -> usize {
        self.arity * (self.arity + pod) + n
    }

    fn leaf(&self, pod: usize, n: usize) -> usize {
        self.arity * (2 * self.arity + pod) + n
    }

    fn cut(mut self, a: usize, b: usize) -> Self {
        let before = self.cables.len();
        self.cables.retain(|cable| *cable != (a, b) && *cable != (b, a));
        assert_eq!(self.cables.len(), before - 1, "there was such a cable");
        self
    }

    fn build(&self) -> Fabric {
        fabric(3 * self.arity * self.arity, &self.host_on, &self.cables)
    }

    fn tops(&self) -> Vec<String> {
        (0..self.arity * self.arity).map(|n| format!("s{n}")).collect()
    }
}

#[test]
fn busiest_cable_of_a_k_ary_3_tree_has_minimal_load() {
    // k hosts on a leaf send to N - k of N = k^3 by k cables, and likewise upwards: no cable of a
    // leaf can carry less than N - k, none of a top less than N - k^2.
    for arity in [2, 3, 4] {
        let fabric = tree(arity, 3);
        for form in FORMS {
            let least = u64::from(arity.pow(3) - arity);
            assert_eq!(busiest(&fabric, Root::TopSwitches, form), least, "k = {arity}, {form:?}");
        }
    }
}

#[test]
fn top_with_a_lost_cable_remains_a_top() {
    // Of three pods s0 has two: it is as near to all leaves together as the middle, but shortest
    // paths between those two lead through it.
    let whole = Tree::new(3);
    let (top, middle) = (whole.top(0, 0), whole.middle(0, 0));
    let damaged = whole.cut(middle, top);
    let fabric = damaged.build();
    assert_eq!(tops(&fabric), damaged.tops());
    assert_whole(&fabric, &Root::TopSwitches);
    assert_eq!(detours(&fabric, Form::Source), 0);
}

#[test]
fn middle_switch_without_tops_still_joins_its_leaves() {
    let mut damaged = Tree::new(3);
    let middle = damaged.middle(0, 0);
    for n in 0..3 {
        damaged = damaged.cut(middle, n);
    }
    let fabric = damaged.build();
    assert_eq!(tops(&fabric), [damaged.tops(), vec![format!("s{middle}")]].concat());
    assert_whole(&fabric, &Root::TopSwitches);
    assert_eq!(detours(&fabric, Form::Source), 0);
}

#[test]
fn tree_with_many_lost_cables_remains_a_tree() {
    // Twelve of 128 cables are lost; a single top is nearest to all leaves, and the last leaf of
    // the second pod has two cables, from middle switches under other tops.
    let mut damaged = Tree::new(4);
    for (pod, middle, top) in [(2, 0, 0), (3, 0, 3), (1, 3, 1), (2, 3, 1), (2, 0, 2)] {
        let ends = (damaged.middle(pod, middle), damaged.top(middle, top));
        damaged = damaged.cut(ends.0, ends.1);
    }
    let below = [(3, 1, 2), (0, 1, 0), (0, 2, 1), (1, 0, 3), (1, 2, 3), (1, 3, 0), (1, 3, 1)];
    for (pod, middle, leaf) in below {
        let ends = (damaged.leaf(pod, leaf), damaged.middle(pod, middle));
        damaged = damaged.cut(ends.0, ends.1);
    }
    let fabric = damaged.build();
    assert_eq!(tops(&fabric), damaged.tops());
    assert_whole(&fabric, &Root::TopSwitches);
    assert_eq!(detours(&fabric, Form::Table), 0);
}

#[test]
fn leaves_without_a_common_top_are_connected() {
    // The first leaf s2 has only the top s1, the second s3 only s0: paths between them go down to a
    // leaf that has both, and up again.
    let leaves = 2..12;
    let cables: Vec<_> = leaves.clone().flat_map(|leaf| [(leaf, 0), (leaf, 1)]).collect();
    let cables: Vec<_> =
        cables.into_iter().filter(|cable| ![(2, 0), (3, 1)].contains(cable)).collect();
    let host_on: Vec<_> = leaves.collect();
    let fabric = fabric(12, &host_on, &cables);
    assert_eq!(tops(&fabric), ["s0", "s1"]);
    assert_whole(&fabric, &Root::TopSwitches);
    let routes = routed(&fabric, &up_down(Root::TopSwitches), Form::Source);
    assert_eq!(way(&fabric, &routes, "h0", "h1"), "h0 s2 s1 s11 s0 s3 h1");
}

#[test]
fn top_with_hosts_is_not_a_leaf() {
    // Five leaves of four hosts, and a server at the first spine.
    let host_on: Vec<_> = (0..20).map(|host| 2 + host % 5).chain([0]).collect();
    let cables: Vec<_> = (2..7).flat_map(|leaf| [(leaf, 0), (leaf, 1)]).collect();
    let fabric = fabric(7, &host_on, &cables);
    assert_eq!(tops(&fabric), ["s0", "s1"]);
    assert_whole(&fabric, &Root::TopSwitches);
    assert_eq!(detours(&fabric, Form::Source), 0);
}

#[test]
fn leaves_may_differ_in_depth_and_be_empty() {
    // Leaves s2 and s3 below the tops s0 and s1, and two pods: s4 and s5 with leaves s6 and s7, s10
    // and s11 with s12 and s13. s8 is a leaf without hosts, s9 one below the leaf s7.
    let cables = [2, 3, 4, 5, 8, 10, 11].iter().flat_map(|lower| [(*lower, 0), (*lower, 1)]);
    let pods = [(6, 4), (6, 5), (7, 4), (7, 5), (12, 10), (12, 11), (13, 10), (13, 11), (9, 7)];
    let host_on = [2, 2, 3, 3, 6, 6, 7, 7, 9, 9, 12, 12, 13, 13];
    let fabric = fabric(14, &host_on, &cables.chain(pods).collect::<Vec<_>>());
    assert_eq!(tops(&fabric), ["s0", "s1"]);
    assert_whole(&fabric, &Root::TopSwitches);
    assert_eq!(detours(&fabric, Form::Source), 0);
}

#[test]
fn each_island_has_its_own_tops() {
    // Spines s0 and s1; spines s4 to s6; a ring of s9 to s12.
    let cables = [(2, 0), (2, 1), (3, 0), (3, 1)];
    let other = [(7, 4), (7, 5), (7, 6), (8, 4), (8, 5), (8, 6)];
    let ring = [(9, 10), (10, 11), (11, 12), (12, 9)];
    let host_on = [2, 2, 3, 3, 7, 7, 8, 8, 9, 10, 11, 12];
    let fabric = fabric(13, &host_on, &[cables.as_slice(), &other, &ring].concat());
    assert_eq!(tops(&fabric), ["s0", "s1", "s4", "s5", "s6", "s9"]);
    assert_whole(&fabric, &Root::TopSwitches);
}

#[test]
fn roots_are_selected_by_name_or_guid() {
    let fabric = Tree::new(2).build();
    let two = named(["s2", "0000000000000002", "s2"]);
    assert_eq!(taken(&fabric, &up_down(two.clone())), ["s1", "s2"]);
    assert_whole(&fabric, &two);
    let all = named(["s3", "s2", "s1", "s0"]);
    assert_eq!(taken(&fabric, &up_down(all.clone())), tops(&fabric));
    for form in FORMS {
        let same = [all.clone(), Root::TopSwitches].map(|root| busiest(&fabric, root, form));
        assert_eq!(same[0], same[1]);
    }
    let error = |names: [&str; 2]| {
        route(&fabric, &up_down(named(names)), Form::Table).unwrap_err().to_string()
    };
    let unknown = "the root \"spine9\" is not a node of this fabric";
    assert_eq!(error(["s1", "spine9"]), unknown);
    assert_eq!(error(["s1", "h0"]), "the root \"h0\" is not a switch");
}

#[test]
fn depth_first_tree_has_one_root() {
    let fabric = tree(2, 2);
    let depth_first = |root| Algorithm::UpDown(UpDown { root, tree: SpanningTree::DepthFirst });
    assert_eq!(taken(&fabric, &depth_first(Root::TopSwitches)), ["s0-0"]);
    let two = depth_first(named(["s0-1", "s0-0"]));
    let error = route(&fabric, &two, Form::Source).unwrap_err();
    let [first, second] = ["s0-0", "s0-1"].map(str::to_owned);
    assert_eq!(error, RouteError::TwoRootsDepthFirst { first, second });
    assert_eq!(
        error.to_string(),
        "a depth-first tree has one root, and cables join \"s0-0\" and \"s0-1\": name one of them, or take \
         the tree \"breadth-first\""
    );
}

proptest! {
    #[test]
    fn any_roots_connect_all_cabled_endpoints(
        plan in any_plan(),
        roots in proptest::collection::vec(any::<prop::sample::Index>(), 1..5),
    ) {
        let fabric = plan.build();
        let name = |root: &prop::sample::Index| {
            fabric.node(NodeId::new(root.index(plan.switches))).name.clone()
        };
        assert_whole(&fabric, &Root::Named(roots.iter().map(name).collect()));
        assert_whole(&fabric, &Root::TopSwitches);
    }

    #[test]
    fn damaged_tree_is_fully_routed(
        lost in proptest::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let mut tree = Tree::new(3);
        for cable in lost {
            let place = cable.index(tree.cables.len());
            tree.cables.remove(place);
        }
        assert_whole(&tree.build(), &Root::TopSwitches);
    }
}
