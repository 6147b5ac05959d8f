"""`gingham study assumptions`: sensitivity of a study's claims to its assumptions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gingham.cli._layout import Grid, fitting, text, together
from gingham.cli._options import force_option
from gingham.cli._output import (
    exit_code_help,
    line_width,
    print_facts,
    print_json,
    print_prose,
    print_table,
    show,
)
from gingham.cli._study import (
    band_row,
    measured_row,
    number,
    place_of,
    run_options,
    runs_shown,
    study,
)
from gingham.cli._workers import workers_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gingham.studies import ClaimOutcome, Moved

# Mark of a value that does not meet the claim.
REFUSED = "✗"
# Width of a header line, if headers have several lines.
HEADER = 12


@study.command(epilog=exit_code_help(0, 2, 5, 6, 130))
@click.argument("key", metavar="KEY[/ASSUMPTION]")
@run_options
@click.option(
    "--picture",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also draw the table: a file that ends in png, svg or pdf.",
)
@force_option
def assumptions(
    key: str,
    folder: Path | None,
    workers: int,
    on: str | None,
    as_json: bool,
    picture: Path | None,
    force: bool,
) -> None:
    """Show which assumption of a study moves which claim, and by how much.

    A study makes an assumption where its paper is silent. Here each assumption is replaced by
    plausible alternatives, with everything else unchanged, and the claims that it may affect are
    measured again, with fewer runs than the study makes. All assumptions of a study take ten
    minutes on two cores; existing runs are not repeated.

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
        refuse_existing(picture, overwrite=force)
    place = folder or place_of(one)
    steps = len(studies.needed(one, place, chosen))
    with workers_at(on, workers) as working, runs_shown(steps, place) as on_progress:
        studies.run_assumptions(
            one,
            place,
            chosen,
            workers=working.count,
            executor=working.executor,
            on_progress=on_progress,
        )
    rows = studies.moved(one, place, chosen)
    if picture is not None:
        plots.save(studies.draw_moved(one, rows), picture, overwrite=force)
    if as_json:
        print_json({"study": one.key, "moved": [facts(row) for row in rows]})
        return
    for assumption in chosen:
        print_moved([row for row in rows if row.assumption is assumption])


def print_moved(rows: Sequence[Moved]) -> None:
    """Print the claims of one assumption under our choice and under each alternative."""
    assumption = rows[0].assumption
    others = (other.value for other in assumption.alternatives)
    values = [together(value, HEADER) for value in (f"{assumption.ours} (ours)", *others)]
    columns = ["claim", "expected", *values, "moved by"]
    cells = [
        (row.claim.shown, *map(cell, row.all), f"{number(row.by)} {row.claim.unit}".rstrip())
        for row in rows
    ]
    texts = [row.claim.text for row in rows]
    named = [(words, *one) for words, one in zip(texts, cells, strict=True)]
    # Sentences that do not fit beside the numbers are printed below them.
    fits = fitting(Grid(columns, named, tight=True), line_width()) is not None
    numbered = [(place, *one) for place, one in enumerate(cells, start=1)]
    print_table(
        f"{assumption.key}: {assumption.title}",
        columns,
        named if fits else numbered,
        numbers=() if fits else ("claim",),
        tight=True,
        below=f"ours because: {assumption.because}",
    )
    if not fits:
        print_facts((str(place), words) for place, words in enumerate(texts, start=1))
    if not all(one.met for row in rows for one in row.all):
        print_prose(f"{REFUSED}  not as expected")
    show(text(counts(rows), "bold"))


def counts(rows: Sequence[Moved]) -> str:
    """Return how many claims are met under every alternative, under some, and never."""
    met = [{one.met for one in row.all} for row in rows]
    under = {"all": {True}, "some": {True, False}, "none": {False}}
    parts = [f"{met.count(found)} under {which}" for which, found in under.items()]
    return f"of {len(rows)} claims are met: {', '.join(parts)}"


def cell(one: ClaimOutcome) -> str:
    """Return the measured value, with a mark if the claim does not hold."""
    assert one.measured is not None, "nothing is left out"
    return number(one.measured.value) + ("" if one.met else f" {REFUSED}")


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
