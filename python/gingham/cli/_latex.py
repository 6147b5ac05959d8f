r"""Tables of LaTeX, in the style of the package booktabs.

::

    load & accepted load    \toprule, \midrule, \bottomrule; no vertical lines
    0.1  & 0.099 ± 0.002    a column and its half-width are one number, aligned at the sign
    0.2  & 0.20  ± 0.01     numbers are right-aligned, texts left-aligned
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gingham._texts import half_width_of, plain_number, with_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

# Special characters of LaTeX and their escapes.
ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "±": r"$\pm$",
        "µ": r"$\mu$",
        # Control characters, and line and paragraph separators.
        **dict.fromkeys((*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029), " "),
    }
)
MISSING = "--"
PLUS_MINUS = r"r@{${}\pm{}$}l"


@dataclass(frozen=True)
class Column:
    """A column of the table, made from one or two columns of the result."""

    name: str
    # Name of the column of half-widths, if there is one.
    half_width: str | None
    is_number: bool

    @property
    def alignment(self) -> str:
        """Column specification for the preamble of the table."""
        if self.half_width:
            return PLUS_MINUS
        return "r" if self.is_number else "l"

    @property
    def heading(self) -> str:
        """Heading of the column, which spans both cells of a number with its interval."""
        name = escaped(self.name)
        if self.half_width:
            return rf"\multicolumn{{2}}{{c}}{{{name}}}"
        return rf"\multicolumn{{1}}{{r}}{{{name}}}" if self.is_number else name

    def cell(self, row: Mapping[str, Any]) -> str:
        """Return the text of a row in this column."""
        value = row[self.name]
        if self.half_width:
            return number_with_interval(value, row[self.half_width])
        if value is None:
            return MISSING
        if isinstance(value, float):
            return with_power(plain_number(value)) if math.isfinite(value) else MISSING
        return escaped(str(value))


def latex_table(answer: pa.Table) -> str:
    """Return the result of a query as a LaTeX table."""
    columns = columns_of(answer)
    rows = [[column.cell(row) for column in columns] for row in answer.to_pylist()]
    lines = [
        "% needs \\usepackage{booktabs}",
        rf"\begin{{tabular}}{{{''.join(column.alignment for column in columns)}}}",
        r"\toprule",
        line_of([column.heading for column in columns]),
        r"\midrule",
        *map(line_of, rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def line_of(cells: Sequence[str]) -> str:
    """Return a row of the table.

    A bracket or star at the start of a row is protected: LaTeX would read it as an argument of the
    rule or of the end of the row above.
    """
    guard = "{}" if cells[0].startswith(("[", "*")) else ""
    return guard + " & ".join(cells) + r" \\"


def columns_of(answer: pa.Table) -> list[Column]:
    """Return the columns to print; each half-width is merged into the column of its mean."""
    import pyarrow as pa

    numeric = {
        field.name
        for field in answer.schema
        if pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
    }
    names = answer.column_names
    pairs = {name: half for name in names if (half := half_width_in(name, numeric))}
    return [
        Column(name, pairs.get(name), name in numeric)
        for name in names
        if name not in pairs.values()
    ]


def half_width_in(name: str, numeric: set[str]) -> str | None:
    """Return the name of the half-width column of a column, if the result has one."""
    wanted = "half_width" if name in {"mean", "difference"} else half_width_of(name)
    return wanted if {name, wanted} <= numeric else None


def number_with_interval(value: float | None, half_width: float | None) -> str:
    """Return the two cells of a number with its interval.

    >>> number_with_interval(1234.5, 12.0), number_with_interval(2.0, None)
    ('1234 & 12', '2 & ?')
    """
    if value is None or not math.isfinite(value):
        return rf"\multicolumn{{2}}{{c}}{{{MISSING}}}"
    text = with_interval(value, half_width).replace(",", "")
    if text.startswith("("):
        # A number below 1e-4 shares one exponent with its interval, which no alignment can split.
        inner, _, power = text[1:].partition(")e")
        both = inner.replace("±", r"\pm")
        return rf"\multicolumn{{2}}{{c}}{{$({both}) \cdot 10^{{{power}}}$}}"
    mean, half = text.split(" ± ")
    return f"{signed(mean)} & {half}"


def signed(text: str) -> str:
    """Return a number with a minus sign instead of a hyphen."""
    return f"$-${text[1:]}" if text.startswith("-") else text


def with_power(text: str) -> str:
    """Return a number in LaTeX notation.

    >>> with_power("-1e-05"), with_power("0.25")
    ('$-1 \\\\cdot 10^{-5}$', '0.25')
    """
    mantissa, _, power = text.partition("e")
    return rf"${mantissa} \cdot 10^{{{int(power)}}}$" if power else signed(text)


def escaped(text: str) -> str:
    """Return a text with the special characters of LaTeX escaped.

    >>> escaped("50 % of up_down & more")
    '50 \\\\% of up\\\\_down \\\\& more'
    """
    return text.translate(ESCAPES)
