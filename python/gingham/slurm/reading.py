"""Reading `topology.conf`, `topology.yaml` and the output of `scontrol show topology`.

| source | line |
|---|---|
| `topology.conf`, tree | `SwitchName=s1 Nodes=n[1-8]`, `SwitchName=top Switches=s[1-2]` |
| `topology.conf`, block | `BlockName=b1 Nodes=n[1-8]`, `BlockSizes=8,16` |
| `scontrol show topology` | `SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[1-8]` |
| `topology.yaml` | `- topology: t1`, `tree:`, `switches:`, `- switch: s1`, `nodes: n[1-8]` |

A file that Slurm rejects raises `InputError` with file, line and `code`: `bad-line`, `unknown-key`,
`bad-range`, `repeated-switch`, `undefined-switch`, `switch-cycle`, `nodes-and-switches`,
`mixed-forms`, `bad-block-sizes`, `no-topology`, `bad-yaml`, `yaml-feature`.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from gingham._files import require_file
from gingham.errors import InputError, meant, nearest
from gingham.node_lists import expanded
from gingham.slurm import yaml_values
from gingham.slurm.topology import Entry, Topology

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from gingham.slurm.yaml_values import Value

YAML_LINE = re.compile(r"^\s*-\s+[\"']?topology[\"']?\s*:", re.MULTILINE)
# A pair of a line: the value is in quotation marks, or ends at white space.
PAIR = re.compile(r'\s*([A-Za-z0-9_.]+)\s*=\s*(?:"([^"]*)"|([^\s"]+))(?=\s|$)')
# Keys allowed in a line, by its first key in lower case, with their spelling.
KEYS = {
    "switchname": ("SwitchName", "Nodes", "Switches", "LinkSpeed", "Level"),
    "blockname": ("BlockName", "Nodes", "BlockIndex", "BlockSize"),
    "aggregatedblock": ("AggregatedBlock", "Nodes", "BlockIndex", "BlockSize"),
    "blocksizes": ("BlockSizes",),
}
# Plug-ins of `topology.yaml`.
PLUGINS = ("tree", "block", "flat", "ring", "torus3d")
TRUE = {"true", "yes", "on"}
FALSE = {"false", "no", "off"}


def read(path: str | os.PathLike[str]) -> tuple[Topology, ...]:
    """Read the topologies of one of Slurm's files; a `topology.conf` has one.

    Raises `InputError` with file, line and code if Slurm would reject the file.
    """
    require_file(Path(path))
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: no text", code="bad-line", file=str(path)) from error
    return read_text(text, str(path))


def read_text(text: str, file: str) -> tuple[Topology, ...]:
    """Read the topologies in the text of a file."""
    is_yaml = YAML_LINE.search(text) or Path(file).suffix.lower() in {".yaml", ".yml"}
    reader = Reader(file)
    return tuple(reader.yaml(text)) if is_yaml else (reader.conf(text),)


class Reader:
    """The reader of a file."""

    def __init__(self, file: str) -> None:
        """Store the name of the file, for messages."""
        self.file = file

    def refuse(self, line: int | None, code: str, words: str) -> NoReturn:
        """Raise the error about a line."""
        place = f"{self.file}:{line}" if line else self.file
        raise InputError(f"{place}: {words}", code=code, file=self.file, line=line)

    def names(self, text: str, line: int) -> tuple[str, ...]:
        """Return the names of a list with ranges."""
        try:
            names = tuple(expanded(text))
        except InputError as error:
            self.refuse(line, "bad-range", str(error))
        if not names:
            self.refuse(line, "bad-range", "a list without names")
        return names

    def conf(self, text: str) -> Topology:
        """Read `topology.conf`, or the output of `scontrol show topology`."""
        entries, sizes, forms = list[Entry](), tuple[int, ...](), set[str]()
        for line, content in joined_lines(text):
            pairs = self.pairs(content, line)
            kind = next(iter(pairs))
            if kind == "blocksizes":
                sizes = self.sizes(pairs[kind].split(","), line)
            elif kind != "aggregatedblock":
                entries.append(self.entry(pairs, kind, line))
            forms.add("tree" if kind == "switchname" else "block")
            if len(forms) > 1:
                self.refuse(line, "mixed-forms", "switches and blocks in one topology")
        if not entries:
            self.refuse(
                None,
                "no-topology",
                "no line such as SwitchName=s1 Nodes=n[1-8] or BlockName=b1 Nodes=n[1-8]",
            )
        return self.topology(forms.pop(), entries, sizes, None)

    def pairs(self, content: str, line: int) -> dict[str, str]:
        """Return the pairs of a line by their keys in lower case, the first key first."""
        pairs, at = dict[str, str](), 0
        while at < len(content.rstrip()):
            match = PAIR.match(content, at)
            if not match:
                self.refuse(
                    line, "bad-line", f'"{content.strip()}" is not a list of Key=value pairs'
                )
            key, value = match[1].lower(), match[2] if match[2] is not None else match[3]
            self.require_key(key, match[1], next(iter(pairs), key), line)
            if key in pairs:
                self.refuse(line, "bad-line", f"{match[1]} stands twice in the line")
            pairs[key] = value
            at = match.end()
        return pairs

    def require_key(self, key: str, spelt: str, first: str, line: int) -> None:
        """Raise an error for a key that Slurm does not allow in a line that begins with `first`."""
        known = KEYS.get(first)
        names = known or tuple(keys[0] for keys in KEYS.values())
        if known is None or key not in {name.lower() for name in known}:
            near = meant(nearest(spelt, names), f"; known are {', '.join(names)}")
            self.refuse(line, "unknown-key", f"{spelt} is no key of this line{near}")

    def entry(self, pairs: dict[str, str], kind: str, line: int) -> Entry:
        """Return the switch or block of a line."""
        nodes, switches = pairs.get("nodes"), pairs.get("switches")
        # `scontrol` lists all nodes below a switch.
        if switches is not None and "level" in pairs:
            nodes = None
        if nodes is not None and switches is not None:
            self.refuse_both(line, pairs[kind])
        if nodes in {"", "(null)"}:
            nodes = None
        if kind == "blockname" and nodes is None and "blockindex" not in pairs:
            self.refuse(line, "bad-line", f"block {pairs[kind]} has no nodes")
        return Entry(
            pairs[kind],
            line,
            self.names(nodes, line) if nodes else (),
            self.names(switches, line) if switches else (),
        )

    def refuse_both(self, line: int, name: str) -> NoReturn:
        """Raise an error for a switch with both nodes and switches below."""
        words = f"switch {name} has both nodes and switches; write its nodes as a switch below"
        self.refuse(line, "nodes-and-switches", words)

    def sizes(self, texts: list[str], line: int) -> tuple[int, ...]:
        """Return block sizes: a base and larger ones, each a power of two times the base."""
        sizes = [int(text) if text.strip().isdecimal() else 0 for text in texts]
        base = sizes[0] if sizes else 0
        factors = [size // base if base and size % base == 0 else 0 for size in sizes]
        is_rising = all(low < high for low, high in pairwise(sizes))
        if not is_rising or any(factor.bit_count() != 1 for factor in factors) or not factors:
            self.refuse(
                line,
                "bad-block-sizes",
                f"block sizes {', '.join(texts)}: expected a base and rising multiples of it by "
                "powers of two, such as 18,36,144",
            )
        return tuple(sizes)

    def topology(
        self, form: str, entries: list[Entry], sizes: tuple[int, ...], name: str | None
    ) -> Topology:
        """Return a topology whose switches are defined once and form no cycle."""
        lines = dict[str, int]()
        for entry in entries:
            if entry.name in lines:
                words = f"{entry.name} stands twice, first in line {lines[entry.name]}"
                self.refuse(entry.line, "repeated-switch", words)
            lines[entry.name] = entry.line
        for entry in entries:
            for child in entry.switches:
                if child not in lines:
                    near = meant(nearest(child, lines))
                    words = f"{entry.name} names the switch {child}, which no line defines{near}"
                    self.refuse(entry.line, "undefined-switch", words)
        self.refuse_cycles(entries)
        return Topology(form, tuple(entries), name, sizes, self.file)

    def refuse_cycles(self, entries: list[Entry]) -> None:
        """Raise an error for switches below themselves."""
        open_entries = {entry.name: entry for entry in entries}
        while ready := [
            name
            for name, entry in open_entries.items()
            if not any(child in open_entries for child in entry.switches)
        ]:
            for name in ready:
                del open_entries[name]
        if open_entries:
            first = next(iter(open_entries.values()))
            names = ", ".join(sorted(open_entries))
            self.refuse(first.line, "switch-cycle", f"switches below themselves: {names}")

    def yaml(self, text: str) -> Iterator[Topology]:
        """Read `topology.yaml`."""
        found = yaml_values.read(text, self.file)
        names = set[str]()
        for item in self.items(found, "topologies"):
            fields = self.fields(item, ("topology", "cluster_default", *PLUGINS))
            if next(iter(fields)) != "topology":
                self.refuse(item.line, "bad-yaml", "a topology begins with its name: `- topology:`")
            name = self.scalar(fields["topology"])
            if name in names:
                self.refuse(item.line, "repeated-topology", f"two topologies are called {name}")
            names.add(name)
            if "cluster_default" in fields:
                self.flag(fields["cluster_default"])
            plugins = [plugin for plugin in PLUGINS if plugin in fields]
            if len(plugins) != 1:
                words = f"topology {name} has {len(plugins)} of {', '.join(PLUGINS)}; expected one"
                self.refuse(item.line, "mixed-forms", words)
            yield self.plugin(name, plugins[0], fields[plugins[0]])
        if not names:
            self.refuse(None, "no-topology", "no line such as `- topology: name`")

    def plugin(self, name: str, form: str, value: Value) -> Topology:
        """Read the part of one plug-in."""
        if form == "tree":
            fields = self.fields(value, ("switches",))
            entries = [
                self.yaml_entry(item, "switch", ("children", "nodes"))
                for item in self.items(fields["switches"], "switches")
            ]
            return self.topology(form, entries, (), name)
        if form == "block":
            fields = self.fields(value, ("block_sizes", "blocks"))
            sizes = fields.get("block_sizes")
            texts = [self.scalar(size) for size in self.items(sizes, "sizes")] if sizes else []
            blocks = fields.get("blocks")
            entries = [
                self.yaml_entry(item, "block", ("nodes",))
                for item in (self.items(blocks, "blocks") if blocks else [])
            ]
            read_sizes = self.sizes(texts, sizes.line) if sizes else ()
            return self.topology(form, entries, read_sizes, name)
        return Topology(form, (), name, (), self.file)

    def yaml_entry(self, item: Value, key: str, lists: tuple[str, ...]) -> Entry:
        """Read a switch or a block."""
        fields = self.fields(item, (key, *lists))
        if key not in fields:
            self.refuse(item.line, "bad-yaml", f"a {key} without its name: `- {key}:`")
        name = self.scalar(fields[key])
        found = {}
        for one in lists:
            text = self.scalar(fields[one]) if one in fields else ""
            found[one] = self.names(text, fields[one].line) if text else ()
        if found.get("children") and found["nodes"]:
            self.refuse_both(item.line, name)
        return Entry(name, item.line, found["nodes"], found.get("children", ()))

    def items(self, value: Value, what: str) -> list[Value]:
        """Return the items of a list."""
        if not isinstance(value.data, list):
            self.refuse(value.line or None, "bad-yaml", f"expected a list of {what}")
        return value.data

    def fields(self, value: Value, known: tuple[str, ...]) -> dict[str, Value]:
        """Return the fields of a mapping; raise an error for unknown keys."""
        if not isinstance(value.data, dict) or not value.data:
            self.refuse(value.line or None, "bad-yaml", f"expected keys such as `{known[0]}:`")
        for key, field in value.data.items():
            if key not in known:
                near = meant(nearest(key, known), f"; known are {', '.join(known)}")
                self.refuse(field.line, "unknown-key", f"{key} is no key of this place{near}")
        return value.data

    def scalar(self, value: Value) -> str:
        """Return a text or number as text."""
        if not isinstance(value.data, str):
            self.refuse(value.line, "bad-yaml", "expected a text or a number")
        return value.data

    def flag(self, value: Value) -> bool:
        """Return a Boolean."""
        text = self.scalar(value).lower()
        if text not in TRUE | FALSE:
            self.refuse(value.line, "bad-yaml", f"{text} is neither true nor false")
        return text in TRUE


def joined_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines with content, without comments; a backslash at the end joins the next."""
    start, kept = 0, ""
    for number, raw in enumerate(text.splitlines(), 1):
        start = start or number
        line = raw.partition("#")[0].rstrip()
        if line.endswith("\\"):
            kept += line[:-1]
            continue
        kept += line
        if kept.strip():
            yield start, kept
        start, kept = 0, ""
    if kept.strip():
        yield start, kept
