"""Striping scenarios: everything that a run depends on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gingham import examples
from gingham._native import CoreStripeScenario
from gingham.errors import InputError
from gingham.scenario import AnyScenario, split_setting

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Self

# Lists whose entries have names, which a path may give instead of their places.
NAMED = ("channel", "source")
# Of a path such as `channel.1.rate`: the list, the entry, and what is within it.
PARTS = 3


class StripeScenario(AnyScenario):
    """A striping scenario, with the positions of its keys; never changes.

    In the paths of `with_`, places count from 0; a channel's or source's name may stand for its
    place: `channel.radio.loss`.

    >>> two = StripeScenario.parse('''
    ... stop.time = "1 s"
    ... [[channel]]
    ... rate = "10 Mbit/s"
    ... [[channel]]
    ... rate = "20 Mbit/s"
    ... ''')
    >>> two.with_({"channel.1.loss": 0.01}).resolved()["channel"][1]["loss"]
    0.01
    """

    core_class = CoreStripeScenario

    @classmethod
    def example(cls, name: str) -> Self:
        """Read an example that ships with the package."""
        return cls.load(examples.require(name))

    def _changed(
        self,
        values: Mapping[str, Any],
        settings: list[str],
        seed: int | None,
        first: Mapping[str, Any] | None = None,
        said_of_first: Iterable[str] = (),
    ) -> Self:
        """Return the scenario with changes, with places for the names in their paths."""
        lists = self._core.resolved()
        placed = {place_of(path, lists): value for path, value in values.items()}
        changed = [f"{place_of(path, lists)}={text}" for path, text in map(split_setting, settings)]
        return super()._changed(placed, changed, seed, first, said_of_first)

    def __repr__(self) -> str:
        """Return the name."""
        return f"<gingham.stripe.StripeScenario {self.name!r}>"


def place_of(path: str, lists: Mapping[str, Any]) -> str:
    """Return a path with the place of a channel or source instead of its name.

    `InputError` if the path leads into an entry that is not there.
    """
    parts = path.split(".")
    if parts[0] not in NAMED or len(parts) < PARTS:
        return path
    names = [str(entry["name"]) for entry in lists[parts[0]]]
    if parts[1].isdigit():
        if int(parts[1]) < len(names):
            return path
    elif parts[1] in names:
        return ".".join([parts[0], str(names.index(parts[1])), *parts[2:]])
    known = ", ".join(f"{parts[0]}.{place}" for place in range(len(names)))
    raise InputError(
        f"{path}: there is no {parts[0]} {parts[1]}; there are {known}, counted from 0, "
        f"and their names {', '.join(names)}\n"
        f"  to add one, give all of it: {parts[0]}.{len(names)} = {{ ... }}",
        key=path,
        expected=names,
    )
