"""Creates ``.venv`` and installs the locked requirements: ``environment.py [OPTION ...] FILE ...``.

Runs on the system's Python before anything is installed, so it uses the standard library only. It can be interrupted at
any time: an installation is recorded, by the digest of the requirement file, only after pip succeeded, and an
incomplete environment is recreated. Concurrent calls wait for each other.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMPILERS = ("cc", "gcc", "clang")
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""Chromium's headless shell first: it has no window, so it starts and draws with less work."""


class SetupError(Exception):
    """A prerequisite is missing; the message says which and how to install it."""


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Hold an advisory lock on ``path``; the system releases it when the process exits."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another installation")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


class Environment:
    """The virtual environment at ``directory`` and the record of its contents."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.python = directory / "bin" / "python"
        self._record = directory / "installed.json"

    def install(self, files: Sequence[Path]) -> None:
        """Install the locked ``files``; does nothing if they are already installed."""
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
                f"this Python cannot create virtual environments. On Debian or Ubuntu: apt-get install {package}"
            )
        say(f"creating {self.directory.name} with Python {sys.version.split()[0]}")
        made = subprocess.run([sys.executable, "-m", "venv", "--clear", self.directory], check=False)
        if made.returncode != 0:
            raise SetupError(f"python -m venv {self.directory} failed; see its message above")

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
            raise SetupError("pip could not install the requirements; see its message above. Run make again")

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


CLIENT = """\
#!{python}
import sys

from waxwing.cli.main import main

sys.exit(main())
"""


def link_client(python: Path, root: Path = ROOT) -> None:
    """Make ``waxwing`` of ``clients/python`` importable, and its command executable, from where they are."""
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    told = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True).stdout
    Path(told.strip(), "waxwing.pth").write_text(f"{root / 'clients' / 'python' / 'src'}\n")
    command = python.parent / "waxwing"
    command.write_text(CLIENT.format(python=python))
    command.chmod(0o755)


def build_accelerator(python: Path, root: Path = ROOT) -> None:
    """Compile the accelerator for batched system calls if there is a compiler, otherwise print why not."""
    ask = "import sysconfig as s; print(s.get_path('include'), s.get_config_var('EXT_SUFFIX'), sep='\\n')"
    told = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True).stdout
    include, suffix = told.splitlines()
    source = root / "overlay" / "runtime" / "_datagrams.c"
    built = source.with_name(source.stem + suffix)
    if built.exists() and built.stat().st_mtime >= source.stat().st_mtime:
        return
    lacking = "brokers run without the accelerator"
    compiler = next((path for name in COMPILERS if (path := shutil.which(name))), None)
    if not sys.platform.startswith("linux"):
        say(f"{lacking}: it needs Linux")
    elif compiler is None:
        say(f"{lacking}: there is no C compiler (Debian and Ubuntu: apt-get install gcc)")
    elif not Path(include, "Python.h").exists():
        say(f"{lacking}: Python.h is missing (Debian and Ubuntu: apt-get install python3-dev)")
    else:
        new = built.with_suffix(".new")
        command: list[str | Path] = [
            compiler,
            "-O2",
            "-Wall",
            "-Wextra",
            "-shared",
            "-fPIC",
            "-I",
            include,
            source,
            "-o",
            new,
        ]
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        if made.returncode != 0:
            say(f"{lacking}: {Path(compiler).name} could not build it: {(made.stderr.splitlines() or ['?'])[0]}")
            return
        new.replace(built)
        say(f"built the accelerator, {built.relative_to(root)}")


def compile_hot_paths(python: Path) -> None:
    """Let mypyc compile the modules in ``overlay/compiled/modules.txt``, as far as that is possible here."""
    subprocess.run([python, "-m", "overlay.compiled"], cwd=ROOT, check=False)


def find_browser() -> str | None:
    """The Chromium for browser tests."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def find_postgresql(debian: Path = Path("/usr/lib/postgresql")) -> Path | None:
    """The directory of PostgreSQL's server programs, which Debian keeps off the path; the newest version."""
    versions = sorted(debian.glob("[0-9]*/bin"), key=lambda path: int(path.parent.name), reverse=True)
    named = [Path(path).resolve().parent] if (path := shutil.which("initdb")) else []
    return next((path for path in [*named, *versions] if (path / "postgres").exists()), None)


