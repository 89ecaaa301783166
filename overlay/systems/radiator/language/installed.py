"""Trusted Python functions, installed with a package that names them in the group of entry points ``waxwing.radiator``.

``python:NAME`` as the text of an aggregability names one. As in the paper, it takes two dictionaries and returns one::

    def far(s, r):
        return {"volume": distance(s["attributes"]["location"], r["attributes"]["location"])}

    far.reads = ("location",)

It must be pure. ``reads`` declares the attributes of the recipient that it reads, so that recipients with equal values
share one evaluation; without it, it may read all of them and the recipient's id.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from overlay.systems.radiator.context import Attributes
from overlay.systems.radiator.language.source import Source, did_you_mean
from overlay.systems.radiator.language.thresholds import Threshold, threshold_of

GROUP = "waxwing.radiator"
PREFIX = "python:"
Function = Callable[[Mapping[str, Any], Mapping[str, Any]], Any]


def installed_function(text: str, field: str) -> Function:
    """The function named by ``python:NAME``. Raises ``InvalidExpression``."""
    from importlib.metadata import entry_points  # 2 MB of modules, which servers without such functions do without

    name = text.removeprefix(PREFIX).strip()
    found = {point.name: point for point in entry_points(group=GROUP)}
    source = Source(field, text)
    if name not in found:
        sentence = f"no installed package has a function {name!r:.60} in the group {GROUP}{did_you_mean(name, found)}"
        raise source.error(len(PREFIX), sentence)
    try:
        function = found[name].load()
    except (ImportError, AttributeError) as error:
        raise source.error(len(PREFIX), f"{name!r:.60} cannot be imported: {error}") from None
    if not callable(function):
        raise source.error(len(PREFIX), f"{name!r:.60} is no function")
    loaded: Function = function
    return loaded


class InstalledFunction:
    """Calls the function as an aggregability; whatever it raises is a failure."""

    def __init__(self, function: Function, fail: Callable[[], Threshold], *, is_checked: bool) -> None:
        self._function = function
        self._fail = fail
        self._is_checked = is_checked

    def __call__(self, s: Attributes, people: tuple[str, ...], r: Attributes, recipient_id: str) -> Threshold:
        result = self._result(s, people, r, recipient_id)
        if self._is_checked and result != self._result(s, people, r, recipient_id):
            raise AssertionError(f"{self._function!r} is not pure: two calls gave two results")
        return self._fail() if result is None else result

    def _result(self, s: Attributes, people: tuple[str, ...], r: Attributes, recipient_id: str) -> Threshold | None:
        try:
            message = {"people": list(people), "attributes": s}
            return threshold_of(self._function(message, {"id": recipient_id, "attributes": r}))
        except Exception:  # noqa: BLE001 (the code is not ours)
            return None
