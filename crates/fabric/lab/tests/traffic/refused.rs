//! Refused traffic, with file, line and key. The snapshots are for review.

use super::support::{compiled_in, folder, scenario};
use std::fmt::Write as _;
use std::path::Path;

fn refusals(folder: &Path, classes: &[&str]) -> String {
    let mut table = String::new();
    for class in classes {
        let text = scenario("star.hosts = 5", class);
        let error = compiled_in(folder, &text).expect_err(class).to_string();
        assert!(error.lines().count() <= 4, "{error}");
        let error = error.replace(&format!("{}/", folder.display()), "");
        writeln!(table, "{class}\n{error}\n").unwrap();
    }
    table
}

#[test]
fn invalid_times_and_loads_are_refused() {
    let with = |keys: &str| format!("length.fixed = \"64 B\"\n{keys}");
    let classes = [
        with("load = -0.1"),
        with("load = nan"),
        with("arrivals = \"constant\""),
        with("load = 0.1\nstart = \"2 us\"\nstop = \"1 us\""),
        with("load = 0.1\nstop = \"0 ps\""),
        with("load = 0.1\nstart = \"1 ms\""),
        with("load = 0.5\narrivals.on-off = { on = \"1 us\", off = \"3 us\" }"),
        with("load = 0.1\narrivals.on-off = { on = \"0 us\", off = \"3 us\" }"),
        with("load = 0.1\narrivals.on-off = { on = \"2000000 s\", off = \"3 us\" }"),
        with("load = 0.001\narrivals.on-off = { on = \"10 ns\", off = \"10 ns\" }"),
        with("load = 0.1\narrivals.on-off-pareto = { on = \"1 us\", off = \"3 us\", shape = 1.0 }"),
        with("load = 0.1\narrivals = \"on-off\""),
        with("load = 0.1\narrivals = \"bernoulli\""),
        "load = 0.9\narrivals = \"bernoulli\"\nlength.fixed = \"8 B\"\n[network]\npreset = \"yum-1600\""
            .to_owned(),
        with("load = 0.1\narrivals = { constant = { phase = 3 } }"),
        with("load = 0.1\nstagger = { every = \"300 us\" }"),
        with("load = 0.1\nstagger = { every = \"0 us\", jitter = \"600 us\" }\nstart = \"400 us\""),
        with("load = 0.1\nstagger = { jitter = \"1 us\" }"),
        "arrivals = { schedule = \"none.csv\" }\nstagger = { every = \"1 us\" }".to_owned(),
        "load = 0.1".to_owned(),
    ];
    let classes: Vec<&str> = classes.iter().map(String::as_str).collect();
    insta::assert_snapshot!(refusals(Path::new("."), &classes));
}

#[test]
fn invalid_lengths_are_refused() {
    let files = [
        ("no-weight.csv", "payload_bytes,weights\n64,1\n"),
        ("zero.csv", "payload_bytes,weight\n64,0\n"),
        ("none.csv", "payload_bytes,weight\n"),
        ("empty.csv", ""),
        ("negative.csv", "payload_bytes,weight\n64,1\n128,-1\n"),
        ("part.csv", "payload_bytes,weight\n64.5,1\n"),
        ("nothing.csv", "payload_bytes,weight\n\n64,1\n0,1\n"),
        ("latin.csv", "payload_bytes,weight\n64,"),
    ];
    let folder = folder("bad-lengths", &files);
    std::fs::write(folder.join("latin.csv"), b"payload_bytes,weight\n64,\xe9\n").unwrap();
    let classes = [
        "load = 0.1\nlength.uniform = { from = \"2 KiB\", to = \"1 KiB\" }",
        "load = 0.1\nlength.uniform = { from = \"0 B\", to = \"1 KiB\" }",
        "load = 0.1\nlength.bimodal = { short = \"1 B\", long = \"2 B\", long_share = 1.5 }",
        "load = 0.1\nlength.bimodal = { short = \"1 B\", long = \"2 GB\", long_share = 0.5 }",
        "load = 0.1\nlength.empirical = \"missing.csv\"",
        "load = 0.1\nlength.empirical = \"no-weight.csv\"",
        "load = 0.1\nlength.empirical = \"zero.csv\"",
        "load = 0.1\nlength.empirical = \"none.csv\"",
        "load = 0.1\nlength.empirical = \"empty.csv\"",
        "load = 0.1\nlength.empirical = \"negative.csv\"",
        "load = 0.1\nlength.empirical = \"part.csv\"",
        "load = 0.1\nlength.empirical = \"nothing.csv\"",
        "load = 0.1\nlength.empirical = \"latin.csv\"",
    ];
    insta::assert_snapshot!(refusals(&folder, &classes));
}

