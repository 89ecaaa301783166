"""Stores the networks of this host on disk, so that they are deployed again after a crash of the supervisor."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from overlay.core.addresses import Address, format_address, parse_address
from overlay.core.errors import WaxwingError
from overlay.deployment.deployment import Deployment


@dataclass(frozen=True)
class Kept:
    """A network and the addresses of its brokers."""

    deployment: Deployment
    addresses: tuple[Address, ...]
    older: Mapping[int, Any] = field(default_factory=dict)
    """The settings of brokers that a rolling change has not reached, by index."""

    @classmethod
    def read(cls, entry: Mapping[str, Any]) -> Kept:
        """From ``document``. Raises ``WaxwingError``, ``KeyError``, ``TypeError``, ``ValueError``."""
        deployment = Deployment.from_json(entry["deployment"])
        settings = deployment.system.read_settings
        older = {int(index): settings(values) for index, values in entry.get("older", {}).items()}
        return cls(deployment, tuple(parse_address(text) for text in entry["addresses"]), older)

    def document(self) -> dict[str, Any]:
        write = self.deployment.system.settings_document
        older = {str(index): write(settings) for index, settings in self.older.items()}
        addresses = [format_address(at) for at in self.addresses]
        return {"deployment": self.deployment.to_json(), "addresses": addresses, **({"older": older} if older else {})}


class KeptNetworks:
    """One JSON file, replaced atomically: after a crash it is the old or the new one."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._path = directory / "networks.json"

    def read(self) -> tuple[list[Kept], str]:
        """The networks, and the errors of those that could not be read; empty without errors."""
        try:
            entries = json.loads(self._path.read_text())
        except FileNotFoundError:
            return [], ""
        except (OSError, ValueError) as error:
            return [], f"{self._path} cannot be read: {error}"
        kept, wrong = [], []
        for entry in entries if isinstance(entries, list) else [entries]:
            try:
                kept.append(Kept.read(entry))
            except (WaxwingError, KeyError, TypeError, ValueError, AttributeError) as error:
                wrong.append(f"a network in {self._path} cannot be read: {error}")
        return kept, "; ".join(wrong)

    def write(self, networks: Iterable[Kept]) -> None:
        """Store exactly these. Raises ``OSError``."""
        entries = [kept.document() for kept in networks]
        whole = self._path.with_suffix(".new")
        with whole.open("w") as file:
            json.dump(entries, file)
            file.flush()
            os.fsync(file.fileno())
        whole.replace(self._path)
        directory = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)  # also the name
        finally:
            os.close(directory)
