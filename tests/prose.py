"""Counts habits of unclear prose: `python -m tests.prose`, a step of `make lint`.

::

    comments of crates ┐
    messages           ├─► words, habits ──► habits per 1,000 words of each area, against LIMITS
    docstrings, pages  │
    commits of a branch┘

A habit is a phrase that names a thing by a clause, or that describes software as a person that
speaks and hears: `HABITS` has the patterns. A match is a candidate and can be good English, so
limits are above zero. An area must stay at or below its limit in `tests/prose.toml`. A limit far
above its area is reported, to be lowered.

`python -m tests.prose PATH...` lists the matches in files or folders.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
LIMITS = ROOT / "tests" / "prose.toml"
# Base branches: commits of the present branch are counted from the first one that exists.
BASES = ("origin/main", "main")
SUBJECT = re.compile(r"[\w./*, -]+: .+")
SUBJECT_MAX = 72
# A limit is to be lowered once its area is below it by this much.
SLACK = 1.0

_VERBS = "is|are|was|were|has|have|had|goes|comes|came|went|stands|waits|moves|holds|can|may"
_NOUNS = "each|it|they|a|the|others|hosts|switches"
_CONDITIONS = (
    "it|there|that|they|none|nobody|nothing|somebody|any|a|the|one|all|something|packets|what|some"
)
HABITS = {
    "clause as a noun": rf"\b[Ww]hat (?:{_VERBS}|{_NOUNS})\b",
    "person for software": r"\b(?:[Ww]ho(?:ever)?|[Nn]obody|[Ss]omebody)\b",
    "degree without measure": r"\b[Ss]o (?:many|much|long|late|often)\b(?! (?:that|as)\b)",
    "where for if": rf"(?:^|[,;.] )[Ww]here (?:{_CONDITIONS})\b",
    "preposition before which": r"\b(?:of|in|by|at|on|from|to|with|for|over|under) "
    r"(?:which|whom|what)\b",
    "speech of software": r"\b(?:told|tells|tell|said|says)\b",
    "is no": r"\b(?:is|are|was) no \w+",
    "sentence by reference": r"(?:^|\. )The same\b",
}
PATTERNS = {name: re.compile(pattern, re.MULTILINE) for name, pattern in HABITS.items()}
WORD = re.compile(r"[A-Za-z][A-Za-z'-]+")


class Text(NamedTuple):
    """A block of prose and its place."""

    path: str
    line: int
    text: str


class Match(NamedTuple):
    """A habit in a block of prose."""

    habit: str
    words: str


def matches(text: str) -> Iterator[Match]:
    """Yield the habits in a text."""
    for habit, pattern in PATTERNS.items():
        for found in pattern.finditer(text):
            yield Match(habit, found.group().strip(" ,;.\n"))


def rust_comments(path: Path) -> Iterator[Text]:
    """Yield the blocks of adjacent comment lines of a Rust file."""
    block: list[str] = []
    for number, line in enumerate([*path.read_text().splitlines(), ""], 1):
        comment = re.match(r"\s*//[/!]?\s?(.*)", line)
        if comment:
            block.append(comment[1])
        elif block:
            yield Text(str(path), number - len(block), " ".join(block))
            block = []


def rust_messages(path: Path) -> Iterator[Text]:
    """Yield the string literals of a Rust file that read as sentences, except in its tests."""
    code = re.sub(r"(?m)^\s*//.*$", "", path.read_text().split("#[cfg(test)]")[0])
    for literal in re.finditer(r'"((?:[^"\\]|\\.){25,})"', code, re.DOTALL):
        text = re.sub(r"\\\n\s*", "", literal[1])
        before = code[max(0, literal.start() - 30) : literal.start()]
        is_for_developers = "expect(" in before or "reason =" in before
        if "\n" not in text and re.search("[a-z] [a-z]", text) and not is_for_developers:
            yield Text(str(path), code.count("\n", 0, literal.start()) + 1, text)


def python_prose(path: Path) -> Iterator[Text]:
    """Yield the docstrings and comments of a Python file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield Text(str(path), getattr(node, "lineno", 1), text)
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type == tokenize.COMMENT:
                yield Text(str(path), token.start[0], token.string.lstrip("# "))


