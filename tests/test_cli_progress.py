"""Progress of a long run without a terminal."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from gingham.cli import _progress
from tests.conftest import TIMEOUT_S


def test_a_long_run_says_about_how_long_it_will_take(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    moments = iter((0.0, 50.0, 100.0, 400.0))
    monkeypatch.setattr("time.monotonic", lambda: next(moments))
    on_progress = _progress.lines(_progress.STRIPES)
    # A ten-thousandth in 50 s makes 500,000 s for the whole run, which are 5.8 days.
    for fraction in (1e-4, 0.25, 0.999):
        now = SimpleNamespace(fraction=fraction, done=False, packets_delivered=1_000)
        on_progress(now)
    slow, quarter, nearly = capsys.readouterr().err.splitlines()
    assert slow == "gingham: sending packets: 0.0100 %, 1,000 packets delivered, about 6 days left"
    assert quarter.endswith("25 %, 1,000 packets delivered, about 5 min left")
    assert nearly.endswith("about 0 s left")


def test_what_comes_before_the_first_step_is_said_where_it_lasts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(_progress, "QUIET_SECONDS", 0.0)
    told = ""
    with _progress.announced(_progress.FLITS) as on_progress:
        end = time.monotonic() + TIMEOUT_S
        while not told and time.monotonic() < end:
            told = capsys.readouterr().err
        on_progress(SimpleNamespace(fraction=1.0, done=True, messages_delivered=1))
    assert told == "gingham: making the fabric, its routes and their proof\n"
    monkeypatch.setattr(_progress, "QUIET_SECONDS", TIMEOUT_S)
    with _progress.announced(_progress.FLITS):
        pass
    assert capsys.readouterr().err == "", "it was quick"