def find_mosquitto(debian: Path = Path("/usr/sbin/mosquitto")) -> str | None:
    """The MQTT server for tests, which Debian keeps off the path of most users."""
    return shutil.which("mosquitto") or (str(debian) if debian.exists() else None)


def find_nats(debian: Path = Path("/usr/sbin/nats-server")) -> str | None:
    """The server of NATS, for tests of logs and comparisons."""
    return shutil.which("nats-server") or (str(debian) if debian.exists() else None)


@dataclass(frozen=True)
class Program:
    """A program for tests, and the effect of its absence."""

    name: str
    packages: tuple[str, ...]
    """Of Debian. The first is required; one that this release does not have is left out."""
    find: Callable[[], object]
    lacking: str


BROWSER = Program("Chromium", ("chromium", "chromium-headless-shell"), find_browser, "browser tests will be skipped")
POSTGRESQL = Program("PostgreSQL", ("postgresql",), find_postgresql, "tests on PostgreSQL will be skipped")
NATS = Program("NATS", ("nats-server",), find_nats, "tests of logs over NATS, and comparisons with it, will be skipped")
MOSQUITTO = Program(
    "Mosquitto", ("mosquitto", "mosquitto-clients"), find_mosquitto, "tests with an MQTT server will be skipped"
)


def install(program: Program) -> None:
    """Install the Debian packages if permitted, otherwise print the effect of its absence."""
    if program.find():
        return
    lacking = f"{program.lacking}: {program.name} is missing"
    if not shutil.which("apt-get"):
        say(f"{lacking}; install it with your package manager")
        return
    root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if root and (
        not shutil.which("sudo") or subprocess.run([*root, "true"], capture_output=True, check=False).returncode
    ):
        say(f"{lacking}; install it as root: sudo apt-get install {program.packages[0]}")
        return
    say(f"installing {program.name} for the tests (once)")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    installs = [["install", "-y", "--no-install-recommends", package] for package in program.packages]
    for command in (["update"], *installs):
        subprocess.run(
            [*root, "apt-get", "-qq", *command],
            env=quiet,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            check=False,
        )
    if not program.find():
        say(f"{lacking}; apt-get could not install it, see its message above")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="environment.py")
    parser.add_argument("files", nargs="+", metavar="FILE", help="locked requirements")
    parser.add_argument("--into", default=".venv", metavar="NAME", help="the environment's directory (.venv)")
    parser.add_argument("--client", action="store_true", help="also make the command waxwing available")
    parser.add_argument("--browser", action="store_true", help="also install a browser for tests")
    parser.add_argument("--postgresql", action="store_true", help="also install a PostgreSQL server for tests")
    parser.add_argument("--mosquitto", action="store_true", help="also install an MQTT server for tests")
    parser.add_argument("--nats", action="store_true", help="also install a NATS server for tests")
    parser.add_argument("--accelerator", action="store_true", help="compile the optional accelerator if possible")
    parser.add_argument("--compiled", action="store_true", help="compile the hot paths if possible")
    options = parser.parse_args(arguments)
    try:
        with alone(ROOT / "var" / "setup.lock"):
            environment = Environment(ROOT / options.into)
            environment.install([ROOT / name for name in options.files])
            if options.accelerator:
                build_accelerator(environment.python)
            if options.compiled:
                compile_hot_paths(environment.python)
            if options.client:
                link_client(environment.python)
            if options.browser:
                install(BROWSER)
            if options.postgresql:
                install(POSTGRESQL)
            if options.mosquitto:
                install(MOSQUITTO)
            if options.nats:
                install(NATS)
    except (SetupError, OSError) as error:
        say(f"setup: {error}")
        return 1
    except KeyboardInterrupt:
        say("setup: interrupted; run make again to continue")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
