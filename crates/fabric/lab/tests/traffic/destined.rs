//! Destinations of messages.

use super::support::{compiled, compiled_in, folder, messages, pairs, scenario};
use gingham_lab::{Compiled, Engine};
use gingham_net::ClassId;
use gingham_net::traffic::{DestinationPlan, MessagePlan, SourcePlan};
use std::collections::BTreeMap;

fn class(destinations: &str) -> String {
    format!("load = 0.1\nlength = {{ fixed = \"64 B\" }}\ndestinations = {destinations}")
}

fn on(topology: &str, destinations: &str) -> Compiled {
    compiled(&scenario(topology, &class(destinations)))
}

fn names(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect()
}

#[test]
fn hosts_without_a_pair_are_silent() {
    let compiled = on("star.hosts = 4", "{ pairs = { h0 = \"h3\", h2 = \"h3\" } }");
    assert_eq!(pairs(&compiled), names(&[("h0", "h3"), ("h2", "h3")]));
    assert_eq!(compiled.notes, ["class `all`: 2 of 4 hosts have no pair and are silent"]);
}

#[test]
fn transpose_leaves_the_diagonal_silent() {
    let compiled = on("star.hosts = 9", "\"transpose\"");
    let expected =
        [("h1", "h3"), ("h2", "h6"), ("h3", "h1"), ("h5", "h7"), ("h6", "h2"), ("h7", "h5")];
    assert_eq!(pairs(&compiled), names(&expected));
    assert_eq!(compiled.notes, ["class `all`: 3 of 9 hosts map to themselves and are silent"]);
}

#[test]
fn permutation_places_count_hosts_of_the_class() {
    let text = scenario(
        "star.hosts = 9",
        &format!("hosts = [\"h[0-9]\", \"h3\", \"h5\"]\n{}", class("\"shuffle\"")),
    );
    // Shell character classes are not supported: nothing matches.
    assert!(compiled_in(std::path::Path::new("."), &text).is_err());
    let text = text.replace("h[0-9]", "h8");
    // Places 0, 1, 2 are h3, h5, h8: no power of two.
    let refused = compiled_in(std::path::Path::new("."), &text).unwrap_err().to_string();
    assert!(refused.contains("such as 2 or 4, not 3"), "{refused}");
    let text = text.replace("\"h8\", ", "");
    // A shuffle of two places moves neither.
    assert!(compiled_in(std::path::Path::new("."), &text).is_err());
    let compiled = compiled(&text.replace("shuffle", "bit-complement"));
    assert_eq!(pairs(&compiled), names(&[("h3", "h5"), ("h5", "h3")]));
}

#[test]
fn tornado_uses_the_switch_grid_of_the_fabric() {
    let compiled = on("torus = { dimensions = [3, 5], hosts_per_switch = 2 }", "\"tornado\"");
    let of: BTreeMap<String, String> = pairs(&compiled).into_iter().collect();
    // ceil(3 / 2) - 1 = 1 and ceil(5 / 2) - 1 = 2.
    assert_eq!(of["h0-0-0"], "h1-2-0");
    assert_eq!(of["h2-4-1"], "h0-1-1");
    assert_eq!(of.len(), 30);
    assert_eq!(compiled.notes, ["class `all`: tornado on the fabric's grid of 3 x 5 switches"]);
}

#[test]
fn tornado_without_a_grid_uses_one_ring() {
    let compiled = on("star.hosts = 8", "\"tornado\"");
    assert_eq!(pairs(&compiled)[..2], names(&[("h0", "h3"), ("h1", "h4")]));
    let note =
        "class `all`: tornado on one ring of 8 hosts, because the fabric has no grid of switches";
    assert_eq!(compiled.notes, [note]);
}

