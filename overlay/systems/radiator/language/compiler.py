"""Checks every node of a syntax tree, and builds a Python function in which operators are calls of ``operations``.

Names of a text become keys of dictionaries and never names of the generated code, so a text reaches nothing else.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from overlay.systems.radiator.language.operations import FAILURES, LIMIT, OPERATIONS
from overlay.systems.radiator.language.source import Source, did_you_mean
from overlay.systems.radiator.language.thresholds import KINDS, MAKERS

FUNCTIONS: Mapping[str, tuple[str, int, int]] = {
    "min": ("minimum", 2, 500),
    "max": ("maximum", 2, 500),
    "abs": ("absolute", 1, 1),
    "int": ("integer", 1, 1),
    "round": ("rounded", 1, 1),
    "len": ("length", 1, 1),
    "distance_km": ("distance_km", 2, 2),
    "distance": ("distance", 2, 2),
}
"""By name: the operation, and the smallest and largest number of arguments."""
CELL = {"cell": ("cell", 1, 1)}
FRIENDS = ("friend", "friend_of_friend")

_BINARY: Mapping[type, str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.FloorDiv: "divide_down",
    ast.Mod: "modulo",
}
_COMPARISONS: Mapping[type, str] = {
    ast.Eq: "equal",
    ast.NotEq: "unequal",
    ast.Lt: "less",
    ast.LtE: "less_or_equal",
    ast.Gt: "greater",
    ast.GtE: "greater_or_equal",
    ast.In: "is_in",
    ast.NotIn: "is_not_in",
}
_REFUSED: Mapping[type, str] = {
    ast.Lambda: "a lambda",
    ast.ListComp: "a loop",
    ast.SetComp: "a loop",
    ast.DictComp: "a loop",
    ast.GeneratorExp: "a loop",
    ast.NamedExpr: "an assignment",
    ast.JoinedStr: "a formatted string",
    ast.Subscript: "an index",
    ast.List: "a list",
    ast.Tuple: "a tuple",
    ast.Set: "a set",
    ast.Starred: "an unpacked argument",
    ast.Await: "await",
    ast.Yield: "yield",
}
_KEYWORDS = {"true": "True", "false": "False", "null": "None"}


@dataclass(frozen=True, slots=True)
class Dialect:
    """The names that a kind of text may use."""

    roots: Mapping[str, tuple[str, str]]
    """By root, such as ``r``: its name that is no attribute, such as ``id``, and the parameter with that value."""
    functions: Mapping[str, tuple[str, int, int]]
    has_friends: bool = False
    """Whether it has ``friend(s, r)`` and ``friend_of_friend(s, r)``."""
    bare: str = ""
    """The root of bare names; empty: there are none."""

    @property
    def parameters(self) -> list[str]:
        """Of the function: for each root its attributes, then its name that is no attribute."""
        return [parameter for root, (_, special) in self.roots.items() for parameter in (root, special)]


AGGREGABILITY = Dialect({"s": ("people", "s_people"), "r": ("id", "r_id")}, FUNCTIONS, has_friends=True)
GROUPING = Dialect(AGGREGABILITY.roots, {**FUNCTIONS, **CELL}, has_friends=True, bare="s")
CHAINABILITY = Dialect({"a": ("id", "a_id"), "b": ("id", "b_id")}, FUNCTIONS)


@dataclass
class Code:
    """A checked text, as Python."""

    tree: ast.expr
    dialect: Dialect
    constants: Mapping[str, Any]
    reads: frozenset[tuple[str, str]]
    """``(root, name)`` of all attributes that it may read; ``("r", "")`` for ``r.id``."""

    def function(self, fail: Callable[[], Any]) -> Callable[..., Any]:
        """The function of ``dialect.parameters``, which returns ``fail()`` for a failure."""
        head = f"def function({', '.join(self.dialect.parameters)}):"
        module = ast.parse(f"{head}\n try:\n  return 0\n except FAILURES:\n  return fail()")
        definition = module.body[0]
        assert isinstance(definition, ast.FunctionDef) and isinstance(definition.body[0], ast.Try)
        returned = definition.body[0].body[0]
        assert isinstance(returned, ast.Return)
        returned.value = self.tree
        names = {"__builtins__": {}, "FAILURES": FAILURES, "fail": fail, **OPERATIONS, **MAKERS, **self.constants}
        exec(compile(ast.fix_missing_locations(module), "<expression>", "exec"), names)  # noqa: S102 (checked nodes)
        function: Callable[..., Any] = names["function"]
        return function


def compile_value(source: Source, dialect: Dialect) -> Code:
    """A text whose result is a value. Raises ``InvalidExpression``."""
    compiler = _Compiler(source, dialect)
    return compiler.code(compiler.value(source.parse()))


def compile_threshold(source: Source, dialect: Dialect) -> Code:
    """A text whose result is a threshold. Raises ``InvalidExpression``."""
    compiler = _Compiler(source, dialect)
    return compiler.code(compiler.threshold(source.parse()))


@dataclass
class _Compiler:
    source: Source
    dialect: Dialect
    reads: set[tuple[str, str]] = field(default_factory=set)
    constants: dict[str, Any] = field(default_factory=dict)
    temporaries: int = 0

    def code(self, tree: ast.expr) -> Code:
        return Code(tree, self.dialect, self.constants, frozenset(self.reads))

    # ---- thresholds

    def threshold(self, node: ast.expr) -> ast.expr:
        """``{kind: value}``, or a conditional of thresholds."""
        if isinstance(node, ast.IfExp):
            return ast.IfExp(self.value(node.test), self.threshold(node.body), self.threshold(node.orelse))
        if not isinstance(node, ast.Dict):
            raise self.source.at(node, "a threshold is expected here, such as {volume: 5}")
        if len(node.keys) != 1 or node.keys[0] is None:
            raise self.source.at(node, f"a threshold has exactly one of {', '.join(KINDS)}")
        kind, value = self._kind(node.keys[0]), self.value(node.values[0])
        if not isinstance(value, ast.Constant):
            return _call(kind, value)
        if isinstance(value.value, bool) or not isinstance(value.value, int | float):
            raise self.source.at(node.values[0], "a threshold's value is a number")
        if abs(value.value) > LIMIT:
            raise self.source.at(node.values[0], "a threshold is at most 2^63")
        name = f"constant_{len(self.constants)}"
        self.constants[name] = MAKERS[kind](value.value)
        return _name(name)

    def _kind(self, node: ast.expr) -> str:
        kind = node.id if isinstance(node, ast.Name) else node.value if isinstance(node, ast.Constant) else None
        if kind == "users":
            raise self.source.at(node, "users are called people here")
        if kind not in KINDS:
            raise self.source.at(node, f"a threshold is one of {', '.join(KINDS)}{did_you_mean(str(kind), KINDS)}")
        return str(kind)

    # ---- values

    def value(self, node: ast.expr) -> ast.expr:
        match node:
            case ast.Constant():
                return self._constant(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Name():
                return self._bare(node)
            case ast.Call():
                return self._call(node)
            case ast.IfExp():
                return ast.IfExp(self.value(node.test), self.value(node.body), self.value(node.orelse))
            case ast.BoolOp():
                return ast.BoolOp(node.op, [self.value(one) for one in node.values])
            case ast.Compare():
                return self._comparison(node)
            case ast.UnaryOp():
                return self._unary(node)
            case ast.BinOp() if type(node.op) in _BINARY:
                return _call(_BINARY[type(node.op)], self.value(node.left), self.value(node.right))
            case ast.BinOp():
                raise self.source.at(node, "this operator is not part of the language; the operators are + - * / // %")
            case ast.Dict():
                raise self.source.at(node, "a threshold stands only at the ends of conditionals")
        raise self.source.at(node, f"{_REFUSED.get(type(node), 'this')} is not part of the language")

    def _constant(self, node: ast.Constant) -> ast.expr:
        value = node.value
        if type(value) is int and abs(value) > LIMIT:
            raise self.source.at(node, "an integer is at most 2^63")
        if type(value) is float and not isfinite(value):
            raise self.source.at(node, "this number is not finite")
        if type(value) not in (int, float, str, bool, type(None)):
            raise self.source.at(node, "a constant is a number, a string, True, False or None")
        return ast.Constant(value)

    def _attribute(self, node: ast.Attribute) -> ast.expr:
        if not isinstance(node.value, ast.Name) or node.value.id not in self.dialect.roots:
            examples = " or ".join(f"{root}.{node.attr}" for root in self.dialect.roots)
            raise self.source.at(node.value, f"a dot follows only a message or client; write {examples}")
        return self._read(node.value.id, node.attr)

    def _read(self, root: str, name: str) -> ast.expr:
        special, parameter = self.dialect.roots[root]
        if name == special:
            self.reads.add((root, ""))
            return _name(parameter)
        self.reads.add((root, name))
        return ast.Subscript(_name(root), ast.Constant(name), ast.Load())

    def _bare(self, node: ast.Name) -> ast.expr:
        name, roots = node.id, self.dialect.roots
        if name in roots:
            raise self.source.at(node, f"{name} alone is no value; write {name}.NAME")
        if name in self.dialect.functions or (self.dialect.has_friends and name in FRIENDS):
            raise self.source.at(node, f"{name} is a function; write {name}(…)")
        if self.dialect.bare:
            return self._read(self.dialect.bare, name)
        if name in _KEYWORDS:
            raise self.source.at(node, f"write {_KEYWORDS[name]}")
        raise self.source.at(
            node, f"{name!r:.60} is unknown; write {' or '.join(f'{root}.{name:.40}' for root in roots)}"
        )

    def _call(self, node: ast.Call) -> ast.expr:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if self.dialect.has_friends and name in FRIENDS:
            return self._friends(node, name)
        known = (*self.dialect.functions, *(FRIENDS if self.dialect.has_friends else ()))
        if name not in self.dialect.functions:
            what = f"{name!r:.60} is no function of the language" if name else "only named functions can be called"
            raise self.source.at(node.func, f"{what}{did_you_mean(name, known)}")
        if node.keywords:
            raise self.source.at(node.keywords[0].value, f"{name} takes no named arguments")
        operation, fewest, most = self.dialect.functions[name]
        if not fewest <= len(node.args) <= most:
            expected = "two or more arguments" if most > fewest else ("one argument", "two arguments")[fewest - 1]
            raise self.source.at(node, f"{name} takes {expected}, not {len(node.args)}")
        return _call(operation, *map(self.value, node.args))

    def _friends(self, node: ast.Call, name: str) -> ast.expr:
        names = [argument.id if isinstance(argument, ast.Name) else "" for argument in node.args]
        if names != ["s", "r"] or node.keywords:
            raise self.source.at(node, f"write {name}(s, r)")
        self.reads.add(("r", "friends"))
        return _call(name, _name("s_people" if name == "friend" else "s"), _name("r"))

    def _comparison(self, node: ast.Compare) -> ast.expr:
        """``a < b < c`` is ``less(a, (t := b)) and less(t, c)``: each operand is evaluated once."""
        left, parts = self.value(node.left), list[ast.expr]()
        for operator, operand in zip(node.ops, node.comparators, strict=True):
            if type(operator) not in _COMPARISONS:
                raise self.source.at(operand, "is is not part of the language; write == or !=")
            right = self.value(operand)
            if operand is node.comparators[-1]:
                parts.append(_call(_COMPARISONS[type(operator)], left, right))
                break
            self.temporaries += 1
            name = f"operand_{self.temporaries}"
            stored = ast.NamedExpr(ast.Name(name, ast.Store()), right)
            parts.append(_call(_COMPARISONS[type(operator)], left, stored))
            left = _name(name)
        return parts[0] if len(parts) == 1 else ast.BoolOp(ast.And(), parts)

    def _unary(self, node: ast.UnaryOp) -> ast.expr:
        operand = self.value(node.operand)
        match node.op:
            case ast.Not():
                return ast.UnaryOp(node.op, operand)
            case ast.USub() if isinstance(operand, ast.Constant) and isinstance(operand.value, int | float):
                return _call("negative", operand) if isinstance(operand.value, bool) else ast.Constant(-operand.value)
            case ast.USub():
                return _call("negative", operand)
            case ast.UAdd():
                return _call("checked", operand)
        raise self.source.at(node, "~ is not part of the language")


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(_name(name), list(arguments), [])
