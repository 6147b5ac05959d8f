"""`gingham study`: repetition of papers' experiments, and the verdicts on their claims."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gingham import _texts
from gingham.cli._layout import text
from gingham.cli._options import force_option, output_option
from gingham.cli._output import (
    Interrupted,
    exit_code_help,
    json_option,
    print_facts,
    print_json,
    print_table,
    show,
)
from gingham.cli._progress import steps_shown
from gingham.cli._workers import on_option, tell_damage, workers_at, workers_option
from gingham.errors import GinghamError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gingham.studies import Band, ClaimOutcome, Evidence, Figure, Measurement, Study
    from gingham.studies._running import OnProgress
    from gingham.sweeps import SweepProgress

# Exit code if a claim was not met.
FOUND_SOMETHING = 5
# Verdicts as printed in summaries; all but the first two only if they occur.
COUNTED = {
    "passed": "passed",
    "failed": "failed",
    "differs": "differ",
    "now_met": "now met",
    "cannot_tell": "cannot tell",
    "left_out": "left to the full study",
}
ALWAYS = 2
# Verdicts as printed in the row of a claim.
COUNTED_ONE = {"now_met": "now met", "cannot_tell": "cannot tell", "left_out": "left out"}
WHOSE = {"paper": "of the paper", "ours": "of ours"}


@click.group()
def study() -> None:
    """Repeat the experiments of a paper, and check its claims.

    \b
    Examples:
      gingham study list
      gingham study check kwan1996 --quick
      gingham study check kwan1996/8
      gingham study plot kwan1996 -o pictures
      gingham study assumptions kwan1996

    KEY is that of a study, KEY/FIGURE one of its figures. Runs are kept in a folder; existing runs
    are not repeated.
    """


def common(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options common to all commands that run a study or a figure."""
    command = run_options(command)
    command = click.option(
        "--quick", is_flag=True, help="Fewer and shorter runs: a minute a paper."
    )(command)
    return click.argument("name", metavar="KEY[/FIGURE]")(command)


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options common to all commands that run a part of a study."""
    options: list[Callable[..., Any]] = [
        click.option(
            "--folder",
            type=click.Path(path_type=Path, file_okay=False),
            help="Where the runs are kept.  [default: runs/studies/KEY]",
        ),
        workers_option,
        on_option,
        json_option,
    ]
    for option in reversed(options):
        command = option(command)
    return command


@study.command("list", epilog=exit_code_help(0, 2, 6))
@json_option
def list_(as_json: bool) -> None:
    """List the studies and their figures."""
    from gingham import studies
    from gingham.studies._installed import required_names

    found = [studies.load(key) for key in required_names()]
    if as_json:
        print_json({"studies": [facts(one) for one in found]})
        return
    for one in found:
        rows = [
            (f"{one.key}/{figure.key}", figure.section, shown(figure), *claims_of(one, figure.key))
            for figure in one.figures
        ]
        columns = ("figure", "section", "shows", "claims", "ours")
        below = "claims: of the paper; ours: what we claim beside it"
        if any(figure.on_request for figure in one.figures):
            below += "; on request: hours, made only when the figure is named"
        print_table(one.heading, columns, rows, numbers="claims ours", below=below, prose="shows")


def shown(figure: Figure) -> str:
    """Return the title of a figure, with a mark if it is only made on request."""
    return f"{figure.title} (on request)" if figure.on_request else figure.title


def claims_of(one: Study, figure: str | None = None) -> tuple[int, int]:
    """Return the number of claims of the paper, and of ours, about a figure or about all."""
    ours = [claim.ours for claim in one.claims if figure in {None, claim.figure}]
    return ours.count(False), ours.count(True)


def facts(one: Study) -> dict[str, Any]:
    """Return the facts of `list` about a study, for programs."""
    figures = [
        {
            "key": figure.key,
            "section": figure.section,
            "title": figure.title,
            "on_request": figure.on_request,
        }
        for figure in one.figures
    ]
    head = {"key": one.key, "title": one.title, "authors": one.authors, "year": one.year}
    paper, ours = claims_of(one)
    return {**head, "figures": figures, "claims": {"paper": paper, "ours": ours}}


@study.command(epilog=exit_code_help(0, 2, 6, 130))
@common
def run(
    name: str, quick: bool, folder: Path | None, workers: int, on: str | None, as_json: bool
) -> None:
    """Make the runs of a study, or of one of its figures.

    An interrupted command continues when it is repeated.

    \b
    Examples:
      gingham study run kwan1996 --quick
      gingham study run kwan1996/8 --folder /scratch/kwan
      gingham study run santos2002 --on dask://10.0.0.1:8786
    """
    evidence, figure = measured(name, quick, folder, workers, on)
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
@click.option(
    "--real",
    is_flag=True,
    help="Also on real links, beside virtual time: Linux, root, and the daemon striped.",
)
@click.option(
    "--daemon",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The daemon of --real.  [default: striped, of PATH]",
)
def check(
    name: str,
    quick: bool,
    folder: Path | None,
    workers: int,
    on: str | None,
    as_json: bool,
    real: bool,
    daemon: Path | None,
) -> None:
    """Check the claims of a study, or of one of its figures; makes the runs that are missing.

    A claim states what the paper reports, or what we find; the two are counted separately. A claim
    that cannot be met has a reason and an alternative: it `differs` while the alternative holds,
    has `failed` if neither holds, and is `now met` if the claim holds after all. `cannot tell`
    marks a claim that is met, but would also be met without the mechanism that it is about; `left
    out` one for which --quick measures too little. (In JSON `now_met`, `cannot_tell`, `left_out`.)

    With --real, available for adiseshu1996 only, the claims of figures that are also measured on
    real links are checked both ways: two daemons between network namespaces, with real TCP.

    \b
    Examples:
      gingham study check kwan1996 --quick
      gingham study check kwan1996/3 --json
      gingham study check adiseshu1996 --quick --real --daemon target/release/striped
    """
    from gingham import studies

    if daemon is not None and not real:
        raise click.BadOptionUsage("--daemon", "--daemon is that of --real")
    if real:
        evidence, outcomes = both_ways(name, quick, folder, workers, on, daemon)
    else:
        evidence, figure = measured(name, quick, folder, workers, on)
        outcomes = studies.check(evidence, figure)
    if as_json:
        claims = [claim_row(one) for one in outcomes]
        counts = studies.counted(outcomes)
        print_json(
            {"study": evidence.study.key, "quick": quick, "claims": claims, "counts": counts}
        )
    else:
        print_outcomes(evidence.study, outcomes)
    if any(one.verdict == "failed" for one in outcomes):
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
    on: str | None,
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
        refuse_existing(path, overwrite=force)
    evidence, _ = measured(name, quick, folder, workers, on)
    make_folder(target)
    written = []
    for key, path in files.items():
        picture = draw(evidence, evidence.study.figure(key))
        assert picture is not None, "only figures with a picture have a file"
        plots.save(picture, path, overwrite=force)
        written.append({"figure": key, "file": str(path)})
    if as_json:
        print_json({"pictures": written})
        return
    for row in written:
        show(text(f"written: {row['file']}"))


def place_of(one: Study) -> Path:
    """Return the default folder for the runs of a study."""
    return Path("runs") / "studies" / one.key


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
    name: str, quick: bool, folder: Path | None, workers: int, on: str | None = None
) -> tuple[Evidence, str | None]:
    """Make the missing runs of KEY[/FIGURE]; return the evidence, and the figure if named."""
    from gingham import studies

    one, figure = named(name)
    chosen = one.chosen(figure)
    place = folder or place_of(one)
    steps = len(studies.sweeps_of(chosen))
    with workers_at(on, workers) as working, runs_shown(steps, place) as on_progress:
        evidence = studies.run(
            one,
            place,
            figure=figure,
            size="quick" if quick else "full",
            workers=working.count,
            executor=working.executor,
            on_progress=on_progress,
        )
    return evidence, figure


def both_ways(
    name: str,
    quick: bool,
    folder: Path | None,
    workers: int,
    on: str | None,
    daemon: Path | None,
) -> tuple[Evidence, list[ClaimOutcome]]:
    """Check KEY[/FIGURE] in virtual time, and on real links where it is measured on them."""
    from gingham import studies

    one, figure = named(name)
    claims = studies.real_claims(one, figure)
    # Missing prerequisites of the machine are reported before anything runs.
    bench = studies.open_bench(one, daemon, quick=quick)
    outcomes: list[ClaimOutcome] = []
    for key in dict.fromkeys(claim.figure for claim in claims):
        evidence, _ = measured(f"{one.key}/{key}", quick, folder, workers, on)
        outcomes += studies.check(evidence, key)
        of_figure = [claim for claim in claims if claim.figure == key]
        outcomes += studies.check_real(one, of_figure, bench)
    return evidence, outcomes


@contextmanager
def runs_shown(steps: int, place: Path) -> Iterator[OnProgress]:
    """Show the progress of the sweeps of a study; raises `RunsFailed` at the end if runs failed."""
    failures: dict[str, SweepProgress] = {}
    begun: set[str] = set()
    with steps_shown(steps) as on_step:

        def on_progress(sweep: str, progress: SweepProgress) -> None:
            if sweep not in begun:
                begun.add(sweep)
                tell_damage(progress.damaged)
            on_step(sweep, f"{progress.resumed + progress.done} of {progress.total} runs")
            if progress.failed:
                failures[sweep] = progress

        try:
            yield on_progress
        except KeyboardInterrupt:
            raise Interrupted(f"interrupted; the finished runs are kept in {place}") from None
    if failures:
        counts = [f"{sweep}: {one.failed} of {one.total}" for sweep, one in failures.items()]
        reason = next(iter(next(iter(failures.values())).errors))
        raise RunsFailed(
            f"runs failed, and are made again when asked again: {', '.join(counts)}\n  {reason}"
        )


class RunsFailed(GinghamError):  # noqa: N818  (the error is that of the runs)
    """Runs of a study failed."""

    exit_code = FOUND_SOMETHING


def print_outcomes(study: Study, outcomes: Sequence[ClaimOutcome]) -> None:
    """Print every claim with the expected value, the measured value and the verdict."""
    from gingham.studies import counted

    rows = [
        (
            one.claim.figure,
            one.claim.section,
            one.claim.text,
            one.claim.shown,
            value(one),
            interval(one.measured),
            COUNTED_ONE.get(one.verdict, one.verdict),
        )
        for one in outcomes
    ]
    columns = ("figure", "section", "claim", "expected", "measured", "interval", "verdict")
    title = f"{study.key}: {study.title}"
    print_table(
        title, columns, rows, numbers="measured", tight=True, prose="claim", heading="claim"
    )
    for one in outcomes:
        if reason := explained(one):
            show(text(f"{COUNTED_ONE.get(one.verdict, one.verdict)}: {one.claim.text}\n  {reason}"))
    for whose, counts in counted(outcomes).items():
        if any(counts.values()):
            parts = [
                f"{counts[verdict]} {words}"
                for place, (verdict, words) in enumerate(COUNTED.items())
                if counts[verdict] or place < ALWAYS
            ]
            show(text(f"{WHOSE[whose]}: {', '.join(parts)}", "bold"))


def explained(one: ClaimOutcome) -> str:
    """Return the explanation of an outcome below the table; empty if its row suffices."""
    claim, differs = one.claim, one.claim.differs
    match one.verdict:
        case "failed":
            instead = f"; nor is it {differs.band.shown} {claim.unit}".rstrip() if differs else ""
            return f"measured: {claim.how}{note(one)}{instead}"
        case "differs" if differs:
            return f"{differs.because}\n  instead: {differs.band.shown} {claim.unit}".rstrip()
        case "now_met":
            return 'it holds after all; leave out its "differs"'
        case "cannot_tell" if claim.null:
            return f"{claim.cannot_tell}\n  {claim.null.of}: {number(claim.null.value)}"
    return ""


def note(one: ClaimOutcome) -> str:
    """Return the note on a measurement in brackets."""
    return f" ({one.measured.note})" if one.measured and one.measured.note else ""


def value(one: ClaimOutcome) -> str:
    """Return the measured value with its unit."""
    return f"{number(one.measured.value)} {one.claim.unit}".rstrip() if one.measured else ""


def number(value: float | None) -> str:
    """Return a measured number as text."""
    return "" if value is None else _texts.number(value)


def interval(measured: Measurement | None) -> str:
    """Return the interval of a measured value."""
    if measured is None or (measured.low is None and measured.high is None):
        return ""
    return f"{number(measured.low) or '?'} to {number(measured.high) or '?'}"


def claim_row(one: ClaimOutcome) -> dict[str, Any]:
    """Return a claim and its outcome for programs; open bounds are null."""
    claim, found = one.claim, one.measured
    differs, null = claim.differs, claim.null
    return {
        "key": claim.key,
        "figure": claim.figure,
        "section": claim.section,
        "claim": claim.text,
        "how": claim.how,
        "unit": claim.unit,
        "ours": claim.ours,
        "expected": band_row(claim.band),
        "null": null and {"value": null.value, "of": null.of},
        "measured": measured_row(found),
        "verdict": one.verdict,
        "cannot_tell": claim.cannot_tell or None,
        "differs": differs and {"because": differs.because, **band_row(differs.band)},
    }


def measured_row(found: Measurement | None) -> dict[str, Any] | None:
    """Return a measurement for programs."""
    if found is None:
        return None
    return {"value": found.value, "low": found.low, "high": found.high, "note": found.note}


def band_row(band: Band) -> dict[str, float | None]:
    """Return the ends of a band; open ends are null."""
    ends = {"low": band.low, "high": band.high}
    return {end: None if abs(value) == float("inf") else value for end, value in ends.items()}
