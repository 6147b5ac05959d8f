"""Jobs: bounds against independent computation, orders, refusals."""

from __future__ import annotations

import itertools
import json
import random
import re
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import networkx as nx  # type: ignore[import-untyped]
import pytest

from gingham import Fabric, InputError, Job, jobs, plots
from gingham._native import max_min_rates
from gingham.cli._job import nameless
from gingham.cluster import names_by_rule, rails_by_adapter

if TYPE_CHECKING:
    from collections.abc import Callable

    from gingham import Routes
    from tests.conftest import Finished

LINK = 25e9
NODES = [f"n{number:02}" for number in range(12)]
SELENE = Path(__file__).parents[2] / "shared/data/fabrics/selene-compute.ibnetdiscover.xz"


def rail_cluster(
    units: int = 3, nodes: int = 4, rails: int = 2, spines: int = 2, *, lost: Any = ()
) -> Fabric:
    """Return a rail-optimised cluster of two levels; spines of a rail join its leaves."""
    edges = []
    for unit, rail in itertools.product(range(units), range(rails)):
        leaf = f"leaf{unit}-{rail}"
        edges += [(leaf, f"spine{rail}-{number}") for number in range(spines)]
        edges += [
            (leaf, f"n{unit * nodes + node:02} mlx5_{rail}")
            for node in range(nodes)
            if (unit * nodes + node, rail) not in lost
        ]
    hosts = [b for _, b in edges if b.startswith("n")]
    return Fabric.from_edges(edges, hosts=hosts, speed="4xHDR")


@pytest.fixture(scope="module")
def fabric() -> Fabric:
    """Return the cluster of most tests."""
    return rail_cluster()


@pytest.fixture(scope="module")
def routes(fabric: Fabric) -> Routes:
    """Return its tables."""
    return fabric.route("up-down", form="table")


def test_nodes_of_a_fabric(fabric: Fabric) -> None:
    cluster = fabric.cluster()
    assert [node.name for node in fabric.nodes] == [f"n{number:02}" for number in range(12)]
    assert cluster.sentence() == "12 nodes x 2 rails, 3 units of 4 nodes, 2 disjoint planes"
    node = cluster.node("n05")
    assert [(one.leaf, one.rail) for one in node.adapters] == [("leaf1-0", 0), ("leaf1-1", 1)]
    assert cluster.numbers(["N05.example.org"]) == [5]
    assert fabric.info()["cluster"]["units"] == 3


def flows_by_channel(routes: Routes, job: Job, pairs: Any) -> dict[str, int]:
    """Count flows by channel between switches from the paths of the routes, independently."""
    counts: dict[str, int] = {}
    for (sender, receiver), rail in itertools.product(pairs, job.rails):
        ends = [job.cluster.node(name).on_rail(rail) for name in (sender, receiver)]
        names = [end.endpoint or "" for end in ends if end]
        for channel in (routes.path(*names) or [])[1:-1]:
            counts[channel] = counts.get(channel, 0) + 1
    return counts


@pytest.mark.parametrize("seed", range(6))
def test_flows_are_those_of_the_paths(fabric: Fabric, routes: Routes, seed: int) -> None:
    job = Job(fabric, f"random:{3 + 5 * seed % 10}:{seed}", routes=routes)
    ring = list(zip(job.nodes, job.nodes[1:] + job.nodes[:1], strict=True))
    counts = flows_by_channel(routes, job, ring)
    bound = job.bound("ring", cables=1000)
    assert bound.flows_max == max(counts.values(), default=0)
    shared = {channel: count for channel, count in counts.items() if count > 1}
    assert {cable.channel: cable.flows for cable in bound.cables} == shared
    # Both directions of a cable may be shared.
    assert bound.shared == len({frozenset(channel.split(" -> ")) for channel in shared})
    for cable in bound.cables:
        assert len(cable.pairs) == cable.flows
    slowest = LINK / max(counts.values(), default=1)
    assert bound.bus_bandwidth == pytest.approx(2 * min(slowest, LINK))
    assert bound.at_one_switch == pytest.approx(2 * LINK)


