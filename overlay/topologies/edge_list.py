"""Import and export of topologies as comma-separated values: one link per line, ``a,b`` and then its properties.

The first line may name the columns; otherwise they are ``a,b,delay_ms,jitter_ms,loss``. Other columns are written only
if a link has such a property. Separators may also be semicolons and tabs. A line with a single broker declares
the broker, so that brokers without links, and the order of named brokers, are preserved. Positions are not stored;
they are computed again.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from overlay.core.errors import InvalidSetting
from overlay.core.links import LINK_SETTINGS
from overlay.core.settings import SettingInfo
from overlay.topologies.files import NUMBERS, assemble, require_size
from overlay.topologies.graph import DEFAULT_LIMITS, Graph, Limits

COLUMNS = ("a", "b", *NUMBERS)
ALWAYS = NUMBERS[:3]
"""Always written, and read if no columns are named."""
ENDS = {"source": "a", "from": "a", "target": "b", "to": "b"}
"""Names of the first two columns in other tools."""

Line = tuple[int, dict[str, str]]
"""A line's number in the file, from 1, and its cells by column."""


def from_csv(text: str | bytes, limits: Limits = DEFAULT_LIMITS) -> Graph:
    """The graph of an edge list. Raises ``InvalidSetting`` whose field is the line."""
    require_size(text, limits)
    most = limits.links + limits.brokers  # each line has a link or a broker without links
    lines = list(islice(_lines(_decoded(text)), most + 1))
    if len(lines) > most:
        raise InvalidSetting(
            "links", f"more lines than the limits of {limits.links} links and {limits.brokers} brokers"
        )
    if not lines:
        raise InvalidSetting("file", "has no links; write each on a line such as 0,1")
    nodes = _brokers(lines)
    edges = [
        {"source": cells["a"], "target": cells["b"], **{name: cells[name] for name in NUMBERS if cells.get(name)}}
        for _, cells in lines
        if cells.get("b")
    ]
    places = [number for number, cells in lines if cells.get("b")]
    for field, found, limit in (("brokers", len(nodes), limits.brokers), ("links", len(edges), limits.links)):
        if found > limit:
            raise InvalidSetting(field, f"{found} are more than the limit of {limit}")
    return assemble([{"id": name} for name in nodes], edges, [f"line {number}" for number in places], limits)


def to_csv(graph: Graph) -> str:
    """An edge list whose first line names the columns."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    shapes = [link.to_json() for link in graph.links]
    used = set(ALWAYS).union(*shapes)
    columns = [info for info in LINK_SETTINGS if info.name in used]
    writer.writerow(["a", "b", *(info.name for info in columns)])
    called = graph.names or [str(i) for i in range(graph.brokers)]
    linked = {end for link in graph.links for end in link.ends}
    if graph.names or len(linked) < graph.brokers:
        writer.writerows([name, "", *([""] * len(columns))] for name in called)
    for link, shape in zip(graph.links, shapes, strict=True):
        cells = (_cell(info, shape.get(info.name, info.default)) for info in columns)
        writer.writerow([called[link.a], called[link.b], *cells])
    return out.getvalue()


def _cell(info: SettingInfo, value: float) -> str:
    return str(value) if info.kind == "integer" else repr(float(value))


def _decoded(text: str | bytes) -> str:
    if isinstance(text, str):
        return text
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidSetting("file", "is not text in UTF-8") from None


def _lines(text: str) -> Iterator[Line]:
    text = text.removeprefix("\ufeff")
    delimiter = next((one for one in ",;\t" if one in text.partition("\n")[0]), ",")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True)
    columns: Sequence[str] | None = None
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if not any(cells) or cells[0].startswith("#"):
                continue
            if columns is None:
                columns = _header(cells)
                if columns is not None:
                    continue
                columns = COLUMNS[: 2 + len(ALWAYS)]
            yield reader.line_num, _cells(cells, columns, reader.line_num)
    except csv.Error as error:
        raise InvalidSetting(f"line {reader.line_num}", f"cannot be read: {error}") from None


def _header(cells: Sequence[str]) -> Sequence[str] | None:
    """The columns named in the first line; ``None`` if it is a link."""
    named = [ENDS.get(cell.lower(), cell.lower()) for cell in cells]
    if named[:2] != ["a", "b"]:
        return None
    if unknown := [name for name in named if name not in COLUMNS]:
        raise InvalidSetting("line 1", f"column {unknown[0]!r:.40} is not known; known are {', '.join(COLUMNS)}")
    if len(set(named)) < len(named):
        raise InvalidSetting("line 1", "names a column twice")
    return named


def _cells(cells: Sequence[str], columns: Sequence[str], number: int) -> dict[str, str]:
    if len(cells) > len(columns):
        raise InvalidSetting(f"line {number}", f"has {len(cells)} values for {len(columns)} columns")
    found = dict(zip(columns, cells, strict=False))
    if not found.get("a"):
        raise InvalidSetting(f"line {number}.a", "names no broker")
    return found


def _brokers(lines: Sequence[Line]) -> list[str]:
    """All brokers in order: those on lines of their own, then those in links, by number if all are numbers."""
    declared: Mapping[str, None] = dict.fromkeys(cells["a"] for _, cells in lines if not cells.get("b"))
    linked = dict.fromkeys(name for _, cells in lines if cells.get("b") for name in (cells["a"], cells["b"]))
    rest = [name for name in linked if name not in declared]
    if all(name.isascii() and name.isdigit() and len(name) < 10 for name in rest):
        rest.sort(key=int)
    return [*declared, *rest]
