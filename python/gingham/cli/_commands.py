"""All commands by name: each is imported on first use, without the others.

::

    gingham run torus ──► Later("run") ──► gingham.cli._run
    gingham --help    ──► the summaries below; no command is imported

Invariant: a summary here is the first sentence of the command's own help.
"""

from __future__ import annotations

from importlib import import_module

import click

# By command: module and attribute, and summary.
PLACES = {
    "check": (
        "_check:check",
        "Check every file of run folders and sweeps against its recorded digest.",
    ),
    "curve": (
        "_curve:curve",
        (
            "Measure latency against accepted load of SCENARIO: a TOML file, or the name of an "
            "example."
        ),
    ),
    "demo": (
        "_demo:demo",
        (
            "Show a job on a rail-optimised cluster: its bandwidth bound, and a node order that is "
            "better."
        ),
    ),
    "diff": (
        "_diff:diff",
        "Say what the runs B measured differently from the runs A, and which links changed.",
    ),
    "example": (
        "_example:example",
        "Print the example NAME, or write it to a file: a scenario, or the dump of a cluster.",
    ),
    "explain": (
        "_explain:explain",
        "Explain a WORD: a key of a scenario, a mechanism, or a word of pages and results.",
    ),
    "fabric": ("_fabric:fabric", "Describe, check, draw, make and convert fabrics."),
    "job": (
        "_job:job",
        "Show which flows of a job share a cable on TOPOLOGY, and the bandwidth that is left.",
    ),
    "opensm": (
        "_opensm:opensm",
        "Let the real OpenSM route a fabric, and see what it decides.",
    ),
    "plot": ("_plot:plot", "Draw the run or the sweep in FOLDER."),
    "query": (
        "_query:query",
        "Query the results of a sweep in FOLDER in SQL; without SQL, list their columns.",
    ),
    "route": ("_route:route", "Route a fabric, or check the routes of a running one."),
    "run": (
        "_run:run",
        "Simulate SCENARIO: a TOML file, the name of an example, or the folder of a run.",
    ),
    "saturation": (
        "_saturation:saturation",
        "Find the saturation load of SCENARIO: a TOML file, or the name of an example.",
    ),
    "schema": (
        "_explain:schema",
        "Print the JSON Schema of scenarios, for editors that complete and check.",
    ),
    "stripe": (
        "_stripe:stripe_command",
        "Stripe packets over several channels as one pipe, in virtual time, as SCENARIO says.",
    ),
    # The module that adds a command to those of `_study`.
    "study": (
        "_study_assumptions:study",
        "Repeat the experiments of a paper, and check its claims.",
    ),
    "sweep": (
        "_sweep:sweep",
        "Make every run of the sweep file SWEEP: a scenario varied along axes.",
    ),
    "upgrade": (
        "_upgrade:upgrade",
        "Rewrite scenarios and sweep files of earlier versions with present names.",
    ),
}


class Later(click.Command):
    """A command that is not imported yet."""

    def __init__(self, name: str) -> None:
        """Store the location of the command."""
        self.place, sentence = PLACES[name]
        super().__init__(name, help=sentence)

    def command(self) -> click.Command:
        """Import the command."""
        module, _, name = self.place.partition(":")
        found: click.Command = getattr(import_module(f"{__package__}.{module}"), name)
        return found


class LateGroup(click.Group):
    """A group that lists its commands without importing them."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Import the requested command."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command.command() if isinstance(command, Later) else command, rest
