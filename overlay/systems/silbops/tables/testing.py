"""Functions of context, tested for the rows that a notification's content has found."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence

from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.scope.compiling import Function, Test
from overlay.systems.silbops.scope.evaluation import ScopeError
from overlay.systems.silbops.tables.columns import Columns
from overlay.systems.silbops.tables.rows import Port, Row


class Tester:
    """Rows of the same function are tested together, in columns where there are enough of them."""

    def __init__(self, columns: Columns | None, batch: int) -> None:
        """``batch``: rows from which columns are used."""
        self.tests = 0
        self.errors = 0
        """Unlike types, a division by zero or a result that is not finite."""
        self._columns, self._batch = columns, batch

    def passing(self, rows: Sequence[Row], pub: Values, taken: Container[Port]) -> Iterator[Row]:
        """Rows whose function holds. Those of ports that are ``taken`` by then need not be tested."""
        for function, several in _by_function(rows):
            if function is None:
                yield from several
            else:
                yield from self._of_function(function, several, pub, taken)

    def _of_function(
        self, function: Function, rows: Sequence[Row], pub: Values, taken: Container[Port]
    ) -> Iterator[Row]:
        intervals = function.placed(pub)
        if intervals is not None and self._columns is not None and len(rows) >= self._batch:
            sifted = self._columns.sift(rows, intervals)
            if sifted is not None:
                inside, odd = sifted
                self.tests += len(rows) - len(odd)
                yield from inside
                rows = odd
        holds = function.of_subscribers(pub, intervals)
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
    if len({row.function for row in rows}) == 1:
        return [(rows[0].function, rows)]
    groups: dict[Function | None, list[Row]] = {None: []}
    for row in rows:
        groups.setdefault(row.function, []).append(row)
    return groups.items()
