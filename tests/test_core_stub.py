"""The handwritten stub matches the names and parameters of the compiled core."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any

import gingham
from gingham import _core  # noqa: TID251

STUB = ast.parse((Path(gingham.__file__).parent / "_core.pyi").read_text())


def public(names: Any) -> list[str]:
    return sorted(name for name in names if not name.startswith("_") or name == "__version__")


def stub_functions(body: list[ast.stmt]) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in body if isinstance(node, ast.FunctionDef)}


def stub_classes() -> dict[str, ast.ClassDef]:
    return {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}


def stub_parameters(function: ast.FunctionDef) -> list[tuple[str, bool, bool]]:
    """Return name, whether keyword-only, and whether with a default, of each parameter."""
    arguments = function.args
    plain = [*arguments.posonlyargs, *arguments.args]
    with_default = len(plain) - len(arguments.defaults)
    found = [(argument.arg, False, index >= with_default) for index, argument in enumerate(plain)]
    found += [
        (argument.arg, True, default is not None)
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    return [entry for entry in found if entry[0] not in {"self", "cls"}]


def core_parameters(function: Any) -> list[tuple[str, bool, bool]]:
    return [
        (
            parameter.name,
            parameter.kind is inspect.Parameter.KEYWORD_ONLY,
            parameter.default is not inspect.Parameter.empty,
        )
        for parameter in inspect.signature(function).parameters.values()
        if parameter.name not in {"self", "cls"}
    ]


def test_names_are_the_same() -> None:
    variables = [
        node.target.id
        for node in STUB.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    ]
    in_stub = [*stub_functions(STUB.body), *stub_classes(), *variables]
    assert public(in_stub) == public(vars(_core))


def test_functions_take_the_same_parameters() -> None:
    for name, function in stub_functions(STUB.body).items():
        assert stub_parameters(function) == core_parameters(getattr(_core, name)), name


def test_classes_have_the_same_methods_with_the_same_parameters() -> None:
    for name, definition in stub_classes().items():
        core = getattr(_core, name)
        methods = stub_functions(definition.body)
        assert public(methods) == public(vars(core)), name
        constructor = methods.pop("__new__", None)
        if constructor:
            assert stub_parameters(constructor) == core_parameters(core), name
        for method, function in methods.items():
            found = inspect.getattr_static(core, method)
            if any(getattr(mark, "id", "") == "property" for mark in function.decorator_list):
                assert inspect.isgetsetdescriptor(found), method
            else:
                assert stub_parameters(function) == core_parameters(getattr(core, method)), method


def test_every_name_of_the_core_has_a_text() -> None:
    for name in public(vars(_core)):
        if name != "__version__":
            assert getattr(_core, name).__doc__, name
