"""`gingham study`: papers whose experiments are repeated, and what became of their claims."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gingham.cli._options import force_option, output_option
from gingham.cli._output import (
    Interrupted,
    exit_code_help,
    json_option,
    print_facts,
    print_json,
    print_table,
    show,
    text,
)
from gingham.cli._progress import steps_shown
from gingham.errors import GinghamError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gingham.studies import ClaimOutcome, Evidence, Measurement, Study
    from gingham.sweeps import SweepProgress

# A claim was not met.
FOUND_SOMETHING = 5
WORDS = ("passed", "failed", "differs", "left_out")


@click.group()
def study() -> None:
    """Repeat the experiments of a paper, and check its claims.

    \b
    Examples:
      gingham study list
      gingham study check kwan1996 --quick
      gingham study check kwan1996/8
      gingham study plot kwan1996 -o pictures

    KEY is that of a study, KEY/FIGURE one of its figures. Runs are kept in a folder, and what is
    there already is not made again.
    """


def common(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command what all that run something take."""
    options = [
        click.argument("name", metavar="KEY[/FIGURE]"),
        click.option("--quick", is_flag=True, help="Less of everything: a minute a paper."),
        click.option(
            "--folder",
            type=click.Path(path_type=Path, file_okay=False),
            help="Where the runs are kept.  [default: studies/KEY]",
        ),
        click.option(
            "-j",
            "--workers",
            type=click.IntRange(1, 1024),
            default=2,
            show_default=True,
            help="Runs at a time.",
        ),
        json_option,
    ]
    for option in reversed(options):
        command = option(command)
    return command


