"""Scenarios: all inputs of a run."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from gingham import examples
from gingham._files import require_file
from gingham._named_files import files_named
from gingham._native import CoreScenario, network_said, routes_title, scenario_schema
from gingham.errors import InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Self

    from gingham._native import CoreSweepFile


# Seeds are whole numbers below this.
SEEDS = 2**64


class AnyScenario(ABC):
    """A scenario of any kind, with the positions of its keys; immutable."""

    # Class of the scenario in the compiled core.
    core_class: ClassVar[Any]

    def __init__(
        self,
        core: Any,
        name: str,
        changes: tuple[str, ...] = (),
        files: Mapping[str, str] | None = None,
    ) -> None:
        """Wrap the compiled scenario; use `load` or `parse`."""
        self._core = core
        # SHA-256 by key of the files that it must read, if it is to repeat an earlier run.
        self.files = dict(files or {})
        # Changes made by `with_`, in order.
        self.changes = changes
        # Name in messages: that of the file, or a substitute.
        self.name = name

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read the scenario in the TOML file at `path`.

        Raises `InputError` with line, key and expected value if it is invalid.
        """
        name = str(Path(path))
        require_file(Path(path))
        return cls(cls.core_class.load(name), name)

    @classmethod
    @abstractmethod
    def example(cls, name: str) -> Self:
        """Read an example shipped with the package."""

    @classmethod
    def parse(
        cls, text: str, *, name: str = "scenario", folder: str | os.PathLike[str] = "."
    ) -> Self:
        """Read a scenario from TOML text; paths in it are relative to `folder`."""
        return cls(cls.core_class.parse(name, text, str(Path(folder))), name)

    @classmethod
    def within(cls, sweep: CoreSweepFile, name: str, folder: str | os.PathLike[str]) -> Self:
        """Return the scenario embedded in the sweep file of this name."""
        return cls(cls.core_class.within(sweep, str(Path(folder))), name)

    def with_(
        self,
        values: Mapping[str, Any] | None = None,
        *,
        settings: Iterable[str] = (),
        seed: int | None = None,
    ) -> Self:
        """Return the scenario with changes.

        `values` sets numbers, texts, lists and dicts at dotted paths, such as `{"stop.time": "1
        ms"}`; `settings` does so with texts in the syntax of `--set`, such as `"stop.time=1 ms"`.
        Files named in `settings` are relative to the current folder, others to the scenario.
        """
        return self._changed(values or {}, list(settings), seed)

    def _changed(
        self,
        values: Mapping[str, Any],
        settings: list[str],
        seed: int | None,
        first: Mapping[str, Any] | None = None,
        said_of_first: Iterable[str] = (),
    ) -> Self:
        """Return the scenario with changes: the values of `first`, then texts, then `values`."""
        if seed is not None and not 0 <= seed < SEEDS:
            raise InputError(
                f"seed {seed}: expected a whole number from 0 to {SEEDS - 1}",
                code="wrong-type",
                key="seed",
            )
        changed = self._core.changed(
            first=dict(first or {}),
            settings=[split_setting(setting) for setting in settings],
            values=dict(values),
            seed=seed,
        )
        if here := self._files_here(changed, settings, values):
            changed = changed.changed(values=here)
        made = [setting.strip() for setting in settings]
        made += [f"{path}={value}" for path, value in values.items()]
        places = [*(place_of(changed, change) for change in made), *said_of_first]
        made += said_of_first
        files = {
            key: digest
            for key, digest in self.files.items()
            if not any(touches(place, key) for place in places)
        }
        return type(self)(changed, self.name, (*self.changes, *made), files)

    def placed(self, path: str) -> str:
        """Return a dotted path with positions in place of names of list entries.

        `traffic.high.load` may become `traffic.1.load`. Raises `InputError` for an unknown name.
        """
        return str(self._core.placed(path))

    @staticmethod
    @abstractmethod
    def schema() -> Mapping[str, Any]:
        """Return the JSON Schema of scenarios of this kind, without references."""

    @classmethod
    def files_of(cls, resolved: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield key and name of each file that a scenario names."""
        yield from files_named(resolved, cls.schema())

    @classmethod
    def _files_here(
        cls, changed: Any, settings: list[str], values: Mapping[str, Any]
    ) -> dict[str, str]:
        """Return the files that `settings` name, by key, relative to the current folder."""
        if not settings:
            return {}
        own = [place_of(changed, setting) for setting in settings]
        others = [place_of(changed, path) for path in values]
        return {
            key: str(Path(file).absolute())
            for key, file in cls.files_of(changed.resolved())
            if any(touches(path, key) for path in own)
            and not any(touches(path, key) for path in others)
        }

    @classmethod
    def restore(
        cls, values: dict[str, Any], file: Mapping[str, Any], files: Iterable[Mapping[str, str]]
    ) -> Self:
        """Return the scenario in a manifest: `resolved`, `origin`, and the files read.

        Its paths refer to the files of the original run, whatever the current folder.
        """
        name, folder, digest = file["path"], file["folder"], file["sha256"]
        core = cls.core_class.restore(name, values, folder, digest)
        return cls(
            core, name, tuple(file["changes"]), {read["key"]: read["sha256"] for read in files}
        )

    def origin(self) -> dict[str, Any]:
        """Return the origin of the scenario, for the manifest of a run."""
        return {
            "path": self.name,
            "folder": str(Path(self._core.folder).absolute()),
            "sha256": self.digest,
            "changes": list(self.changes),
        }

    def refuse(self, key: str, message: str) -> NoReturn:
        """Raise an `InputError` with a message about the value at `key`, and its line."""
        self._core.refuse(key, message)
        raise AssertionError("the core refuses what it is told to refuse")

    def resolved(self) -> dict[str, Any]:
        """Return the scenario with defaults for missing values; `None` means unset."""
        resolved: dict[str, Any] = self._core.resolved()
        return resolved

    def heading(self) -> str:
        """Return the scenario's title, or its name."""
        return str(self.resolved()["title"] or Path(self.name).stem)

    def _repr_html_(self) -> str:
        """Return the HTML view of notebooks."""
        from gingham import _html

        return _html.of_scenario(self)

    @property
    def title(self) -> str:
        """Title or name of the scenario, followed by its changes."""
        return "; ".join([self.heading(), *self.changes])

    @property
    def digest(self) -> str:
        """SHA-256 of the file or text, before changes, in hexadecimal."""
        return str(self._core.digest)


class Scenario(AnyScenario):
    """The scenario of a fabric, with the positions of its keys; immutable.

    >>> torus = Scenario.parse('''
    ... stop.time = "1 ms"
    ... topology.generate.torus = { dimensions = [3, 3], hosts_per_switch = 1 }
    ... [[traffic]]
    ... load = 0.1
    ... length = { fixed = "512 B" }
    ... ''')
    >>> torus.with_({"traffic.0.load": 0.2}).resolved()["traffic"][0]["load"]
    0.2
    """

    core_class = CoreScenario

    @classmethod
    def example(cls, name: str) -> Self:
        """Read an example shipped with the package; `gingham.examples.names()` lists them."""
        return cls.load(examples.require(name))

    def with_(
        self,
        values: Mapping[str, Any] | None = None,
        *,
        settings: Iterable[str] = (),
        topology: str | os.PathLike[str] | None = None,
        seed: int | None = None,
    ) -> Self:
        """Return the scenario with changes.

        `values` sets numbers, texts, lists and dicts at dotted paths, such as `{"traffic.0.load":
        0.4}`; `settings` does so with texts in the syntax of `--set`, such as
        `"traffic.0.load=0.4"`; `topology` is a fabric file. Files named in `settings` are relative
        to the current folder, others to the scenario.
        """
        if topology is None:
            return self._changed(values or {}, list(settings), seed)
        require_file(Path(topology))
        said = [f"topology {Path(topology).name}"]
        first = {"topology": {"file": str(Path(topology).absolute())}}
        return self._changed(values or {}, list(settings), seed, first, said)

    @staticmethod
    @cache
    def schema() -> Mapping[str, Any]:
        """Return the JSON Schema of scenarios."""
        return scenario_schema()

    def network(self) -> str:
        """Return the simulated network: preset and switching kind. Reads the fabric.

        >>> Scenario.example("torus").network()
        'myrinet-1280 (wormhole, round-robin)'
        """
        return network_said(self._core)

    def routes_title(self) -> str:
        """Return the source of the routes, for titles. Reads the fabric.

        >>> Scenario.example("torus").routes_title()
        'up-down routes'
        """
        return routes_title(self._core)

    def routing(self) -> str:
        """Return the name of the routing algorithm."""
        algorithm = self.resolved()["routing"]["algorithm"]
        return algorithm if isinstance(algorithm, str) else next(iter(algorithm))

    def heading(self, routings: Sequence[str] = ()) -> str:
        """Return the title of a run, or of a comparison of several `routings`.

        The title of a scenario is written by hand, and usually names its fabric and its routing. If
        either is changed, the title would be wrong; the heading is then made of both, unless the
        title was changed as well::

            4x4 torus, two hosts a switch, up*/down*      the scenario's own title
            3x3 mesh, up-down                             with another fabric
        """
        names = list(routings) or [self.routing()]
        other = names != [self.routing()] or any(
            touches(change, key) for change in self.changes for key in ("topology", "routing")
        )
        if not other or any(touches(change, "title") for change in self.changes):
            return super().heading()
        return ", ".join([self._shape(), *(names if len(names) == 1 else [])])

    def _shape(self) -> str:
        """Return the shape of the fabric, or the name of its file."""
        topology = self.resolved()["topology"]
        if "file" in topology:
            return Path(topology["file"]).stem
        if "generate" not in topology:
            return Path(self.name).stem
        [(kind, parameters)] = topology["generate"].items()
        dimensions = parameters.get("dimensions")
        if not isinstance(dimensions, list):
            return str(kind)
        return f"{'x'.join(map(str, dimensions))} {kind}"

    def __repr__(self) -> str:
        """Return the name."""
        return f"<gingham.Scenario {self.name!r}>"


def place_of(core: Any, change: str) -> str:
    """Return the path of a change, with positions in place of names if it exists."""
    path = change.partition("=")[0].strip()
    try:
        return str(core.placed(path))
    except InputError:
        # The change also renamed an entry of the path.
        return path


def touches(change: str, key: str) -> bool:
    """Return whether a change, such as `traffic[0].arrivals=...`, may affect the value of a key."""
    path = re.split(r"[= ]", change, maxsplit=1)[0].replace("[", ".").replace("]", "")
    return f"{key}.".startswith(f"{path}.") or path.startswith(f"{key}.")


def split_setting(setting: str) -> tuple[str, str]:
    """Return path and text of a setting such as `traffic.0.load=0.4`."""
    path, equals, text = setting.partition("=")
    if not equals or not path.strip():
        raise InputError(
            f'"{setting}": expected a key and a value, such as seed=7',
            key=setting,
            code="bad-option",
        )
    return path.strip(), text.strip()