#[test]
fn grid_with_uneven_senders_is_treated_as_a_ring() {
    let text = scenario(
        "torus = { dimensions = [2, 2], hosts_per_switch = 2 }",
        &format!("hosts = [\"h*-0\", \"h0-0-1\"]\n{}", class("\"neighbour\"")),
    );
    let compiled = compiled(&text);
    assert_eq!(pairs(&compiled).len(), 5);
    assert!(compiled.notes[0].contains("do not have equally many"), "{:?}", compiled.notes);
}

#[test]
fn explicit_dimensions_lay_out_the_hosts() {
    let compiled = on("star.hosts = 12", "{ neighbour = { dimensions = [2, 3] } }");
    // Two hosts a cell: h0 and h1 on (0, 0), which sends to (1, 1), the cell of h8 and h9.
    assert_eq!(pairs(&compiled)[..2], names(&[("h0", "h8"), ("h1", "h9")]));
    assert!(compiled.notes.is_empty(), "{:?}", compiled.notes);
}

#[test]
fn random_permutation_depends_on_seed_and_class_only() {
    let of = |more: &str| {
        let text = scenario("star.hosts = 20", &class("\"random-permutation\""));
        pairs(&compiled(&format!("{more}\n{text}")))
    };
    let reference = of("");
    assert_eq!(reference.len(), 20, "nobody sends to itself");
    assert_eq!(reference, of("network.preset = \"myrinet-640\""));
    assert_ne!(reference, of("seed = 2"));
    let text = scenario("star.hosts = 20", &class("\"random-permutation\""));
    let more = "\n[[traffic]]\nname = \"more\"\nload = 0.3\nlength = { exponential = \"64 B\" }";
    assert_eq!(reference, pairs(&compiled(&format!("{text}{more}"))));
}

#[test]
fn own_seed_fixes_a_permutation_across_run_seeds() {
    let of = |seed: u32, destinations: &str| {
        let text = scenario("star.hosts = 20", &class(destinations));
        pairs(&compiled(&format!("seed = {seed}\n{text}")))
    };
    let own = "{ random-permutation = { seed = 7 } }";
    assert_eq!(of(1, own), of(2, own));
    assert_ne!(of(1, own), of(1, "{ random-permutation = { seed = 8 } }"));
    assert_eq!(of(7, "\"random-permutation\""), of(3, own));
}

#[test]
fn bit_rotation_rotates_right_by_one() {
    let compiled = on("star.hosts = 8", "\"bit-rotation\"");
    // 1 = 001 to 100 = 4, 2 = 010 to 001 = 1, 3 = 011 to 101 = 5, 4 to 2, 5 = 101 to 110 = 6, 6 to 3.
    let expected =
        [("h1", "h4"), ("h2", "h1"), ("h3", "h5"), ("h4", "h2"), ("h5", "h6"), ("h6", "h3")];
    assert_eq!(pairs(&compiled), names(&expected));
}

fn drawn_among(compiled: &Compiled) -> BTreeMap<String, Vec<String>> {
    let name = |endpoint| compiled.plan.fabric.endpoint_name(endpoint);
    let of = |source: &SourcePlan| {
        let MessagePlan::Drawn(drawn) = &source.messages else { panic!("a schedule") };
        let DestinationPlan::Uniform(others) = &drawn.destinations else { panic!("no draw") };
        let places = 0..others.among.len();
        let others = places.filter(|place| !others.own.contains(place)).map(|at| others.among[at]);
        (name(source.endpoint), others.map(name).collect())
    };
    compiled.plan.classes[0].sources.iter().map(of).collect()
}

