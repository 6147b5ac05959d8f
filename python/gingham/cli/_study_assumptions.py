"""`gingham study assumptions`: which assumption of a study moves which claim, and by how much."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gingham.cli._layout import text
from gingham.cli._options import force_option
from gingham.cli._output import (
    exit_code_help,
    print_json,
    print_table,
    show,
)
from gingham.cli._study import band_row, measured_row, number, run_options, runs_shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gingham.studies import ClaimOutcome, Moved


@click.command(epilog=exit_code_help(0, 2, 5, 6, 130))
@click.argument("key", metavar="KEY[/ASSUMPTION]")
@run_options
@click.option(
    "--picture",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Draw the table, too: a file that ends in png, svg or pdf.",
)
@force_option
def assumptions(
    key: str, folder: Path | None, workers: int, as_json: bool, picture: Path | None, force: bool
) -> None:
    """Show which assumption of a study moves which claim, and by how much.

    Where a paper is silent we assume something. Here each assumption gives way to others that one
    might make, everything else as it is, and the claims that it may move are measured again, with
    fewer runs than the study makes. Every assumption of a study takes ten minutes on two cores;
    runs that are there already are not made again.

    \b
    Examples:
      gingham study assumptions kwan1996
      gingham study assumptions kwan1996/switch-delay --picture delay.png
    """
    from gingham import plots, studies
    from gingham._files import refuse_existing

    name, slash, wanted = key.partition("/")
    one = studies.load(name)
    chosen = [one.assumption(wanted)] if slash else list(one.assumptions)
    if picture is not None:
        plots.require_ending(picture)
        refuse_existing(picture, force=force)
    place = folder or Path("studies") / one.key
    with runs_shown(len(studies.needed(one, place, chosen)), place) as on_progress:
        studies.run_assumptions(one, place, chosen, workers=workers, on_progress=on_progress)
    rows = studies.moved(one, place, chosen)
    if picture is not None:
        plots.save(studies.draw_moved(one, rows), picture, force=force)
    if as_json:
        print_json({"study": one.key, "moved": [facts(row) for row in rows]})
        return
    for assumption in chosen:
        print_moved([row for row in rows if row.assumption is assumption])


def print_moved(rows: Sequence[Moved]) -> None:
    """Print the claims of one assumption under ours and under each alternative."""
    assumption = rows[0].assumption
    values = [f"{assumption.ours} (ours)", *(other.value for other in assumption.alternatives)]
    print_table(
        f"{assumption.key}: {assumption.title}",
        ("claim", "expected", *values, "moved by"),
        [
            (
                row.claim.text,
                row.claim.shown,
                *map(cell, row.all),
                f"{number(row.by)} {row.claim.unit}".rstrip(),
            )
            for row in rows
        ],
        tight=True,
        prose="claim",
        below=f"ours because: {assumption.because}",
    )
    turned = sum(row.turns for row in rows)
    show(text(f"{turned} of {len(rows)} claims are met under some and not under others", "bold"))


def cell(one: ClaimOutcome) -> str:
    """Return what was measured, with a mark where it is not as the claim says."""
    assert one.measured is not None, "nothing is left out"
    return number(one.measured.value) + ("" if one.met else " ✗")


def facts(row: Moved) -> dict[str, Any]:
    """Return a claim under each alternative, for programs."""
    assumption = row.assumption
    values = [assumption.ours, *(other.value for other in assumption.alternatives)]
    return {
        "assumption": assumption.key,
        "title": assumption.title,
        "because": assumption.because,
        "claim": row.claim.key,
        "unit": row.claim.unit,
        "expected": band_row(row.claim.band),
        "ours": assumption.ours,
        "moved_by": row.by,
        "turns": row.turns,
        "under": [
            {
                "value": value,
                "measured": measured_row(one.measured),
                "met": one.met,
            }
            for value, one in zip(values, row.all, strict=True)
        ],
    }
