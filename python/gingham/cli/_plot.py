"""`gingham plot`: the pictures of a run, and the one of a sweep."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from gingham import plots, stripe
from gingham._files import make_folder
from gingham.cli._layout import text
from gingham.cli._options import force_option, output_option
from gingham.cli._output import json_option, print_json, show, warn
from gingham.errors import DamageError, InputError
from gingham.loading import load_result, read_manifest
from gingham.store import is_sweep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gingham.plots import PictureKind, SweepKind
    from gingham.result import AnyResult
    from gingham.results import Results


Kind = TypeVar("Kind", bound=str)
ALL_KINDS = (*plots.KINDS, *plots.STRIPE_KINDS, *plots.SWEEP_KINDS)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("kinds", metavar="[KIND]...", nargs=-1, type=click.Choice(ALL_KINDS))
@output_option(help="File for one picture (.png, .svg, .pdf), or directory for several.")
@click.option(
    "--format",
    "ending",
    type=click.Choice(plots.ENDINGS),
    help="Format in a directory.  [default: png]",
)
@force_option
@json_option
def plot(
    folder: Path,
    kinds: tuple[PictureKind, ...],
    output: Path | None,
    ending: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Draw the run or the sweep in FOLDER.

    `-o FOLDER` of run, stripe, sweep and curve writes such a folder. Without a KIND, all pictures
    of the run are drawn, except those with nothing to show. They are written to the current
    directory as NAME-KIND.png, with the NAME of the folder. The folder itself does not change. A
    sweep has one picture of all its runs.

    \b
    Kinds:
      latency     distribution of latencies by class, with the tail
      series      load and latency over time, by class
      links       how evenly the channels are used, and which are the busiest
      fabric      the fabric, each channel coloured by its load
      contention  contention coefficients of hosts, and how many took alternative paths
      followed    what followed flows and channels did, step by step
      heat        the use of followed channels over time, a row a channel
      tree        congestion trees over the fabric, and how they grew and died
      channels    of a stripe: the rate of each channel, the delay, and queues
      rounds      of a stripe: its first packets with rounds and markers, if it records events
      curve       of a sweep with an axis load: latency against accepted load
      axis        of another sweep: latency and accepted load along its longest axis of numbers

    \b
    Examples:
      gingham plot runs/first
      gingham plot runs/first fabric -o first.svg
      gingham plot runs/first latency series -o pictures --format pdf
      gingham plot sweeps/buffers -o buffers.pdf
    """
    if is_sweep(folder):
        kind, path = draw_sweep(folder, kinds, output, ending, force=force)
        tell_pictures([(kind, path)], as_json=as_json)
        return
    result = loaded(folder, kinds)
    target, found = places(folder, kinds or plots.usual(result), output, ending)
    if target:
        make_folder(target)
    written = []
    for picture, path in found.items():
        if has_rows(picture, result, folder, asked=bool(kinds)):
            plots.save(plots.draw(picture, result), path, overwrite=force)
            written.append((picture, path))
    if not written:
        raise InputError(
            f"{folder}: the run left nothing to draw", file=str(folder), code="no-data"
        )
    tell_pictures(written, as_json=as_json)


def tell_pictures(written: Sequence[tuple[str, Path]], *, as_json: bool) -> None:
    """Print the names of the written pictures."""
    if as_json:
        print_json({"pictures": [{"kind": kind, "file": str(path)} for kind, path in written]})
        return
    for _, path in written:
        show(text(f"written: {path}"))


def draw_sweep(
    folder: Path,
    kinds: tuple[PictureKind, ...],
    output: Path | None,
    ending: str | None,
    *,
    force: bool,
) -> tuple[str, Path]:
    """Draw the picture of a sweep; return its kind and its file."""
    from gingham.loads import curve_table
    from gingham.results import Results

    results = Results.load(folder)
    kind = sweep_kind(results, folder)
    if others := [one for one in map(str, kinds) if one != kind]:
        raise InputError(
            f"{folder}: holds a sweep, which has no picture {others[0]}\n"
            f"  its picture is {kind}; gingham study plot draws the figures of a paper, and "
            "gingham query writes numbers as CSV (-o FILE)",
            file=str(folder),
            expected=[kind],
            code="unknown-picture",
            key=others[0],
        )
    target, found = places(folder, (kind,), output, ending)
    table = curve_table(results)
    if kind == "curve":
        figure = plots.curve(table, title=results.title)
    else:
        figure = plots.axis(table, results.axes, title=results.title)
    if target:
        make_folder(target)
    plots.save(figure, found[kind], overwrite=force)
    return kind, found[kind]


def sweep_kind(results: Results, folder: Path) -> SweepKind:
    """Return the kind of picture for a sweep; raise `InputError` if it has none."""
    measured = results.columns["runs"]
    if not results.axes or not {"accepted_load", "latency_mean_ns"} <= {*measured}:
        raise InputError(
            f"{folder}: the sweep varies nothing, or measures no load and latency of a fabric\n"
            "  gingham query writes its numbers as CSV (-o FILE), and "
            "docs/how-to/sweep-results.md has them in Python",
            file=str(folder),
            code="no-data",
        )
    return "curve" if "load" in results.axes else "axis"


def loaded(folder: Path, kinds: tuple[PictureKind, ...]) -> AnyResult:
    """Return the result in a folder; raise `InputError` if a requested picture does not apply."""
    striped = read_manifest(folder).get("kind") == stripe.StripeResult.kind
    result: AnyResult = stripe.load_result(folder) if striped else load_result(folder)
    known = plots.STRIPE_KINDS if striped else plots.KINDS
    for kind in kinds:
        if kind not in known:
            what = "striping run" if striped else "run of a fabric"
            raise InputError(
                f"{folder}: holds a {what}, which has no picture {kind}\n"
                f"  its pictures are {', '.join(known)}",
                file=str(folder),
                expected=list(known),
                code="unknown-picture",
                key=kind,
            )
    return result


def places(
    folder: Path, kinds: tuple[Kind, ...], output: Path | None, ending: str | None
) -> tuple[Path | None, dict[Kind, Path]]:
    """Return the directory to create, if any, and the file of each picture."""
    if output is not None and output.suffix and not output.is_dir():
        return None, {only(kinds, output, ending): output}
    name = folder.resolve().name
    file = {kind: f"{name}-{kind}.{ending or 'png'}" for kind in kinds}
    return output, {kind: (output or Path()) / file[kind] for kind in dict.fromkeys(kinds)}


def only(kinds: tuple[Kind, ...], output: Path, ending: str | None) -> Kind:
    """Return the only kind for a single output file; reject several kinds, or another format."""
    plots.require_ending(output)
    if len(set(kinds)) > 1:
        raise InputError(
            f"{output}: a file holds one picture, and these are {len(set(kinds))}: "
            f"{', '.join(dict.fromkeys(kinds))}\n  name one KIND, or a directory",
            file=str(output),
            expected=list(kinds),
            code="bad-option",
            key="output",
        )
    if ending and ending != output.suffix.lstrip(".").lower():
        raise InputError(
            f"{output}: --format {ending} contradicts the ending",
            file=str(output),
            code="bad-option",
            key="format",
        )
    return kinds[0]


def has_rows(kind: PictureKind, result: AnyResult, folder: Path, *, asked: bool) -> bool:
    """Whether there is data to draw; raises an error if the picture was requested by name."""
    try:
        plots.require_rows(kind, result)
    except DamageError:
        raise
    except InputError as error:
        message = f"{folder}: {kind}: {error}"
        if asked:
            raise InputError(message, code=error.code, file=str(folder), key=error.key) from error
        warn(message)
        return False
    return True
