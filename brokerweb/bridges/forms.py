"""The form of a bridge: its fields as texts, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict

from brokerweb.bridges import services
from brokerweb.bridges.models import Bridge
from brokerweb.kit import setting_forms
from brokerweb.kit.setting_sections import Section
from overlay.core.errors import InvalidSettings
from overlay.systems.bridging import Bridging

PREFIX = "settings-"
TEXTS = ("mqtt", "username", "in", "out", "ca", "certificate")
DEFAULT_SERVER = "mqtt://127.0.0.1:1883"


@dataclass
class Form:
    """What is shown. ``wrong`` has the sentences of refused fields."""

    texts: dict[str, str]
    inputs: setting_forms.Inputs
    pattern_help: str
    wrong: dict[str, str] = field(default_factory=dict)

    @property
    def read_help(self) -> str:
        return f"What is published there is stored in the network. {self.pattern_help}"

    @property
    def section(self) -> Section:
        return Section("Further settings", self.inputs.inputs)

    @property
    def has_tls(self) -> bool:
        """Whether to show the certificates at once."""
        tls = ("ca", "certificate", "key", "tls")
        return any(self.texts.get(name) or name in self.wrong for name in tls)


def empty(bridging: Bridging) -> Form:
    texts = {"mqtt": DEFAULT_SERVER, "in": bridging.default_pattern, "out": bridging.default_pattern}
    return Form(texts, setting_forms.shown(bridging.settings, PREFIX, sweeps=False), bridging.pattern_help)


def of_bridge(bridging: Bridging, bridge: Bridge) -> Form:
    told = services.told(bridge)
    texts = {name: told[name] for name in ("mqtt", "username")}
    texts |= {name: "\n".join(map(_line, told[name])) for name in ("in", "out")}
    texts |= {name: told["tls"][name] for name in ("ca", "certificate")}
    return Form(
        texts, setting_forms.shown(bridging.settings, PREFIX, told["settings"], sweeps=False), bridging.pattern_help
    )


def of_request(bridging: Bridging, sent: QueryDict) -> Form:
    texts = {name: sent.get(name, "").strip().replace("\r\n", "\n") for name in TEXTS}
    return Form(texts, setting_forms.read(bridging.settings, PREFIX, sent, sweeps=False), bridging.pattern_help)


def fields(form: Form, sent: QueryDict) -> dict[str, Any]:
    """For ``services``. A password or key that was not typed stays, unless it is to be forgotten."""
    texts = form.texts
    tls: dict[str, Any] = {"ca": texts["ca"], "certificate": texts["certificate"]}
    if key := sent.get("key", "").strip().replace("\r\n", "\n"):
        tls["key"] = key
    elif not texts["certificate"]:
        tls["key"] = None
    defaults = {one.info.name: one.info.default for one in form.inputs.inputs}
    values = {name: None if value == defaults[name] else value for name, value in form.inputs.values.items()}
    values |= {one.info.name: one.text for one in form.inputs.inputs if one.wrong}  # to be refused with all others
    found: dict[str, Any] = {"mqtt": texts["mqtt"], "username": texts["username"], "tls": tls, "settings": values}
    found |= {name: _patterns(texts[name]) for name in ("in", "out")}
    if (password := sent.get("password", "")) or "forget_password" in sent:
        found["password"] = password or None
    return found


def blame(form: Form, error: InvalidSettings) -> None:
    """Put each sentence next to its field."""
    known = {one.info.name for one in form.inputs.inputs if one.wrong}
    for one in error.errors:
        first, _, rest = one.field.partition(".")
        name = rest.partition(".")[0]
        if first == "settings" and (name in known or form.inputs.blame(name, one.sentence)):
            continue
        number, _, _ = rest.partition(".")
        name, words = (rest if first == "tls" and rest else first), one.sentence
        if first in ("in", "out") and number.isdigit():
            words = f"Line {int(number) + 1}: {words}"
        form.wrong[name] = f"{form.wrong[name]}. {words}" if name in form.wrong else words


def _line(pattern: object) -> str:
    return pattern if isinstance(pattern, str) else json.dumps(pattern)


def _patterns(text: str) -> list[Any]:
    return [_pattern(line.strip()) for line in text.splitlines() if line.strip()]


def _pattern(line: str) -> str | Mapping[str, Any]:
    """Text, or an object as JSON."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return line
    return found if isinstance(found, dict) else line
