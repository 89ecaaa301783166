"""Server-sent events (HTML standard, 9.2), line by line. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Event:
    """One event. ``id`` is the last one that was named, and resumes the stream after this event."""

    name: str
    data: str
    id: str


class EventReader:
    """Collects the lines of one stream. ``last_id`` and ``retry_s`` hold over reconnections."""

    def __init__(self, last_id: str = "") -> None:
        self.last_id = last_id
        self.retry_s: float | None = None
        """The wait before a reconnection that the server asked for."""
        self._id = last_id
        self._name = ""
        self._data: list[str] = []

    def reconnected(self) -> None:
        """Forget the event that was being received."""
        self._id, self._name, self._data = self.last_id, "", []

    def feed(self, line: str) -> Event | None:
        """An event, if this line ends one. ``line`` comes without its end."""
        if line:
            self._field(*_split(line))
            return None
        self.last_id = self._id
        name, data = self._name or "message", self._data
        self.reconnected()
        return Event(name, "\n".join(data), self.last_id) if data else None

    def _field(self, name: str, value: str) -> None:
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._name = value
        elif name == "id" and "\0" not in value:
            self._id = value
        elif name == "retry" and value.isascii() and value.isdigit():
            self.retry_s = int(value) / 1000


def _split(line: str) -> tuple[str, str]:
    """A line that begins with a colon is a comment: its name is empty."""
    name, _, value = line.partition(":")
    return name, value.removeprefix(" ")