#[test]
fn invalid_destinations_are_refused() {
    let with = |destinations: &str| {
        format!("load = 0.1\nlength.fixed = \"64 B\"\ndestinations = {destinations}")
    };
    let classes = [
        with("\"transpose\""),
        with("\"shuffle\""),
        with("{ tornado = { dimensions = [2, 2] } }"),
        with("{ tornado = { dimensions = [] } }"),
        with("{ neighbour = { dimensions = [0] } }"),
        with("{ neighbour = { dimensions = [4000000000, 4000000000, 4000000000] } }"),
        with("{ neighbour = { dimensions = [1] } }"),
        with("\"neighbour\"").replace("load", "hosts = [\"h1\"]\nload"),
        with("{ hot-spot = { hosts = [\"h9\"], share = 0.1 } }"),
        with("{ hot-spot = { hosts = [], share = 0.1 } }"),
        with("{ hot-spot = { hosts = [\"h1\"], share = 0 } }"),
        with("{ hot-spot = { hosts = [\"h1\"], share = 1.1 } }"),
        with("{ pairs = { h0 = \"h9\" } }"),
        with("{ pairs = { h9 = \"h0\" } }"),
        with("{ pairs = { h0 = \"h0\" } }"),
        with("{ pairs = {} }"),
        with("\"bit-rotation\""),
        with("\"asymmetric\""),
        with("\"group-shift\""),
        with("{ group-shift = { group_size = 2 } }"),
        with("{ group-shift = { group_size = 2, by = 5 } }"),
        with("{ group-shift = { group_size = 5 } }"),
        with("{ group-shift = { group_size = 1, by = 10 } }"),
        with("{ stencil = { dimensions = [2, 2] } }"),
        with("{ stencil = { dimensions = [1] } }"),
        with("{ uniform = { within = \"rack\" } }"),
        with("{ uniform = { within = \"class\" } }").replace("load", "hosts = [\"h1\"]\nload"),
        with("{ uniform = { itself = 1 } }"),
        with("{ uniform = { itself = true } }\n[network]\nin_transit.when_full = \"stop\""),
        format!("hosts = [\"h1\"]\n{}", with("{ pairs = { h0 = \"h2\" } }")),
        format!("hosts = []\n{}", with("\"uniform\"")),
    ];
    let classes: Vec<&str> = classes.iter().map(String::as_str).collect();
    insta::assert_snapshot!(refusals(Path::new("."), &classes));
}

#[test]
fn invalid_matrices_are_refused() {
    let files = [
        ("ragged", ",h0,h1\nh0,0,1\nh1,1\n"),
        ("column", ",h0,h9\nh0,0,1\n"),
        ("row", ",h0,h1\nh2,0,1\nhh1,1,0\n"),
        ("columns", ",h0,h1,h0\nh2,0,1,0\n"),
        ("rows", ",h0,h1\nh2,0,1\nh2,1,0\n"),
        ("negative", ",h0,h1\nh2,0,-1\n"),
        ("nan", ",h0,h1\nh2,0,NaN\n"),
        ("infinite", ",h0,h1\nh2,0,inf\n"),
        ("word", ",h0,h1\nh2,0,\n"),
        ("zero", ",h0,h1\nh2,0,0\n"),
        ("headless", ",h0,h1\n"),
        ("itself", ",h0,h1\nh0,0,1\nh1,1,2\n"),
        ("busy", ",h0,h1\nh0,0,1\nh1,15,0\nh2,0,0\n"),
    ];
    let named: Vec<(String, &str)> =
        files.iter().map(|(name, text)| (format!("{name}.csv"), *text)).collect();
    let named: Vec<(&str, &str)> = named.iter().map(|(name, text)| (&**name, *text)).collect();
    let folder = folder("bad-matrices", &named);
    let classes: Vec<String> = files
        .iter()
        .map(|(name, _)| format!("load = 0.5\nlength.fixed = \"64 B\"\ndestinations.matrix = \"{name}.csv\""))
        .chain(["hosts = [\"h0\"]\nload = 0.1\nlength.fixed = \"64 B\"\ndestinations.matrix = \"busy.csv\"".to_owned()])
        .collect();
    let classes: Vec<&str> = classes.iter().map(String::as_str).collect();
    insta::assert_snapshot!(refusals(&folder, &classes));
}