#[test]
fn stencil_uses_the_neighbours_of_the_fabric_grid() {
    let mesh = "mesh = { dimensions = [3, 3], hosts_per_switch = 2 }";
    let of = drawn_among(&on(mesh, "\"stencil\""));
    assert_eq!(of["h0-0-0"], ["h0-1-0", "h1-0-0"]);
    assert_eq!(of["h1-1-1"], ["h0-1-1", "h1-0-1", "h1-2-1", "h2-1-1"]);
    let of = drawn_among(&on(mesh, "{ stencil = { wrap = true } }"));
    assert_eq!(of["h0-0-0"], ["h0-1-0", "h0-2-0", "h1-0-0", "h2-0-0"]);
    let of = drawn_among(&on(mesh, "{ stencil = { diagonals = true } }"));
    assert_eq!(of["h0-0-0"], ["h0-1-0", "h1-0-0", "h1-1-0"]);
    let torus = "torus = { dimensions = [4, 2], hosts_per_switch = 1 }";
    let of = drawn_among(&on(torus, "\"stencil\""));
    // A dimension of size 2 has one neighbour in both directions.
    assert_eq!(of["h0-0-0"], ["h0-1-0", "h1-0-0", "h3-0-0"]);
}

#[test]
fn stencil_with_dimensions_works_on_any_fabric() {
    let of = drawn_among(&on("star.hosts = 24", "{ stencil = { dimensions = [2, 3, 4] } }"));
    // (0, 0, 0): one step in the first dimension is 12 hosts, in the second 4, in the third 1.
    assert_eq!(of["h0"], ["h1", "h3", "h4", "h8", "h12"]);
    let edges = "{ stencil = { dimensions = [2, 3, 4], wrap = false } }";
    assert_eq!(drawn_among(&on("star.hosts = 24", edges))["h0"], ["h1", "h4", "h12"]);
}

#[test]
fn group_shift_sends_to_the_next_dragonfly_group() {
    // 12 groups, so that names of groups have two digits.
    let dragonfly = "dragonfly = { switches_per_group = 2, hosts_per_switch = 2, global_cables_per_switch = 6, groups = 12 }";
    let group = |name: &str| -> u32 {
        name.trim_start_matches('h').split('-').next().unwrap().parse().unwrap()
    };
    let place = |name: &str| name.split_once('-').unwrap().1.to_owned();
    let all = pairs(&on(dragonfly, "\"group-shift\""));
    assert_eq!(all.len(), 48);
    for (from, to) in &all {
        assert_eq!((group(to), place(to)), ((group(from) + 1) % 12, place(from)), "{from} {to}");
    }
    for (from, to) in pairs(&on(dragonfly, "{ group-shift = { by = -3 } }")) {
        assert_eq!(group(&to), (group(&from) + 9) % 12, "{from} {to}");
    }
    let any = drawn_among(&on(dragonfly, "{ group-shift = { any = true } }"));
    for (from, among) in any {
        assert_eq!(among.len(), 4);
        assert!(among.iter().all(|to| group(to) == (group(&from) + 1) % 12), "{from}: {among:?}");
    }
}

#[test]
fn group_size_defines_groups_on_any_fabric() {
    let of = pairs(&on("star.hosts = 6", "{ group-shift = { group_size = 2 } }"));
    let expected =
        [("h0", "h2"), ("h1", "h3"), ("h2", "h4"), ("h3", "h5"), ("h4", "h0"), ("h5", "h1")];
    assert_eq!(of, names(&expected));
}

#[test]
fn asymmetric_hosts_send_to_self_and_other_half() {
    let of = drawn_among(&on("star.hosts = 6", "\"asymmetric\""));
    assert_eq!(of["h1"], ["h1", "h4"]);
    assert_eq!(of["h4"], ["h1", "h4"]);
}

#[test]
fn destinations_stay_within_the_class_only_on_request() {
    let some = |destinations: &str| {
        let class = format!("hosts = [\"h0\", \"h1\"]\n{}", class(destinations));
        compiled(&scenario("star.hosts = 4", &class))
    };
    let (all, own) = (some("\"uniform\""), some("{ uniform = { within = \"class\" } }"));
    assert_eq!(drawn_among(&all)["h0"], ["h1", "h2", "h3"]);
    assert_eq!(drawn_among(&own)["h0"], ["h1"]);
    for (compiled, within) in [(&all, "fabric"), (&own, "class")] {
        let key = format!("uniform.within = \"{within}\"");
        assert!(compiled.notes.iter().any(|note| note.contains(&key)), "{:?}", compiled.notes);
    }
    // Both settings are equivalent for a class of all hosts.
    assert!(on("star.hosts = 4", "\"uniform\"").notes.is_empty());
}

