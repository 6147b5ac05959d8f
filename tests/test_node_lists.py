"""Lists of nodes: every form that is read, every refusal with its code and line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gingham import Fabric, InputError, node_lists

if TYPE_CHECKING:
    from gingham import Cluster

NODES = [f"n{number:02}" for number in range(8)]


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    """Return a cluster of eight nodes at one switch."""
    return Fabric.from_edges([("s0", f"{name} mlx5_0") for name in NODES]).cluster()


def read(tmp_path: Path, text: str, cluster: Any = None) -> node_lists.NodeList:
    """Read a file with a text."""
    file = tmp_path / "hosts"
    file.write_text(text)
    return node_lists.read(str(file), cluster)


@pytest.mark.parametrize(
    ("text", "names", "ranks"),
    [
        ("n02\nn01\n", ["n02", "n01"], None),
        ("# all\nn02 slots=8  # a node\n\nn01 slots=8 max_slots=8\n", ["n02", "n01"], 8),
        ("n02:4\nn01:4\n", ["n02", "n01"], 4),
        ("n02 slots=8\nn01 slots=4\n", ["n02", "n01"], None),
        ("n02\nn02\nn01\nn01\n", ["n02", "n01"], 2),
        ("rank 1=n01 slot=0\nrank 0=n02 slot=0:0-3\n", ["n02", "n01"], 1),
        ("user@n02\nn01\n", ["n02", "n01"], None),
        ("n[02-03]\nn01\n", ["n02", "n03", "n01"], None),
        ("n02,n03 n01\n", ["n02", "n03", "n01"], None),
    ],
)
def test_forms_of_files(tmp_path: Path, text: str, names: list[str], ranks: Any) -> None:
    listed = read(tmp_path, text)
    assert list(listed.names) == names
    assert listed.ranks_per_node == ranks


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("n01\nn02\nn01\n", "repeated-node", 3),
        ("rank 0=n01 slot=0\nrank 0=n02 slot=0\n", "repeated-rank", 2),
        ("rank 0=n01\nrank 1=n02\nrank 2=n01\n", "repeated-node", 3),
        ("n01\n10.0.0.7 slots=8\n", "address", 2),
        ("n01\nfe80::1:2 slots=8\n", "address", 2),
        ("n01\nfe80::1 slots=8\n", "address", 2),
        ("10.0.0.7:8\n", "address", 1),
        ("n01\n[fe80::1]:8\n", "address", 2),
        ("n01 = n02\n", "bad-line", 1),
        ("# nothing\n", "empty-list", None),
    ],
)
def test_refusals_of_files(tmp_path: Path, text: str, code: str, line: int | None) -> None:
    with pytest.raises(InputError) as refused:
        read(tmp_path, text)
    assert (refused.value.code, refused.value.line) == (code, line)
    assert refused.value.file == str(tmp_path / "hosts")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("n[00-02,05]", ["n00", "n01", "n02", "n05"]),
        ("n[1-2]-ib[0-1],login", ["n1-ib0", "n1-ib1", "n2-ib0", "n2-ib1", "login"]),
        ("n07", ["n07"]),
        ("a[8-10]", ["a8", "a9", "a10"]),
    ],
)
def test_ranges(text: str, names: list[str]) -> None:
    assert list(node_lists.expanded(text)) == names


@pytest.mark.parametrize("text", ["n[3-1]", "n[a-b]", "n[1-2", "n1]", "n[]", "n[1-99999999]"])
def test_refused_ranges(text: str) -> None:
    with pytest.raises(InputError) as refused:
        list(node_lists.expanded(text))
    assert refused.value.code == "bad-range"


def test_all_and_random(cluster: Cluster) -> None:
    assert list(node_lists.read("all", cluster).names) == NODES
    drawn = node_lists.read("random:5:7", cluster).names
    assert len(set(drawn)) == len(drawn) == 5
    assert drawn == node_lists.read("random:5:7", cluster).names
    assert drawn != node_lists.read("random:5:8", cluster).names
    with pytest.raises(InputError) as refused:
        node_lists.read("random:9", cluster)
    assert refused.value.code == "too-many-nodes"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("n02 slots=8\nn01 slots=4\n", 2),
        ("n02 slots=8\nn01\n", 2),
        ("n02\nn02\nn01\n", 3),
        ("rank 0=n01 slot=0\nrank 1=n02 slot=0\nrank 2=n02 slot=1\n", 2),
    ],
)
def test_uneven_slots(tmp_path: Path, cluster: Cluster, text: str, line: int) -> None:
    file = tmp_path / "hosts"
    file.write_text(text)
    with pytest.raises(InputError) as refused:
        node_lists.read(str(file), cluster, even=True)
    assert (refused.value.code, refused.value.line) == ("uneven-slots", line)
    assert refused.value.file == str(file)


def test_a_byte_order_mark_is_dropped(tmp_path: Path) -> None:
    assert read(tmp_path, "\ufeffn02\nn01\n").names == ("n02", "n01")


@pytest.mark.parametrize("data", [b"n01\xff\n", b"n01\0\n", b"\xff\xfen\x000\x001\x00"])
def test_a_file_without_text(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "hosts"
    file.write_bytes(data)
    with pytest.raises(InputError) as refused:
        node_lists.read_file(file)
    assert (refused.value.code, refused.value.file) == ("no-text", str(file))


def test_a_directory(tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("lists", "n01"):
        (tmp_path / name).mkdir()
    for text in (str(tmp_path), "lists"):
        with pytest.raises(InputError) as refused:
            node_lists.read(text, cluster)
        assert refused.value.code == "is-directory"
    assert node_lists.read("n01", cluster).names == ("n01",)


def test_nodes_without_an_adapter_are_left_out() -> None:
    edges = [(f"s{rail}", f"{name} mlx5_{rail}") for name in NODES for rail in range(2)]
    edges.remove(("s1", "n03 mlx5_1"))
    hosts = [host for _, host in edges]
    cluster = Fabric.from_edges(edges, hosts=hosts).cluster()
    for text in ("all", "random:7:2"):
        listed = node_lists.read(text, cluster, rails=(0, 1))
        assert sorted(listed.names) == [name for name in NODES if name != "n03"]
        assert listed.left_out == ("n03",)
    assert len(node_lists.read("all", cluster, rails=(0,)).names) == 8
    with pytest.raises(InputError) as refused:
        node_lists.read("random:8", cluster, rails=(0, 1))
    assert refused.value.code == "too-many-nodes"


@pytest.mark.parametrize("text", ["hosts.txt", "./lists/hosts", "no/such/file.txt", "order.hst"])
def test_a_file_that_is_not_there(cluster: Cluster, text: str) -> None:
    with pytest.raises(InputError) as refused:
        node_lists.read(text, cluster)
    assert refused.value.code == "no-file"


@settings(max_examples=60)
@given(
    names=st.lists(
        st.from_regex(r"[a-z][a-z0-9-]{0,8}[0-9]", fullmatch=True), min_size=1, unique=True
    ),
    ranks=st.integers(1, 8),
    form=st.sampled_from(node_lists.FORMS),
)
def test_each_written_form_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], ranks: Any, form: str
) -> None:
    file = tmp_path_factory.mktemp("lists") / "order"
    file.write_text(node_lists.written(names, form, ranks))
    listed = node_lists.read_file(file)
    assert list(listed.names) == names
    assert listed.ranks_per_node == ranks or (form == "slurm" and ranks == 1)
