"""Forms from declarative settings: one input per setting, with default, unit, range and help.

If a sweep is allowed, a text input accepts a list ("50, 500, 1000") and a choice has checkboxes. A setting of a profile
may be empty; it then has the profile's value. Durations and sizes accept units ("1h30m", "64kB").
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
LEFT_OPEN = "from the profile"

Profiles = Mapping[str, Mapping[str, Value]]
"""Named sets of settings of a system."""
NO_PROFILES: Profiles = {}


@dataclass
class Input:
    """The input of one setting."""

    info: SettingInfo
    name: str
    texts: list[str]
    sweeps: bool
    wrong: str = ""
    by_profile: Mapping[str, Value] = field(default_factory=dict)
    """Values by profile; empty if no profile sets it."""
    unused: str = ""
    """The choice that would use it, if the current ones do not: "with search k-walkers"."""

    @property
    def is_hidden(self) -> bool:
        """Hidden while unused, unless it has an error."""
        return bool(self.unused) and not self.wrong

    @property
    def lines(self) -> list[str]:
        """The values of a long text; one empty line if it has none."""
        return self.texts or [""]

    @property
    def default_texts(self) -> list[str]:
        """Default values as text."""
        return [] if self.by_profile else [_text(self.info.default)]

    @property
    def default_text(self) -> str:
        """The default as the input's value, for the reset script."""
        return ", ".join(self.default_texts)

    @property
    def is_changed(self) -> bool:
        """Whether it differs from its default."""
        return self.texts != self.default_texts

    @property
    def default_words(self) -> str:
        """ "default 30 s"; empty if profiles decide, and for text without a default."""
        if self.by_profile or self.info.default == "":
            return ""
        return f"default {_shown(self.info.default)}{' ' + self.unit if self.unit else ''}"

    @property
    def is_profile(self) -> bool:
        """Whether it is the profile, which provides the values of empty inputs."""
        return self.info.name == PROFILE

    @property
    def open(self) -> str:
        """Placeholder of an empty input; empty if a value is required."""
        return LEFT_OPEN if self.by_profile else ""

    @property
    def profiles(self) -> str:
        """ "design 4000, else 1": the value of an empty input."""
        said = [f"{profile} {_shown(value)}" for profile, value in self.by_profile.items()]
        return f"{', '.join(said)}, else {_shown(self.info.default)}" if said else ""

    @property
    def is_long(self) -> bool:
        """Whether it is a text of several lines; a sweep has one input for each value."""
        return bool(self.info.most)

    @property
    def text(self) -> str:
        return ", ".join(self.texts)

    @property
    def options(self) -> list[tuple[str, str, bool]]:
        """(value, label, chosen) of a choice; empty for text inputs."""
        pairs = [(choice, choice) for choice in self.info.choices]
        if self.info.kind == "boolean":
            pairs = [("true", "on"), ("false", "off")]
        if pairs and self.by_profile and not self.sweeps:
            pairs.insert(0, ("", LEFT_OPEN))
        return [(value, label, value in self.texts or (value == "" and not self.texts)) for value, label in pairs]

    @property
    def unit(self) -> str:
        """Shown next to the name; a fraction has no unit, only a range."""
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
    """The inputs of one settings class, and the parsed values."""

    inputs: list[Input]
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def wrong(self) -> bool:
        return any(one.wrong for one in self.inputs)

    def changed(self) -> dict[str, Any]:
        """Values that differ from the defaults, and optional values that are set."""
        return {
            one.info.name: self.values[one.info.name]
            for one in self.inputs
            if one.info.name in self.values and (one.by_profile or self.values[one.info.name] != one.info.default)
        }

    def blame(self, name: str, sentence: str) -> bool:
        """Attaches an error to the input ``name``; False if there is no such input."""
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
    """Inputs that show ``values`` over the defaults; settings of profiles without a value are empty."""
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
    """Submitted inputs, each validated; ``values`` has the valid ones."""
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
    """Each setting with its values by profile."""
    for info in infos:
        yield info, {name: values[info.name] for name, values in profiles.items() if info.name in values}


def _shown(value: Value) -> str:
    return ("off", "on")[value] if isinstance(value, bool) else _text(value)


def _is_list_text(info: SettingInfo) -> bool:
    """A setting such as a list of networks is one comma-separated text, not a sweep."""
    return info.kind == "text" and not info.choices


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _value(info: SettingInfo, text: str) -> Any:
    """The text converted to the setting's type; invalid text is left for the validation to report."""
    if info.kind == "boolean":
        return {"true": True, "false": False}.get(text, text)
    if info.kind == "text":
        return text.replace("\r\n", "\n")
    try:
        return int(text) if info.kind == "integer" else float(text)
    except ValueError:
        quantity = quantities.read(text, info.unit)
    if quantity is None:
        return text
    return int(quantity) if info.kind == "integer" and quantity == int(quantity) else quantity


def whole_number(field: str, text: str) -> int:
    """An integer input that is not a setting. Raises ``InvalidSetting``."""
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise InvalidSetting(field, f"must be a whole number, not {text[:40]!r}" if text else "is required")
    return int(text)
