"""A request of either standard that is permitted, and the parts of it that both read in the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from brokerweb.networks.snapshot import NetworkSnapshot
from brokerweb.ngsi.problems import Kind, Problem, wrong
from overlay.core.errors import InvalidSetting, shown
from overlay.core.untrusted import Unreadable, read_json

HEADERS = frozenset(
    {"accept", "content-type", "link", "fiware-service", "fiware-servicepath", "ngsild-tenant", "authorization"}
)
"""The names of those that are read, in lower case."""
UNPARSED = object()
MOST_LISTED, LISTED = 1_000, 20
MOST_OFFSET = 1_000_000


def parameters_of(given: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """Raises ``InvalidSetting`` for one that is given twice."""
    found: dict[str, str] = {}
    for name, value in given:
        if name in found:
            raise InvalidSetting(f"{name:.40}", "is given twice")
        found[name] = value
    return found


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    base: str
    """The path of this network's NGSI, ``/api/networks/ID/ngsi``."""
    path: tuple[str, ...]
    """What follows the standard's own beginning, decoded."""
    parameters: Mapping[str, str]
    headers: Mapping[str, str]
    """By lower-case name; those of ``HEADERS``."""
    body: bytes
    snapshot: NetworkSnapshot
    who: str
    """``token:ID`` or ``user:ID``."""
    spend: Callable[[int], object] = lambda operations: None
    """Counts further operations against the limit of ``who``."""
    parsed: Any = UNPARSED
    """The body's JSON, if it was parsed before."""

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    def check_parameters(self, *known: str) -> None:
        """Raises ``Problem`` for others: a misspelt filter would return everything."""
        for name in self.parameters:
            if name not in known:
                hint = f"known parameters: {', '.join(known)}" if known else "it has no parameters"
                raise wrong(f"Unknown parameter {shown(name, 40)}; {hint}.")

    def names(self, parameter: str) -> list[str]:
        """The elements of a comma-separated parameter; none if it is not given."""
        text = self.parameters.get(parameter)
        if text is None:
            return []
        found = [one.strip() for one in text.split(",")]
        if not all(found):
            raise wrong(f"{parameter}: an element of {shown(text)} is empty.")
        return found

    def options(self, *known: str) -> set[str]:
        given = set(self.names("options"))
        for name in sorted(given):
            if name not in known:
                raise wrong(f"options: {shown(name, 40)} is unknown here; known: {', '.join(known)}.")
        return given

    def number(self, parameter: str, default: int, least: int, most: int) -> int:
        text = self.parameters.get(parameter)
        if text is None:
            return default
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1
        if not least <= number <= most:
            raise wrong(f"{parameter}: must be a number from {least} to {most:,}, not {shown(text, 40)}.")
        return number

    def page(self, least: int = 1) -> tuple[int, int]:
        """``offset`` and ``limit``."""
        offset = self.number("offset", 0, 0, MOST_OFFSET)
        return offset, self.number("limit", LISTED, least, MOST_LISTED)

    def json(self) -> Any:
        """The body. Raises ``Problem``."""
        if self.parsed is not UNPARSED:
            return self.parsed
        try:
            return read_json(self.body.decode())
        except UnicodeDecodeError:
            raise Problem(Kind.UNREADABLE, "The body is not valid utf-8 text.") from None
        except Unreadable as error:
            raise Problem(Kind.UNREADABLE, f"The body {error}.") from None

    def object(self) -> dict[str, Any]:
        """A body that is an object. Raises ``Problem``."""
        found = self.json()
        if not isinstance(found, dict):
            raise wrong(f"The body must be an object, not {shown(found)}.")
        return found