def filled(capacities: Any, flows: Any) -> list[Fraction]:
    """Max-min rates by water-filling in exact fractions: an independent implementation."""
    rates = [Fraction(0)] * len(flows)
    frozen = [not flow for flow in flows]
    left = [Fraction(capacity) for capacity in capacities]
    while not all(frozen):
        growth = {}
        for channel in range(len(capacities)):
            weight = sum(
                Fraction(part)
                for flow, done in zip(flows, frozen, strict=True)
                if not done
                for on, part in flow
                if on == channel
            )
            if weight:
                growth[channel] = left[channel] / weight
        step = min(growth.values())
        for number, flow in enumerate(flows):
            if not frozen[number]:
                rates[number] += step
                for channel, part in flow:
                    left[channel] -= step * Fraction(part)
        full = {channel for channel, room in growth.items() if room == step}
        for number, flow in enumerate(flows):
            frozen[number] |= any(channel in full for channel, _ in flow)
    return rates


def test_max_min_rates_agree_with_exact_water_filling() -> None:
    draw = random.Random(5)  # noqa: S311
    for _ in range(500):
        channels = draw.randint(1, 6)
        capacities = [draw.choice([1, 2, 4, 8]) for _ in range(channels)]
        flows = [
            [(channel, draw.choice([1.0, 0.5, 0.25])) for channel in on]
            for _ in range(draw.randint(1, 8))
            if (on := draw.sample(range(channels), draw.randint(1, channels)))
        ]
        expected = filled(capacities, flows)
        assert max_min_rates(capacities, flows) == pytest.approx([float(one) for one in expected])


def test_the_order_found_is_never_worse_and_valid(fabric: Fabric, routes: Routes) -> None:
    for seed in range(8):
        job = Job(fabric, f"random:{4 + seed}:{seed}", routes=routes)
        better = job.improve()
        assert sorted(better.nodes) == sorted(job.nodes)
        assert better.flows_max <= min(
            better.flows_given, better.flows_sorted, better.flows_by_unit
        )
        assert better.job.bound().flows_max == better.flows_max
        if len(job.nodes) <= 6:
            least = min(
                job.in_order([job.nodes[0], *order]).bound().flows_max
                for order in itertools.permutations(job.nodes[1:])
            )
            assert better.flows_max == least
            assert better.is_best


def test_all_to_all_has_one_bound_for_all_orders(fabric: Fabric, routes: Routes) -> None:
    job = Job(fabric, "random:9:3", routes=routes)
    bounds = [one.bound("alltoall") for one in (job, job.sorted(), job.improve().job)]
    assert all(bound.order_free for bound in bounds)
    assert len({bound.bus_bandwidth for bound in bounds}) == 1


def test_a_job_beside_takes_its_share(fabric: Fabric, routes: Routes) -> None:
    ends = ["n00", "n04"], ["n01", "n05"]
    first, second = (Job(fabric, nodes, routes=routes) for nodes in ends)
    alone, both = first.bound(), first.bound(beside=[second])
    used = {(a, b) for a, b, _ in first.used()} & {(a, b) for a, b, _ in second.used()}
    assert both.flows_max == alone.flows_max + bool(used)


def test_adaptive_switches_need_no_routes(fabric: Fabric) -> None:
    job = Job(fabric, "random:12:4")
    bound = job.bound()
    table = Job(fabric, job.nodes, routes=fabric.route("up-down", form="table")).bound()
    assert bound.flows_max <= table.flows_max
    # Each flow is spread over the two spines of its rail.
    graph = nx.Graph((a, b) for a, b, _ in job.used())
    assert set(dict(graph.degree).values()) <= {2, 3}


@pytest.mark.parametrize(
    ("nodes", "options", "code"),
    [
        (["n00", "n99"], {}, "unknown-node"),
        (["n00", "n00"], {}, "repeated-node"),
        (["n00"], {}, "one-node"),
        (["n00", "n01"], {"rails": [2]}, "unknown-rail"),
        (["n00", "n01"], {"rails": []}, "unknown-rail"),
        (["n00", "n01"], {"rails": [0, 0]}, "repeated-rail"),
        (["n00", "n01"], {"ranks_per_node": 0}, "bad-ranks"),
        (["n00", "n01"], {"ranks_per_node": -2}, "bad-ranks"),
    ],
)
def test_refusals(fabric: Fabric, nodes: Any, options: Any, code: str) -> None:
    with pytest.raises(InputError) as refused:
        Job(fabric, nodes, **options)
    assert refused.value.code == code


