"""The routing algorithms as the choices of an option."""

from __future__ import annotations

from typing import Any

import click

from gingham._native import catalogue, other_names


def names() -> list[str]:
    """Return the names of all algorithms."""
    return [line["name"] for line in catalogue() if line["concept"] == "routing"]


class AlgorithmChoice(click.Choice[str]):
    """An algorithm, or what is told of the name that others have for one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name of the algorithm."""
        ours = dict(other_names()).get(str(value).lower().replace("_", "-"))
        if value not in self.choices and ours in self.choices:
            self.fail(f"{value!r} is called {ours!r} here", param, ctx)
        return super().convert(value, param, ctx)
