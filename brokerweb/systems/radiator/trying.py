"""The fields of the page that tries an aggregability: expression, messages and recipients as JSON, one a line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from overlay.core.errors import InvalidSetting, WireError
from overlay.systems.radiator.context import Attributes, check_context
from overlay.systems.radiator.dry_run import MOST_MESSAGES, MOST_RECIPIENTS, Placed, Sample, dry_run
from overlay.systems.radiator.language.scenarios import CUSTOM, SCENARIOS

MOST_CHARACTERS = 20_000
RECIPIENTS = """\
{"id": "Alice", "location": {"latitude": 38.72, "longitude": -9.14}, "friends": ["Bob"], "num_of_shares": 9}
{"id": "Bob", "location": {"latitude": 38.73, "longitude": -9.15}, "friends": ["Alice", "Carol"], "num_of_shares": 99}
{"id": "Carol", "location": {"latitude": 38.75, "longitude": -9.10}, "friends": ["Bob"], "num_of_shares": 0}"""
MESSAGES = """\
{"at_s": 0, "from": "Alice", "speed": 50, "hazards": 2, "location": {"latitude": 38.72, "longitude": -9.14}, \
"friends": ["Bob"], "object": "photo", "likes": 1, "share": "ACME", "values": 12.5}
{"at_s": 10, "from": "Bob", "speed": 60, "hazards": 1, "location": {"latitude": 38.73, "longitude": -9.15}, \
"friends": ["Alice", "Carol"], "object": "photo", "likes": 1, "share": "ACME", "values": 12.75}
{"at_s": 20, "from": "Alice", "speed": 55, "hazards": 0, "location": {"latitude": 38.74, "longitude": -9.14}, \
"friends": ["Bob"], "object": "film", "likes": 1, "share": "ACME", "values": 13.0}
{"at_s": 400, "from": "Carol", "speed": 30, "hazards": 4, "location": {"latitude": 38.75, "longitude": -9.10}, \
"friends": ["Bob"], "object": "photo", "likes": 1, "share": "INIT", "values": 7.0}"""


@dataclass(frozen=True)
class Asked:
    """The fields as sent."""

    aggregability: str = CUSTOM.aggregability
    messages: str = MESSAGES
    recipients: str = RECIPIENTS
    echo: bool = False

    @classmethod
    def of(cls, sent: Mapping[str, str]) -> Asked:
        return cls(sent.get("aggregability", ""), sent.get("messages", ""), sent.get("recipients", ""), "echo" in sent)

    @classmethod
    def of_scenario(cls, name: str) -> Asked:
        return cls(SCENARIOS.get(name, CUSTOM).aggregability)

    def result(self) -> list[Placed]:
        """Raises ``InvalidSetting`` with the name of a field."""
        recipients = dict(_recipient(number, row) for number, row in _rows("recipients", self.recipients))
        samples = [_sample(number, row) for number, row in _rows("messages", self.messages)]
        return dry_run(self.aggregability, samples, recipients, echo=self.echo)


def _rows(name: str, text: str) -> list[tuple[int, dict[str, Any]]]:
    most = MOST_MESSAGES if name == "messages" else MOST_RECIPIENTS
    lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
    if len(text) > MOST_CHARACTERS or len(lines) > most:
        raise InvalidSetting(name, f"at most {most} lines and {MOST_CHARACTERS:,} characters are accepted")
    if not lines:
        raise InvalidSetting(name, "one is needed, as a JSON object in a line")
    return [(number, _object(name, number, line)) for number, line in lines]


def _object(name: str, number: int, line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidSetting(name, f"line {number} is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise InvalidSetting(name, f"line {number} must be an object")
    return value


def _recipient(number: int, row: dict[str, Any]) -> tuple[str, Attributes]:
    id = row.pop("id", None)
    if not isinstance(id, str) or not id:
        raise InvalidSetting("recipients", f"line {number} needs an “id”, a text")
    return id, row


def _sample(number: int, row: dict[str, Any]) -> Sample:
    at_s, sender = row.pop("at_s", None), row.pop("from", None)
    if isinstance(at_s, bool) or not isinstance(at_s, int | float) or not 0 <= at_s <= 86_400:
        raise InvalidSetting("messages", f"line {number} needs “at_s”, seconds from 0 to 86,400")
    if not isinstance(sender, str):
        raise InvalidSetting("messages", f"line {number} needs “from”, one of the recipients")
    try:
        context = check_context({"a": row, "n": 1, "p": row.pop("people", [sender]), "t": [0, 0]})
    except WireError as error:
        raise InvalidSetting("messages", f"line {number}: {error}") from None
    return Sample(float(at_s), sender, context)