def test_a_node_without_an_adapter_on_a_rail() -> None:
    fabric = rail_cluster(lost={(5, 1)})
    with pytest.raises(InputError) as refused:
        Job(fabric, ["n04", "n05"])
    assert refused.value.code == "missing-adapter"
    assert Job(fabric, "all").left_out == ("n05",)
    assert Job(fabric, "all", rails=[0]).left_out == ()
    assert Job(fabric, "all", rails=[0]).rails == (0,)
    assert "missing-adapter" in {finding.kind for finding in fabric.check()}


def test_an_unknown_pattern_and_pairs(fabric: Fabric, routes: Routes) -> None:
    job = Job(fabric, ["n00", "n04", "n08"], routes=routes)
    with pytest.raises(InputError) as refused:
        job.bound("rings")
    assert (refused.value.code, refused.value.nearest) == ("unknown-pattern", "ring")
    with pytest.raises(InputError) as refused:
        job.bound([("n00", "n01")])
    assert refused.value.code == "unknown-node"
    pairs = [("n00", "n04"), ("n08", "n04")]
    bounds = [one.bound(pairs) for one in (job, job.in_order(["n08", "n04", "n00"]))]
    assert [(bound.pattern, bound.order_free) for bound in bounds] == [("pairs", True)] * 2
    assert bounds[0].bus_bandwidth == bounds[1].bus_bandwidth
    with pytest.raises(InputError) as refused:
        job.improve(pairs)
    assert refused.value.code == "order-free"


def test_all_to_all_has_no_better_order(fabric: Fabric, routes: Routes) -> None:
    job = Job(fabric, ["n00", "n04", "n08"], routes=routes)
    for collective in ("all-to-all", "alltoall", "ALLTOALL_PERF"):
        with pytest.raises(InputError) as refused:
            job.improve(collective)
        assert refused.value.code == "order-free"
    for pattern in jobs.PATTERNS:
        assert job.bound(pattern).order_free != jobs.depends_on_order(pattern)


def test_routes_and_jobs_of_another_fabric(fabric: Fabric, routes: Routes) -> None:
    other = rail_cluster(units=2)
    with pytest.raises(InputError) as refused:
        Job(other, "all", routes=routes)
    assert (refused.value.code, refused.value.key) == ("other-fabric", "routes")
    job = Job(fabric, "random:6:1", routes=routes)
    for beside in (Job(other, "all"), Job(fabric, ["n00", "n01"], cluster=other.cluster())):
        for ask in (job.bound, job.improve):
            with pytest.raises(InputError) as refused:
                ask(beside=[beside])
            assert (refused.value.code, refused.value.key) == ("other-fabric", "beside")
    # An equal fabric counts as the fabric of the job.
    equal = Job(rail_cluster(), "random:6:1", routes=routes)
    assert equal.bound(beside=[job]).flows_max == job.bound(beside=[equal]).flows_max


def test_names_in_pairs_may_have_a_domain_or_other_case(fabric: Fabric, routes: Routes) -> None:
    job = Job(fabric, ["n00", "n04", "n08"], routes=routes)
    given = job.bound([("N00.example.org", "n04")]), job.bound([("n00", "n04")])
    assert given[0].phases == given[1].phases


def test_the_channel_that_limits(fabric: Fabric, routes: Routes) -> None:
    job = Job(fabric, "random:12:2", routes=routes)
    bound = job.bound("ring")
    limit = bound.limit
    assert limit is not None
    assert (limit.channel, limit.flows) == (bound.cables[0].channel, bound.flows_max)
    assert (limit.speed, limit.is_slow) == ("4xHDR", False)
    # A single slow cable between switches: no cable is shared, and bandwidth is lost.
    ends = [("leaf0", "n0 mlx5_0"), ("leaf1", "n1 mlx5_0"), ("leaf0", "n2 mlx5_0")]
    edges = [*((leaf, host, "4xHDR") for leaf, host in ends), ("leaf0", "leaf1", "4xEDR")]
    slow = Fabric.from_edges(edges, hosts=[host for _, host in ends])
    job = Job(slow, ["n0", "n1", "n2"], routes=slow.route("up-down", form="table"))
    bound = job.bound("ring")
    limit = bound.limit
    assert limit is not None
    assert bound.shared == 0
    assert bound.share == pytest.approx(0.5)
    [_, collection] = plots.job([("slow", job, bound)]).axes[0].collections[:2]
    assert not collection.get_paths()
    [line] = plots.job([("slow", job, bound)]).axes[0].lines
    assert line.get_linestyle() == ":"
    assert (limit.speed, limit.flows, limit.is_slow) == ("4xEDR", 1, True)
    assert {name.partition("[")[0] for name in limit.channel.split(" -> ")} == {"leaf0", "leaf1"}


