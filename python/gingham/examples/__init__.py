"""Examples that ship with the package: scenarios, and the fabrics they load."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gingham import _native
from gingham._files import require_file
from gingham.errors import InputError, meant, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDER = Path(__file__).parent
SUFFIXES = {".toml", ".ibnetdiscover", ".txt"}


def names() -> list[str]:
    """Return the example names of `gingham run`."""
    return sorted(set(everything()) - set(stripes()))


def stripes() -> list[str]:
    """Return the example names of `gingham stripe`: scenarios with channels."""
    return [name for name in everything() if "\n[[channel]]" in text_of(name)]


def everything() -> list[str]:
    """Return the names of all scenarios."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def text_of(name: str) -> str:
    """Return the text of a scenario."""
    return (FOLDER / f"{name}.toml").read_text(encoding="utf-8")


def path(name: str) -> Path | None:
    """Return the scenario file of an example, or `None` for an unknown name."""
    return FOLDER / f"{name}.toml" if name in everything() else None


def require(name: str) -> Path:
    """Return the scenario file of an example; raise `InputError` with the nearest if none."""
    if file := path(name):
        return file
    near = nearest_to(name, everything())
    raise InputError(
        f'no example is called "{name}"{meant(near, ";")} examples: {", ".join(everything())}',
        expected=everything(),
        nearest=near,
    )


def nearest_to(name: str, known: list[str]) -> str | None:
    """Return the present name of a renamed example, or the nearest known name."""
    renamed = {one["old"]: one["new"] for one in _native.old_names() if one["what"] == "example"}
    return renamed.get(name) or nearest(name, known)


def chosen(name: str, known: Sequence[str]) -> Path:
    """Return the file of this name, or else that of the example; errors suggest `known` names.

    Raises `InputError` if there is neither.
    """
    file = Path(name)
    if file.is_file() or name.endswith(".toml"):
        return file
    if example := path(name):
        return example
    if file.exists():
        require_file(file)
        return file
    raise unknown(name, "no such file, and no example of that name", list(known))


def files() -> list[tuple[Path, str]]:
    """Return the file of each scenario, fabric and trace, with a description."""
    found = sorted(path for path in FOLDER.iterdir() if path.suffix in SUFFIXES)
    return [(path, meaning(path)) for path in found]


def meaning(file: Path) -> str:
    """Return an example's description: a scenario's title, a dump's size, a trace's first line."""
    lines = file.read_text(encoding="utf-8").splitlines()
    if file.suffix == ".txt":
        return lines[0].removeprefix("# ")
    if file.suffix == ".toml":
        title = next(line for line in lines if line.startswith("title"))
        return title.partition('"')[2].rstrip('"')
    switches, hosts = (
        sum(line.startswith(f"{kind}\t") for line in lines) for kind in ("Switch", "Ca")
    )
    return f"the dump of a cluster: {switches} switches, {hosts} hosts"


def content(name: str) -> str:
    """Return the text of the example of this name: that of a file, or of a scenario.

    Raises `InputError` with the nearest name if there is none.
    """
    known = {file.name: file for file, _ in files()}
    file = known.get(name) or path(name)
    if file is not None:
        return file.read_text(encoding="utf-8")
    raise unknown(name, "no such example", list(known))


def unknown(name: str, what: str, known: list[str]) -> InputError:
    """Return the error `what` about an unknown name, with the known names."""
    near = nearest_to(name, known)
    question = f' did you mean "{near}"?' if near else ""
    return InputError(
        f"{name}: {what}\n {question} examples: {', '.join(known)}",
        file=name,
        expected=known,
        nearest=near,
    )
