"""What a person reads on a page: its tables and figures as texts, and the number that a text stands for."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

UNITS = {"": 1.0, "%": 0.01, "/s": 1.0, "µs": 1.0, "ms": 1e3, "s": 1e6, "B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9}
"""What a unit stands for in that in which figures are stored: microseconds, bytes, shares."""
_NUMBER = re.compile(r"([+−-]?)(\d[\d,\u202f]*(?:\.\d+)?)[\u202f ]?(%|/s|µs|ms|s|[kMG]?B)?(?![\w/])")


@dataclass(frozen=True)
class Number:
    """A number as it was read."""

    value: float
    resolution: float
    """What its last digit stands for."""

    def is_(self, true: float | None) -> bool:
        """Whether it is that number, rounded."""
        return true is not None and abs(self.value - true) <= self.resolution * 0.500001


def numbers(text: str) -> list[Number]:
    """All that stand in a text, in order."""
    found = []
    for sign, digits, unit in _NUMBER.findall(text):
        plain = digits.replace(",", "").replace("\u202f", "")
        times = UNITS[unit] * (-1 if sign in ("−", "-") else 1)
        whole, _, behind = plain.partition(".")
        # A count has spaces between its thousands and is exact; anything else has three figures.
        rounded = 0 if behind or plain != digits else max(0, len(whole) - 3)
        found.append(Number(float(plain) * times, abs(times) * 10.0 ** (rounded - len(behind))))
    return found


@dataclass
class Table:
    """One table of a page: its heads, and for each row the texts of its cells."""

    heads: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)

    def column(self, head: str) -> list[str]:
        at = self.heads.index(head)
        return [row[at] for row in self.rows]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tables: list[Table] = []
        self.terms: dict[str, str] = {}
        self._into: list[str] | None = None
        self._is_head = self._is_template = False
        self._term = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "template":
            self._is_template = True
        elif self._is_template:
            return
        elif tag == "table":
            self.tables.append(Table())
        elif tag in ("thead", "tbody"):
            self._is_head = tag == "thead"
        elif tag == "tr" and self.tables and not self._is_head:
            self.tables[-1].rows.append([])
        elif tag in ("th", "td", "dt", "dd"):
            self._into = []

    def handle_endtag(self, tag: str) -> None:
        if tag == "template":
            self._is_template = False
        if tag not in ("th", "td", "dt", "dd") or self._into is None:
            return
        text, self._into = re.sub(r"[ \n]+", " ", "".join(self._into)).strip(), None
        if tag == "dt":
            self._term = text
        elif tag == "dd":
            self.terms.setdefault(self._term, text)
        else:
            (self.tables[-1].heads if self._is_head else self.tables[-1].rows[-1]).append(text)

    def handle_data(self, data: str) -> None:
        if self._into is not None:
            self._into.append(f"{data} ")


def read(page: str) -> _Reader:
    """``tables`` in their order, and the first text that each term of a list of figures has in ``terms``."""
    reader = _Reader()
    reader.feed(page)
    return reader


def table(page: str, *heads: str) -> Table:
    """The first table with all of these heads."""
    return next(one for one in read(page).tables if set(heads) <= set(one.heads))
