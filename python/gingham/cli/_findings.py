"""Findings as rows of a table; findings that differ only in names share a row."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gingham.fabric import Finding

# Up to this number, findings that differ only in names have a row each; more share one row.
APART_MAX = 3
# Maximum number of names of further findings in a row.
NAMED_MAX = 4
# A name: a word with a digit, or a text in quotation marks.
NAME = re.compile(r'"[^"]*"|\S*\d\S*')


@dataclass(frozen=True)
class Row:
    """A row: the first finding of a group, and a text that describes the whole group."""

    finding: Finding
    text: str
    count: int


def grouped(findings: Iterable[Finding]) -> list[Row]:
    """Return the rows of findings, in the order of the first finding of each."""
    groups: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in findings:
        key = (finding.severity, finding.kind, NAME.sub("*", finding.text))
        groups.setdefault(key, []).append(finding)
    rows: list[Row] = []
    for group in groups.values():
        if len(group) <= APART_MAX:
            rows.extend(Row(finding, finding.text, 1) for finding in group)
        else:
            rows.append(Row(group[0], joint_text(group), len(group)))
    return rows


def joint_text(group: Sequence[Finding]) -> str:
    """Return the text of the first finding, the number of others, and the names of some."""
    others = group[1:]
    first = set(NAME.findall(group[0].text))
    names = [
        next((name for name in NAME.findall(one.text) if name not in first), "") for one in others
    ]
    named = ", ".join(name.strip(",;:()") for name in names[:NAMED_MAX] if name)
    more = ", ..." if len(others) > NAMED_MAX else ""
    examples = f": {named}{more}" if named else ""
    return f"{group[0].text}; and {len(others):,} more of this kind{examples}"