def page(path: Path) -> Iterator[Text]:
    """Yield the paragraphs of a page of Markdown, without blocks of code."""
    text = re.sub(r"(?ms)^```.*?^```", lambda code: "\n" * code[0].count("\n"), path.read_text())
    line = 1
    for paragraph in re.split(r"(\n\s*\n)", text):
        if paragraph.strip():
            yield Text(str(path), line, paragraph)
        line += paragraph.count("\n")


def git(*arguments: str) -> str | None:
    """Return the output of a git command; `None` if it fails, for instance outside a repository."""
    done = subprocess.run(
        ["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False
    )
    return done.stdout if done.returncode == 0 else None


def subjects() -> Iterator[Text]:
    """Yield the subjects of the commits of this branch that are on no base, newest first."""
    exist = (base for base in BASES if git("rev-parse", "--verify", "--quiet", base) is not None)
    base = next(exist, "HEAD")
    for line in (git("log", "--no-merges", "--format=%h %s", f"{base}..HEAD") or "").splitlines():
        commit, _, subject = line.partition(" ")
        yield Text(commit, 1, subject)


def texts(path: Path) -> Iterator[Text]:
    """Yield all prose of a file or folder."""
    if path.is_dir():
        for suffix in ("rs", "py", "md"):
            for file in sorted(path.rglob(f"*.{suffix}")):
                yield from texts(file)
    elif path.suffix == ".rs":
        yield from rust_comments(path)
    elif path.suffix == ".py":
        yield from python_prose(path)
    elif path.suffix == ".md":
        yield from page(path)


def areas() -> Iterator[tuple[str, Iterable[Text]]]:
    """Yield the areas that have limits, each with its prose."""
    for manifest in sorted(ROOT.glob("crates/**/Cargo.toml")):
        sources = sorted((manifest.parent / "src").rglob("*.rs"))
        yield manifest.parent.name, (text for file in sources for text in rust_comments(file))
    sources = sorted(ROOT.glob("crates/**/src/**/*.rs"))
    yield "messages", (text for file in sources for text in rust_messages(file))
    for folder in ("python", "studies", "tests"):
        yield folder, (text for text in texts(ROOT / folder) if text.path.endswith(".py"))
    for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        yield name, page(ROOT / name)
    for name in ("adr", "concepts", "how-to", "reference", "studies"):
        yield f"docs/{name}", texts(ROOT / "docs" / name)
    yield "commits", subjects()


def density(found: Iterable[Text]) -> float:
    """Return the habits per 1,000 words of some texts."""
    words = habits = 0
    for one in found:
        words += len(WORD.findall(one.text))
        habits += sum(1 for _ in matches(one.text))
    return 1000 * habits / words if words else 0.0


def faults_of_subjects() -> Iterator[str]:
    """Yield faults in the form of the subjects of this branch's commits."""
    for commit, _, subject in subjects():
        if len(subject) > SUBJECT_MAX:
            yield f"{commit}: a subject of {len(subject)} characters, at most {SUBJECT_MAX}"
        if not SUBJECT.fullmatch(subject):
            yield f"{commit}: a subject without its area: {subject}"


def check() -> int:
    """Print each area beside its limit; return 1 if one is above it."""
    limits: dict[str, float] = tomllib.loads(LIMITS.read_text())["limits"]
    status = 0
    for name, found in areas():
        measured = density(found)
        limit = limits.pop(name, 0.0)
        verdict = ""
        if measured > limit:
            verdict, status = "above its limit", 1
        elif measured < limit - SLACK:
            verdict = "below: lower the limit"
        line = f"{name:16} {measured:5.1f} of {limit:4.1f} per 1,000 words  {verdict}".rstrip()
        sys.stdout.write(f"{line}\n")
    for name in limits:
        sys.stderr.write(f"{LIMITS}: no area is called {name}\n")
        status = 1
    for fault in faults_of_subjects():
        sys.stderr.write(f"{fault}\n")
        status = 1
    return status


def main(arguments: list[str]) -> int:
    """Check all areas, or list the matches in the files and folders named."""
    if not arguments:
        return check()
    for argument in arguments:
        for path, line, text in texts(Path(argument)):
            for habit, words in matches(text):
                sys.stdout.write(f"{path}:{line}: {habit}: {words}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
