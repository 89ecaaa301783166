"""Functions of context, tested for the rows that a notification's content has found."""

from __future__ import annotations

from array import array
from collections.abc import Container, Iterable, Iterator, Sequence

from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.scope.compiling import Function, Test
from overlay.systems.silbops.scope.evaluation import ScopeError
from overlay.systems.silbops.tables.columns import Columns
from overlay.systems.silbops.tables.rows import Numbered, Port, Row


class Tester:
    """Rows of the same function are tested together, in columns where there are enough of them."""

    def __init__(self, rows: Numbered, columns: Columns | None, batch: int) -> None:
        """``batch``: rows from which columns are used."""
        self.tests = 0
        self.errors = 0
        """Unlike types, a division by zero or a result that is not finite."""
        self._rows, self._columns, self._batch = rows, columns, batch

    def passing(self, numbers: array[int], pub: Values, taken: Container[Port]) -> Iterator[Row]:
        """Rows whose function holds. Those of ports that are ``taken`` by then need not be tested."""
        if self._columns is None or len(numbers) < self._batch:
            for function, several in _by_function(self._rows.of(numbers)):
                yield from self._one_by_one(function, several, pub, taken)
            return
        for function, rest in self._columns.by_function(numbers):
            intervals = None if function is None else function.placed(pub)
            sifted = None
            if intervals is not None and len(rest) >= self._batch:
                sifted = self._columns.sift(rest, intervals)
            if sifted is not None:
                inside, odd = sifted
                self.tests += len(rest) - len(odd)
                yield from self._rows.of(inside.tolist())
                rest = odd
            yield from self._one_by_one(function, self._rows.of(rest.tolist()), pub, taken)

    def _one_by_one(
        self, function: Function | None, rows: Sequence[Row], pub: Values, taken: Container[Port]
    ) -> Iterator[Row]:
        if function is None:
            yield from rows
            return
        holds = function.of_subscribers(pub, function.placed(pub))
        for row in rows:
            this = row.known.values  # type: ignore[union-attr]  # it has a function
            if this is None or row.port in taken:
                continue
            self.tests += 1
            try:
                is_passing = holds(this)
            except ScopeError:
                self.errors += 1
                continue
            if is_passing:
                yield row

    def holds(self, test: Test, pub: Values, this: Values) -> bool:
        """One test, in which an error is counted."""
        self.tests += 1
        try:
            return test(pub, this)
        except ScopeError:
            self.errors += 1
            return False


def _by_function(rows: Sequence[Row]) -> Iterable[tuple[Function | None, Sequence[Row]]]:
    """Rows without a function first. Mostly all have the same one, which is sooner seen than they are sorted."""
    groups: dict[Function | None, list[Row]] = {None: []}
    first = rows[0].function if rows else None
    for row in rows:
        if row.function is not first:
            break
    else:
        return [(first, rows)]
    for row in rows:
        groups.setdefault(row.function, []).append(row)
    return groups.items()
