"""Validation of the options of `gingham job`: rails, pairs, files, routes."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING

from gingham._files import require_place
from gingham.cli._output import warn
from gingham.errors import InputError
from gingham.jobs import PATTERNS
from gingham.node_lists import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from gingham.jobs import Job

# Largest number of paths of an all-to-all that is computed by default, in some seconds.
PATHS_MAX = 4_000_000
# Options by parameter name in errors of the package.
OPTIONS = {
    "rails": "--rails",
    "ranks_per_node": "--ranks-per-node",
    "rule": "--rule",
    "pattern": "--pattern",
    "beside": "--beside",
}


@contextlib.contextmanager
def named_by_options() -> Iterator[None]:
    """Replace the parameter in errors of the package by its option."""
    try:
        yield
    except InputError as error:
        error.key = OPTIONS.get(error.key or "", error.key)
        raise


@contextlib.contextmanager
def about(option: str) -> Iterator[None]:
    """Add the option concerned to errors."""
    try:
        yield
    except InputError as error:
        error.key = option
        raise


def unusable(message: str, code: str, option: str) -> InputError:
    """Return the error about an unusable option."""
    return InputError(message, code=code, key=option)


def require_places(
    output: Path | None, form: str | None, plot: Path | None, *, improve: bool, force: bool
) -> None:
    """Reject files that cannot be written before the computation starts."""
    for place, option in ((output, "--output"), (plot, "--plot")):
        if place is not None:
            with about(option):
                require_place(place, overwrite=force)
    if output is not None and not improve:
        words = "-o writes the improved order; give --improve, without --compare"
        raise unusable(words, "needs-improve", "--output")
    if form is not None and output is None:
        words = "--form is the form of the improved order; give its file by -o"
        raise unusable(words, "needs-output", "--form")
    if plot is not None:
        from gingham import plots

        with about("--plot"):
            plots.require_ending(plot)


def require_one_routing(
    algorithms: Sequence[str],
    lfts: Path | None,
    engines: Sequence[str],
    *,
    adaptive: bool,
    compare: bool,
) -> None:
    """Reject several sources of routes without a comparison."""
    count = len(algorithms) + len(engines) + (lfts is not None) + adaptive
    if count > 1 and not compare:
        words = (
            "several routings are compared; give --compare, or one of --algorithm, --lfts, "
            "--engine and --adaptive"
        )
        raise unusable(words, "several-routings", "--compare")


def rail_list(text: str) -> list[int]:
    """Return the rails of a list such as 0-3,6.

    >>> rail_list("0-2,6")
    [0, 1, 2, 6]
    """
    rails = list[int]()
    for piece in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,6})(?:-(\d{1,6}))?\s*", piece)
        low, high = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if low > high:
            words = f'"{piece}" is no rail or range of rails such as 0-3'
            raise unusable(words, "bad-rails", "--rails")
        rails.extend(range(low, high + 1))
    if len(set(rails)) < len(rails):
        raise unusable(f'"{text}" has a rail twice', "repeated-rail", "--rails")
    return rails


def wanted(
    patterns: Sequence[str], pairs_file: Path | None, job: Job
) -> list[str | list[tuple[str, str]]]:
    """Return the requested patterns and pairs.

    By default all patterns; all-to-all is omitted for jobs with very many pairs.
    """
    collectives: list[str | list[tuple[str, str]]] = list(patterns)
    if pairs_file is not None:
        collectives.insert(0, read_pairs(pairs_file, job))
    if collectives:
        return collectives
    if len(job.nodes) ** 2 * len(job.rails) <= PATHS_MAX:
        return list(PATTERNS)
    warn(
        "all-to-all of so many nodes takes long and is left out; ask for it by --pattern all-to-all"
    )
    return [pattern for pattern in PATTERNS if pattern != "all-to-all"]


def read_pairs(file: Path, job: Job) -> list[tuple[str, str]]:
    """Read flows between nodes of a job: a sender and a receiver per line.

    Comments begin with #. Names may have a domain or differ in case.
    """
    pairs = list[tuple[str, str]]()
    if not file.is_file():
        is_directory = file.is_dir()
        reason = "is a directory; name a file" if is_directory else "no such file"
        code = "is-directory" if is_directory else "no-file"
        raise InputError(f"{file}: {reason}", code=code, file=str(file), key="--pairs")
    for line, raw in enumerate(text_of(file).splitlines(), 1):
        words = [word for word in re.split(r"[\s,]+|->", raw.partition("#")[0].strip()) if word]
        if not words:
            continue
        try:
            found = [job.nodes[job.position(word)] for word in words]
        except InputError as error:
            raise InputError(
                f"{file}:{line}: {error}",
                code=error.code,
                file=str(file),
                line=line,
                nearest=error.nearest,
            ) from error
        if len(found) != 2 or found[0] == found[1]:  # noqa: PLR2004
            raise InputError(
                f"{file}:{line}: expected a sender and another node as receiver",
                code="bad-line",
                file=str(file),
                line=line,
            )
        pairs.append((found[0], found[1]))
    if not pairs:
        raise InputError(f"{file}: names no pair", code="empty-list", file=str(file))
    return pairs
