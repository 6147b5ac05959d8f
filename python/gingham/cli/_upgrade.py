"""`gingham upgrade`: scenarios and sweep files of earlier versions with present names."""

from __future__ import annotations

from pathlib import Path

import click

from gingham.cli._layout import text
from gingham.cli._output import exit_code_help, json_option, print_json, show

OUT_OF_DATE = 5


@click.command(epilog=exit_code_help(0, 2, 5))
@click.argument(
    "places",
    metavar="FILE|FOLDER...",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path),
)
@click.option(
    "--check", is_flag=True, help="Change nothing; exit with 5 if a file has an old name."
)
@json_option
def upgrade(places: tuple[Path, ...], check: bool, as_json: bool) -> None:
    """Rewrite scenarios and sweep files of earlier versions with present names.

    Layout and comments are kept. In a folder, all TOML files are rewritten, but not results:
    folders of runs and sweeps are sealed, and are read by the version that wrote them. Nothing is
    written if one of the files cannot be rewritten.

    \b
    Examples:
      gingham upgrade cluster.toml
      gingham upgrade --check scenarios/
    """
    from gingham.errors import InputError
    from gingham.upgrade import files_in
    from gingham.upgrade import upgrade as upgraded

    files = [file for place in places for file in files_in(place)]
    if not files:
        names = ", ".join(map(str, places))
        raise InputError(
            f"{names}: no scenario or sweep file, which is TOML outside of folders of results",
            code="no-file",
            file=names,
        )
    found = [upgraded(file) for file in files]
    stale = [one for one in found if one.changes]
    if not check:
        for one in stale:
            one.save()
    if as_json:
        rows = [
            {
                "file": str(one.path),
                "changes": [
                    {"line": each.line, "kind": each.kind, "old": each.old, "new": each.new}
                    for each in one.changes
                ],
            }
            for one in found
        ]
        print_json({"written": not check, "files": rows})
    else:
        for one in stale:
            for each in one.changes:
                names = f"the {each.kind} {each.old} is {each.new}"
                show(text(f"{one.path}:{each.line}: {names}"))
        verb = "to rewrite" if check else "rewritten"
        show(text(f"{len(stale):,} of {len(found):,} files {verb}"))
    if check and stale:
        raise click.exceptions.Exit(OUT_OF_DATE)
