"""Imports the compiled form of a module, if it was compiled from the source that is there now."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from hashlib import blake2b
from importlib.abc import MetaPathFinder
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SWITCH = "WAXWING_COMPILED"
"""The environment variable that switches it off with ``0``."""
MANIFEST = "manifest.json"


def place(root: Path = ROOT) -> Path:
    """Where the compiled modules of a checkout are: in the environment, which several checkouts may share."""
    name = blake2b(str(root).encode(), digest_size=6).hexdigest()
    return Path(sys.prefix, "compiled", f"{name}-{sys.implementation.cache_tag}")


def digest(source: Path) -> str:
    return blake2b(source.read_bytes(), digest_size=16).hexdigest()


def stamp(source: Path) -> list[int]:
    """Changes with every usual change of a file, and is quicker to see than its digest."""
    status = source.stat()
    return [status.st_size, status.st_mtime_ns]


def read_manifest(directory: Path) -> dict[str, Any]:
    """``python``; ``modules``: files by module; ``sources``: digest and stamp by path. Empty if there is none."""
    try:
        found = json.loads((directory / MANIFEST).read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def is_current(manifest: Mapping[str, Any], root: Path = ROOT) -> bool:
    """Whether everything was compiled from the sources that are there now, with this Python."""
    if manifest.get("python") != sys.version:
        return False
    try:
        return all(_is_same(root / path, *known) for path, known in manifest["sources"].items())
    except (OSError, KeyError, TypeError, AttributeError):
        return False


def _is_same(source: Path, known_digest: str, known_stamp: list[int]) -> bool:
    return stamp(source) == known_stamp or digest(source) == known_digest


class CompiledFinder(MetaPathFinder):
    """Finds the modules of a manifest, and no other."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        file = self._files.get(name)
        if file is None:
            return None
        return spec_from_file_location(name, file, loader=ExtensionFileLoader(name, file))


def use() -> None:
    """Let this process import compiled modules; done before any of them is imported."""
    if os.environ.get(SWITCH) == "0":
        return
    directory = place()
    if is_current(read_manifest(directory)):
        use_from(directory)


def use_from(directory: Path) -> list[str]:
    """Let this process import the compiled modules in ``directory``, current or not. Returns their names."""
    modules = read_manifest(directory)["modules"]
    sys.meta_path.insert(0, CompiledFinder({name: str(directory / file) for name, file in modules.items()}))
    return list(modules)


def is_used() -> bool:
    """Whether this process imports compiled modules."""
    return any(isinstance(finder, CompiledFinder) for finder in sys.meta_path)
