"""What the body of a propagation must be, written a second time from the contract."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from overlay.systems.radiator.context import Context

_CLAUSE = re.compile(r"\s*(\w+)\((\w+)\)(?: by (\S+))?\s*")


def check(aggregation: str, contexts: Sequence[Context], r: Mapping[str, Any], r_id: str, body: bytes) -> None:
    """``r`` and ``r_id`` are those of the first recipient. Messages are originals, with ``n`` = 1."""
    value = json.loads(body)
    assert body == json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
    originals = [json.loads(context.encode()) for context in contexts]
    if aggregation == "concat":
        assert value == originals
        return
    assert value["n"] == len(originals), "n does not add up"
    assert value["p"] == list(dict.fromkeys(name for one in originals for name in one["p"])), "people are no union"
    assert value["t"] == [min(one["t"][0] for one in originals), max(one["t"][1] for one in originals)]
    if aggregation != "join":
        assert value["a"] == {title: fold(title, originals, r_id) for title in titles(aggregation)}
    elif len(originals) == 1:
        assert value == originals[0], "one message alone is sent as it is"
    else:
        held = [(name, json.dumps(one)) for name, values in value["a"].items() for one in values]
        given = [(name, json.dumps(one)) for original in originals for name, one in original["a"].items()]
        assert Counter(held) == Counter(given), "a value was lost, or invented"


def titles(aggregation: str) -> list[str]:
    return [part.strip() for part in aggregation.split(";")]


def fold(title: str, originals: Sequence[Mapping[str, Any]], r_id: str) -> Any:
    """The value of one clause, such as ``sum(x)`` or ``count(people) by zone``."""
    match = _CLAUSE.fullmatch(title)
    assert match is not None
    fn, name, by = match.groups()
    groups: dict[Any, list[Any]] = {}
    for original in originals:
        if by and by != "r.id" and by not in original["a"]:
            continue
        key = r_id if by == "r.id" else original["a"][by] if by else None
        if name == "people":
            groups.setdefault(key, []).extend(original["p"])
        elif name in original["a"]:
            groups.setdefault(key, []).append(original["a"][name])
    results = {key: _RESULTS[fn](values) for key, values in groups.items()}
    return [list(pair) for pair in results.items()] if by else results.get(None, _RESULTS[fn]([]))


_RESULTS = {
    "list": list,
    "sum": lambda values: sum(values) if values else None,
    "count": lambda values: len(set(values)),
    "newest": lambda values: values[-1] if values else None,
}
