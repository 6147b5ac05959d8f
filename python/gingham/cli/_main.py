"""The group of all commands, and what happens when one fails."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from pathlib import Path

import click

from gingham import __version__
from gingham._files import reason
from gingham.cli._example import example
from gingham.cli._explain import explain as explain_command
from gingham.cli._explain import schema
from gingham.cli._fabric import fabric
from gingham.cli._route import route
from gingham.cli._run import run as run_command
from gingham.errors import GinghamError

INTERNAL_FAULT, BAD_INPUT, ENVIRONMENT, INTERRUPTED = 1, 2, 6, 130
# Set to anything, it shows where a fault of ours came from.
TRACEBACK_VARIABLE = "GINGHAM_TRACEBACK"


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="gingham")
def gingham() -> None:
    """Ask a cluster fabric questions before it is built, cabled or reconfigured.

    Load the dump of a real cluster or generate a fabric, route it, prove the routes free of
    deadlock, and follow every flit of the traffic.

    \b
    First steps:
      gingham fabric make irregular --switches 16 -o net.ibnetdiscover
      gingham fabric info net.ibnetdiscover
      gingham route net.ibnetdiscover --algorithm up-down

    Every command takes --json for programs, and --help for its own examples.

    \b
    Exit codes:
      0  a valid result                 5  a check found something
      1  a fault of gingham itself      6  the disk, or a missing program
      2  bad input                    130  interrupted
      3  a deadlock, possible or real
    """


gingham.add_command(fabric)
gingham.add_command(route)
gingham.add_command(run_command)
gingham.add_command(example)
gingham.add_command(explain_command)
gingham.add_command(schema)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    signal.signal(signal.SIGTERM, terminated)
    try:
        code = gingham.main(arguments, prog_name="gingham", standalone_mode=False)
        sys.stdout.flush()
    except (SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # noqa: BLE001  (a panic of the core is no Exception)
        return explain(error)
    return code if isinstance(code, int) else 0


def terminated(_signal: int, _frame: object) -> None:
    """Leave in order, so that nothing half-written stays behind."""
    say("terminated")
    sys.exit(INTERRUPTED)


def explain(error: BaseException) -> int:
    """Say what went wrong in one message, and return the exit code."""
    match error:
        case click.exceptions.Exit():
            code = error.exit_code
        case click.ClickException():
            error.show()
            code = BAD_INPUT
        case GinghamError():
            say(str(error))
            code = error.exit_code
        case KeyboardInterrupt() | click.Abort():
            say("interrupted")
            code = INTERRUPTED
        case BrokenPipeError():
            forget_output()
            code = ENVIRONMENT
        case OSError():
            say(f"{error.filename or 'output'}: {reason(error)}")
            forget_output()
            code = ENVIRONMENT
        case _:
            say_own_fault(error)
            code = INTERNAL_FAULT
    return code


def say(message: str) -> None:
    """Print a message for the user."""
    click.echo(f"gingham: {message}", err=True)


def forget_output() -> None:
    """Drop what could not be written, lest the interpreter tries again when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say_own_fault(error: BaseException) -> None:
    """Say that we made a mistake, and where."""
    if os.environ.get(TRACEBACK_VARIABLE):
        traceback.print_exception(error)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(frame.filename).name}:{frame.lineno}"
    say(
        f"this is a fault of gingham itself ({type(error).__name__} at {place}: {error}).\n"
        f"  Please report it with the command that you gave; {TRACEBACK_VARIABLE}=1 shows more."
    )
