"""What a system brings to be soaked: a story for each seed, and bugs that its stories must find."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

WITHIN = 20
"""Seeds to look through for a planted bug, so that a change of what is drawn need not change the bank."""

Function = Callable[..., Any]


@dataclass
class Told:
    """The result of a seed. Equal for equal seeds."""

    digest: str
    delivered: int
    """Datagrams."""
    simulated_s: float


@dataclass(frozen=True)
class Failure:
    seed: int
    said: str
    """The error, in a line."""
    trace: str
    faults: tuple[str, ...]


@dataclass(frozen=True)
class Bug:
    """It takes the place of a piece of the real code while a seed runs."""

    name: str
    what: str
    owner: Any
    """A class or a module."""
    function: str
    wrong: Any
    """What takes its place."""
    seed: int
    """The first from 0 on that finds it."""
    file: str
    """Where the wrong code is written."""

    @contextmanager
    def planted(self) -> Iterator[None]:
        with patch.object(self.owner, self.function, self.wrong):
            yield


class Bank(dict[str, Bug]):
    """Planted bugs, by name. One that no seed finds means that an invariant is not watched."""

    def plant(self, owner: Any, function: str, *, seed: int) -> Callable[[Callable[[Any], Any]], None]:
        """Add what a function makes of the real ``owner.function``. Its docstring says what is wrong."""

        def into_the_bank(make: Callable[[Any], Any]) -> None:
            name, real = make.__name__.replace("_", " "), getattr(owner, function)
            self[name] = Bug(name, str(make.__doc__), owner, function, make(real), seed, make.__code__.co_filename)

        return into_the_bank


@dataclass(frozen=True)
class Subject:
    """A system to be soaked."""

    system: str
    run: Callable[[int], Told]
    """One seed from its start to its end. Raises where something that must hold does not."""
    faults: Callable[[int], Iterable[str]]
    """The names of the faults that a seed draws."""
    drawn: Callable[[int], Sequence[str]]
    """Lines about everything that a seed draws."""
    bugs: Bank
    and_then: Callable[[int], Iterable[str]] | None = None
    """More to measure after the seeds, in so many processes: lines to print. It fails nothing."""

    def try_seed(self, seed: int, bug: Bug | None = None) -> Told | Failure:
        try:
            with bug.planted() if bug else nullcontext():
                return self.run(seed)
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            if bug and last.filename == bug.file and not isinstance(error, AssertionError):
                raise  # the planted code does not fit the real one any more
            words = f"{type(error).__name__}: {error}" if str(error) else f"{type(error).__name__}: {last.line}"
            where = f"{Path(last.filename).name}:{last.lineno}"
            trace = "".join(traceback.format_exception(error))
            return Failure(seed, f"{words} ({where})", trace, tuple(sorted(self.faults(seed))))

    def first_failure(self, seeds: Iterable[int], bug: Bug | None = None) -> Failure | None:
        return next((found for seed in seeds if isinstance(found := self.try_seed(seed, bug), Failure)), None)

    def finds(self, bug: Bug) -> Failure | None:
        """By the seed that is stored with it, or one of the next few."""
        return self.first_failure(range(bug.seed, bug.seed + WITHIN), bug)

    def command(self, seed: int) -> str:
        """Repeats a seed."""
        return f"python -m tests.soak --system {self.system} {seed}"
