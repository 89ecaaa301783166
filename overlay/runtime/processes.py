"""Children of the supervisor: forked, watched until ready, reaped, and their ends put into words.

The supervisor itself is the zygote; a separate one would be a second parent to watch, and was measured to save little
(``docs/memory.md``). Forking is safe because the supervisor has one thread, and PDEATHSIG is, because that thread lives
as long as it does.

What a child writes to is its own from then on, and in Python whatever is looked at is written to, as it is counted.
Hence everything that can be done before the fork is: work comes prepared, signal handlers stand, and what remains to be
done in the child calls as little as it can.
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
"""The exit code (EX_IOERR) of a child that found the disk full: it has no room to leave words on it."""
WORDS_BYTES = 4096
"""How much of a dead child's last words is read."""

Ready = Callable[[str], None]
"""What a child calls once it is ready, with what the supervisor is to know: a broker's ``host:port``."""


def _die() -> None:
    os._exit(128 + signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class Work:
    """What a child does, with what was prepared for it."""

    do: Callable[[Ready], int]
    """Returns the exit code."""
    stop: Callable[[], None] = _die
    """What SIGTERM does in the child; it may come before ``do`` is called."""
    descriptors: Sequence[int] = ()
    """Which descriptors it holds."""
    close: Callable[[], None] = lambda: None
    """For the process that prepared it and will not do it: lets go of what the work holds."""


@dataclass(frozen=True, slots=True)
class Child:
    """A forked process. ``ready`` is the read end on which it says a line once it is ready, or nothing when it dies."""

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
    """The last line that a child wrote to its standard error; empty when it said nothing."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - WORDS_BYTES))
            lines = file.read(WORDS_BYTES).decode(errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.strip()[:500] for line in reversed(lines) if line.strip()), "")


def fork(work: Work, words: Path, inherited: Iterable[int]) -> Child:
    """``fork_all`` of one."""
    return fork_all([(work, words)], inherited)[0]


def fork_all(works: Sequence[tuple[Work, Path]], inherited: Iterable[int]) -> list[Child]:
    """Do each work in a child that keeps only ``inherited`` and the work's own open; here all of them are closed.

    Its exit code is what the work returns. Its standard error goes to the work's path, which is emptied first. All are
    forked at one go: what this process writes to its memory between two forks is shared by nobody afterwards, so there
    is as little of it as can be. Where the system refuses another process the list is shorter than ``works``. Raises
    ``OSError`` when not even the first can be had.
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
    """Without room for another file a child's last words are lost, and it may do its work all the same."""
    try:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    except OSError as error:
        if not is_disk_full(error):
            raise
        return os.open(os.devnull, os.O_WRONLY)


class _Signals:
    """The handler of SIGTERM and SIGINT while children are forked, and in them for good."""

    def __init__(self) -> None:
        self.came: list[int] = []
        self.stop: Callable[[], None] | None = None
        """Of the child's work; ``None`` in the parent."""

    def __call__(self, number: int, _: FrameType | None) -> None:
        if self.stop is None:
            self.came.append(number)
        elif number == signal.SIGTERM:  # Ctrl-C at a terminal is the supervisor's to act on
            self.stop()


@contextmanager
def _signals_of_children() -> Iterator[_Signals]:
    """Before the forks, since a child that sets its handlers makes 200 kB its own; what comes meanwhile comes after."""
    signals = _Signals()
    before = {number: signal.signal(number, signals) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for came in signals.came:
            signal.raise_signal(came)


def _live(work: Work, signals: _Signals, parent: int, said: int, tell: int, kept: Sequence[int], highest: int) -> None:
    """The child's whole life; never returns, so nothing of the supervisor's frames is ever unwound in it."""
    code = 1
    try:
        signals.stop = work.stop
        if signals.came:  # told to end before it was known whose child this is
            work.stop()
        die_with_parent(parent)
        signal.set_wakeup_fd(-1)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(said, 1)
        os.dup2(said, 2)
        # Not the listening socket, the lock, other children's pipes: what a child holds open outlives the supervisor.
        _close_all_but(kept, highest)
        gc.freeze()  # what was prepared: to look through it would be to write to it
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
        import traceback  # only here: brokers would carry it

        _say(traceback.format_exc())
    finally:
        os._exit(code)


def _say(words: str) -> None:
    """To standard error, past its buffer: what a full disk refuses must not be tried again on the way out."""
    with suppress(OSError):
        os.write(2, f"{words}\n".encode(errors="replace"))


def _teller(tell: int) -> Ready:
    def on_ready(text: str) -> None:
        os.write(tell, f"{text}\n".encode())
        os.close(tell)

    return on_ready


def _close_all_but(kept: Sequence[int], highest: int) -> None:
    """Of those from 3 to ``highest`` all but ``kept``, which is in rising order."""
    low = 3
    for descriptor in kept:
        os.closerange(low, descriptor)
        low = descriptor + 1
    os.closerange(low, highest + 1)


def _highest_descriptor() -> int:
    return max(int(name) for name in os.listdir("/dev/fd"))  # noqa: PTH208  names, not paths
