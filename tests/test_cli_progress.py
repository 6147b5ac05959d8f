"""What a long run says of itself where there is no terminal."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from gingham.cli import _progress


def test_a_long_run_says_about_how_long_it_will_take(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    moments = iter((0.0, 50.0, 100.0, 400.0))
    monkeypatch.setattr("time.monotonic", lambda: next(moments))
    on_progress = _progress.lines(_progress.STRIPES)
    # A ten-thousandth in 50 s is all of it in 500,000 s, which are 5.8 days.
    for fraction in (1e-4, 0.25, 0.999):
        now = SimpleNamespace(fraction=fraction, done=False, packets_delivered=1_000)
        on_progress(now)
    slow, quarter, nearly = capsys.readouterr().err.splitlines()
    assert slow == "gingham: 0.0100 %, 1,000 packets delivered, about 6 days left"
    assert quarter.endswith("25 %, 1,000 packets delivered, about 5 min left")
    assert nearly.endswith("about 0 s left")
