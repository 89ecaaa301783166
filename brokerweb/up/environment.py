"""Makes ``.venv`` and installs the locked requirements into it: ``python3 environment.py [--browser] FILE ...``.

Run by the system's Python before anything is installed, so it imports the standard library only. Safe to interrupt at
any moment: what is installed is written down only after pip succeeded, by the digest of the requirement file, and a
half-made environment is made anew. Two at once wait for each other.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class SetupError(Exception):
    """The machine lacks something; the text says what, and what to do about it."""


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Holds an advisory lock on ``path``; released by the system however this process ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another make is installing; waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


class Environment:
    """The virtual environment at ``directory`` and the record of what it holds."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.python = directory / "bin" / "python"
        self._record = directory / "installed.json"

    def install(self, files: Sequence[Path]) -> None:
        """Bring the environment to what ``files`` lock; does nothing where it is there already."""
        wanted = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
        if not self._works():
            self._create()
        held = self._held()
        missing = [file for file in files if held.get(file.name) != wanted[file.name]]
        if not missing:
            return
        names = " and ".join(file.name for file in missing)
        say(f"installing {names} into {self.directory.name} (once, and again when they change)")
        self._write({name: digest for name, digest in held.items() if name not in wanted})
        self._pip(missing)
        self._write({**held, **wanted})

    def _works(self) -> bool:
        if not self.python.exists():
            return False
        return subprocess.run([self.python, "-c", "import pip"], capture_output=True, check=False).returncode == 0

    def _create(self) -> None:
        if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
            package = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
            raise SetupError(
                f"this Python cannot make virtual environments. On Debian or Ubuntu: apt-get install {package}"
            )
        say(f"making {self.directory.name} with Python {sys.version.split()[0]}")
        made = subprocess.run([sys.executable, "-m", "venv", "--clear", self.directory], check=False)
        if made.returncode != 0:
            raise SetupError(f"python -m venv {self.directory} failed; its own message stands above")

    def _pip(self, files: Sequence[Path]) -> None:
        command: list[str | Path] = [
            self.python,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--require-hashes",
            "--disable-pip-version-check",
        ]
        for file in files:
            command += ["--requirement", file]
        result = subprocess.run([*command, "--no-input"], stdin=subprocess.DEVNULL, check=False)
        if result.returncode != 0:
            raise SetupError("pip could not install the requirements; its own message stands above. Run make again")

    def _held(self) -> dict[str, str]:
        try:
            held = json.loads(self._record.read_text())
        except (OSError, ValueError):
            return {}
        return dict(held) if isinstance(held, dict) else {}

    def _write(self, held: dict[str, str]) -> None:
        whole = self._record.with_suffix(".new")
        whole.write_text(json.dumps(held))
        whole.replace(self._record)


def find_browser() -> str | None:
    """The Chromium that browser tests can drive."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def install_browser() -> None:
    """Install Debian's Chromium where this user may, else say in one line what the tests will lack."""
    if find_browser():
        return
    lacking = "browser tests will be skipped: Chromium is missing"
    if not shutil.which("apt-get"):
        say(f"{lacking}; install it with this system's own means")
        return
    root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if root and (
        not shutil.which("sudo") or subprocess.run([*root, "true"], capture_output=True, check=False).returncode
    ):
        say(f"{lacking}, and only root can install it: sudo apt-get install chromium")
        return
    say("installing Chromium for the browser tests (once)")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update"], ["install", "-y", "--no-install-recommends", "chromium"]):
        subprocess.run(
            [*root, "apt-get", "-qq", *command],
            env=quiet,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            check=False,
        )
    if not find_browser():
        say(f"{lacking}, and apt-get could not install it; its own message stands above")


def main(arguments: Sequence[str]) -> int:
    names = [argument for argument in arguments if argument != "--browser"]
    try:
        with alone(ROOT / "var" / "setup.lock"):
            Environment(ROOT / ".venv").install([ROOT / name for name in names])
            if "--browser" in arguments:
                install_browser()
    except (SetupError, OSError) as error:
        say(f"setup: {error}")
        return 1
    except KeyboardInterrupt:
        say("setup: interrupted; run make again to go on where it stopped")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
