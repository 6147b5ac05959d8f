"""Control characters of a file never reach a terminal."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from gingham.cli._printable import printable, printable_json

Command = Callable[..., object]

OBEYED = ["\x1b[2J", "\x07", "\r", "\x7f", "\x9b31m", "\u202e", "\u2066", "\u2028", "\udcff"]


@pytest.mark.parametrize("text", OBEYED)
def test_what_a_terminal_obeys_becomes_an_escape(text: str) -> None:
    shown = printable(f"a{text}\tb\n")
    assert shown.startswith("a\\")
    assert shown.endswith("\tb\n")
    assert not any(unicodedata.category(char) in {"Cc", "Cf", "Cs"} for char in shown[:-3])


@pytest.mark.parametrize("text", [*OBEYED, "\U000e0041", "plain", "ä€"])
def test_json_means_the_same_with_its_escapes(text: str) -> None:
    written = printable_json(json.dumps({"name": text}, ensure_ascii=False))
    assert json.loads(written) == {"name": text}
    assert all(char.isprintable() for char in written)


def test_what_people_write_stays_as_it_is() -> None:
    for text in ("nöde 1 ± 2 · 日本", "a\n\tb", ""):
        assert printable(text) == text


EVIL = "e\x1b]0;owned\x07\x1b[31mvil\u202e\x9b1m"

DUMP = f"""\
\x1b[2Jprompt$ ibnetdiscover
vendid=0x2c9
switchguid=0x10(10)
Switch\t4 "S-0000000000000010"\t\t# "{EVIL}" enhanced port 0 lid 0 lmc 0
[1]\t"H-00000000000000a1"[1](a1) \t\t# "h1{EVIL}" lid 11 4xNDR
[2]\t"H-00000000000000a2"[1](a2) \t\t# "h2{EVIL}" lid 65535 4xNDR

caguid=0xa1
Ca\t1 "H-00000000000000a1"\t\t# "h1{EVIL}"
[1](a1) \t"S-0000000000000010"[1]\t\t# lid 11 lmc 0 "{EVIL}" lid 0 4xNDR

caguid=0xa2
Ca\t1 "H-00000000000000a2"\t\t# "h2{EVIL}"
"""
BROKEN = f'Switch\t4 "S-01" # "{EVIL}" lid {EVIL}\n[1 \x1b[31m\n'


@pytest.mark.parametrize(
    "arguments",
    [
        ["fabric", "check", "evil.ibnetdiscover"],
        ["fabric", "check", "evil.ibnetdiscover", "--json"],
        ["fabric", "info", "evil.ibnetdiscover"],
        ["fabric", "check", "broken.ibnetdiscover"],
        ["fabric", "check", "broken.ibnetdiscover", "--json"],
        ["fabric", "convert", "evil.ibnetdiscover", "-o", "evil.anynet"],
        ["route", "evil.ibnetdiscover", "--algorithm", "shortest-path"],
        ["route", "evil.ibnetdiscover", "--algorithm", "up-down", "--json"],
        ["run", "torus", "--topology", "evil.ibnetdiscover"],
        ["fabric", "check", "no\x1b[31msuch\u202e"],
    ],
)
def test_no_command_lets_a_dump_speak_to_the_terminal(
    gingham: Command, tmp_path: Path, arguments: list[str]
) -> None:
    (tmp_path / "evil.ibnetdiscover").write_text(DUMP)
    (tmp_path / "broken.ibnetdiscover").write_text(BROKEN)
    done = gingham(*arguments)
    said = f"{done.out}{done.err}"  # type: ignore[attr-defined]
    assert said
    obeyed = {char for char in said if char != "\n" and unicodedata.category(char) in {"Cc", "Cf"}}
    assert obeyed <= {"\t"}
