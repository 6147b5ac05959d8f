"""The output of commands arrives completely."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from gingham.cli._output import print_text


class Reluctant:
    """An unbuffered output that accepts seven bytes per call."""

    def __init__(self) -> None:
        self.taken = b""

    def write(self, data: memoryview) -> int:
        self.taken += bytes(data[:7])
        return min(7, len(data))


def test_an_output_that_takes_parts_gets_all_of_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    reluctant = Reluctant()
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=reluctant))
    print_text("a text of more than seven bytes, ä too")
    assert reluctant.taken.decode() == "a text of more than seven bytes, ä too"
