"""Slurm's topology files on the command line: writing in a form, comparing with a fabric."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from gingham._files import write_bytes
from gingham.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from gingham.fabric import Fabric, Finding
    from gingham.slurm import Comparison, Form

CONF = {None: "slurm", "tree": "slurm", "block": "slurm-block"}
YAML = "slurm-yaml"
FORMS: tuple[Form, ...] = ("tree", "block")


def format_of_form(format_name: str, form: Form | None, also: Sequence[Path]) -> str:
    """Return the format of the file, which may depend on the form.

    Raises `InputError` for a form of another format, and for several fabrics in a file other than
    `topology.yaml`.
    """
    if also and format_name != YAML:
        raise InputError(
            f"--also is for topology.yaml; the format {format_name} holds one fabric",
            code="one-fabric",
            key="also",
        )
    if form is None or format_name == YAML:
        return format_name
    if format_name not in CONF.values():
        raise InputError(
            f"--form is for Slurm's files; the format {format_name} has no form",
            code="no-form",
            key="form",
        )
    return CONF[form]


def save(
    fabrics: Mapping[Path, Fabric],
    output: Path,
    format_name: str,
    form: Form | None,
    *,
    overwrite: bool,
) -> list[str]:
    """Write fabrics in one of Slurm's formats; return the notes."""
    if format_name != YAML:
        fabric = next(iter(fabrics.values()))
        return fabric.save(output, format=format_name, overwrite=overwrite)
    from gingham import slurm

    forms = FORMS if form is None else (form,)
    topologies: dict[str, tuple[Fabric, Form]] = {}
    notes: list[str] = []
    for path, fabric in fabrics.items():
        for one in forms:
            name = topology_name(path, one, several=len(fabrics) > 1, both=form is None)
            if name in topologies:
                raise InputError(
                    f"two topologies are called {name}; rename a file", code="repeated-topology"
                )
            if form is None and one == "block" and (refused := without_blocks(fabric)):
                notes.append(f"{path.name}: {refused}")
            else:
                topologies[name] = fabric, one
    text, left_out = slurm.topology_yaml(topologies)
    write_bytes(output, text.encode(), overwrite=overwrite)
    return [*notes, *left_out]


def without_blocks(fabric: Fabric) -> str | None:
    """Return the reason why a fabric has no blocks, or `None` if it has some."""
    from gingham import slurm

    try:
        slurm.topology_yaml({"block": (fabric, "block")})
    except InputError as refused:
        if refused.code != "no-nodes":
            raise
        return "no blocks, because no adapter names a compute node"
    return None


def topology_name(path: Path, form: Form, *, several: bool, both: bool) -> str:
    """Return the name of a topology: its form, and the name of its file if there are several."""
    stem = re.sub(r"[^A-Za-z0-9_-]", "_", path.name.partition(".")[0])[:50]
    if not several:
        return form
    return f"{stem}-{form}" if both else stem


def compared(fabric: Fabric, slurm_file: Path) -> Comparison:
    """Compare Slurm's file with a fabric."""
    from gingham import slurm

    return slurm.compare(fabric, slurm_file)


def facts_of(
    comparison: Comparison, as_dict: Callable[[Finding], dict[str, Any]]
) -> dict[str, Any]:
    """Return a comparison for programs."""
    return {
        "slurm": comparison.file,
        "findings": [as_dict(finding) for finding in comparison.findings],
        "misplaced": [asdict(one) for one in comparison.misplaced],
        "missing": comparison.missing,
        "unknown": comparison.unknown,
    }
