"""The claims, their criteria and, where the matrix was run, how they came out."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from telemetry.lake.runs import Lake, read_manifest
from telemetry.systems.context_broker.claims.criteria import (
    CLAIMS,
    CUT,
    REVISED,
    WRITTEN,
    Claim,
    Interval,
    Verdict,
    changes_nothing,
    effect_of_cut,
    evaluate,
)
from telemetry.systems.context_broker.claims.matrix import LONG, LONG_S, RARE, SHORT, SHORT_S, Found, found_in

SPECS = {
    SHORT: "docs/examples/published-matrix.yaml",
    LONG: "docs/examples/published-anchors.yaml",
    RARE: "docs/examples/published-rare.yaml",
}
LAKES = {part: Path("var/sweeps") / Path(spec).stem / "lake" for part, spec in SPECS.items()}
"""Where ``python -m telemetry sweep`` puts the runs of those."""


def add_flags(command: ArgumentParser) -> None:
    said = "directory of collected runs (default: %(default)s)"
    command.add_argument("--lake", type=Path, default=LAKES[SHORT], help=said)
    command.add_argument("--long-lake", type=Path, default=LAKES[LONG], help=f"of the runs of 900 s, {said}")
    command.add_argument("--rare-lake", type=Path, default=LAKES[RARE], help=f"of the runs of rare data, {said}")
    command.add_argument("--out", type=Path, default=Path("docs/claims.md"), help="the page (default: docs/claims.md)")
    command.add_argument("--engine", default="simulated", help="runs of this engine (default: simulated)")


def write(given: Namespace, now: datetime) -> Path:
    """Judge the runs that the lakes have; the page. Raises ``TelemetryError`` for a manifest that is damaged."""
    lakes = {SHORT: given.lake, LONG: given.long_lake, RARE: given.rare_lake}
    parts = {part: collected(Lake(lake), given.engine, part) for part, lake in lakes.items()}
    given.out.write_text(page(parts[SHORT], parts[LONG], parts[RARE], now, given.engine), encoding="utf-8")
    out: Path = given.out
    return out


def collected(lake: Lake, engine: str, part: str) -> list[Found]:
    """The collected runs that are of this part of the matrix, one of each configuration and seed."""
    kept: dict[tuple[int, int], Found] = {}
    for path in sorted((lake.directory / "manifests").glob("run=*/manifest.json")):
        manifest = read_manifest(path)
        summary = manifest.get("summary")
        if not summary or manifest.get("engine") != engine:
            continue
        if (found := found_in(summary, manifest)) and found[0] == part:
            kept[found[1].config, found[1].seed] = found[1]
    return list(kept.values())


def page(found: Sequence[Found], long: Sequence[Found], rare: Sequence[Found], now: datetime, engine: str) -> str:
    """The page as Markdown; ``long`` are the runs of 900 s, ``rare`` those with the data on one broker."""
    verdicts = evaluate(found, rare)
    seeds, configurations = {one.seed for one in found}, {one.config for one in found}
    if found:
        how = (
            f"Judged {now.date().isoformat()} by {len(found):,} {engine} runs: {len(configurations)} of the 251 "
            f"configurations, {len(seeds)} seed{'s' if len(seeds) > 1 else ''}."
        )
    else:
        how = f"Nothing has been judged yet: there are no {engine} runs of the matrix."
    parts = [
        "# The published claims, and when they count as reproduced",
        f"The criteria were written on {WRITTEN}, before any configuration of the matrix had been run, but for those "
        "that say otherwise; they are data in `telemetry/systems/context_broker/claims/criteria.py`, from which this "
        "page is made (`python -m "
        f"telemetry claims`). {how} The runs are those of {_link(SHORT)}, and where data are rare of {_link(RARE)}.",
        "*Reproduced*: the criterion holds for the whole 95 % interval over seeds. *Shape only*: it holds for no part "
        "of it, and what stands behind that word for the whole. *Not*: neither holds for any part. *Inconclusive*: the "
        "interval neither shows nor refutes it. *Not known*: runs are missing, or there is one seed only.",
        "A figure is the geometric mean of a ratio over seeds, its interval Student's t on the logarithm. That, and "
        f"the word *inconclusive*, are of {REVISED}, after the runs of 2026-11-22 had been looked at; no bound was "
        "moved.",
        "Response times are means over requests answered, from the intended sending"
        + (", simulated with the service times of one calibrated machine" if engine == "simulated" else "")
        + "; memory is "
        + ("modelled from what was measured of forked brokers (PSS)." if engine == "simulated" else "measured (PSS).")
        + " Ratios and directions can be compared with the thesis' twenty machines, microseconds cannot. Nothing was "
        "fitted to the table.",
        _summary(verdicts),
        *(part for claim, verdict in zip(CLAIMS, verdicts, strict=True) for part in _claim(claim, verdict)),
        *_cut(effect_of_cut(found, long)),
    ]
    return "\n\n".join(parts) + "\n"


def _summary(verdicts: Iterable[Verdict]) -> str:
    rows = [(claim.claim, f"**{verdict.verdict}**") for claim, verdict in zip(CLAIMS, verdicts, strict=True)]
    return _table(("claim", "verdict"), rows)


def _claim(claim: Claim, verdict: Verdict) -> Iterator[str]:
    yield f"## {claim.claim}"
    if claim.written != WRITTEN:
        yield f"Written {claim.written}."
    yield f"Reproduced: {claim.criterion}\n\nShape only: {claim.shape}\n\nVerdict: **{verdict.verdict}**."
    names = list(dict.fromkeys([*verdict.figures, *verdict.published]))
    rows = [
        (
            name,
            _figure(verdict.figures.get(name)),
            f"{verdict.published[name]:.2f}" if name in verdict.published else "–",
        )
        for name in names
    ]
    if rows:  # of what the table has nothing of, there are only our own
        yield _table(("", "ours, 95 % interval over seeds", "Table B.1 (n = 1)"), rows)


def _cut(ratios: Mapping[int, Interval]) -> Iterator[str]:
    yield f"## Does measuring for {SHORT_S:.0f} s instead of {LONG_S:.0f} change anything?"
    yield (
        f"Nothing, where the 95 % interval of mean response time at {LONG_S:.0f} s / at {SHORT_S:.0f} s, paired by "
        f"seed, is from {1 - CUT:.2f} to {1 + CUT:.2f}; something, where no part of it is. The runs are those of "
        f"{_link(LONG)}."
    )
    if not ratios:
        yield "There are no such runs yet."
        return
    words = {True: "nothing", False: "**something**", None: "inconclusive"}
    rows = [(str(config), _figure(ratio), words[changes_nothing(ratio)]) for config, ratio in ratios.items()]
    yield _table(("configuration of Table B.1", "ratio, 95 % interval", "it changes"), rows)


def _link(part: str) -> str:
    return f"[`{SPECS[part]}`](examples/{Path(SPECS[part]).name})"


def _figure(figure: Mapping[str, Any] | None) -> str:
    if figure is None or figure["value"] is None:
        return "–"
    if figure["low"] is None:
        return f"{figure['value']:.2f} (n = 1)"
    return f"{figure['value']:.2f} ({figure['low']:.2f}–{figure['high']:.2f}; n = {figure['n']})"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
