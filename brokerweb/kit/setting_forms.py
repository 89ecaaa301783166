"""Forms made from declarative settings: one input per setting, with its default, unit, range and help.

Where a sweep is allowed, a text input takes a list ("50, 500, 1000") and a choice may be ticked several times. What
profiles set may be left open: it then has the value of the profile that is chosen. Times and sizes may be typed with a
unit of their own ("1h30m", "64kB").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict

from brokerweb.kit import quantities
from overlay.core.errors import InvalidSetting
from overlay.core.settings import SettingInfo, Value
from overlay.systems.contract import PROFILE

SHARES = ("fraction", "probability")
LEFT_OPEN = "as the profile"

Profiles = Mapping[str, Mapping[str, Value]]
"""A system's named sets of settings."""
NO_PROFILES: Profiles = {}


@dataclass
class Input:
    """One setting as a form shows it."""

    info: SettingInfo
    name: str
    texts: list[str]
    sweeps: bool
    wrong: str = ""
    by_profile: Mapping[str, Value] = field(default_factory=dict)
    """The values that profiles give it, by profile; empty for one that none sets."""
    unused: str = ""
    """With what it would be used, where nothing that was chosen uses it: "with search k-walkers"."""

    @property
    def is_hidden(self) -> bool:
        """Not shown for now; one with something wrong is."""
        return bool(self.unused) and not self.wrong

    @property
    def default_texts(self) -> list[str]:
        """What it says before anybody typed."""
        return [] if self.by_profile else [_text(self.info.default)]

    @property
    def default_text(self) -> str:
        """The same as its input has it, for a script that puts it back."""
        return ", ".join(self.default_texts)

    @property
    def is_changed(self) -> bool:
        """Whether it says something else than its default."""
        return self.texts != self.default_texts

    @property
    def default_words(self) -> str:
        """ "default 30 s"; how a form says it. Empty where profiles decide, and for a text without one."""
        if self.by_profile or self.info.default == "":
            return ""
        return f"default {_shown(self.info.default)}{' ' + self.unit if self.unit else ''}"

    @property
    def is_profile(self) -> bool:
        """Whether it says what those left open are; it stands before them."""
        return self.info.name == PROFILE

    @property
    def open(self) -> str:
        """What an input left open says of itself; empty for one that may not be."""
        return LEFT_OPEN if self.by_profile else ""

    @property
    def profiles(self) -> str:
        """ "design 4000, else 1": what leaving it open means."""
        said = [f"{profile} {_shown(value)}" for profile, value in self.by_profile.items()]
        return f"{', '.join(said)}, else {_shown(self.info.default)}" if said else ""

    @property
    def text(self) -> str:
        return ", ".join(self.texts)

    @property
    def options(self) -> list[tuple[str, str, bool]]:
        """(value, label, chosen) of a choice; empty for what is typed."""
        pairs = [(choice, choice) for choice in self.info.choices]
        if self.info.kind == "boolean":
            pairs = [("true", "on"), ("false", "off")]
        if pairs and self.by_profile and not self.sweeps:
            pairs.insert(0, ("", LEFT_OPEN))
        return [(value, label, value in self.texts or (value == "" and not self.texts)) for value, label in pairs]

    @property
    def unit(self) -> str:
        """Beside the name; a share of one needs no unit, its range says what it is."""
        return "" if self.info.unit in SHARES else self.info.unit

    @property
    def range(self) -> str:
        """ "1 to 1000", "at least 0", or nothing."""
        low, high = self.info.low, self.info.high
        if low is not None and high is not None:
            return f"{_bound(low)} to {_bound(high)}"
        return f"at least {_bound(low)}" if low is not None else f"at most {_bound(high)}" if high is not None else ""


def _bound(value: float) -> str:
    whole, _, rest = f"{value:.9f}".rstrip("0").partition(".")
    return f"{int(whole):,}".replace(",", "\u202f") + (f".{rest}" if rest else "")


