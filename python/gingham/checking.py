"""Check of the folder of a run or a sweep against its digests: `gingham.check_folder`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gingham._files import nearest_file
from gingham._rundir import MANIFEST
from gingham._sealed import FILES, damage_of, unsealed
from gingham.errors import DamageError, InputError
from gingham.store import MANIFESTS, is_sweep, survey
from gingham.tables import CURE

if TYPE_CHECKING:
    import os


@dataclass(frozen=True)
class FolderCheck:
    """Result of checking every file of a folder."""

    # Number of undamaged files.
    whole: int
    # Path and damage of each damaged or missing file.
    damaged: list[str]
    # Number of files without a digest, from before digests were recorded.
    unchecked: int = 0


def check_folder(folder: str | os.PathLike[str]) -> FolderCheck:
    """Check every file of the folder of a run or a sweep; raise `InputError` for other folders.

    Reading a folder only checks the files read; this also checks the others, pictures for instance.
    Files that no run or sweep wrote are ignored.
    """
    path = Path(folder)
    if is_sweep(path):
        return check_sweep(path)
    if (path / MANIFEST).exists():
        return check_run(path)
    if not path.exists():
        message = f"{path}: no such folder{nearest_file(path)}"
        raise InputError(message, code="no-folder", file=str(path))
    if not path.is_dir():
        message = f"{path}: expected the folder of a run or of a sweep, found a file"
        raise InputError(message, code="is-file", file=str(path))
    message = f"{path}: is the folder of no run and of no sweep"
    raise InputError(message, code="no-run", file=str(path))


def check_sweep(path: Path) -> FolderCheck:
    """Check the folder of a sweep."""
    found = survey(path)
    damaged = [f"{path / name}: {why}" for name, why in found.damaged.items()]
    manifests = len(MANIFESTS) - sum(name in found.damaged for name in MANIFESTS)
    whole = 0 if found.unchecked else len(found.files) + manifests
    return FolderCheck(whole, damaged, found.unchecked)


def check_run(path: Path) -> FolderCheck:
    """Check the folder of a run."""
    try:
        manifest = unsealed(path / MANIFEST, CURE)
    except DamageError as error:
        return FolderCheck(0, [str(error).splitlines()[0]])
    if FILES not in manifest:
        others = sum(one.is_file() and one.name != MANIFEST for one in path.iterdir())
        return FolderCheck(0, [], others)
    entries = manifest[FILES].items()
    found = {name: damage_of(path / name, entry) for name, entry in entries}
    damaged = [f"{path / name}: {why}" for name, why in found.items() if why]
    # One more for the manifest, which is undamaged.
    return FolderCheck(1 + len(found) - len(damaged), damaged)