#[test]
fn self_is_drawn_as_often_as_any_destination() {
    let uniform = "{ uniform = { itself = true } }";
    let rows = messages(on("star.hosts = 4", uniform), Engine::Fast);
    let count = f64::from(u32::try_from(rows.len()).unwrap());
    let own = rows.iter().filter(|row| row.source == row.destination).count();
    let share = f64::from(u32::try_from(own).unwrap()) / count;
    // A quarter of some 1,000 messages: a standard error of 0.014.
    assert!((share - 0.25).abs() < 0.07, "{share} of {count}");
    assert_eq!(rows, messages(on("star.hosts = 4", uniform), Engine::Oracle));
}

#[test]
fn self_destination_without_a_switch_is_refused() {
    let text = scenario("two-hosts.switches = 0", &class("{ uniform = { itself = true } }"));
    let error = compiled_in(std::path::Path::new("."), &text).unwrap_err().to_string();
    let message = "in `traffic[0].destinations.uniform.itself`: no switch leads what `h0` sends back to it; leave out \
                   `itself`";
    assert!(error.contains(message), "{error}");
    let text = scenario("two-hosts.switches = 0", &class("\"asymmetric\""));
    let error = compiled_in(std::path::Path::new("."), &text).unwrap_err().to_string();
    let message = "in `traffic[0].destinations`: no switch leads what `h0` sends back to it";
    assert!(error.contains(message), "{error}");
}

#[test]
fn hot_hosts_receive_their_share() {
    let hot = "{ hot-spot = { hosts = [\"h3\"], share = 0.4 } }";
    let rows = messages(on("star.hosts = 4", hot), Engine::Fast);
    let sent: Vec<_> = rows.iter().filter(|row| row.source != "h3").collect();
    let hot = sent.iter().filter(|row| row.destination == "h3").count();
    // 0.4 + 0.6 / 3 = 0.6 of some 720 messages: a standard error of 0.018.
    let share =
        f64::from(u32::try_from(hot).unwrap()) / f64::from(u32::try_from(sent.len()).unwrap());
    assert!((share - 0.6).abs() < 0.09, "{share} of {}", sent.len());
    assert!(rows.iter().any(|row| row.source == "h3" && row.destination == "h0"));
    assert!(rows.iter().all(|row| row.source != row.destination));
}

#[test]
fn matrix_sets_load_and_destinations_per_host() {
    // Row sums 1, 3 and 0; their mean is 4 / 3. Columns are in another order than rows.
    let demand = "from,h2,h0,h1,h3\nh0,0,0,1,0\nh1,2,1,0,0\nh2,0,0,0,0\n";
    let folder = folder("matrix", &[("demand.csv", demand)]);
    let text = scenario("star.hosts = 4", &class("{ matrix = \"demand.csv\" }"));
    let compiled = compiled_in(&folder, &text).unwrap();
    let sources = &compiled.plan.classes[0].sources;
    let name = |endpoint| compiled.plan.fabric.endpoint_name(endpoint);
    let loads: Vec<(String, f64)> =
        sources.iter().map(|source| (name(source.endpoint), source.load(1.0).unwrap())).collect();
    assert_eq!(loads.len(), 2);
    assert!(loads[0].0 == "h0" && (loads[0].1 - 0.075).abs() < 1e-12, "{loads:?}");
    assert!(loads[1].0 == "h1" && (loads[1].1 - 0.225).abs() < 1e-12, "{loads:?}");
    let MessagePlan::Drawn(drawn) = &sources[1].messages else { panic!("a schedule") };
    let DestinationPlan::Weighted(weighted) = &drawn.destinations else { panic!("no weights") };
    let shares: Vec<_> = weighted.shares().map(|(to, share)| (name(to), share)).collect();
    assert_eq!(shares, [("h2".to_owned(), 2.0 / 3.0), ("h0".to_owned(), 1.0 / 3.0)]);
    let offered = compiled.plan.offered_load(ClassId::new(0)).unwrap();
    assert!((offered - 0.15).abs() < 1e-12, "{offered}");
    let silent = [
        "class `all`: 1 of 4 hosts have a row without weights in the matrix and are silent",
        "class `all`: 1 of 4 hosts have no row in the matrix and are silent",
    ];
    assert_eq!(compiled.notes, silent);
}