@study.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List the studies and their figures."""
    from gingham import studies

    found = [studies.load(key) for key in studies.names()]
    if as_json:
        print_json({"studies": [facts(one) for one in found]})
        return
    for one in found:
        claims = [sum(claim.figure == figure.key for claim in one.claims) for figure in one.figures]
        rows = [
            (f"{one.key}/{figure.key}", figure.section, figure.title, count)
            for figure, count in zip(one.figures, claims, strict=True)
        ]
        title = f'{one.key}: {one.authors}, "{one.title}", {one.year}'
        print_table(title, ("figure", "section", "shows", "claims"), rows, numbers="claims")


def facts(one: Study) -> dict[str, Any]:
    """Return what `list` says of a study, for programs."""
    figures = [
        {"key": figure.key, "section": figure.section, "title": figure.title}
        for figure in one.figures
    ]
    head = {"key": one.key, "title": one.title, "authors": one.authors, "year": one.year}
    return {**head, "figures": figures, "claims": len(one.claims)}


@study.command(epilog=exit_code_help(0, 2, 6, 130))
@common
def run(name: str, quick: bool, folder: Path | None, workers: int, as_json: bool) -> None:
    """Make the runs of a study, or of one of its figures.

    Interrupted, it goes on where it was when it is asked again.

    \b
    Examples:
      gingham study run kwan1996 --quick
      gingham study run kwan1996/8 --folder /scratch/kwan
    """
    evidence, figure = measured(name, quick, folder, workers)
    sweeps = {
        sweep: str(evidence.path(sweep))
        for one in evidence.study.chosen(figure)
        for sweep in one.sweeps
    }
    if as_json:
        print_json({"study": evidence.study.key, "quick": quick, "sweeps": sweeps})
        return
    print_facts(sweeps.items())


@study.command(epilog=exit_code_help(0, 2, 5, 6, 130))
@common
def check(name: str, quick: bool, folder: Path | None, workers: int, as_json: bool) -> None:
    """Check the claims of a study, or of one of its figures; makes the runs that are missing.

    A claim says what the paper expects. `differs` marks one that cannot be met, with the reason
    found; `left out` (in JSON `left_out`) one for which --quick measures too little.

    \b
    Examples:
      gingham study check kwan1996 --quick
      gingham study check kwan1996/3 --json
    """
    from gingham import studies

    evidence, figure = measured(name, quick, folder, workers)
    outcomes = studies.check(evidence, figure)
    counts = {word: sum(one.verdict == word for one in outcomes) for word in WORDS}
    if as_json:
        claims = [claim_row(one) for one in outcomes]
        print_json({"study": evidence.study.key, "quick": quick, "claims": claims, **counts})
    else:
        print_outcomes(evidence.study, outcomes, counts)
    if counts["failed"]:
        raise click.exceptions.Exit(FOUND_SOMETHING)


@study.command(epilog=exit_code_help(0, 2, 6, 130))
@common
@output_option(help="Directory for the pictures.  [default: the current one]")
@click.option("--format", "ending", default="png", help="png, svg or pdf.", show_default=True)
@force_option
def plot(
    name: str,
    quick: bool,
    folder: Path | None,
    workers: int,
    as_json: bool,
    output: Path | None,
    ending: str,
    force: bool,
) -> None:
    """Draw the figures of a study with the paper's claims marked; makes the runs that are missing.

    A figure is written as KEY-FIGURE.png.

    \b
    Examples:
      gingham study plot kwan1996/8 -o pictures
      gingham study plot kwan1996 --quick --format svg
    """
    from gingham import plots
    from gingham._files import make_folder, refuse_existing
    from gingham.studies import draw

    target = output or Path()
    plots.require_ending(target / f"picture.{ending}")
    files = picture_files(name, target, ending)
    for path in files.values():
        refuse_existing(path, force=force)
    evidence, _ = measured(name, quick, folder, workers)
    make_folder(target)
    written = []
    for key, path in files.items():
        picture = draw(evidence, evidence.study.figure(key))
        assert picture is not None, "only figures with a picture have a file"
        plots.save(picture, path, force=force)
        written.append({"figure": key, "file": str(path)})
    if as_json:
        print_json({"pictures": written})
        return
    for row in written:
        show(text(f"written: {row['file']}"))


def picture_files(name: str, target: Path, ending: str) -> dict[str, Path]:
    """Return the file of each figure of KEY[/FIGURE] that has a picture."""
    from gingham.studies import has_picture

    one, figure = named(name)
    return {
        shown.key: target / f"{one.key}-{shown.key}.{ending}"
        for shown in one.chosen(figure)
        if has_picture(one, shown)
    }


def named(name: str) -> tuple[Study, str | None]:
    """Return the study of KEY[/FIGURE], and the figure if it is named."""
    from gingham import studies

    key, slash, figure = name.partition("/")
    return studies.load(key), figure if slash else None


def measured(
    name: str, quick: bool, folder: Path | None, workers: int
) -> tuple[Evidence, str | None]:
    """Make the missing runs of KEY[/FIGURE]; return the evidence, and the figure if named."""
    from gingham import studies

    one, figure = named(name)
    chosen = one.chosen(figure)
    place = folder or Path("studies") / one.key
    failures: dict[str, SweepProgress] = {}
    with steps_shown(len(studies.sweeps_of(chosen))) as on_step:

        def on_progress(sweep: str, progress: SweepProgress) -> None:
            on_step(sweep, f"{progress.resumed + progress.done} of {progress.total} runs")
            if progress.failed:
                failures[sweep] = progress

        try:
            evidence = studies.run(
                one,
                place,
                figure=figure,
                quick=quick,
                workers=workers,
                on_progress=on_progress,
            )
        except KeyboardInterrupt:
            raise Interrupted(f"interrupted; the finished runs are kept in {place}") from None
    if failures:
        counts = [f"{sweep}: {one.failed} of {one.total}" for sweep, one in failures.items()]
        reason = next(iter(next(iter(failures.values())).errors))
        raise RunsFailed(
            f"runs failed, and are made again when asked again: {', '.join(counts)}\n  {reason}"
        )
    return evidence, figure


class RunsFailed(GinghamError):  # noqa: N818  (the error is that of the runs)
    """A study lacks runs that could not be made."""

    exit_code = FOUND_SOMETHING


def print_outcomes(study: Study, outcomes: Sequence[ClaimOutcome], counts: dict[str, int]) -> None:
    """Print every claim with what was expected, what was measured, and what follows."""
    rows = [
        (
            one.claim.figure,
            one.claim.section,
            one.claim.text,
            one.claim.shown,
            value(one),
            interval(one.measured),
            one.verdict.replace("_", " "),
        )
        for one in outcomes
    ]
    columns = ("figure", "section", "claim", "expected", "measured", "interval", "verdict")
    title = f"{study.key}: {study.title}"
    print_table(title, columns, rows, numbers="measured", tight=True, folded="claim")
    for one in outcomes:
        if one.verdict == "differs":
            show(text(f"differs: {one.claim.text}\n  {one.claim.differs}"))
        elif one.verdict == "failed":
            show(text(f"failed: {one.claim.text}\n  measured: {one.claim.how}{note(one)}"))
    parts = [f"{counts['passed']} passed", f"{counts['failed']} failed"]
    parts += [f"{counts[word]} {words}" for word, words in BESIDE if counts[word]]
    show(text(", ".join(parts), "bold"))


# What is counted apart, and only told if there is any.
BESIDE = (("differs", "differ"), ("left_out", "left to the full study"))


def note(one: ClaimOutcome) -> str:
    """Return what else is worth saying of what was measured."""
    return f" ({one.measured.note})" if one.measured and one.measured.note else ""


def value(one: ClaimOutcome) -> str:
    """Return what was measured with its unit."""
    return f"{number(one.measured.value)} {one.claim.unit}".rstrip() if one.measured else ""


def number(value: float | None) -> str:
    """Return a measured number as it is printed."""
    return "" if value is None else f"{value:.4g}"


def interval(measured: Measurement | None) -> str:
    """Return the interval of what was measured."""
    if measured is None or (measured.low is None and measured.high is None):
        return ""
    return f"{number(measured.low) or '?'} to {number(measured.high) or '?'}"


def claim_row(one: ClaimOutcome) -> dict[str, Any]:
    """Return a claim and what became of it, for programs; bounds that are open are null."""
    claim, found = one.claim, one.measured
    finite = {
        end: None if abs(value) == float("inf") else value
        for end, value in (("low", claim.low), ("high", claim.high))
    }
    return {
        "key": claim.key,
        "figure": claim.figure,
        "section": claim.section,
        "claim": claim.text,
        "how": claim.how,
        "unit": claim.unit,
        "expected": finite,
        "measured": found
        and {"value": found.value, "low": found.low, "high": found.high, "note": found.note},
        "verdict": one.verdict,
        "differs": claim.differs or None,
    }