@dataclass
class Inputs:
    """The inputs of one settings class, and what was read from them."""

    inputs: list[Input]
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def wrong(self) -> bool:
        return any(one.wrong for one in self.inputs)

    def changed(self) -> dict[str, Any]:
        """Only what differs from the defaults, and what may be left open and is not."""
        return {
            one.info.name: self.values[one.info.name]
            for one in self.inputs
            if one.info.name in self.values and (one.by_profile or self.values[one.info.name] != one.info.default)
        }

    def blame(self, name: str, sentence: str) -> bool:
        """Puts a sentence beside the input ``name``; False when there is no such input."""
        for one in self.inputs:
            if one.info.name == name:
                one.wrong = sentence
                return True
        return False


def shown(
    infos: Iterable[SettingInfo],
    prefix: str,
    values: Mapping[str, Any] | None = None,
    *,
    sweeps: bool,
    profiles: Profiles = NO_PROFILES,
) -> Inputs:
    """Inputs that show ``values`` over the defaults; what profiles set is left open where it has no value."""
    found, chosen = Inputs([]), values or {}
    for info, by_profile in _profiled(infos, profiles):
        value = chosen.get(info.name, [] if by_profile else info.default)
        texts = [_text(one) for one in (value if isinstance(value, list) else [value])]
        found.inputs.append(Input(info, f"{prefix}{info.name}", texts, sweeps, by_profile=by_profile))
        if texts:
            found.values[info.name] = value
    return found


def read(
    infos: Iterable[SettingInfo], prefix: str, data: QueryDict, *, sweeps: bool, profiles: Profiles = NO_PROFILES
) -> Inputs:
    """Inputs as they were sent, each checked; ``values`` holds those that are right."""
    found = Inputs([])
    for info, by_profile in _profiled(infos, profiles):
        name = f"{prefix}{info.name}"
        sent = data.getlist(name)
        typed = info.kind != "boolean" and not info.choices and not _is_list_text(info)
        texts = [part.strip() for text in sent for part in (text.split(",") if typed and sweeps else [text])]
        texts = [text for text in texts if text != ""] if typed or by_profile else texts
        one = Input(info, name, texts if by_profile else texts or sent, sweeps, by_profile=by_profile)
        found.inputs.append(one)
        if by_profile and not texts:
            continue
        try:
            values = [info.read(_value(info, text)) for text in texts] or [info.default]
            for value in values:
                info.check(value)
        except InvalidSetting as error:
            one.wrong = error.sentence
            continue
        values = list(dict.fromkeys(values))
        found.values[info.name] = values if len(values) > 1 else values[0]
    return found


def _profiled(infos: Iterable[SettingInfo], profiles: Profiles) -> Iterator[tuple[SettingInfo, Mapping[str, Value]]]:
    """Each setting with the values that profiles give it."""
    for info in infos:
        yield info, {name: values[info.name] for name, values in profiles.items() if info.name in values}


def _shown(value: Value) -> str:
    return ("off", "on")[value] if isinstance(value, bool) else _text(value)


def _is_list_text(info: SettingInfo) -> bool:
    """Settings such as a list of networks are one comma-separated text, never a sweep."""
    return info.kind == "text" and not info.choices


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _value(info: SettingInfo, text: str) -> Any:
    """The text as the setting's type; what cannot be read stays text, so that the check names it."""
    if info.kind == "boolean":
        return {"true": True, "false": False}.get(text, text)
    if info.kind == "text":
        return text
    try:
        return int(text) if info.kind == "integer" else float(text)
    except ValueError:
        quantity = quantities.read(text, info.unit)
    if quantity is None:
        return text
    return int(quantity) if info.kind == "integer" and quantity == int(quantity) else quantity


def whole_number(field: str, text: str) -> int:
    """What was typed into an input that is no setting. Raises ``InvalidSetting``."""
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise InvalidSetting(field, f"must be a whole number, not {text[:40]!r}" if text else "is required")
    return int(text)
