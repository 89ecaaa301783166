"""Compiles the sources in ``modules.txt``. Needs mypy, setuptools and a C compiler; takes two to five minutes."""

from __future__ import annotations

import ast
import errno
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from fnmatch import fnmatch
from itertools import count
from pathlib import Path

from overlay.compiled.finder import MANIFEST, ROOT, SWITCH, digest, is_current, place, read_manifest, stamp

COMPILERS = ("cc", "gcc", "clang")
MODULES = Path(__file__).with_name("modules.txt")
GROUP = "waxwing"
"""The modules are one library, ``waxwing__mypyc``, so that they call each other directly."""
_OWN = ("overlay/compiled/modules.txt", "overlay/compiled/build.py")
_SETTINGS = "[mypy]\nignore_missing_imports = True\n"


def sources(root: Path = ROOT, patterns: str | None = None) -> list[str]:
    """The paths below ``root`` that are compiled."""
    lines = (MODULES.read_text(encoding="utf-8") if patterns is None else patterns).splitlines()
    rules = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    wanted = [rule for rule in rules if not rule.startswith("!")]
    left_out = [rule[1:] for rule in rules if rule.startswith("!")]
    found = sorted({str(path.relative_to(root)) for rule in wanted for path in root.glob(rule)})
    return [path for path in found if not any(fnmatch(path, rule) for rule in left_out)]


def obstacle() -> str:
    """Why nothing can be compiled here; empty if it can."""
    if not any(map(shutil.which, COMPILERS)):
        return "there is no C compiler (Debian and Ubuntu: apt-get install gcc)"
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        return "Python.h is missing (Debian and Ubuntu: apt-get install python3-dev)"
    return ""


def is_built(root: Path = ROOT) -> bool:
    return is_current(read_manifest(place(root)), root)


def build(root: Path = ROOT) -> None:
    """Replace what was compiled before. Several may run at once: the last one to end is kept.

    Raises whatever the compilers do.
    """
    directory, paths = place(root), sources(root)
    read = {path: [digest(root / path), stamp(root / path)] for path in (*_OWN, *sorted(dependencies(paths, root)))}
    directory.parent.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as temporary,
        tempfile.TemporaryDirectory(prefix=f"{directory.name}.", dir=directory.parent) as neighbour,
    ):
        with _silence():
            built = _compile(paths, Path(temporary))
        new = Path(neighbour, "new")
        new.mkdir()
        modules = {name: Path(shutil.copy(file, new / f"{name}.so")).name for name, file in built.items()}
        manifest = {"python": sys.version, "modules": modules, "sources": read}
        (new / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        try_out(new, root)
        put(new, directory)


def put(new: Path, directory: Path) -> None:
    """Rename a folder to one that may exist. Whoever looks meanwhile finds the old one, none or the new one."""
    for turn in count():
        with suppress(FileNotFoundError):
            directory.rename(new.with_name(f"old-{turn}"))
        try:
            new.rename(directory)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise  # and otherwise another build has put one there just now
        else:
            return


def try_out(directory: Path, root: Path) -> None:
    """Import every module once, since mypyc compiles a few things that Python then refuses. Raises ``ImportError``."""
    code = f"""
from importlib import import_module
from pathlib import Path
from overlay.compiled.finder import use_from
for name in use_from(Path({str(directory)!r})):
    try:
        import_module(name)
    except Exception as error:
        raise SystemExit(f"{{name}}: {{error}}") from None
"""
    command, environment = [sys.executable, "-c", code], {**os.environ, SWITCH: "0"}
    tried = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    if tried.returncode:
        raise ImportError((tried.stderr.strip().splitlines() or ["a compiled module cannot be imported"])[-1])


def _compile(paths: Iterable[str], temporary: Path) -> dict[str, Path]:
    """The built file of each module."""
    from mypyc.build import mypycify
    from setuptools import Distribution  # type: ignore[import-untyped]

    settings = temporary / "mypy.ini"
    settings.write_text(_SETTINGS, encoding="utf-8")
    options = [f"--config-file={settings}", f"--cache-dir={temporary / 'cache'}", *paths]
    extensions = mypycify(
        options, target_dir=str(temporary / "c"), group_name=GROUP, opt_level="2", debug_level="0", multi_file=True
    )
    command = Distribution({"name": GROUP, "ext_modules": extensions}).get_command_obj("build_ext")
    command.build_lib, command.build_temp = str(temporary / "lib"), str(temporary / "objects")
    command.parallel = os.cpu_count()
    command.ensure_finalized()
    command.run()
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    library = temporary / "lib"
    return {
        str(path.relative_to(library)).removesuffix(suffix).replace("/", "."): path for path in library.rglob("*.so")
    }


@contextmanager
def _silence() -> Iterator[None]:
    """What compilers print goes nowhere: only an error is of interest, and it is raised."""
    kept = os.dup(1), os.dup(2)
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        try:
            for descriptor in (1, 2):
                os.dup2(nowhere.fileno(), descriptor)
            yield
        finally:
            for descriptor, before in zip((1, 2), kept, strict=True):
                os.dup2(before, descriptor)
                os.close(before)


def dependencies(paths: Iterable[str], root: Path = ROOT) -> set[str]:
    """The sources and all that they import from the same folder, directly or not: their types are compiled in."""
    found: set[str] = set()
    waiting = list(paths)
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        for node in ast.walk(ast.parse((root / path).read_bytes())):
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
                waiting += [str(one) for name in names for one in _files(name) if (root / one).is_file()]
    return found


def _files(module: str) -> tuple[Path, Path]:
    path = Path(*module.split("."))
    return path.with_suffix(".py"), path / "__init__.py"