#[test]
fn equal_matrix_rows_allow_full_link_load() {
    // 0.1 + 0.2 is not quite 0.3 in binary, and a third of three such sums not quite one of them.
    let demand = ",h0,h1,h2\nh0,0,0.1,0.2\nh1,0.1,0,0.2\nh2,0.1,0.2,0\n";
    let folder = folder("full", &[("demand.csv", demand)]);
    let text = scenario("star.hosts = 3", &class("{ matrix = \"demand.csv\" }"));
    let text = text.replace("load = 0.1", "load = 1.0");
    assert!(compiled_in(&folder, &text).is_ok());
}

#[test]
fn files_read_are_listed_with_key_and_digest() {
    let files = [
        (
            "star.toml",
            "[[switch]]\nname = \"s\"\n[[host]]\nname = \"a\"\n[[host]]\nname = \"b\"\n\
                       [[cable]]\nends = [\"a\", \"s\"]\n[[cable]]\nends = [\"b\", \"s\"]\n",
        ),
        ("lengths.csv", "payload_bytes,weight\n64,1\n"),
        ("demand.csv", ",b\na,1\n"),
    ];
    let folder = folder("files", &files);
    let text = "topology.file = \"star.toml\"\nstop.time = \"1 ms\"\n[[traffic]]\nload = 0.1\n\
                length.empirical = \"lengths.csv\"\ndestinations.matrix = \"demand.csv\"";
    let compiled = compiled_in(&folder, text).unwrap();
    let read: Vec<_> = compiled.files.iter().map(|file| (&*file.key, &*file.sha256)).collect();
    // By sha256sum.
    let lengths = "9d18f1039b0763751f738a1c73d1a9635d2e683b41526a2b025a46f6c479f441";
    let demand = "87a861d68d2f22ef3c8c9d0996ec0091743fb56501fbe6dfc8a544333e2e8d99";
    let expected =
        [("traffic.0.length.empirical", lengths), ("traffic.0.destinations.matrix", demand)];
    assert_eq!(read[0].0, "topology.file");
    assert_eq!(read[1..], expected);
}

#[test]
fn host_without_reachable_destination_is_silent() {
    let fabric = "[[switch]]\nname = \"s0\"\n[[switch]]\nname = \"s1\"\n[[host]]\nname = \"a\"\n\
                  [[host]]\nname = \"b\"\n[[host]]\nname = \"c\"\n[[cable]]\nends = [\"a\", \"s0\"]\n\
                  [[cable]]\nends = [\"b\", \"s0\"]\n[[cable]]\nends = [\"c\", \"s1\"]\n";
    for destinations in ["\"uniform\"", "{ hot-spot = { hosts = [\"c\"], share = 0.5 } }"] {
        let text = format!(
            "topology.inline = '''\n{fabric}'''\nstop.time = \"1 ms\"\n[[traffic]]\n{}",
            class(destinations)
        );
        let compiled = compiled(&text);
        assert_eq!(compiled.plan.classes[0].sources.len(), 2);
        let note = "class `all`: 1 of 3 hosts can reach no destination and are silent";
        assert_eq!(compiled.notes, [note]);
    }
}

