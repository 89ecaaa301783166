"""A report as one file that needs nothing else: tables, charts, provenance; light, dark or by the system.

Counterparts: ``telemetry.reports.comparison`` makes the result; ``page/`` holds the style, the skeleton and the drawing
script.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from telemetry.errors import TelemetryError
from telemetry.formatting import KB, UNKNOWN, ms, share, sig3, size, us
from telemetry.reports.comparison import MEMORY
from telemetry.statistics.metrics import STATISTICS

PAGE = Path(__file__).parent / "page"
ECHARTS = Path(__file__).parents[2] / "static" / "vendor" / "echarts.min.js"


def render(result: Mapping[str, Any]) -> str:
    """The page of a comparison. Raises ``TelemetryError`` where the chart library is missing from the installation."""
    rows = result["configurations"]
    parts = {
        "title": escape(result["title"]),
        "subtitle": escape(_subtitle(result)),
        "style": _read(PAGE / "report.css"),
        "notes": f'<ul class="notes">{"".join(f"<li>{escape(note)}</li>" for note in result["notes"])}</ul>',
        "tables": _studies(result.get("studies") or ()) + _tables(rows),
        "provenance": _provenance(result["provenance"]),
        # "</script>" inside a string would end the element that carries it.
        "charts": json.dumps(result["charts"], allow_nan=False).replace("</", "<\\/"),
        "echarts": _read(ECHARTS),
        "script": _read(PAGE / "charts.js"),
    }
    before, *rest = _read(PAGE / "report.html").split("{{")
    pieces = (piece.partition("}}") for piece in rest)
    return before + "".join(parts[name] + after for name, _, after in pieces)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        raise TelemetryError(f"{path.name} is missing from the installation ({path.parent}).") from None


def _subtitle(result: Mapping[str, Any]) -> str:
    runs, configurations = len(result["provenance"]["runs"]), len(result["configurations"])
    made = str(result["provenance"].get("created", ""))[:16].replace("T", " ")
    plural = "" if configurations == 1 else "s"
    return f"{configurations} configuration{plural}, {runs} run{'' if runs == 1 else 's'}, made {made} UTC"


def _tables(rows: Sequence[Mapping[str, Any]]) -> str:
    return "".join(
        f"<section><h2>{escape(title)}</h2>{table}</section>"
        for title, table in (
            ("Response time, from the intended sending", _response(rows, "from_intended")),
            ("Response time, from the actual sending", _response(rows, "from_sent")),
            ("Memory of a broker", _memory(rows)),
            ("Truth of the answers", _truth(rows)),
            ("Outcomes and verdicts", _outcomes(rows)),
            ("Beside Table B.1", _published(rows)),
            ("Settings", _settings(rows)),
        )
    )


def _studies(found: Sequence[Mapping[str, Any]]) -> str:
    """Each study's verdicts, and its values next to the published ones."""
    return "".join(
        f"<section><h2>Study {escape(one['study'])}: {escape(one['title'])} ({escape(one['scale'])})</h2>"
        f"<p>{escape(' '.join([one['question'], *one['limits']]))}</p>"
        + _table(
            ["Claim", "Reproduced where", "Verdict"],
            ([_cell(row["claim"]), _cell(row["criterion"]), _cell(row["verdict"])] for row in one["criteria"]),
        )
        + _table(["Quantity", "Simulated, 95 % interval", "n", "Published"], map(_value, one["claims"]))
        + "</section>"
        for one in found
    )


def _value(row: Mapping[str, Any]) -> list[str]:
    low, high = row["low"], row["high"]
    within = "" if low is None else f"{sig3(low)} to {sig3(high)}"
    return [
        _cell(row["quantity"]),
        _cell(sig3(row["value"]), within),
        _cell(str(row["n"])),
        _cell(sig3(row["published"]), row["source"] or ""),
    ]


