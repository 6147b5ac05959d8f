"""The build of a worker: only workers with an identical build make our runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gingham._native import __version__
from gingham.errors import EnvironmentProblem
from gingham.sweeps._keys import core_identity

if TYPE_CHECKING:
    from collections.abc import Mapping


def build() -> tuple[str, str]:
    """Return version and core of this process."""
    return __version__, core_identity()


def require_same_build(found: Mapping[str, tuple[str, str] | str]) -> None:
    """Raise `EnvironmentProblem` if a worker has another build, or none.

    `found` holds the build of each worker by name, or the reason for its absence.
    """
    ours = build()
    others = [
        f"  {worker}: {build_text(one)}" for worker, one in found.items() if tuple(one) != ours
    ]
    if others:
        shown, more = others[:3], len(others) - 3
        raise EnvironmentProblem(
            f"{len(others)} of {len(found)} workers do not have the build that plans the sweep, "
            f"{build_text(ours)}; install it on all of them, from one wheel\n"
            + "\n".join([*shown, *([f"  and {more} more"] if more > 0 else [])]),
            code="other-build",
        )


def build_text(one: tuple[str, str] | str) -> str:
    """Return a build as text."""
    return f"no gingham: {one}" if isinstance(one, str) else f"gingham {one[0]}, core {one[1][:12]}"
