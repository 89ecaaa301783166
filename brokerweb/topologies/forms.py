"""The form of a new topology: read once, used for the preview and for saving."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from brokerweb import setting_forms
from brokerweb.setting_forms import Inputs
from brokerweb.topologies import services
from overlay.errors import InvalidSetting
from overlay.settings import describe
from overlay.topologies import Kind
from overlay.topologies.params import MORE, Params

LINK_SETTINGS = {info.name for info in describe(Params)}
"""Parameters of the links, shown apart from those of the kind."""


@dataclass
class TopologyForm:
    """What was typed, and what is wrong with it."""

    kind: str
    sent: dict[str, str]
    params: Inputs
    error: InvalidSetting | None = None

    @property
    def row(self) -> Kind:
        row: Kind = services.kinds()[self.kind]
        return row

    @property
    def kind_params(self) -> list[setting_forms.Input]:
        return [one for one in self.params.inputs if one.info.name not in LINK_SETTINGS]

    @property
    def link_params(self) -> list[setting_forms.Input]:
        return [one for one in self.params.inputs if one.info.name in LINK_SETTINGS.difference(MORE)]

    @property
    def more_link_params(self) -> list[setting_forms.Input]:
        """What is said of links more rarely than delay, jitter and loss."""
        return [one for one in self.params.inputs if one.info.name in MORE]

    @property
    def says_more(self) -> bool:
        """Whether something is said there, or wrong."""
        return any(one.is_changed or one.wrong for one in self.more_link_params)

    def described(self) -> dict[str, Any]:
        """The arguments of ``services.create`` without the name. Raises ``InvalidSetting``."""
        for one in self.params.inputs:
            if one.wrong:
                raise InvalidSetting(one.info.name, one.wrong)
        described: dict[str, Any] = {
            "kind": self.kind,
            "brokers": 1 if self.kind == "central" else setting_forms.whole_number("brokers", self.sent["brokers"]),
            "params": self.params.changed(),
            "seed": setting_forms.whole_number("seed", self.sent["seed"] or "0"),
        }
        if self.kind == services.CUSTOM:
            described["links"] = read_links(self.sent["links"])
        return described

    def blame(self, error: InvalidSetting) -> None:
        """Shows the sentence beside its field, or above the form."""
        self.params.blame(error.field.removeprefix("params."), error.sentence)
        self.error = error


def blank(kind: str, preset: str = "") -> TopologyForm:
    """The form before anything was typed; ``preset`` fills the parameters that have a name."""
    row = services.kinds()[kind]
    chosen = row.presets.get(preset)
    values = chosen.params if chosen else {}
    sent = {"name": "", "brokers": "10", "seed": "1", "links": "0 1\n1 2\n2 3\n3 0" if kind == services.CUSTOM else ""}
    if kind == services.CUSTOM:
        sent["brokers"] = "4"
    return TopologyForm(kind, sent, setting_forms.shown(describe(row.params), "param-", values, sweeps=False))


def sent_form(data: QueryDict) -> TopologyForm:
    """The form as it was sent. Raises ``InvalidSetting`` for a kind there is not."""
    kind = data.get("kind", "")
    if kind not in services.kinds():
        raise InvalidSetting("kind", f"{kind!r:.60} is not a kind of topology")
    sent = {name: data.get(name, "").strip() for name in ("name", "brokers", "seed", "links")}
    infos = describe(services.kinds()[kind].params)
    return TopologyForm(kind, sent, setting_forms.read(infos, "param-", data, sweeps=False))


def read_links(text: str) -> list[list[int]]:
    """``0 1`` or ``0, 1`` a line. Raises ``InvalidSetting`` naming the line."""
    links = []
    for number, line in enumerate(text.splitlines(), start=1):
        parts = line.replace(",", " ").replace("-", " ").split()
        if not parts:
            continue
        if len(parts) != 2 or not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
            raise InvalidSetting("links", f"line {number} is not two broker numbers: {line[:40]!r}")
        links.append([int(part) for part in parts])
    return links
