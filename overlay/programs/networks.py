"""Networks as arguments of commands (``--network``): by id, or by name where one network has it. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from overlay.core.errors import WaxwingError

HELP = "its name or id"


class NoSuchNetwork(WaxwingError):
    """There is no network of this name or id, or there are several."""


def chosen(known: Mapping[str, str], wanted: str, where: str) -> str:
    """The id of the network with this id, or with this name if only one has it. ``known``: names by id, empty if
    unknown. ``where``: who knows them, as the subject of a sentence. Raises ``NoSuchNetwork``."""
    if wanted in known:
        return wanted
    named = [id for id, name in known.items() if name == wanted]
    if len(named) == 1:
        return named[0]
    if named:
        raise NoSuchNetwork(
            f"{where} has {len(named)} networks with the name {wanted}: {', '.join(named)}. Give the id of one."
        )
    raise NoSuchNetwork(f"{where} has no network {wanted}{f', but {listed(known)}' if known else ''}.")


def listed(known: Mapping[str, str]) -> str:
    """``fleet (k3v9), p4tq``."""
    return ", ".join(f"{name} ({id})" if name else id for id, name in known.items())
