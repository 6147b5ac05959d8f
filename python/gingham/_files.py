"""Reading and writing files: the only place where a path is opened.

Read errors are `InputError`, write errors `EnvironmentProblem`. A written file appears whole and at
once: it is written beside its destination, synced to disk, then renamed.
"""

from __future__ import annotations

import contextlib
import errno
import os
from typing import TYPE_CHECKING, BinaryIO

from gingham.errors import EnvironmentProblem, InputError, meant, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path


# Code of errors about files that cannot be opened, as in the core.
UNREADABLE = "file-unreadable"
# By a file that identifies a folder: the folder's kind, and how to use it.
FOLDERS = {
    "manifest.json": "the folder of a run: plot it, or run it again",
    "sweep.json": "the folder of a sweep: query it",
}


def require_file(path: Path) -> None:
    """Raise `InputError` if no file can be read at `path`."""
    try:
        path.open("rb").close()
    except FileNotFoundError as error:
        message = f"{path}: no such file{nearest_file(path)}"
        raise InputError(message, code=UNREADABLE, file=str(path)) from error
    except IsADirectoryError as error:
        message = f"{path}: expected a file, found {what_is(path)}"
        raise InputError(message, code=UNREADABLE, file=str(path)) from error
    except OSError as error:
        message = f"{path}: cannot read: {reason(error)}"
        raise InputError(message, code=UNREADABLE, file=str(path)) from error


def what_is(directory: Path) -> str:
    """Return a description of a directory."""
    found = (what for name, what in FOLDERS.items() if (directory / name).exists())
    return next(found, "a directory")


def nearest_file(path: Path) -> str:
    """Return a hint at a file beside `path` whose name is close, or nothing."""
    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return ""
    near = nearest(path.name, names)
    return meant(str(path.parent / near) if near else None)


def unknown_ending(path: Path, says: str, heading: str, known: Iterable[str]) -> InputError:
    """Return the error for a file with an unknown ending; `says` describes it."""
    endings = list(known)
    near = nearest(path.suffix.lstrip(".").lower(), endings)
    question = f' did you mean ".{near}"?' if near else ""
    return InputError(
        f"{path}: {says}\n {question} {heading}: {', '.join(f'.{one}' for one in endings)}",
        code="unknown-ending",
        file=str(path),
        expected=endings,
        nearest=near,
    )


def write_bytes(path: Path, data: bytes, *, overwrite: bool = False) -> None:
    """Write `data` to `path` atomically; replace a file only with `overwrite`."""
    with writing(path):
        if is_special(path):
            path.write_bytes(data)
            return
        refuse_existing(path, overwrite=overwrite)
        target = path.resolve()
        partial = target.with_name(f".{target.name}.partial-{os.getpid()}")
        try:
            write_synced(partial, lambda handle: handle.write(data))
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
        sync_directory(target.parent)


def require_place(path: Path, *, overwrite: bool) -> None:
    """Raise `InputError` if `path` cannot be written, before there is data to write."""
    refuse_existing(path, overwrite=overwrite)
    if not path.absolute().parent.is_dir():
        raise InputError(f"{path}: its folder does not exist", code="no-folder", file=str(path))
    if not os.access(path.absolute().parent, os.W_OK):
        raise InputError(
            f"{path}: you may not write in its folder", code="no-access", file=str(path)
        )


def make_folder(path: Path) -> None:
    """Create the directory `path` and its missing parents."""
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)


def refuse_existing(path: Path, *, overwrite: bool) -> None:
    """Raise `InputError` if `path` exists and may not be replaced."""
    if path.is_dir():
        raise InputError(
            f"{path}: is a directory; name a file", code="is-directory", file=str(path)
        )
    if path.exists() and not overwrite:
        raise InputError(
            f"{path}: exists already; overwrite=True replaces it", code="exists", file=str(path)
        )


def is_special(path: Path) -> bool:
    """Whether `path` is a device or a pipe, which is written in place."""
    return path.exists() and not path.is_file() and not path.is_dir()


def write_synced(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Create `path`, let `write` fill it, and sync it to disk."""
    with path.open("xb") as handle:
        write(handle)
        handle.flush()
        os.fsync(handle.fileno())


def sync_file(path: Path) -> None:
    """Sync the content of `path` to disk."""
    with path.open("rb") as handle:
        os.fsync(handle.fileno())


def sync_directory(path: Path) -> None:
    """Sync the entries of the directory `path` to disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Convert an `OSError` in the block to an `EnvironmentProblem` about `path`."""
    try:
        yield
    except OSError as error:
        why = reason(error)
        if blocking := file_above(path):
            why = f"{blocking.name} is a file, and no folder"
        elif error.errno == errno.ENOENT and path.absolute().parent.is_dir():
            # A file system such as /proc reports ENOENT although the folder exists.
            why = "its folder takes no new files"
        raise EnvironmentProblem(f"{path}: cannot write: {why}", file=str(path)) from error


def file_above(path: Path) -> Path | None:
    """Return the first parent of `path` that is a file, if any."""
    above = path.absolute().parents
    return next((one for one in above if one.exists() and not one.is_dir()), None)


def reason(error: OSError) -> str:
    """Return why the system refused, in lower case and without its number."""
    if error.errno == errno.ENOSPC:
        return "the disk is full"
    if error.errno == errno.ENOENT:
        return "its folder does not exist"
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:]