def segments(figure: Any, panel: int, layer: int) -> set[tuple[tuple[float, ...], ...]]:
    """Return the lines of a layer of a panel: 0 is used cables, 1 shared ones."""
    lines = figure.axes[panel].collections[layer].get_segments()
    return {tuple(tuple(map(float, end)) for end in line) for line in lines}


def test_pictures_show_the_cables_that_their_titles_count(fabric: Fabric, routes: Routes) -> None:
    first, second = (
        Job(fabric, nodes, routes=routes)
        for nodes in (NODES[::4], NODES[1::4] + NODES[2::4] + NODES[3::4])
    )
    alone, both = first.bound(cables=1), first.bound(beside=[second], cables=1)
    assert both.shared > alone.shared
    figure: Any = plots.job([("alone", first, alone), ("beside", first, both)])
    for panel, bound in enumerate((alone, both)):
        # One cable joins a leaf and a spine, with a channel each way.
        assert len(segments(figure, panel, 1)) == bound.shared
    texts = [[text.get_text() for text in axes.texts] for axes in figure.axes]
    assert texts[0] == texts[1]
    assert {"unit 0", "unit 1", "unit 2"} <= set(texts[0])
    dots = [axes.collections[2].get_offsets().tolist() for axes in figure.axes]
    assert dots[0] == dots[1]
    pairs = first.bound([("n00", "n04"), ("n08", "n04")])
    assert segments(plots.job([("pairs", first, pairs)]), 0, 0)


def test_adapters_with_descriptions_of_the_vendor_are_told(tmp_path: Path) -> None:
    ends = [(f"s{number % 2}", f"h{number}") for number in range(4)]
    fabric = Fabric.from_edges([*ends, ("s0", "s1")])
    assert nameless(Job(fabric, "all")) == []
    text = re.sub(
        r'"h\d[^"]*"', '"ConnectX Mellanox Technologies"', fabric.text("ibnetdiscover")[0]
    )
    file = tmp_path / "vendor.ibnetdiscover"
    file.write_text(text)
    job = Job(Fabric.load(file), "all")
    assert nameless(job) == list(job.nodes)


def test_rails_with_other_adapter_numbers() -> None:
    numbers = (0, 1, 6, 7)
    edges = [(f"leaf{number}", f"n{node} mlx5_{number}") for node in range(4) for number in numbers]
    fabric = Fabric.from_edges(edges, hosts=[host for _, host in edges])
    cluster = fabric.cluster()
    assert cluster.rail_adapters == ("mlx5_0", "mlx5_1", "mlx5_6", "mlx5_7")
    assert rails_by_adapter(cluster, range(4)) == "rails 0-1 = mlx5_0..1, 2-3 = mlx5_6..7"
    assert rails_by_adapter(cluster, [3]) == "rail 3 = mlx5_7"
    assert not rails_by_adapter(cluster, [0, 1])
    assert Job(fabric, "all", rails=[1, 2]).adapters == ("mlx5_1", "mlx5_6")


def test_a_rule_for_descriptions_of_another_form() -> None:
    edges = [("s0", f"rack1/node{node}/{adapter}") for node in range(3) for adapter in range(2)]
    fabric = Fabric.from_edges(edges)
    rule = r"rack1/(?P<node>node\d+)/(?P<adapter>\d)"
    cluster = fabric.cluster(rule)
    assert [node.name for node in cluster.nodes] == ["node0", "node1", "node2"]
    assert {one.basis for node in cluster.nodes for one in node.adapters} == {"rule"}
    for wrong in ("(", "node", "(?P<node>x)"):
        with pytest.raises(InputError) as refused:
            names_by_rule(wrong, fabric.devices)
        assert refused.value.code == "bad-rule"


def test_orders_are_written_in_the_forms_of_launchers(fabric: Fabric) -> None:
    job = Job(fabric, ["n01", "n00"], ranks_per_node=2)
    assert job.text() == "n01 slots=2\nn00 slots=2\n"
    assert job.text("slurm") == "n01\nn01\nn00\nn00\n"
    assert job.text("rankfile").splitlines()[2] == "rank 2=n00 slot=0"
    with pytest.raises(InputError) as refused:
        job.text("rankfiles")
    assert refused.value.code == "unknown-form"


