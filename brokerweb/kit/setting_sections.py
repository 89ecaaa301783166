"""The inputs of settings in sections, as the presentation of their system declares them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from brokerweb.kit.setting_forms import Input
from overlay.systems.contract import System


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a form that can be folded."""

    title: str
    inputs: Sequence[Input]
    opens_if_changed: bool = True

    @property
    def changed(self) -> int:
        """Number of inputs that differ from their defaults."""
        return sum(one.is_changed for one in self.inputs)

    @property
    def is_open(self) -> bool:
        return any(one.wrong for one in self.inputs) or (self.opens_if_changed and bool(self.changed))

    @property
    def is_hidden(self) -> bool:
        """Whether none of its inputs is shown."""
        return all(one.is_hidden for one in self.inputs)


def named(inputs: Sequence[Input], sections: Mapping[str, Sequence[str]]) -> list[Section]:
    """The sections that have inputs, each in the order of its names."""
    by_name = {one.info.name: one for one in inputs}
    found = [Section(title, [by_name[name] for name in names if name in by_name]) for title, names in sections.items()]
    return [section for section in found if section.inputs]


def main(system: System, inputs: Sequence[Input]) -> list[Input]:
    """The inputs that are shown expanded: the profile, which the others depend on, and the system's main settings."""
    names = system.presentation.main_settings
    return [one for one in inputs if one.is_profile or one.info.name in names]


def of_settings(system: System, inputs: Sequence[Input]) -> list[Section]:
    """All other settings: the system's sections, then one with those in none."""
    sections = named(inputs, system.presentation.setting_sections)
    placed = {one.name for one in (*main(system, inputs), *(one for section in sections for one in section.inputs))}
    rest = [one for one in inputs if one.name not in placed]
    last = Section(f"{system.server_title.one} settings", rest, opens_if_changed=False)
    return [*sections, *([last] if rest else [])]
