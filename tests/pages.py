"""Runs a Markdown page as a reader would: every block, in order, in an empty folder.

The language of a block determines its treatment:

- `sh`: each command is run separately, with the real `gingham`; a trailing `# exit 3` gives its
  exit code.
- `console`: commands with `$ ` before each, followed by their output. In the output `...` stands
  for any text in a line, or alone for any lines. Runs of spaces count as one, and rules of tables
  are ignored.
- `python`: run in one namespace per page.
- `toml`: a scenario, a part of one, or a whole striping scenario. A part replaces keys of the last
  whole scenario of the page, or of a small one (`tests.fragments.BASE`). The scenario is checked
  against the schema and simulated briefly. With a file name in its first line, `# first.toml`, the
  block is written to that file.
- `csv`, `json`: files.
- `text`: a drawing, or the output of the block before.

Invisible comments before a block: `<!-- skip: reason -->`, `<!-- file: name -->`,
`<!-- output -->`, and `<!-- needs: packages -->`, which skips the rest of the page if a program of
these packages is missing. A page with nothing to run has `<!-- nothing to run: reason -->`.

Why not Sybil: it makes a test of each block, and pytest-xdist distributes the tests of a page over
workers, which loses their order; here a page is one test.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from markdown_it import MarkdownIt

import gingham
from gingham import stripe
from gingham._native import scenario_schema, stripe_schema
from gingham.cli._progress import FLITS, STRIPES
from gingham.opensm.programs import PACKAGES
from tests.conftest import TIMEOUT_S, require_programs
from tests.fragments import completed, is_whole, messages_of

MARK = re.compile(r"<!--\s*(skip|file|output|needs|nothing to run)(?::\s*(.+?))?\s*-->", re.DOTALL)
# Directives of the site (`docs/conf.py`), which GitHub shows as text.
DIRECTIVES = {"{toctree}", "{eval-rst}"}
WRITTEN = {"csv", "json"}
# Progress messages, which only long runs print: whether they appear depends on the machine.
PROGRESS = tuple(
    f"gingham: {said}" for work in (FLITS, STRIPES) for said in (work.doing, work.before)
)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    text: str
    # Line number in the page of the first line of `text`.
    line: int
    marks: dict[str, str]

    @property
    def file(self) -> str | None:
        """Name of the file written from this block, if any."""
        named = re.match(r"# ([\w.-]+\.toml)$", self.text.partition("\n")[0])
        return named[1] if named and self.language == "toml" else self.marks.get("file")


@dataclass
class Page:
    """A page, with the state that its blocks have left."""

    name: str
    blocks: list[Block]
    # The stated reason why the page has nothing to run.
    empty: str | None = None
    base: gingham.Scenario | None = None
    printed: str = ""
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "page"})

    @property
    def skipped(self) -> list[Block]:
        """The blocks that are not run."""
        return [block for block in self.blocks if "skip" in block.marks]


def read(name: str, text: str) -> Page:
    """Return a page with its blocks and the comments before them."""
    page = Page(name, [])
    before: dict[str, str] = {}
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.type == "html_block":
            before |= {kind: reason or "" for kind, reason in MARK.findall(token.content)}
        elif token.type == "fence" and token.map:
            language = token.info.split()[0] if token.info else ""
            page.blocks.append(Block(language, token.content, token.map[0] + 2, before))
            before = {}
        page.empty = before.pop("nothing to run", page.empty)
    return page


def run(page: Page) -> None:
    """Run the blocks of a page in the current folder; an `AssertionError` gives page and line."""
    ran = 0
    for block in page.blocks:
        try:
            ran += run_block(page, block)
        except Exception as error:
            raise AssertionError(f"{page.name}:{block.line}: {error}") from error
    if page.empty is None:
        assert ran, f"{page.name}: nothing of it is run, and no comment says why"
    else:
        assert not ran, f"{page.name}: says that there is nothing to run, but there is"


def run_block(page: Page, block: Block) -> bool:
    """Run a block; return whether there was something to run."""
    if "skip" in block.marks:
        assert len(block.marks["skip"]) > 10, "a skip without a reason"
        return False
    if packages := block.marks.get("needs"):
        wanted = packages.split()
        require_programs(*(name for name, held in PACKAGES.items() if held in wanted))
    if block.file:
        Path(block.file).write_text(block.text, encoding="utf-8")
    match block.language:
        case "sh":
            page.printed = "".join(run_command(line) for line in commands(block.text))
        case "console":
            run_console(block.text)
        case "python":
            page.printed = run_python(page, block)
        case "toml":
            run_toml(page, block)
        case "text" if "output" in block.marks:
            compare(page.printed, block.text)
        case "text":
            return False
        case language:
            known = language in DIRECTIVES or (language in WRITTEN and block.file)
            assert known, f'a block of unknown language "{language}"'
            return language in WRITTEN
    return True


def commands(text: str) -> list[str]:
    """Return the commands of a block, with lines that end in a backslash joined."""
    lines = text.replace("\\\n", " ").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def run_command(line: str) -> str:
    """Run a command; return its output."""
    assert not line.startswith("cd "), "each command runs in the folder of the page"
    expected = re.search(r"#\s*exit (\d+)", line)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    finished = subprocess.run(
        ["bash", "-o", "pipefail", "-c", line],
        env={**os.environ, "PATH": path, "MPLBACKEND": "agg"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    code = int(expected[1]) if expected else 0
    assert finished.returncode == code, f"exit {finished.returncode}: {line}\n{finished.stdout}"
    return finished.stdout


def run_console(text: str) -> None:
    """Run the commands of a transcript, and compare the output of each."""
    assert text.startswith("$ "), "a console block begins with a command"
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.replace("\\\n", " ").partition("\n")
        compare(run_command(command), shown)


def compare(printed: str, shown: str) -> None:
    """Assert that the output equals the text on the page, except for `...` and progress."""
    pattern = "".join(map(pattern_of, plain_lines(shown)))
    lines = (line for line in plain_lines(printed) if not line.startswith(PROGRESS))
    plain = "".join(f"{line}\n" for line in lines)
    assert re.fullmatch(pattern, plain), f"the page shows\n{shown}\nbut it prints\n{printed}"


def plain_lines(text: str) -> list[str]:
    """Return the lines of a text with single spaces, without blank lines and rules of tables."""
    lines = (" ".join(line.replace("─", "").split()) for line in text.splitlines())
    return [line for line in lines if line]


def pattern_of(line: str) -> str:
    """Return the regular expression for a line of output on a page."""
    if line == "...":
        return r"(?:.*\n)*?"
    return ".*".join(map(re.escape, line.split("..."))) + r"\n"


def run_python(page: Page, block: Block) -> str:
    """Run a block of Python in the namespace of its page; return its output."""
    # The offset makes line numbers of tracebacks those of the page.
    code = compile("\n" * (block.line - 1) + block.text, page.name, "exec")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, page.names)  # noqa: S102
    return printed.getvalue()


def run_toml(page: Page, block: Block) -> None:
    """Check a scenario or a part of one against the schema, and simulate it briefly."""
    if is_stripe(block.text):
        run_stripe(page, block)
        return
    if not is_scenario(block.text):
        assert block.file, "neither keys of a scenario nor a file with a name"
        return
    if is_whole(block.text):
        check_schema(block.text)
        scenario = gingham.Scenario.parse(block.text, name=f"{page.name}:{block.line}")
        page.base = scenario
    else:
        scenario = completed(block.text, base=page.base)
    assert messages_of(scenario) > 0, "no message arrives"


def run_stripe(page: Page, block: Block) -> None:
    """Check a striping scenario against the schema, and run it."""
    Draft202012Validator(stripe_schema()).validate(tomllib.loads(block.text))
    scenario = stripe.StripeScenario.parse(block.text, name=f"{page.name}:{block.line}")
    assert stripe.run(scenario).summary["packets_delivered"] > 0, "no packet arrives"


def is_scenario(text: str) -> bool:
    """Return whether all keys of a TOML text are keys of a scenario."""
    return set(tomllib.loads(text)) <= set(scenario_schema()["properties"])


def is_stripe(text: str) -> bool:
    """Return whether all keys of a TOML text are keys of a striping scenario that has channels."""
    keys = set(tomllib.loads(text))
    return "channel" in keys and keys <= set(stripe_schema()["properties"])


@cache
def validator() -> Draft202012Validator:
    """Return the validator for the schema of scenarios."""
    Draft202012Validator.check_schema(scenario_schema())
    return Draft202012Validator(scenario_schema())


def check_schema(text: str) -> None:
    """Assert that a scenario is valid by the schema that editors use."""
    validator().validate(tomllib.loads(text))
