"""What a study came to: the document of ``--json`` and REST, and the command's answer as text and as Markdown. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from overlay.core.hashes import blake2b
from telemetry.studies.criteria import NOT_JUDGED
from telemetry.studies.judging import Judged, Result, Value
from telemetry.studies.study import SCALES, WAYS, Study


def digest_of(digests: Iterable[str]) -> str:
    """Of the digests of the runs, in order."""
    return blake2b("\n".join(digests).encode(), digest_size=16).hexdigest()


def document(result: Result, digest: str) -> dict[str, Any]:
    """``{study, scale, claims: [{id, quantity, value, low, high, n, published, verdict, ...}], digest, ...}``.

    First the quantities that criteria are about, then the values that are only shown, ``not judged``.
    """
    claims = [row for one in result.judged for row in _rows(one.values, one.verdict, one.claim.id)]
    shown = [row for one in result.drawn for row in _rows(one.values.values(), NOT_JUDGED, one.plot.id)]
    return {
        "study": result.study.id,
        "system": result.study.system,
        "scale": result.scale,
        "question": result.study.question,
        "seeds": result.seeds,
        "criteria": [
            {
                "id": one.claim.id,
                "claim": one.claim.claim,
                "criterion": one.claim.criterion,
                "shape": one.claim.shape,
                "written": one.claim.written,
                "verdict": one.verdict,
            }
            for one in result.judged
        ],
        "claims": [*claims, *shown],
        "sentences": list(result.study.tell(result)),
        "digest": digest,
    }


def _rows(values: Iterable[Value], verdict: str, of: str) -> Iterator[dict[str, Any]]:
    for value in values:
        yield {
            "id": value.id,
            "of": of,
            "quantity": f"{value.name} ({value.unit})",
            "unit": value.unit,
            **{name: value.found[name] for name in ("value", "low", "high", "n")},
            "published": value.published,
            "source": value.source.place if value.source else None,
            "verdict": verdict,
        }


def _said(one: Judged) -> str:
    """Its verdict, and what such a one is called in its study: *not, reversed*."""
    return f"{one.verdict}, {one.called}" if one.called else one.verdict


# ---- as text


def text(result: Result, digest: str) -> str:
    """The command's answer."""
    study = result.study
    lines = [f"{study.id}  {study.title}", study.question, ""]
    for one in result.judged:
        lines += [f"{_said(one).upper()}: {one.claim.claim}", f"  criterion: {one.claim.criterion}"]
        lines += [*(f"  {line}" for line in _table(one.values, study.way)), ""]
    for drawn in result.drawn:
        if drawn.values:
            lines += [drawn.plot.title, *(f"  {line}" for line in _table(list(drawn.values.values()), study.way)), ""]
    lines += [f"{result.scale}: {result.seeds} seeds, {WAYS[study.way]}. {_differs(study, result.scale)}".strip()]
    lines += [*study.tell(result), *study.limits, f"digest {digest}"]
    return "\n".join(lines)


def _differs(study: Study, scale: str) -> str:
    return study.quick_differs if scale == SCALES[0] else ""


def _table(values: Sequence[Value], way: str) -> Iterator[str]:
    values = [value.in_its_size() for value in values]
    width = max(len(f"{value.name} ({value.unit})") for value in values)
    yield f"{'':<{width}}  {f'{way}, 95 % interval':>32}  {'n':>3}  {'published':>10}"
    for value in values:
        name = f"{value.name} ({value.unit})"
        yield f"{name:<{width}}  {_interval(value.found):>32}  {value.found['n']:>3}  {number(value.published):>10}"


def _interval(found: Mapping[str, Any]) -> str:
    if found["low"] is None:
        return number(found["value"])
    return f"{number(found['value'])} ({number(found['low'])} to {number(found['high'])})"


# ---- as Markdown


def markdown(result: Result, digest: str) -> str:
    """A section of a page of results: what was judged, what is only shown, and the sentences."""
    study = result.study
    lines = [f"## {study.id}: {study.title}", "", study.question, ""]
    lines += [f"Scale {result.scale}, {result.seeds} seeds, {WAYS[study.way]}, digest `{digest[:8]}`.", ""]
    lines += _cells(
        ("claim", "verdict", "values, with 95 % intervals", "published"),
        [(one.claim.claim, f"**{_said(one)}**", _told(one.values), _published(one.values)) for one in result.judged],
    )
    shown = [
        (drawn.plot.title, f"{value.name} ({value.unit})", _interval(value.found), number(value.published))
        for drawn in result.drawn
        for value in (one.in_its_size() for one in drawn.values.values())
    ]
    if shown:
        lines += ["Shown, and not judged:", "", *_cells(("figure", "of", "value", "published"), shown)]
    lines += [f"- {sentence}" for sentence in study.tell(result)]
    return "\n".join(lines).rstrip()


def _cells(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table, and an empty line."""
    written = [head, ["---"] * len(head), *rows]
    escaped = ([cell.replace("|", "\\|") for cell in row] for row in written)
    return [*("| " + " | ".join(row) + " |" for row in escaped), ""]


def _told(values: Iterable[Value]) -> str:
    shown = (value.in_its_size() for value in values)
    return "; ".join(f"{value.name}: {_interval(value.found)} {value.unit}" for value in shown)


def _published(values: Iterable[Value]) -> str:
    shown = (value.in_its_size().published for value in values)
    return "; ".join(number(published) for published in shown if published is not None) or "–"


# ---- numbers


def number(value: float | None) -> str:
    """To three significant figures, whole from a hundred on."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def listed(studies: Iterable[Study]) -> str:
    """Every study in a line."""
    found = list(studies)
    if not found:
        return "No system has a study."
    width = max(len(study.id) for study in found)
    lines = (f"{study.id:<{width}}  {study.system}: {study.question}{_also(study)}" for study in found)
    return "\n".join(lines)


def _also(study: Study) -> str:
    return f" ({', '.join(study.names)})" if study.names else ""
