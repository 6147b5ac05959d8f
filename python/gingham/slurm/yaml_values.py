"""Values of a YAML document with their lines, read by PyYAML.

All scalars are texts, as in Slurm's reader. Features that a `topology.yaml` does not need are
rejected with the code `yaml-feature`: tags, directives, braces and block scalars, and also anchors
and aliases, because they let a short text expand to a very long one. Invalid YAML has the code
`bad-yaml`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import yaml

from gingham.errors import InputError

# Tokens of rejected features, with their names in messages.
FEATURES = {
    yaml.AnchorToken: "an anchor",
    yaml.AliasToken: "an alias",
    yaml.TagToken: "a tag",
    yaml.DirectiveToken: "a directive",
    yaml.FlowMappingStartToken: "a mapping in braces",
}
NULL = {"", "~", "null"}


@dataclass(frozen=True, slots=True)
class Value:
    """A value with the number of its first line."""

    data: str | list[Value] | dict[str, Value] | None
    line: int


def read(text: str, file: str) -> Value:
    """Return the value of the only document of a text."""
    try:
        for token in yaml.scan(text, Loader=yaml.BaseLoader):
            refuse_feature(token, file)
        node = yaml.compose(text, Loader=yaml.BaseLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        is_second = isinstance(error, yaml.composer.ComposerError)
        code = "yaml-feature" if is_second else "bad-yaml"
        refuse(file, mark.line + 1 if mark else None, code, str(error.problem or error.context))
    except (yaml.YAMLError, RecursionError) as error:
        refuse(file, None, "bad-yaml", str(error))
    return Value(None, 0) if node is None else value_of(node, file)


def refuse(file: str, line: int | None, code: str, words: str) -> NoReturn:
    """Raise the error about a line."""
    place = f"{file}:{line}" if line else file
    raise InputError(f"{place}: {words}", code=code, file=file, line=line)


def refuse_feature(token: yaml.Token, file: str) -> None:
    """Raise an error for a token of a rejected feature."""
    name = FEATURES.get(type(token))
    if isinstance(token, yaml.ScalarToken) and token.style in {"|", ">"}:
        name = "a text of several lines"
    if name:
        refuse(file, token.start_mark.line + 1, "yaml-feature", f"{name} is not read here")


def value_of(node: yaml.Node, file: str) -> Value:
    """Return a node of a document as a value."""
    line = node.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode):
        return Value([value_of(item, file) for item in node.value], line)
    if isinstance(node, yaml.MappingNode):
        fields = dict[str, Value]()
        for key, value in node.value:
            place = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                refuse(file, place, "yaml-feature", "a complex key is not read here")
            if key.value in fields:
                refuse(file, place, "bad-yaml", f"{key.value} stands twice in the mapping")
            fields[key.value] = value_of(value, file)
        return Value(fields, line)
    is_null = isinstance(node, yaml.ScalarNode) and not node.style and node.value in NULL
    return Value(None if is_null else node.value, line)
