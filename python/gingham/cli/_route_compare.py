"""`gingham route --compare`: all algorithms that a fabric allows, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import click

from gingham import comparison, plots
from gingham._files import refuse_existing
from gingham.cli._layout import text
from gingham.cli._output import print_json, print_prose, print_table, show
from gingham.cli._progress import steps_shown
from gingham.cli._route_facts import first_of, reference_of
from gingham.cli._words import in_options

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from gingham.comparison import CandidateRow
    from gingham.fabric import Fabric
    from gingham.plots.comparison import Line

COLUMNS = ("routes", "distance", "most", "minimal", "in transit", "busiest", "bound")


def require_comparison(
    algorithm: str | None, output: Path | None, given: Mapping[str, Any]
) -> None:
    """Reject options that a comparison of all algorithms does not use."""
    if algorithm is not None:
        raise click.BadOptionUsage(
            "--algorithm", "--compare routes by every algorithm: leave --algorithm out"
        )
    if output is not None:
        raise click.BadOptionUsage(
            "--output", "a comparison writes no tables; give --algorithm and --form table"
        )
    superfluous = sorted(set(given) - {"root"})
    if superfluous:
        raise click.BadOptionUsage(
            f"--{superfluous[0]}",
            f"--compare gives {superfluous[0]} to no algorithm: of their parameters only --root",
        )


def compare_all(
    file: Path,
    fabric: Fabric,
    form: Literal["source", "table"] | None,
    when_full: Literal["spill", "stop"],
    root: str | Mapping[str, Any] | None,
    memory_max: str | None,
    plot: Path | None,
    *,
    everything: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Route by the algorithms that switches support, or by all; print a table or JSON, and draw."""
    if plot is not None:
        plots.require_ending(plot)
        refuse_existing(plot, overwrite=force)
    chosen = comparison.CANDIDATES if everything else comparison.supported(fabric)
    with steps_shown(len(chosen)) as on_step:
        rows = comparison.compare(
            fabric,
            chosen,
            form=form,
            when_full=when_full,
            root=root,
            memory_max=memory_max,
            on_step=on_step,
        )
    if plot is not None:
        plots.save(picture(file.name, rows), plot, overwrite=force)
    if as_json:
        report = {"kind": "route-comparison", "file": str(file), "left_out": left_out(chosen)}
        print_json({**report, "rows": [row.as_json() for row in rows]})
        return
    infiniband = comparison.is_infiniband(fabric)
    print_rows(str(file), rows, asked="table" if infiniband else form)
    bounds = (row.facts["statistics"]["all_to_all"] for row in rows if row.facts)
    for sentence in reference_of(fabric, (bound["rate"] for bound in bounds if bound)):
        print_prose(sentence)
    print_left_out(left_out(chosen))
    if plot is not None:
        show(text(f"written: {plot}"))


def left_out(chosen: Iterable[comparison.Candidate]) -> list[str]:
    """Return the labels of candidates that were not chosen."""
    labels = {one.label for one in chosen}
    return [one.label for one in comparison.CANDIDATES if one.label not in labels]


def print_left_out(labels: Sequence[str]) -> None:
    """Print the algorithms that are not compared, and the option that adds them."""
    if labels:
        print_prose(
            f"left out, for switches of InfiniBand hold tables alone: {'; '.join(labels)}. --all "
            "compares them too, --algorithm NAME routes by one"
        )


def picture(title: str, rows: Iterable[CandidateRow]) -> Any:
    """Return the comparison as a figure."""
    from gingham.plots import comparison as drawn

    lines = [line(row) for row in rows if row.facts]
    return drawn.draw(title, lines, measures=drawn.ROUTING_MEASURES)


def line(row: CandidateRow) -> Line:
    """Return the line of a row in the picture."""
    from gingham.plots.comparison import Line

    statistics = row.facts["statistics"]
    share, bound = statistics["minimal_share"], statistics["all_to_all"]
    numbers = {
        **{key: statistics[key] for key in ("mean_distance", "mean_in_transit_hosts")},
        "max_channel_paths": statistics["max_channel_paths"],
        "minimal_percent": None if share is None else 100 * share,
        "all_to_all": None if bound is None else bound["load"],
    }
    values = {key: value for key, value in numbers.items() if value is not None}
    return Line(row.label, row.label, values, row.facts["deadlock_free"])


def print_rows(title: str, rows: Sequence[CandidateRow], *, asked: str | None) -> None:
    """Print the table, then missing algorithms and exceptions with their reasons."""
    columns = [*COLUMNS, "seconds", "deadlock"]
    routed = [row for row in rows if row.facts]
    print_table(title, columns, map(cells, routed), numbers=[*COLUMNS[1:], "seconds"])
    tables = [row.label for row in routed if row.facts["form"] == "table"]
    if tables and asked is None:
        print_prose(f"tables, because the fabric is large: {', '.join(tables)}")
    for row in rows:
        if row.too_large:
            print_prose(f"{row.label} is left out: {in_options(row.refused or '')}")
        elif row.refused:
            print_prose(f"{row.label} does not apply: {first_line(row.refused)}")
        elif row.algorithm == "in-transit" and row.facts["statistics"]["detour_pairs"]:
            print_prose(f"{row.label}: {fall_back(row.facts['statistics'])}")


def cells(row: CandidateRow) -> list[str]:
    """Return a row as the texts of its cells."""
    return [row.label, *numbers_of(row.facts["statistics"]), f"{row.seconds:.2f}", verdict(row)]


def numbers_of(statistics: Mapping[str, Any]) -> Iterator[str]:
    """Yield the numbers of a row as text."""
    mean, bound = statistics["mean_distance"], statistics["all_to_all"]
    yield "" if mean is None else f"{mean:.3f}"
    yield "" if mean is None else f"{statistics['max_distance']:,}"
    yield "" if mean is None else f"{statistics['minimal_share']:.1%}"
    yield "" if mean is None else f"{statistics['mean_in_transit_hosts']:.3f}"
    yield f"{statistics['max_channel_paths']:,}"
    yield "" if bound is None else f"{bound['load']:.3f}"


def verdict(row: CandidateRow) -> str:
    """Return whether packets can deadlock, in two or three words."""
    if row.facts["deadlock_free"]:
        return "free"
    return f"cycle of {len(row.facts['cycle'])}"


def fall_back(statistics: Mapping[str, Any]) -> str:
    """Return the number of pairs with detours, the reason, and the longest detour."""
    count, longest = statistics["detour_pairs"], statistics["longest_detour"]
    ends = f"from {longest['from']} to {longest['to']}"
    switches = first_of(statistics["hostless_switches"])
    return (
        f"{count:,} pairs take a longer path, because every shortest one turns at a switch without "
        f"hosts ({switches}); {ends} {longest['distance']} channels in place of {longest['least']}"
    )


def first_line(message: str) -> str:
    """Return a message without its position and its list of candidates."""
    return message.partition("\n")[0]
