"""The networks that are to run here, kept on disk, so that they come back after the supervisor has died."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from overlay.core.addresses import Address, format_address, parse_address
from overlay.core.errors import WaxwingError
from overlay.deployment.deployment import Deployment


@dataclass(frozen=True)
class Kept:
    """A network and the addresses that its brokers keep."""

    deployment: Deployment
    addresses: tuple[Address, ...]


class KeptNetworks:
    """One JSON file, replaced whole: a crash leaves the old or the new one."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._path = directory / "networks.json"

    def read(self) -> tuple[list[Kept], str]:
        """The networks, and what was wrong with those that could not be read; empty when nothing was."""
        try:
            entries = json.loads(self._path.read_text())
        except FileNotFoundError:
            return [], ""
        except (OSError, ValueError) as error:
            return [], f"{self._path} cannot be read: {error}"
        kept, wrong = [], []
        for entry in entries if isinstance(entries, list) else [entries]:
            try:
                addresses = tuple(parse_address(text) for text in entry["addresses"])
                kept.append(Kept(Deployment.from_json(entry["deployment"]), addresses))
            except (WaxwingError, KeyError, TypeError) as error:
                wrong.append(f"a network in {self._path} cannot be read: {error}")
        return kept, "; ".join(wrong)

    def write(self, networks: Iterable[Kept]) -> None:
        """Keep exactly these. Raises ``OSError``."""
        entries = [
            {"deployment": kept.deployment.to_json(), "addresses": [format_address(at) for at in kept.addresses]}
            for kept in networks
        ]
        whole = self._path.with_suffix(".new")
        with whole.open("w") as file:
            json.dump(entries, file)
            file.flush()
            os.fsync(file.fileno())
        whole.replace(self._path)
        directory = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)  # the name too
        finally:
            os.close(directory)
