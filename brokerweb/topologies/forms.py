"""The form of a new topology: read once, used for the preview and for saving."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict

from brokerweb.kit import setting_forms
from brokerweb.kit.setting_forms import Inputs
from brokerweb.topologies import services
from overlay.core.errors import InvalidSetting
from overlay.core.settings import describe
from overlay.topologies import Kind
from overlay.topologies.params import MORE, Params

CENTRAL = "central"
LINK_SETTINGS = {info.name for info in describe(Params)}
"""Parameters of the links, shown apart from those of the kind."""


@dataclass
class TopologyForm:
    """What was typed, and what is wrong with it."""

    kind: str
    sent: dict[str, str]
    params: Inputs
    wrong: dict[str, str] = field(default_factory=dict)
    """Sentences by the field that they stand beside."""
    error: InvalidSetting | None = None
    """What stands beside no field."""

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

    @property
    def fields(self) -> list[str]:
        """Those of this kind beside its parameters."""
        sized = [] if self.kind == CENTRAL else ["brokers", "seed"]
        return ["name", *sized, *(["links"] if self.kind == services.CUSTOM else [])]

    def described(self) -> dict[str, Any]:
        """The arguments of ``services.create`` without the name. Raises ``InvalidSetting`` of the first wrong field,
        and shows what is wrong beside all of them.
        """
        described: dict[str, Any] = {"kind": self.kind, "brokers": 1, "params": self.params.changed()}
        read = {name: self._read(name) for name in self.fields if name != "name"}
        for name in read:
            if name in self.wrong:
                raise InvalidSetting(name, self.wrong[name])
        for one in self.params.inputs:
            if one.wrong:
                raise InvalidSetting(one.info.name, one.wrong)
        return described | read

    def check_name(self) -> None:
        """Shows what is wrong with the name beside it."""
        try:
            services.free_name(self.sent["name"])
        except InvalidSetting as error:
            self.blame(error)

    def blame(self, error: InvalidSetting) -> None:
        """Shows the sentence beside its field, or above the form."""
        if (own := error.field.partition("[")[0]) in self.fields:
            self.wrong.setdefault(own, error.sentence if own == error.field else str(error))
        elif not self.params.blame(error.field.removeprefix("params."), error.sentence):
            self.error = error

    def _read(self, name: str) -> Any:
        try:
            return READ[name](self.sent[name])
        except InvalidSetting as error:
            self.blame(error)
            return None


def blank(kind: str, preset: str = "", typed: QueryDict | None = None) -> TopologyForm:
    """The form before it was sent; ``preset`` fills the parameters that have a name.

    ``typed`` is what was filled in while another kind or preset was chosen: what this kind has too stays, but for what
    the preset sets.
    """
    row = services.kinds()[kind]
    chosen = row.presets.get(preset)
    values = chosen.params if chosen else {}
    sent = {"name": "", "brokers": "10", "seed": "1", "links": "0 1\n1 2\n2 3\n3 0" if kind == services.CUSTOM else ""}
    if kind == services.CUSTOM:
        sent["brokers"] = "4"
    infos = describe(row.params)
    params = setting_forms.shown(infos, "param-", values, sweeps=False)
    if typed:
        sent |= {name: typed.get(name, "").strip() for name in sent if name in typed}
        filled = QueryDict(mutable=True)
        for one in params.inputs:
            stays = one.name in typed and one.info.name not in values
            filled.setlist(one.name, typed.getlist(one.name) if stays else one.texts)
        params = setting_forms.read(infos, "param-", filled, sweeps=False)
    return TopologyForm(kind, sent, params)


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


READ: dict[str, Callable[[str], Any]] = {
    "brokers": lambda text: setting_forms.whole_number("brokers", text),
    "seed": lambda text: setting_forms.whole_number("seed", text or "0"),
    "links": read_links,
}
