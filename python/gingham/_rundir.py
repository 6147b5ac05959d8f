"""The folder of a run: written under a temporary name, complete when it appears.

::

    runs/.demo.partial-4711/   messages.parquet  links.parquet  manifest.json   (this last)
    runs/demo/                 the same, by one rename

The manifest has the digest of every other file, and its own (`gingham._sealed`).

Invariants: a folder with `manifest.json` holds all files that the run wrote; a run that was killed
leaves at most a hidden folder, never one under the requested name; one ended by a signal leaves
none, whenever the signal arrives; a folder that no run wrote is never replaced.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from contextlib import ExitStack, nullcontext
from typing import TYPE_CHECKING, BinaryIO

from gingham._files import sync_directory, sync_file, writing
from gingham._sealed import entry_of, sealed
from gingham._signals import HeldSignals
from gingham.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path
    from types import TracebackType
    from typing import Self

MANIFEST = "manifest.json"
# Version of the format of run folders, increased if older readers cannot read newer folders.
FORM = 1
# Files that are synced to disk concurrently.
SYNCED_AT_ONCE = 16


class RunFolder:
    """A run folder under construction: a context whose folder appears when the block succeeds.

    ::

        with RunFolder(Path("runs/demo")) as folder, interruptible(folder):
            folder.write("table.csv", lambda handle: handle.write(b"1,2"))
            folder.complete({"seed": 1})

    Signals are held until the block ends, except in blocks of `interruptible`.
    """

    def __init__(self, target: Path, *, overwrite: bool = False) -> None:
        """Prepare to write `target`; `overwrite` lets it replace the folder of another run."""
        self.target = target.absolute()
        self.named = target
        self.overwrite = overwrite
        self._partial = self._sibling("partial")
        self._complete = False
        self._appeared = False
        self.signals = HeldSignals()
        self._held = ExitStack()

    def __enter__(self) -> Self:
        """Create the hidden folder, after checking that the target may be written."""
        with ExitStack() as stack:
            stack.enter_context(self.signals)
            with writing(self.named):
                self._refuse_existing()
                self.target.parent.mkdir(parents=True, exist_ok=True)
                self._partial.mkdir()
            self._held = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Rename the folder to its target if it is complete, and remove it otherwise."""
        try:
            with self._held:
                self._close(whole=kind is None and self._complete)
        except KeyboardInterrupt as late:
            if self._appeared:
                raise KeyboardInterrupt(f"{self.named} is written") from late
            raise

    def write(self, name: str, write: Callable[[BinaryIO], object]) -> None:
        """Create the file `name` in the folder; `write` fills it."""
        assert not self._complete, "the manifest is the last file of a run folder"
        with writing(self.named / name), (self._partial / name).open("xb") as handle:
            write(handle)

    @contextlib.contextmanager
    def stream(self, name: str) -> Iterator[BinaryIO]:
        """Create the file `name` in the folder, and yield it for writing."""
        assert not self._complete, "the manifest is the last file of a run folder"
        with writing(self.named / name), (self._partial / name).open("xb") as handle:
            yield handle

    def path(self, name: str) -> Path:
        """Return the current path of the file `name`: in the hidden folder, or in the final one."""
        return (self.target if self._appeared else self._partial) / name

    def complete(self, manifest: Mapping[str, object]) -> None:
        """Write `manifest` with the digests of all files; the folder is then complete."""
        with writing(self.named):
            files = {file.name: entry_of(file) for file in self._partial.iterdir()}
        data = sealed(manifest, files)
        self.write(MANIFEST, lambda handle: handle.write(data))
        self._wait_for_disk()
        self._complete = True

    def _wait_for_disk(self) -> None:
        """Sync all files to disk concurrently, which takes about as long as syncing one."""
        from concurrent.futures import ThreadPoolExecutor

        def wait(file: Path) -> None:
            with writing(self.named / file.name):
                sync_file(file)

        with ThreadPoolExecutor(SYNCED_AT_ONCE) as threads:
            for _ in threads.map(wait, sorted(self._partial.iterdir())):
                pass

    def _close(self, *, whole: bool) -> None:
        """Rename a complete folder to its target; remove an incomplete one."""
        try:
            if whole:
                with writing(self.named):
                    self._appear()
                self._appeared = True
        finally:
            shutil.rmtree(self._partial, ignore_errors=True)

    def _refuse_existing(self) -> None:
        if not os.path.lexists(self.target):
            return
        is_run = (self.target / MANIFEST).is_file() and not self.target.is_symlink()
        if is_run and self.overwrite:
            return
        if self.overwrite:
            code, why = "no-run", "is not the folder of a run, and is not replaced"
        elif is_run:
            code, why = "exists", "exists already; overwrite=True replaces it"
        else:
            code, why = "exists", "exists already, and is not the folder of a run: name another"
        raise InputError(f"{self.named}: {why}", code=code, file=str(self.named))

    def _appear(self) -> None:
        """Rename the folder to its target, atomically replacing an existing one."""
        sync_directory(self._partial)
        former = self._sibling("former")
        self._refuse_existing()
        if self.target.exists():
            self.target.rename(former)
        self._partial.rename(self.target)
        sync_directory(self.target.parent)
        shutil.rmtree(former, ignore_errors=True)

    def _sibling(self, what: str) -> Path:
        return self.target.parent / f".{self.target.name}.{what}-{os.getpid()}"


def interruptible(folder: RunFolder | None) -> AbstractContextManager[None]:
    """Return a block that a signal may end, inside the block of a run folder; or a null context.

    A signal that comes later, while the folder appears or is removed, waits until that is done.
    """
    return folder.signals.let_through() if folder else nullcontext()
