"""Shell completion: names of examples, keys and words.

Click calls these functions on behalf of the shell (`_GINGHAM_COMPLETE`). Imports are deferred until
then.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from collections.abc import Iterable

    import click


def fabric_scenarios(
    _context: click.Context, _parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Offer the examples of `gingham run`, and scenario files."""
    from gingham import examples

    return or_files(begun, [*examples.names(), *scenario_files(begun)])


def stripe_scenarios(
    _context: click.Context, _parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Offer the examples of `gingham stripe`, and scenario files."""
    from gingham import examples

    return or_files(begun, [*examples.stripes(), *scenario_files(begun)])


def example_names(
    _context: click.Context, _parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Offer every example: scenarios by their names, other files by theirs."""
    from gingham import examples

    files = [file.name for file, _ in examples.files() if file.suffix != ".toml"]
    return matching(begun, [*examples.everything(), *files])


def keys(context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Offer the keys of the scenarios that the command takes."""
    from gingham.catalogue import reference

    striping = context.info_name == "stripe"
    known = reference.every_stripe_key() if striping else reference.every_key()
    return matching(begun, [key.path for key in known])


def words(context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Offer the topics of `gingham explain`: keys, mechanisms and words."""
    from gingham.catalogue.lookup import offered

    return matching(begun, offered(bool(context.params.get("stripe"))))


def scenario_files(begun: str) -> list[str]:
    """Return the TOML files whose names begin with `begun`."""
    folder, slash, _ = begun.rpartition("/")
    return sorted(f"{folder}{slash}{file.name}" for file in Path(folder + slash).glob("*.toml"))


def or_files(begun: str, names: Iterable[str]) -> list[CompletionItem]:
    """Offer matching names, or file completion if there are none."""
    return matching(begun, names) or [CompletionItem(begun, type="file")]


def matching(begun: str, names: Iterable[str]) -> list[CompletionItem]:
    """Return the names that begin with `begun`, each once."""
    return [CompletionItem(name) for name in dict.fromkeys(names) if name.startswith(begun)]
