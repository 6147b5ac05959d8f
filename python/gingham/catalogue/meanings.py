"""Meanings of the numbers in results, from the schemas of their types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gingham._native import result_schema, stripe_result_schema
from gingham.catalogue import markdown
from gingham.catalogue.markdown import one_line
from gingham.errors import CODES, EXIT_CODES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Schema = dict[str, Any]

# Exit code of `gingham run` by verdict; 0 for the others.
VERDICT_EXITS = {
    "not-converged": "0; 4 under `--strict`, also of one class",
    "interrupted": "130",
    "deadlocked": "3",
}

HEAD = """# The numbers of a result

<!-- nothing to run: tables; the pages that explain results run their code -->

Made from the types that hold the numbers (`gingham.catalogue.meanings`); a test holds the two
together. `gingham run SCENARIO --json` prints the summary, `-o FOLDER` writes it with the
tables, and `gingham.load_result(FOLDER)` gives both back: `result.summary`, `result.classes`,
`result.table(name)`.

Names end in their unit. A half-width is that of the 95 % interval; what is unknown is `null` in
the summary. In a table it is NaN, or null in a column of integers or texts.
"""

STRIPE_HEAD = """# The numbers of a striping result

<!-- nothing to run: tables; the pages that explain results run their code -->

Made from the types that hold the numbers (`gingham.catalogue.meanings`); a test holds the two
together. `gingham stripe SCENARIO --json` prints the summary, `-o FOLDER` writes it with the
tables, and `gingham.stripe.load_result(FOLDER)` gives both back: `result.summary`,
`result.channels`, `result.sources`, `result.table(name)`.

