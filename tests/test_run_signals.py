"""A signal while a run folder is written leaves nothing behind, at whatever instruction."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from gingham import _rundir, _signals
from gingham._rundir import RunFolder, interruptible
from gingham._signals import HeldSignals
from gingham.running import interruption

# A file is closed by the garbage collector if the signal comes before its `with` block is entered.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
# Files between whose instructions a signal is raised.
OURS = {_rundir.__file__, _signals.__file__, __file__}


class Blow:
    """Raises SIGINT before the `step`th instruction after it is armed."""

    def __init__(self, step: int, *, armed: bool = True) -> None:
        self.left = step
        self.armed = armed
        self.struck = False

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> Any:
        if frame.f_code.co_filename not in OURS or frame.f_code.co_name == "blow":
            return None
        frame.f_trace_opcodes = True
        if event == "opcode" and self.armed and not self.struck:
            self.left -= 1
            if self.left < 0:
                self.struck = True
                signal.raise_signal(signal.SIGINT)
        return self


def traced(blow: Blow, call: Callable[[], None]) -> None:
    """Make a call and trace its instructions by `blow`, which may raise KeyboardInterrupt.

    An error raised at certain instructions at the end of a handler would remain the "error being
    handled" for the rest of the process. A generator has its own, which ends with it.
    """

    def contained() -> Iterator[None]:
        call()
        yield

    former = sys.gettrace()
    sys.settrace(blow)
    try:
        next(contained())
    finally:
        sys.settrace(former)


@pytest.fixture(autouse=True)
def _default(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # Writing to the disk would take most of the time.
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, former)


def write_run(target: Path, *, overwrite: bool = False) -> None:
    with RunFolder(target, overwrite=overwrite) as folder, interruptible(folder):
        folder.write("table.csv", lambda handle: handle.write(b"1,2\n"))
        folder.complete({})


def is_as_it_was(place: Path) -> None:
    """Fail unless the folder is complete or absent, and the signal handler restored."""
    found = sorted(path.relative_to(place).as_posix() for path in place.rglob("*"))
    assert found in ([], ["demo", "demo/manifest.json", "demo/table.csv"])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("again", [False, True], ids=["new", "in the place of another"])
def test_one_signal_leaves_nothing_half_done(tmp_path: Path, *, again: bool) -> None:
    if again:
        write_run(tmp_path / "demo")
    struck = 0
    for step in itertools.count():
        blow = Blow(step)
        with contextlib.suppress(KeyboardInterrupt):
            traced(blow, partial(write_run, tmp_path / "demo", overwrite=True))
        assert sys.exc_info()[1] is None
        is_as_it_was(tmp_path)
        assert again <= (tmp_path / "demo").exists()
        if not blow.struck:
            break
        struck += 1
    assert struck > 200


def test_a_signal_after_another_leaves_nothing_half_done(tmp_path: Path) -> None:
    def interrupted(blow: Blow) -> None:
        with RunFolder(tmp_path / "demo") as folder, interruptible(folder):
            folder.write("table.csv", lambda handle: handle.write(b"1,2\n"))
            blow.armed = True
            signal.raise_signal(signal.SIGINT)

    for step in itertools.count():
        blow = Blow(step, armed=False)
        with pytest.raises(KeyboardInterrupt):
            traced(blow, partial(interrupted, blow))
        assert sys.exc_info()[1] is None
        is_as_it_was(tmp_path)
        if not blow.struck:
            break
    assert step > 20


def test_a_signal_while_the_folder_appears_says_that_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    appear = RunFolder._appear

    def struck(folder: RunFolder) -> None:
        signal.raise_signal(signal.SIGINT)
        appear(folder)

    monkeypatch.setattr(RunFolder, "_appear", struck)
    with pytest.raises(KeyboardInterrupt) as struck_by:
        write_run(tmp_path / "demo")
    assert str(tmp_path / "demo") in str(struck_by.value)
    assert (tmp_path / "demo" / "manifest.json").exists()


def test_a_handler_that_only_notes_may_note_often() -> None:
    noted = []
    signal.signal(signal.SIGINT, lambda number, _frame: noted.append(number))
    with HeldSignals() as held:
        signal.raise_signal(signal.SIGINT)
        assert noted == []
        with held.let_through():
            assert len(noted) == 1
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        assert len(noted) == 3
    assert len(noted) == 4


def test_ctrl_c_is_noted_while_a_run_advances_also_with_a_folder(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "demo") as folder, interruptible(folder):
        with interruption() as pressed:
            assert not pressed()
            signal.raise_signal(signal.SIGINT)
            assert pressed()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