@pytest.fixture(scope="module")
def dump(fabric: Fabric, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a file of the cluster."""
    file = tmp_path_factory.mktemp("dump") / "cluster.ibnetdiscover"
    fabric.save(file)
    return str(file)


def test_the_command_reports_bounds_and_writes_a_better_order(
    gingham: Callable[..., Finished], dump: str, tmp_path: Path
) -> None:
    order, picture = tmp_path / "ordered.txt", tmp_path / "job.png"
    options = ["--nodes", "random:12:2", "--improve", "-o", str(order), "--plot", str(picture)]
    found = json.loads(gingham("job", dump, *options, "--json").out)
    assert [bound["pattern"] for bound in found["bounds"]] == list(jobs.PATTERNS)
    assert found["improved"]["flows_max"] <= found["bounds"][0]["flows_max"]
    written = [line.split()[0] for line in order.read_text().splitlines()]
    assert written == found["improved"]["nodes"]
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_command_compares_orders_and_routes(
    gingham: Callable[..., Finished], dump: str
) -> None:
    options = ["--nodes", "random:9:2", "--pattern", "ring", "--compare", "--adaptive"]
    done = gingham("job", dump, *options, "--algorithm", "up-down", "--json")
    found = json.loads(done.out)
    rows = [(row["routing"], row["order"]) for row in found["orders"]]
    orders = ["given", "sorted", "by unit", "improved"]
    assert rows == [(routing, order) for routing in ("adaptive", "up-down") for order in orders]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--nodes", "n[00-03],n98"], "unknown-node"),
        (["--nodes", "n[03-00]"], "bad-range"),
        (["--nodes", "n00,n00"], "repeated-node"),
        (["--nodes", "all", "--rails", "7"], "unknown-rail"),
        (["--nodes", "all", "--pattern", "torus"], "unknown-pattern"),
    ],
)
def test_the_command_refuses(
    gingham: Callable[..., Finished], dump: str, tmp_path: Path, options: Any, code: str
) -> None:
    order = tmp_path / "order"
    done = gingham("job", dump, *options, "--improve", "-o", str(order), "--json")
    assert done.code == 2
    assert json.loads(done.err)["code"] == code
    assert not order.exists()


@pytest.mark.parametrize(
    ("options", "code", "key"),
    [
        (["--rails", "3-1"], "bad-rails", "--rails"),
        (["--rails", "1,1"], "repeated-rail", "--rails"),
        (["--rails", "7"], "unknown-rail", "--rails"),
        (["--engine", "nosuch"], "unknown-engine", "--engine"),
        (["--engine", "updn", "--adaptive"], "several-routings", "--compare"),
        (["-o", "order"], "needs-improve", "--output"),
        (["--improve", "--form", "slurm"], "needs-output", "--form"),
        (["--improve", "-o", "there"], "exists", "--output"),
        (["--improve", "-o", "."], "is-directory", "--output"),
        (["--improve", "-o", "no/such/x.txt"], "no-folder", "--output"),
        (["--improve", "--pattern", "all-to-all"], "order-free", "--pattern"),
        (["--compare", "--pattern", "alltoall"], "order-free", "--pattern"),
        (["--plot", "picture.nosuch"], "unknown-ending", "--plot"),
        (["--beside", "n00,n99"], "unknown-node", "--beside"),
    ],
)
def test_each_refused_option_has_a_code_and_a_key(
    gingham: Callable[..., Finished],
    dump: str,
    tmp_path: Path,
    options: list[str],
    code: str,
    key: str,
) -> None:
    (tmp_path / "there").touch()
    done = gingham("job", dump, "--nodes", "all", *options, "--json")
    error = json.loads(done.err)
    assert (done.code, error["code"], error["key"]) == (2, code, key)


def test_an_order_is_searched_for_the_first_pattern_that_has_one(
    gingham: Callable[..., Finished], dump: str
) -> None:
    options = ["--pattern", "all-to-all", "--pattern", "ring", "--improve", "--json"]
    found = json.loads(gingham("job", dump, "--nodes", "random:12:2", *options).out)
    bounds, improved = found["bounds"], found["improved"]
    assert [bound["pattern"] for bound in bounds] == ["all-to-all", "ring"]
    assert improved["flows_given"] == bounds[1]["flows_max"]
    assert improved["flows_max"] == improved["bounds"][1]["flows_max"] == 1


def test_uneven_slots_need_a_number_of_ranks(
    gingham: Callable[..., Finished], dump: str, tmp_path: Path
) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("n00 slots=2\nn04 slots=2\nn08 slots=4\n")
    done = gingham("job", dump, "--nodes", hosts, "--json")
    error = json.loads(done.err)
    assert (done.code, error["code"], error["line"]) == (2, "uneven-slots", 3)
    found = json.loads(gingham("job", dump, "--nodes", hosts, "--ranks-per-node", 2, "--json").out)
    assert (found["ranks"], found["ranks_assumed"]) == (6, False)
    hosts.write_text("n00\nn04\n")
    found = json.loads(gingham("job", dump, "--nodes", hosts, "--json").out)
    assert (found["ranks"], found["ranks_assumed"]) == (4, True)


def test_nodes_of_two_jobs_and_limits_for_programs(
    gingham: Callable[..., Finished], dump: str
) -> None:
    options = ["--nodes", "n[00,04,08]", "--beside", "n[04,05,08]", "--pattern", "ring"]
    done = gingham("job", dump, *options, "--json")
    found = json.loads(done.out)
    assert found["shared_nodes"] == ["n04", "n08"]
    assert "n04" in json.loads(done.err)["note"]
    assert found["adapters"] == ["mlx5_0", "mlx5_1"]
    [bound] = found["bounds"]
    assert bound["bottleneck_speed"] == "4xHDR"
    assert bound["bottleneck_flows"] >= 1
    alone = gingham("job", dump, "--nodes", "n[00,04]", "--beside", "n[01,05]", "--json")
    assert (json.loads(alone.out)["shared_nodes"], alone.err) == ([], "")
    assert gingham("job", dump, "--nodes", "n[00-03]", "--improve", "--pattern", "ring").code == 0


def test_incomplete_nodes_are_left_out_and_told(
    gingham: Callable[..., Finished], tmp_path: Path
) -> None:
    file = tmp_path / "incomplete.ibnetdiscover"
    rail_cluster(lost={(5, 1), (7, 0)}).save(file)
    done = gingham("job", file, "--nodes", "all", "--json")
    assert json.loads(done.out)["left_out"] == ["n05", "n07"]
    assert json.loads(done.err)["note"]
    demo = json.loads(gingham("demo", "--dump", file, "--json").out)
    assert demo["left_out"] == ["n05", "n07"]
    assert len(demo["nodes"]) == 10
    assert json.loads(gingham("fabric", "info", file, "--json").out)["cluster"][
        "rail_adapters"
    ] == ["mlx5_0", "mlx5_1"]


def test_the_command_takes_pairs_and_refuses_an_order_that_changes_nothing(
    gingham: Callable[..., Finished], dump: str, tmp_path: Path
) -> None:
    pairs = tmp_path / "pairs"
    pairs.write_text("# flows\nn00 n04\nn08 -> n04\n")
    options = [dump, "--nodes", "n00,n04,n08", "--pairs", pairs]
    found = json.loads(gingham("job", *options, "--json").out)
    assert [(one["pattern"], one["order_free"]) for one in found["bounds"]] == [("pairs", True)]
    assert gingham("job", *options, "--improve").code == 2
    improved = json.loads(gingham("job", *options, "--pattern", "ring", "--improve", "--json").out)
    assert improved["improved"]["flows_max"] <= improved["bounds"][1]["flows_max"]
    order = tmp_path / "order"
    assert gingham("job", *options, "--compare", "--improve", "-o", order).code == 2
    assert not order.exists()
    pairs.write_text("n00 n00\n")
    refused = gingham("job", *options, "--json")
    assert (refused.code, json.loads(refused.err)["line"]) == (2, 1)
    pairs.write_text("n00 n04\nn00 n03\n")
    error = json.loads(gingham("job", *options, "--json").err)
    assert (error["code"], error["line"], error["file"]) == ("unknown-node", 2, str(pairs))
    pairs.write_bytes(b"n00 \xff\n")
    error = json.loads(gingham("job", *options, "--json").err)
    assert (error["code"], error["file"]) == ("no-text", str(pairs))
    pairs.write_text("\ufeffN00 n04.example.org\n")
    assert gingham("job", *options).code == 0


def test_demo_shows_a_better_order(gingham: Callable[..., Finished], tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    found = json.loads(gingham("demo", "-o", str(folder), "--json").out)
    assert found["improved"]["flows_max"] == 1 < found["bounds"][0]["flows_max"]
    assert {file.name for file in folder.iterdir()} == {
        "cluster.ibnetdiscover",
        "job.png",
        "ordered-hosts.txt",
    }
    assert gingham("demo", "-o", str(folder)).code == 2
    words = gingham("demo", "-o", str(folder), "--force").out.split()
    for option in ("job", "check", "--nodes"):
        named = [b for a, b in itertools.pairwise(words) if a == option and "/" in b]
        assert named
        assert all(Path(name).is_file() for name in named)


@pytest.mark.skipif(not SELENE.exists(), reason="the dump of Selene is not at hand")
def test_selene() -> None:
    fabric = Fabric.load(SELENE)
    cluster = fabric.cluster()
    words = "458 nodes x 8 rails, 25 units of 14 to 20 nodes, 11 other adapters"
    assert cluster.sentence() == words
    # Pairs that share all eight leaves, by networkx: cliques of nodes with equal sets of leaves.
    same = nx.Graph()
    leaves = {node.name: frozenset(one.leaf for one in node.adapters) for node in cluster.compute}
    pairs = itertools.combinations(leaves, 2)
    same.add_edges_from((a, b) for a, b in pairs if leaves[a] == leaves[b])
    assert same.number_of_edges() == 3996
    units = {name: cluster.node(name).unit for name in leaves}
    together = sum(units[a] == units[b] for a, b in itertools.combinations(leaves, 2))
    assert together == 3996
    assert all(units[a] == units[b] for a, b in same.edges)
    routes = fabric.route("up-down", form="table")
    for seed in range(5):
        job = Job(fabric, f"random:{64 + 40 * seed}:{seed}", routes=routes)
        better = job.improve()
        assert better.flows_max == 1 < better.flows_given


@pytest.mark.skipif(not SELENE.exists(), reason="the dump of Selene is not at hand")
@pytest.mark.parametrize("seed", range(2))
def test_selene_with_a_twentieth_of_its_adapter_cables_lost(seed: int) -> None:
    fabric = Fabric.load(SELENE)
    whole = {node.name: node.unit for node in fabric.cluster().compute}
    hosts = {device.name for device in fabric.devices if device.kind == "host"}
    ends = [
        f"{name}[{port}]" for cable in fabric.cables for name, port in cable.ends if name in hosts
    ]
    draw = random.Random(seed)  # noqa: S311
    lost = draw.sample(ends, len(ends) // 20)
    cluster = fabric.without(*lost).cluster()
    assert cluster.summary["units"] == 25
    found = {node.name: node.unit for node in cluster.compute}
    pairs = list(itertools.combinations(whole, 2))
    right = sum((whole[a] == whole[b]) == (found[a] == found[b]) for a, b in pairs)
    assert right >= 0.99 * len(pairs)


def test_shifts_over_a_clos_with_d_mod_k_share_no_cable() -> None:
    """A closed form: destination-mod-k tables carry each shift without contention (Zahavi 2012)."""
    leaves, width = 4, 3
    clos = Fabric.make(
        "folded-clos", leaves=leaves, spines=width, hosts_per_leaf=width, speed="4xHDR"
    )
    hosts = [f"h{leaf}-{host}" for leaf in range(leaves) for host in range(width)]
    neighbours = nx.Graph((a, b) for cable in clos.cables for (a, _), (b, _) in [cable.ends])
    leaf_of = {host: next(iter(neighbours[host])) for host in hosts}
    spines = sorted({node for leaf in leaf_of.values() for node in neighbours[leaf]} - set(hosts))
    tables = {
        leaf: {
            host: host if leaf_of[host] == leaf else spines[number % width]
            for number, host in enumerate(hosts)
        }
        for leaf in set(leaf_of.values())
    }
    tables |= {spine: dict(leaf_of) for spine in spines}
    job = Job(clos, hosts, routes=clos.routes_from(tables), ranks_per_node=1)
    for shift in range(1, len(hosts)):
        pairs = [(host, hosts[(place + shift) % len(hosts)]) for place, host in enumerate(hosts)]
        bound = job.bound(pairs)
        assert bound.flows_max <= 1
        assert bound.phases[0]["slowest"] == pytest.approx(LINK)
    # All-to-all: each destination's flows come down one cable, 9 of the 11 from other leaves.
    assert job.bound("all-to-all").flows_max == (leaves - 1) * width
    assert job.bound("all-to-all").share == pytest.approx(1.0)
