"""The group of all commands, and the handling of their errors."""

from __future__ import annotations

import io
import os
import signal
import sys
from pathlib import Path
from typing import Any

import click

from gingham._files import reason
from gingham._native import __version__
from gingham._signals import left_behind
from gingham.cli._commands import PLACES, LateGroup, Later
from gingham.cli._output import INTERRUPTED, Interrupted, command_given, echo, for_programs, say
from gingham.cli._words import in_short
from gingham.errors import DeadlockError, GinghamError

INTERNAL_FAULT, BAD_INPUT, ENVIRONMENT = 1, 2, 6
# The reader closed the pipe: exit code of shells for a process ended by SIGPIPE.
CLOSED_PIPE = 141
# If set to any value, internal errors are shown with a traceback.
TRACEBACK_VARIABLE = "GINGHAM_TRACEBACK"


class ReaderLeft(Exception):  # noqa: N818  (not an error)
    """The reader closed the output; Click would treat a `BrokenPipeError` as a failure."""


class Commands(LateGroup):
    """A group that reports interruptions itself, as text or JSON."""

    def make_context(self, *given: Any, **more: Any) -> click.Context:
        """Parse the options; some of them print and exit."""
        try:
            return super().make_context(*given, **more)
        except BrokenPipeError as error:
            raise ReaderLeft from error

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise Interrupted(f"interrupted; {str(error) or 'nothing was written'}") from error
        except BrokenPipeError as error:
            raise ReaderLeft from error


@click.group(
    cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
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

    With --json the standard error is JSON too, a line an object; that of an error has exit_code.
    """


for _name in PLACES:
    gingham.add_command(Later(_name))


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its exit code."""
    code = run(arguments)
    if left_behind():
        sys.stdout.flush()
        os._exit(code)
    sys.exit(code)


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    signal.signal(signal.SIGTERM, terminated)
    # Closing the terminal ends the command in order, too, unless SIGHUP is ignored (nohup).
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        signal.signal(signal.SIGHUP, terminated)
    given = sys.argv[1:] if arguments is None else arguments
    # Set before the options are parsed, because parsing can fail.
    for_programs.set("--json" in given)
    command_given.set(tuple(given))
    try:
        code = gingham.main(given, prog_name="gingham", standalone_mode=False)
        sys.stdout.flush()
    except (SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # noqa: BLE001  (a panic of the core is not an Exception)
        return explain(error)
    return code if isinstance(code, int) else 0


def terminated(_signal: int, _frame: object) -> None:
    """Exit in order, so that no half-written files remain."""
    say_error("terminated", INTERRUPTED, code="interrupted")
    sys.exit(INTERRUPTED)


def explain(error: BaseException) -> int:
    """Print one message about an error, and return the exit code."""
    code = ENVIRONMENT
    match error:
        case click.exceptions.Exit():
            code = error.exit_code
        case click.ClickException():
            code = explain_usage(error)
        case DeadlockError():
            said = str(error) if for_programs.get() else in_short(error)
            code = say_error(said, error.exit_code, **vars(error))
        case GinghamError():
            code = say_error(translated(str(error)), error.exit_code, **vars(error))
        case KeyboardInterrupt() | click.Abort():
            code = say_error("interrupted", INTERRUPTED, code="interrupted")
        case ReaderLeft() | BrokenPipeError():
            forget_output()
            code = CLOSED_PIPE
        case OSError():
            forget_output()
            file = error.filename or "output"
            say_error(f"{file}: {reason(error)}", code, code="system", file=str(file))
        case _:
            code = explain_own_fault(error)
    return code


def translated(message: str) -> str:
    """Return an error message with hints for names of other simulators in it."""
    # Imported here, so that successful commands do not wait for it.
    from gingham.catalogue import elsewhere

    return "\n  ".join([message, *map(str, elsewhere.unknown_in(message))])


def say_error(message: str, exit_code: int, /, **details: object) -> int:
    """Print an error: `message` to people, all of it to programs. Returns the exit code."""
    nothing: dict[str, object] = dict.fromkeys(["file", "line", "column", "key", "nearest"])
    general = {"code": "refused", **nothing, "expected": []}
    known = {"message": message, **general, **details, "exit_code": exit_code}
    say(message, **known)
    return exit_code


def explain_usage(error: click.ClickException) -> int:
    """Print an error in the command line itself; return the exit code."""
    if not for_programs.get():
        said = io.StringIO()
        error.show(said)
        echo(said.getvalue().rstrip(), err=True)
        return BAD_INPUT
    option = getattr(error, "option_name", None) or getattr(error, "param_hint", None)
    parameter = getattr(error, "param", None)
    if option is None and parameter is not None:
        option = parameter.opts[0]
    close = list(getattr(error, "possibilities", None) or [])
    nearest = close[0] if close else None
    about = {"code": "bad-option", "key": option, "expected": close, "nearest": nearest}
    return say_error(error.format_message(), BAD_INPUT, **about)


def forget_output() -> None:
    """Discard unwritten output, so that the interpreter does not write it again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def explain_own_fault(error: BaseException) -> int:
    """Report an internal error and its location; return the exit code."""
    import traceback

    if os.environ.get(TRACEBACK_VARIABLE):
        traceback.print_exception(error)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(frame.filename).name}:{frame.lineno}"
    return say_error(
        f"this is a fault of gingham itself ({type(error).__name__} at {place}: {error}).\n"
        f"  Please report it with the command that you gave; {TRACEBACK_VARIABLE}=1 shows more.",
        INTERNAL_FAULT,
        code="internal-fault",
    )
