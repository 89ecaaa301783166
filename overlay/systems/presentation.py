"""How forms, labels and charts show the settings and the workload of a system. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Presentation:
    """All optional: a system without any is shown with the names, titles and units of its settings."""

    first_workload: Mapping[str, Any] = field(default_factory=dict)
    """Initial values of a new experiment's form that are not defaults."""
    main_workload: tuple[str, ...] = ()
    """The workload fields that a form shows expanded; empty for all."""
    form_sections: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Workload fields in a section of their own in the form, by its title."""
    main_settings: tuple[str, ...] = ()
    """The settings that a form shows expanded, in addition to the profile."""
    setting_sections: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Settings in a section of their own in forms, by its title. Those in none share one section."""
    run_settings: tuple[str, ...] = ()
    """The settings that only runs use, so that forms of networks leave them out."""
    value_words: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """The words after the value of a setting in labels, for one and for several: ``caller``, ``callers``."""
    axis_fields: tuple[str, ...] = ()
    """The preferred x axes of a comparison, best first: settings, workload fields or ``brokers``."""
    title_fields: tuple[str, ...] = ()
    """The settings whose common values are part of a chart's title."""
    hue_field: str = ""
    """The setting whose values have colours of their own on charts."""