Names end in their unit. A half-width is that of the 95 % interval; what is unknown is `null` in
the summary. In a table it is NaN, or null in a column of integers or texts. Packets are
numbered from 1 in the order in which they were sent.
"""

TABLES = """Each is a Parquet file of the run folder and an Arrow table in Python, where every
field carries `meaning` and `unit` as metadata. A unit of 1 is a plain fraction; texts and running
numbers have none. `.to_pandas()` makes a data frame where pandas is installed (the extra `pandas`).
"""


@dataclass(frozen=True)
class Number:
    """A verdict, a field of the summary, a table, or a column of one."""

    name: str
    # Location, such as "table links"; for a table itself, "table".
    place: str
    unit: str
    meaning: str


def every_number() -> Iterator[Number]:
    """Yield all fields, verdicts, tables and columns of results, those of striping last."""
    for schema, of in ((result_schema(), ""), (stripe_result_schema(), "striping: ")):
        yield from dict.fromkeys(numbers_of(schema["summary"], f"{of}summary"))
        for table in schema["tables"]:
            held = ", ".join(column["name"] for column in table["columns"])
            meaning = f"{table['meaning']}; columns are {held}"
            yield Number(table["name"], f"{of}table", "", meaning)
            for column in table["columns"]:
                place = f"{of}table {table['name']}"
                yield Number(column["name"], place, column["unit"], column["meaning"])


def numbers_of(schema: Schema, place: str) -> Iterator[Number]:
    """Yield the fields of an object and of the objects in it, and the verdicts."""
    for name, field in schema["properties"].items():
        yield Number(name, place, "", text(field))
        for one in field.get("oneOf", []):
            yield Number(one["const"], f"{place.partition(', ')[0]}, {name}", "", text(one))
        inner = field.get("items", field)
        if "properties" in inner:
            yield from numbers_of(inner, f"{place}, {name}")


def page() -> str:
    """Return the reference page of results, in Markdown."""
    return "\n".join(
        [
            HEAD,
            *verdicts(),
            *exit_codes(),
            *error_codes(),
            *summary(),
            *tables(result_schema()["tables"]),
        ]
    )


def stripe_page() -> str:
    """Return the reference page of striping results, in Markdown."""
    schema = stripe_result_schema()
    lines = [*stripe_verdicts(schema["summary"]), *stripe_summary(schema["summary"])]
    return "\n".join([STRIPE_HEAD, *lines, *tables(schema["tables"])])


def stripe_verdicts(schema: Schema) -> Iterator[str]:
    """Yield the section on the verdicts of striping runs."""
    found = schema["properties"]["verdict"]["oneOf"]
    exits = {"interrupted": "130", "ok": "0"}
    rows = [
        (f"`{one['const']}`", text(one), exits.get(one["const"], "0; 4 under `--strict`"))
        for one in found
    ]
    yield from ["## Verdicts", ""]
    yield from markdown.table(["verdict", "meaning", "exit code"], rows)


def stripe_summary(schema: Schema) -> Iterator[str]:
    """Yield the fields of the summary of a striping run."""
    properties = schema["properties"]
    yield from ["## The summary", ""]
    yield from fields(properties)
    for part, what in (("channels", "channel"), ("sources", "source")):
        yield from [f"### `{part}`: each {what}", ""]
        yield from fields(properties[part]["items"]["properties"])
    yield from ["### `percentiles`: each percentile", ""]
    yield from fields(properties["percentiles"]["items"]["properties"])


def verdicts() -> Iterator[str]:
    """Yield the section on verdicts, with the exit code of each."""
    schema = result_schema()["summary"]["properties"]["verdict"]
    rows = [
        (f"`{name}`", text(one), VERDICT_EXITS.get(name, "0"))
        for one in schema["oneOf"]
        for name in [one["const"]]
    ]
    yield from ["## Verdicts", ""]
    yield "What a result is worth, from best to worst. A run has the worst verdict of its classes,"
    yield "or the one of what ended it early; `verdict_reason` says why, and what to do next."
    yield ""
    yield from markdown.table(["verdict", "meaning", "exit code"], rows)


def exit_codes() -> Iterator[str]:
    """Yield the section on exit codes."""
    rows = [(str(code), meaning) for code, meaning in EXIT_CODES.items()]
    yield from ["## Exit codes", "", "Of every command.", ""]
    yield from markdown.table(["code", "meaning"], rows)


def error_codes() -> Iterator[str]:
    """Yield the general codes of errors with `--json`."""
    rows = [(f"`{code}`", meaning) for code, meaning in CODES.items()]
    yield from ["## Codes of errors", ""]
    yield "With `--json` each error has a stable `code`. These are general; particular ones,"
    yield "such as `file-truncated`, stand on the pages of their commands."
    yield ""
    yield from markdown.table(["code", "meaning"], rows)


def summary() -> Iterator[str]:
    """Yield the fields of the summary."""
    schema = result_schema()["summary"]
    properties = schema["properties"]
    one_class = properties["classes"]["items"]
    yield from ["## The summary", ""]
    yield from fields(properties)
    yield from ["### `classes`: each class", "", text(one_class), ""]
    yield from fields(one_class["properties"])
    yield from ["### `classes`, `percentiles`: each percentile", ""]
    yield from fields(one_class["properties"]["percentiles"]["items"]["properties"])
    yield from ["### `draws`: each value that is drawn once a run", ""]
    yield from fields(properties["draws"]["items"]["properties"])
    yield from ["### `links`: sums over all links", ""]
    yield from fields(properties["links"]["properties"])
    yield from ["### `in_transit`: sums over all in-transit hosts", ""]
    yield from fields(properties["in_transit"]["properties"])


def fields(properties: Schema) -> Iterator[str]:
    """Yield the fields of an object."""
    rows = [(f"`{name}`", text(field)) for name, field in properties.items()]
    yield from markdown.table(["field", "meaning"], rows)


def tables(found: Iterable[Schema]) -> Iterator[str]:
    """Yield the columns of every table."""
    yield from ["## Tables", "", TABLES]
    for table in found:
        yield from [f"### `{table['name']}`", "", sentence(table["meaning"]), ""]
        rows = [
            (f"`{column['name']}`", column["type"], column["unit"], column["meaning"])
            for column in table["columns"]
        ]
        yield from markdown.table(["column", "type", "unit", "meaning"], rows)


def text(schema: Schema) -> str:
    """Return the description of a schema in one line."""
    return one_line(schema["description"])


def sentence(meaning: str) -> str:
    """Return a meaning as a sentence."""
    return meaning[:1].upper() + meaning[1:] + "."