#[test]
fn invalid_schedules_are_refused() {
    const HEADER: &str = "created_ps,source,destination,payload_bytes\n";
    let files = [
        ("order", "10,h0,h1,8\n9,h1,h0,8\n"),
        ("source", "10,h0,h1,8\n10,h7,h0,8\n"),
        ("destination", "10,h0,h7,8\n"),
        ("nothing", "10,h0,h1,0\n"),
        ("itself", "10,h0,h0,8\n"),
        ("negative", "-10,h0,h1,8\n"),
        ("ragged", "10,h0,h1\n"),
        ("none", ""),
    ];
    let mut named: Vec<(String, String)> = files
        .iter()
        .map(|(name, rows)| (format!("{name}.csv"), format!("{HEADER}{rows}")))
        .collect();
    named.push((
        "column.csv".to_owned(),
        "created_ns,source,destination,payload_bytes\n".to_owned(),
    ));
    named.push((
        "twice.csv".to_owned(),
        "created_ps,source,source,destination,payload_bytes\n".to_owned(),
    ));
    named.push(("good.csv".to_owned(), format!("{HEADER}10,h0,h1,8\n")));
    let named: Vec<(&str, &str)> = named.iter().map(|(name, text)| (&**name, &**text)).collect();
    let folder = folder("bad-schedules", &named);
    let with = |name: &str, keys: &str| format!("{keys}arrivals.schedule = \"{name}.csv\"");
    let mut classes: Vec<String> = files.iter().map(|(name, _)| with(name, "")).collect();
    classes.extend([with("column", ""), with("twice", ""), with("missing", "")]);
    for key in [
        "load = 0.1",
        "length.fixed = \"8 B\"",
        "destinations = \"uniform\"",
        "hosts = [\"*\"]",
        "start = \"1 us\"",
    ] {
        classes.push(with("good", &format!("{key}\n")));
    }
    let classes: Vec<&str> = classes.iter().map(String::as_str).collect();
    insta::assert_snapshot!(refusals(&folder, &classes));
}

#[test]
fn unreachable_destinations_are_refused() {
    let fabric = "[[switch]]\nname = \"s0\"\n[[switch]]\nname = \"s1\"\n[[host]]\nname = \"a\"\n\
                  [[host]]\nname = \"b\"\n[[cable]]\nends = [\"a\", \"s0\"]\n[[cable]]\nends = [\"b\", \"s1\"]\n";
    let schedule = "created_ps,source,destination,payload_bytes\n0,a,b,8\n";
    let folder = folder("islands", &[("demand.csv", ",b\na,1\n"), ("messages.csv", schedule)]);
    let mut table = String::new();
    for class in [
        "load = 0.1\nlength.fixed = \"8 B\"\ndestinations.pairs = { a = \"b\" }",
        "load = 0.1\nlength.fixed = \"8 B\"\ndestinations.matrix = \"demand.csv\"",
        "load = 0.1\nlength.fixed = \"8 B\"\ndestinations = \"bit-complement\"",
        "load = 0.1\nlength.fixed = \"8 B\"\ndestinations.hot-spot = { hosts = [\"b\"], share = 0.5 }",
        "arrivals.schedule = \"messages.csv\"",
    ] {
        let text = format!(
            "topology.inline = '''\n{fabric}'''\nstop.time = \"1 ms\"\n[[traffic]]\n{class}"
        );
        let error = compiled_in(&folder, &text).expect_err(class).to_string();
        let error = error.replace(&format!("{}/", folder.display()), "");
        writeln!(table, "{class}\n{error}\n").unwrap();
    }
    insta::assert_snapshot!(table);
}
