"""The form of Algorithm 1 that the setting ``index`` names."""

from __future__ import annotations

from collections.abc import Mapping

from overlay.systems.radiator.aggregation.algorithm import Algorithm
from overlay.systems.radiator.aggregation.checked import Checked
from overlay.systems.radiator.aggregation.classes import Classes, Indexed
from overlay.systems.radiator.aggregation.literal import Literal
from overlay.systems.radiator.aggregation.options import Options
from overlay.systems.radiator.aggregation.shards import Form, Sharded
from overlay.systems.radiator.language.aggregability import Aggregability

FORMS: Mapping[str, Form] = {"literal": Literal, "indexed": Indexed, "classes": Classes}
"""By the value of ``index``."""


def make_algorithm(
    index: str, function: Aggregability, options: Options, *, shards: int = 1, is_checked: bool = False
) -> Algorithm:
    """Algorithm 1 in the form ``index``, in ``shards`` parts. If ``is_checked``, the other forms run with it."""
    form = FORMS[index]
    chosen = form(function, options, None) if shards == 1 else Sharded(form, shards, function, options)
    if not is_checked:
        return chosen
    others = [other(function, options, None) for name, other in FORMS.items() if name != index]
    return Checked([chosen, *others], function, options)
