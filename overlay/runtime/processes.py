"""The supervisor's child processes: fork, readiness, exit and the reasons of their ends.

The supervisor itself is the zygote. A separate zygote would be a second parent to supervise, and measurements showed
little benefit (``docs/memory.md``). Forking is safe because the supervisor has one thread, and PDEATHSIG works because
that thread lives as long as the process.

Memory that a child writes becomes private, and in Python even reading an object writes its reference count.
Therefore as much as possible is done before the fork: work is prepared and signal handlers are installed, and the
child calls as little code as possible.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from overlay.core.errors import WaxwingError, describe_os_error, is_disk_full
from overlay.runtime.lifeline import die_with_parent

DISK_FULL = 74
"""The exit code (EX_IOERR) of a child that found the disk full and could write no message."""
DRAIN = signal.SIGUSR1
"""Tells a server to hand over its entries before it leaves, because its network goes on."""
WORDS_BYTES = 4096
"""Maximum bytes read of a dead child's last output."""

Ready = Callable[[str], None]
"""Called by a child when it is ready, with a text for the supervisor: a broker's ``host:port``."""


def _die() -> None:
    os._exit(128 + signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class Work:
    """The work of a child, with everything prepared for it."""

    do: Callable[[Ready], int]
    """Returns the exit code."""
    stop: Callable[[], None] = _die
    """The action of SIGTERM in the child; it may be called before ``do``."""
    descriptors: Sequence[int] = ()
    """The descriptors that it uses."""
    close: Callable[[], None] = lambda: None
    """Called in the process that prepared the work, to release its resources there."""
    drain: Callable[[], None] = _die
    """The action of ``DRAIN`` in the child, as ``stop``."""


@dataclass(frozen=True, slots=True)
class Child:
    """A forked process. ``ready`` is a pipe on which it writes a line when ready; closed without one if it dies."""

    pid: int
    ready: int
    words: Path


def describe_exit_code(code: int, words: str = "") -> str:
    """``killed by SIGKILL``, ``exit 1: cannot bind ...``. Takes ``-n`` and ``128 + n`` for a signal n."""
    number = -code if code < 0 else code - 128
    if code < 0 or code > 128:
        try:
            return f"killed by {signal.Signals(number).name}"
        except ValueError:
            pass
    if code == DISK_FULL and not words:
        words = "Disk full: it could not write its journal. Free some space and try again."
    return f"exit {code}: {words}" if words else f"exit {code}"


def last_words(path: Path) -> str:
    """The last line that a child wrote to its standard error; empty without output."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - WORDS_BYTES))
            lines = file.read(WORDS_BYTES).decode(errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.strip()[:500] for line in reversed(lines) if line.strip()), "")


def fork(work: Work, words: Path, inherited: Iterable[int]) -> Child:
    """``fork_all`` for one work."""
    return fork_all([(work, words)], inherited)[0]


def fork_all(works: Sequence[tuple[Work, Path]], inherited: Iterable[int]) -> list[Child]:
    """Do each work in a child, with only ``inherited`` and the work's own descriptors open; the parent closes the
    latter.

    The exit code is the result of the work. Standard error goes to the work's path, which is truncated first. All
    children are forked in one loop: memory that this process writes between two forks is not shared between them, so
    the loop does little else. If the system refuses further processes the list is shorter than ``works``. Raises
    ``OSError`` if it refuses the first one.
    """
    parent, pids = os.getpid(), []
    prepared = []
    try:
        for work, words in works:
            said = _open_words(words)
            try:
                ready, tell = os.pipe()
            except OSError:  # no descriptor left
                os.close(said)
                raise
            prepared.append((work, said, ready, tell, sorted({tell, *inherited, *work.descriptors})))
        highest = _highest_descriptor()
        with _signals_of_children() as signals:
            for work, said, _ready, tell, kept in prepared:
                pid = os.fork()
                if pid == 0:
                    _live(work, signals, parent, said, tell, kept, highest)
                pids.append(pid)
    except OSError:
        if not pids:
            raise
    finally:
        for index, (_work, said, ready, tell, _kept) in enumerate(prepared):
            os.close(said)
            os.close(tell)
            if index < len(pids):
                os.set_blocking(ready, False)
            else:
                os.close(ready)
        for work, _ in works:
            work.close()
    return [Child(pid, ready, words) for pid, (_, _, ready, *_), (_, words) in zip(pids, prepared, works, strict=False)]


def _open_words(path: Path) -> int:
    """If the file cannot be created, the child's output is lost but the child still runs."""
    try:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    except OSError as error:
        if not is_disk_full(error):
            raise
        return os.open(os.devnull, os.O_WRONLY)


class _Signals:
    """The handler of SIGTERM, SIGINT and ``DRAIN`` during the forks, and permanently in the children."""

    def __init__(self) -> None:
        self.came: list[int] = []
        self.stop: Callable[[], None] | None = None
        """The action of the child's work; ``None`` in the parent."""
        self.drain: Callable[[], None] = _die

    def __call__(self, number: int, _: FrameType | None) -> None:
        if self.stop is None:
            self.came.append(number)
        elif number == signal.SIGTERM:  # Ctrl-C on a terminal is handled by the supervisor
            self.stop()
        elif number == DRAIN:
            self.drain()


@contextmanager
def _signals_of_children() -> Iterator[_Signals]:
    """Install handlers before the forks: a child that does so makes 200 kB private. Signals are delivered
    afterwards."""
    signals = _Signals()
    before = {number: signal.signal(number, signals) for number in (signal.SIGTERM, signal.SIGINT, DRAIN)}
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for came in signals.came:
            signal.raise_signal(came)


def _live(work: Work, signals: _Signals, parent: int, said: int, tell: int, kept: Sequence[int], highest: int) -> None:
    """The complete life of a child. Never returns, so that no frame of the supervisor is unwound in it."""
    code = 1
    try:
        signals.stop, signals.drain = work.stop, work.drain
        if signals.came:  # a SIGTERM arrived before the work was set
            work.stop()
        die_with_parent(parent)
        signal.set_wakeup_fd(-1)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(said, 1)
        os.dup2(said, 2)
        # Close the listening socket, the lock and other children's pipes: a child may outlive the supervisor.
        _close_all_but(kept, highest)
        gc.freeze()  # scanning prepared objects would write to them
        gc.enable()
        code = work.do(_teller(tell))
    except OSError as error:
        code = DISK_FULL if is_disk_full(error) else code
        _say(describe_os_error(error))
    except WaxwingError as error:
        _say(str(error))
    except KeyboardInterrupt:
        pass
    except BaseException:  # noqa: BLE001  the last frame of a process: what went wrong is told, then it ends
        import traceback  # imported here to save memory in brokers

        _say(traceback.format_exc())
    finally:
        os._exit(code)


def _say(words: str) -> None:
    """Write to standard error unbuffered, so that a write refused by a full disk is not repeated at exit."""
    with suppress(OSError):
        os.write(2, f"{words}\n".encode(errors="replace"))


def _teller(tell: int) -> Ready:
    def on_ready(text: str) -> None:
        os.write(tell, f"{text}\n".encode())
        os.close(tell)

    return on_ready


def _close_all_but(kept: Sequence[int], highest: int) -> None:
    """Close descriptors 3 to ``highest`` except ``kept``, which is in ascending order."""
    low = 3
    for descriptor in kept:
        os.closerange(low, descriptor)
        low = descriptor + 1
    os.closerange(low, highest + 1)


def _highest_descriptor() -> int:
    return max(int(name) for name in os.listdir("/dev/fd"))  # noqa: PTH208  names, not paths