def _table(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """Cells are HTML already."""
    heads = "".join(f'<th scope="col">{escape(words)}</th>' for words in head)
    lines = "".join(f"<tr>{''.join(cells)}</tr>" for cells in body)
    return f'<div class="table"><table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table></div>'


def _cell(value: str, below: str = "", kind: str = "") -> str:
    small = f"<small>{escape(below)}</small>" if below else ""
    return f"<td{f' class={kind!r}' if kind else ''}>{escape(value)}{small}</td>"


def _name(row: Mapping[str, Any]) -> str:
    links = row["topology"]["links"]
    return _cell(f"{row['number']} · {row['label']}", f"shaped links: {links}" if links else "")


def _response(rows: Sequence[Mapping[str, Any]], start: str) -> str:
    head = ["Configuration", "n", "Mean", "Median", *STATISTICS[2:], "Answered", "Answers per s"]
    return _table(
        head,
        ([_name(row), _cell(str(row["n"])), *_statistics(row["response"][start]), *_answered(row)] for row in rows),
    )


def _answered(row: Mapping[str, Any]) -> list[str]:
    """Of which share of the requests the times are."""
    written = {"answer_ratio": share, "per_s": sig3}
    return [_cell(write(row[name]["value"]), _beside(row[name], write)) for name, write in written.items()]


def _statistics(response: Mapping[str, Any]) -> list[str]:
    found = [response[name] for name in STATISTICS]
    return [_cell(us(one["value"]), _beside(one, us)) for one in found]


def _beside(one: Mapping[str, Any], written: Any) -> str:
    """The interval and, where samples were pooled, the same statistic of all of them."""
    said = [f"{written(one['low'])} to {written(one['high'])}"] if one["low"] is not None else []
    if one.get("pooled") is not None and one["n"] > 1:
        said.append(f"pooled {written(one['pooled'])}")
    return ", ".join(said)


def _memory(rows: Sequence[Mapping[str, Any]]) -> str:
    head = ["Configuration", "n", *MEMORY.values(), "table"]
    names = (*MEMORY, "table_bytes")
    return _table(
        head,
        (
            [
                _name(row),
                _cell(str(row["n"])),
                *(_cell(size(row["memory"][name]["value"]), _beside(row["memory"][name], size)) for name in names),
            ]
            for row in rows
        ),
    )


def _truth(rows: Sequence[Mapping[str, Any]]) -> str:
    """Each against what had been provided; ``docs/measures.md`` says how."""
    head = ["Configuration", "n", "Found of what existed", "Fresh of the answers", "Stale answers behind by, median"]
    head += ["False not-found per 1,000", "Not found, proved", "Lost"]
    return _table(
        head,
        (
            [
                _name(row),
                _cell(str(row["n"])),
                *(
                    _cell(written(row["truth"][name]["value"]), _beside(row["truth"][name], written))
                    for name, written in _TRUTH.items()
                ),
                *(_count(row["truth"], word) for word in ("proved_not_found", "lost")),
            ]
            for row in rows
        ),
    )


def _count(truth: Mapping[str, Any], word: str) -> str:
    is_judged = truth["counts"]["requests"] > 0
    return _cell(f"{truth['counts'][word]:,}" if is_judged else UNKNOWN)


def _outcomes(rows: Sequence[Mapping[str, Any]]) -> str:
    names = ("requests", "answered", "not_found", "refused", "timed_out")
    return _table(
        ["Configuration", *(name.replace("_", " ") for name in names), "Verdicts", "Why"],
        (
            [
                _name(row),
                *(_cell(f"{row['outcomes'].get(name, 0):,}") for name in names),
                _verdicts(row["verdicts"]),
                _cell(" ".join(row["verdict_reasons"]) or UNKNOWN, kind="long"),
            ]
            for row in rows
        ),
    )


def _verdicts(verdicts: Mapping[str, int]) -> str:
    words = "<br>".join(
        f'<span class="{escape(name)}">{count} {escape(name)}</span>' for name, count in verdicts.items()
    )
    return f"<td>{words}</td>"


def _published(rows: Sequence[Mapping[str, Any]]) -> str:
    head = ["Configuration", "Row", "Published mean", "Measured mean", "Published memory", "Measured RSS", "Remarks"]
    return _table(head, (_published_row(row) for row in rows))


def _published_row(row: Mapping[str, Any]) -> list[str]:
    published = row["published"]
    mean, rss = row["response"]["from_intended"]["mean"]["value"], row["memory"]["rss_bytes"]["value"]
    measured = [_cell(us(mean)), _cell(UNKNOWN), _cell(size(rss))]
    if published is None:
        return [
            _name(row),
            _cell(UNKNOWN),
            _cell(UNKNOWN),
            *measured,
            _cell("no such topology in the thesis", kind="long"),
        ]
    memory = published["memory_kb"]
    measured[1] = _cell(size(memory * KB if memory is not None else None))
    same = "the same configuration" if published["same"] else f"nearest row; differs in {_differences(row, published)}"
    remark = "; ".join(part for part in (same, published["note"]) if part)
    return [
        _name(row),
        _cell(str(published["config"])),
        _cell(us(published["response_us"])),
        *measured,
        _cell(remark, kind="long"),
    ]


def _differences(row: Mapping[str, Any], published: Mapping[str, Any]) -> str:
    workload = row["workload"]
    return ", ".join(
        f"{name.removesuffix('_s').replace('_', ' ')} ({published[name]:g}, here {workload.get(name, UNKNOWN)})"
        for name in published["differs"]
    )


def _settings(rows: Sequence[Mapping[str, Any]]) -> str:
    """Every setting and workload field once, with the configurations that share a value together."""
    described = [
        {**row["workload"], **row["settings"], "system": row["system"], "engine": row["engine"]} for row in rows
    ]
    names = sorted({name for one in described for name in one})
    return _table(
        ["Setting", "Value"],
        ([_cell(name), _cell(", ".join(_distinct(one.get(name, UNKNOWN) for one in described)))] for name in names),
    )


def _distinct(values: Iterable[Any]) -> list[str]:
    return list(dict.fromkeys(str(value) for value in values))


def _provenance(provenance: Mapping[str, Any]) -> str:
    runs = provenance["runs"]
    facts = {
        "Computed by": provenance.get("computed_by", ""),
        "Code": " · ".join(_distinct(_code(run["code"]) for run in runs)),
        "Python": ", ".join(_distinct(run["python"] or UNKNOWN for run in runs)),
        "Libraries": " · ".join(_distinct(_libraries(run["libraries"]) for run in runs)),
        "Machine": " · ".join(_distinct(_machine(run["machine"]) for run in runs)),
    }
    terms = "".join(f"<dt>{escape(name)}</dt><dd>{escape(words)}</dd>" for name, words in facts.items())
    head = ["Run", "Configuration", "Replicate", "Seed", "Started", "Load at start", "Links", "Verdict"]
    return f"<dl>{terms}</dl>" + _table(head, (_run(run) for run in runs))


def _run(run: Mapping[str, Any]) -> list[str]:
    load = (run["machine"] or {}).get("load_average") or [None]
    return [
        _cell(run["run"]),
        _cell(run["configuration"], kind="text"),
        _cell(str(run["replicate"])),
        _cell(run["seed"]),
        _cell(str(run["started"] or UNKNOWN)[:19].replace("T", " ")),
        _cell(sig3(load[0])),
        _cell(run["links"] or "not shaped", kind="text"),
        f'<td class="text"><span class="{escape(run["verdict"])}">{escape(run["verdict"])}</span></td>',
    ]


def _code(code: Mapping[str, Any] | None) -> str:
    if not code:
        return UNKNOWN
    commit = f" at {code['commit'][:12]}" if code.get("commit") else ""
    return f"Waxwing {code.get('version')}{commit}{', modified' if code.get('modified') else ''}"


def _libraries(libraries: Mapping[str, Any] | None) -> str:
    return ", ".join(f"{name} {version}" for name, version in (libraries or {}).items()) or UNKNOWN


def _machine(machine: Mapping[str, Any] | None) -> str:
    if not machine:
        return UNKNOWN
    memory = f"{machine.get('memory_bytes', 0) / KB**3:.0f} GB"
    governor = machine.get("governor") or "not told"
    cores = f"{machine.get('processor')}, {machine.get('cores')} cores"
    datagrams = f", {machine['datagrams']} datagrams" if "datagrams" in machine else ""
    return f"{cores}, {memory}, {machine.get('kernel')}, governor {governor}{datagrams}"


_TRUTH = {
    "success": share,
    "fresh_share": share,
    "stale_ms": ms,
    "false_not_found_per_1000": sig3,
}
