"""Striping scenarios: all inputs of a run."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from gingham import examples
from gingham._native import CoreStripeScenario, stripe_schema
from gingham.errors import InputError
from gingham.scenario import AnyScenario, split_setting

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Self

# Lists whose entries have names, which a path may use in place of their positions.
NAMED = ("channel", "source")
# Parts of a path such as `channel.1.rate`: list, entry and key.
PARTS = 3


class StripeScenario(AnyScenario):
    """A striping scenario, with the positions of its keys; immutable.

    In the paths of `with_`, positions count from 0; the name of a channel or source may replace its
    position: `channel.radio.loss`.

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
        """Read an example shipped with the package."""
        return cls.load(examples.require(name))

    def _changed(
        self,
        values: Mapping[str, Any],
        settings: list[str],
        seed: int | None,
        first: Mapping[str, Any] | None = None,
        said_of_first: Iterable[str] = (),
    ) -> Self:
        """Return the scenario with changes, which may not create entries of lists."""
        lists = self._core.resolved()
        for path in [*values, *(split_setting(setting)[0] for setting in settings)]:
            require_entry(path, lists)
        return super()._changed(values, settings, seed, first, said_of_first)

    @staticmethod
    @cache
    def schema() -> Mapping[str, Any]:
        """Return the JSON Schema of striping scenarios."""
        return stripe_schema()

    def __repr__(self) -> str:
        """Return the name."""
        return f"<gingham.stripe.StripeScenario {self.name!r}>"


def require_entry(path: str, lists: Mapping[str, Any]) -> None:
    """Raise `InputError` if a path leads into a channel or source that does not exist.

    In other lists such a path creates an entry; here it would be a channel with only one key.
    """
    parts = path.split(".")
    if parts[0] not in NAMED or len(parts) < PARTS or not parts[1].isdigit():
        return
    names = [str(entry["name"]) for entry in lists[parts[0]]]
    if int(parts[1]) < len(names):
        return
    known = ", ".join(f"{parts[0]}.{place}" for place in range(len(names)))
    raise InputError(
        f"{path}: there is no {parts[0]} {parts[1]}; there are {known}, counted from 0, "
        f"and their names {', '.join(names)}\n"
        f"  to add one, give all of it: {parts[0]}.{len(names)} = {{ ... }}",
        key=path,
        expected=names,
        code="unknown-name",
    )