#[test]
fn host_never_sends_to_its_own_other_port() {
    let fabric = "[[switch]]\nname = \"s\"\n[[host]]\nname = \"a\"\n[[host]]\nname = \"twin\"\n[[host]]\nname = \"b\"\n\
                  [[cable]]\nends = [\"a\", \"s\"]\n[[cable]]\nends = [\"twin\", \"s\"]\n\
                  [[cable]]\nends = [\"twin\", \"s\"]\n[[cable]]\nends = [\"b\", \"s\"]\n";
    // In the order of a, both ports of the twin, and b.
    for (destinations, silent) in [
        ("\"stencil\"", 0),
        ("{ group-shift = { group_size = 1 } }", 1),
        ("{ group-shift = { group_size = 1, any = true } }", 1),
        ("{ neighbour = { dimensions = [4] } }", 1),
        ("\"bit-complement\"", 0),
    ] {
        let text = format!(
            "topology.inline = '''\n{fabric}'''\nstop.time = \"1 ms\"\n[[traffic]]\n{}",
            class(destinations)
        );
        let compiled = compiled(&text);
        let plan = &compiled.plan;
        let node = |endpoint| plan.fabric.endpoint(endpoint).node;
        for source in &plan.classes[0].sources {
            let MessagePlan::Drawn(drawn) = &source.messages else { panic!("a schedule") };
            let to: Vec<_> = match &drawn.destinations {
                DestinationPlan::Fixed(to) => vec![*to],
                DestinationPlan::Uniform(others) => {
                    let places = 0..others.among.len();
                    let places = places.filter(|place| !others.own.contains(place));
                    places.map(|place| others.among[place]).collect()
                }
                other => panic!("{other:?}"),
            };
            assert!(to.iter().all(|to| node(*to) != node(source.endpoint)), "{destinations}");
        }
        assert_eq!(4 - plan.classes[0].sources.len(), silent, "{destinations}");
    }
}

#[test]
fn unequal_groups_are_refused_without_any() {
    let dragonfly = "dragonfly = { switches_per_group = 2, hosts_per_switch = 2, global_cables_per_switch = 1, groups = 3 }";
    // Two hosts of the first group, and one of each other group.
    let of = |destinations: &str| {
        let hosts = "hosts = [\"h0-0-*\", \"h1-0-0\", \"h2-0-0\"]";
        let text = scenario(dragonfly, &format!("{hosts}\n{}", class(destinations)));
        compiled_in(std::path::Path::new("."), &text)
    };
    let refused = of("\"group-shift\"").unwrap_err().to_string();
    assert!(refused.contains("different numbers of hosts of the class"), "{refused}");
    let any = drawn_among(&of("{ group-shift = { any = true } }").unwrap());
    assert_eq!(any["h2-0-0"], ["h0-0-0", "h0-0-1"]);
}

#[test]
fn stencil_with_too_many_pairs_is_refused() {
    let stencil = |dimensions: usize| {
        let sizes = vec!["2"; dimensions].join(", ");
        format!("{{ stencil = {{ dimensions = [{sizes}], diagonals = true }} }}")
    };
    let of = |hosts: usize, dimensions| {
        let text = scenario(&format!("star.hosts = {hosts}"), &class(&stencil(dimensions)));
        compiled_in(std::path::Path::new("."), &text)
    };
    assert!(drawn_among(&of(64, 6).unwrap()).values().all(|among| among.len() == 63));
    // Dimensions of one place lead nowhere.
    let thin = [vec!["1"; 20], vec!["16"]].concat().join(", ");
    let thin = format!("{{ stencil = {{ dimensions = [{thin}], diagonals = true }} }}");
    assert_eq!(drawn_among(&on("star.hosts = 16", &thin))["h0"], ["h1", "h15"]);
    let refused = of(8_192, 13).unwrap_err().to_string();
    assert!(refused.contains("8192 hosts with up to 8191 neighbours each"), "{refused}");
}
