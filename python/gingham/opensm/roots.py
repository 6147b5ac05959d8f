"""Root switches read from a file: one switch per line, by GUID as in OpenSM, or by name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gingham._files import require_file
from gingham.errors import InputError, meant, nearest

if TYPE_CHECKING:
    from pathlib import Path

    from gingham.fabric import Fabric

GUID = re.compile(r"^0x[0-9a-fA-F]{1,16}$")


def read_roots(path: Path, fabric: Fabric) -> list[str]:
    """Return the switches named in the file; raise `InputError` with the line of an unknown one."""
    require_file(path)
    switches = [node for node in fabric.devices if node.kind == "switch"]
    by_guid = {int(node.guid, 16): node.name for node in switches if node.guid}
    names = {node.name for node in switches}
    roots = []
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1):
        # Switches may be called "Voltaire 4036 # rack 3": a comment only begins after a whole name.
        whole = line.strip()
        word = whole if whole in names else line.partition("#")[0].strip()
        if not word:
            continue
        name = by_guid.get(int(word, 16)) if GUID.match(word) else word
        if name not in names:
            raise refused(path, number, word, names)
        roots.append(name)
    if not roots:
        raise InputError(
            f"{path}: names no root; expected a switch a line", file=str(path), code="empty-list"
        )
    return list(dict.fromkeys(roots))


def refused(path: Path, line: int, word: str, names: set[str]) -> InputError:
    """Return the error for a word that does not name a switch."""
    near = nearest(word, names)
    return InputError(
        f'{path}:{line}: "{word}" is no switch of this fabric{meant(near)}\n'
        "  expected the name of a switch, or its GUID such as 0x0002c902004827b0",
        file=str(path),
        line=line,
        nearest=near,
        code="unknown-node",
    )
