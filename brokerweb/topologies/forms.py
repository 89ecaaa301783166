"""The form of a new topology, used for the preview and for saving."""

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
"""Link parameters, shown separately from those of the kind."""


@dataclass
class TopologyForm:
    """The submitted values and their errors."""

    kind: str
    sent: dict[str, str]
    params: Inputs
    wrong: dict[str, str] = field(default_factory=dict)
    """Errors by field."""
    error: InvalidSetting | None = None
    """The error that belongs to no field."""

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
        """Less common link parameters: all but delay, jitter and loss."""
        return [one for one in self.params.inputs if one.info.name in MORE]

    @property
    def says_more(self) -> bool:
        """Whether any of these is set or has an error."""
        return any(one.is_changed or one.wrong for one in self.more_link_params)

    @property
    def fields(self) -> list[str]:
        """Fields of this kind other than its parameters."""
        sized = [] if self.kind == CENTRAL else ["brokers", "seed"]
        return ["name", *sized, *(["links"] if self.kind == services.CUSTOM else [])]

    def described(self) -> dict[str, Any]:
        """The arguments of ``services.create`` without the name. Raises ``InvalidSetting`` for the first invalid
        field, and attaches errors to all of them.
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
        """Attach an error to the name if it is invalid."""
        try:
            services.free_name(self.sent["name"])
        except InvalidSetting as error:
            self.blame(error)

    def blame(self, error: InvalidSetting) -> None:
        """Attach an error to its field, or to the form."""
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
    """The initial form; ``preset`` fills the parameters of a named preset.

    ``typed`` is the input of another kind or preset: values that also exist here are kept, except those that the preset
    sets.
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
    """The submitted form. Raises ``InvalidSetting`` for an unknown kind."""
    kind = data.get("kind", "")
    if kind not in services.kinds():
        raise InvalidSetting("kind", f"unknown kind of topology {kind!r:.60}")
    sent = {name: data.get(name, "").strip() for name in ("name", "brokers", "seed", "links")}
    infos = describe(services.kinds()[kind].params)
    return TopologyForm(kind, sent, setting_forms.read(infos, "param-", data, sweeps=False))


def read_links(text: str) -> list[list[int]]:
    """``0 1`` or ``0, 1`` per line. Raises ``InvalidSetting`` that names the line."""
    links = []
    for number, line in enumerate(text.splitlines(), start=1):
        parts = line.replace(",", " ").replace("-", " ").split()
        if not parts:
            continue
        if len(parts) != 2 or not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
            raise InvalidSetting("links", f"line {number} does not have two broker numbers: {line[:40]!r}")
        links.append([int(part) for part in parts])
    return links


READ: dict[str, Callable[[str], Any]] = {
    "brokers": lambda text: setting_forms.whole_number("brokers", text),
    "seed": lambda text: setting_forms.whole_number("seed", text or "0"),
    "links": read_links,
}
