"""Experiments and their runs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from waxwing import frames
from waxwing._async import lists, waits
from waxwing._async.transport import AsyncTransport
from waxwing.calls import at, call
from waxwing.records import Experiment, Judged, Launch, Records, Run, all_of
from waxwing.waiting import Watcher

if TYPE_CHECKING:
    import pandas

AT_ONCE = 50
"""Runs that one request asks for."""
SAMPLES = "samples"
FILE_S = 600.0
"""The longest silence while a file is made."""
Definition = Mapping[str, Any] | str
"""The body of ``POST /api/experiments/``, or a YAML document."""


class AsyncExperiments:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(self, *, limit: int | None = lists.LIMIT, **filters: Any) -> Records[Experiment]:
        """``filters``: ``name``, ``name__icontains``, ``ordering`` and others of the API."""
        return await lists.listed(self._transport, Experiment, at("experiments"), limit, filters)

    async def get(self, experiment: str) -> Experiment:
        return Experiment.of((await self._transport.send(call("GET", at("experiments", experiment)))).data)

    async def find(self, name: str) -> Experiment:
        """By id or name; of several with one name the newest. Raises ``NotFound``."""
        named = await self.list(limit=1, name=name)
        if named:
            return named[0]
        with lists.named("experiment", name):
            return await self.get(name)

    async def create(self, definition: Definition) -> Experiment:
        """Save a definition; nothing runs yet."""
        sent = definition if isinstance(definition, str) else dict(definition)
        asked = call("POST", at("experiments"), body=sent, key=True)
        return Experiment.of((await self._transport.send(asked)).data)

    async def estimate(self, definition: Definition) -> Any:
        """Run count, duration and disk space of a launch. Nothing is saved."""
        sent = definition if isinstance(definition, str) else dict(definition)
        return (await self._transport.send(call("POST", at("experiments", "estimate"), body=sent))).data

    async def launch(self, experiment: str, *, skip_existing: bool = False, key: str | None = None) -> Launch:
        """Create its runs and queue them. ``skip_existing``: only those that no finished run stands for."""
        path, body = at("experiments", experiment, "launch"), {"skip_existing": skip_existing}
        told = (await self._transport.send(call("POST", path, body=body, key=key or True))).data
        return Launch.of(told, experiment=experiment)

    async def judge(
        self, experiment: str, thresholds: Sequence[str], runs: Sequence[str] | None = None
    ) -> Records[Judged]:
        """Thresholds such as ``p95 < 2ms``, evaluated for runs (default: all of the experiment). Nothing is changed.

        Raises ``ApiError`` for one that cannot be read.
        """
        chosen = {} if runs is None else {"runs": list(runs)}
        body = {"thresholds": list(thresholds), **chosen}
        told = (await self._transport.send(call("POST", at("experiments", experiment, "judge"), body=body))).data
        return all_of(Judged, told["runs"])

    async def cancel(self, experiment: str) -> int:
        """Cancel its unfinished runs; how many there were. What was measured is kept."""
        told = (await self._transport.send(call("POST", at("experiments", experiment, "cancel")))).data
        return int(told["cancelled"])

    async def delete(self, experiment: str) -> None:
        await self._transport.send(call("DELETE", at("experiments", experiment)))

    async def yaml(self, experiment: str) -> str:
        """The definition with its topologies, which can be created elsewhere."""
        asked = call("GET", at("experiments", experiment, "yaml"), headers={"Accept": "application/yaml"})
        return (await self._transport.send(asked)).text


class AsyncRuns:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(self, *, limit: int | None = lists.LIMIT, **filters: Any) -> Records[Run]:
        """``filters``: ``q`` (``p95 < 2ms and topology = ring``), ``experiment``, ``state``, ``tag`` and others."""
        return await lists.listed(self._transport, Run, at("runs"), limit, filters)

    async def each(self, **filters: Any) -> AsyncIterator[Run]:
        """The same without a limit, page by page."""
        async for row in lists.rows(self._transport, at("runs"), filters):
            yield Run.of(row)

    async def get(self, run: str) -> Run:
        return Run.of((await self._transport.send(call("GET", at("runs", run)))).data)

    async def cancel(self, run: str) -> Run:
        """Stop it; what was measured is kept."""
        return Run.of((await self._transport.send(call("POST", at("runs", run, "cancel")))).data)

    async def rerun(self, run: str) -> Run:
        """The same again: same configuration, same seed."""
        return Run.of((await self._transport.send(call("POST", at("runs", run, "rerun"), key=True))).data)

    async def wait(
        self, runs: Sequence[str], *, timeout_s: float | None = None, progress: Watcher[Records[Run]] | None = None
    ) -> Records[Run]:
        """All of them, once they are over, however they ended. ``progress`` is called with all after each look.

        Raises ``NotInTime``. The runs go on then.
        """
        chosen = tuple(dict.fromkeys(runs))
        seen: dict[str, Run] = {}

        async def looked() -> Records[Run]:
            waiting = [run for run in chosen if run not in seen or not seen[run].is_over]
            for begin in range(0, len(waiting), AT_ONCE):
                seen.update(await self._looked(waiting[begin : begin + AT_ONCE]))
            return Records(seen[run] for run in chosen)

        return await waits.until(looked, lambda found: all(run.is_over for run in found), timeout_s, progress)

    async def _looked(self, runs: Sequence[str]) -> dict[str, Run]:
        """What is known of these runs; of those that are over all of it."""
        found = {}
        ids = [run for run in runs if run.isalnum()]
        if len(ids) > 1:
            found = {run.id: run for run in await self.list(limit=len(ids), q=f"id in ({', '.join(ids)})")}
        return {run: found[run] if run in found and not found[run].is_over else await self.get(run) for run in runs}

    async def samples(self, run: str) -> pandas.DataFrame:
        """Every request and update as its client recorded it. Times in µs. Needs ``waxwing[pandas]``."""
        return await self.table(run, SAMPLES)

    async def table(self, run: str, name: str) -> pandas.DataFrame:
        """A table of ``tables``. Needs ``waxwing[pandas]``."""
        frames.check()
        return frames.of_parquet(await self.file(run, name, format="parquet"))

    async def tables(self, run: str) -> Mapping[str, int]:
        """The names of its tables, and the number of rows of each; empty until it is collected."""
        told = (await self._transport.send(call("GET", at("runs", run, "tables")))).data
        return {one["name"]: one["rows"] for one in told}

    async def rows(self, run: str, table: str = SAMPLES) -> AsyncIterator[Mapping[str, Any]]:
        """The rows of a table, without pandas, page by page."""
        async for row in lists.rows(self._transport, _table(run, table), {}, cursor=False, page_size=5_000):
            yield row

    async def file(self, run: str, table: str = SAMPLES, *, format: str = "csv") -> bytes:
        """A table as a complete file: ``csv`` or ``parquet``."""
        asked = call("GET", _table(run, table), query={"format": format}, headers={"Accept": "*/*"})
        return (await self._transport.send(asked, FILE_S)).content

    async def series(self, run: str) -> pandas.DataFrame:
        """The time series of its page, by seconds ``t``. Needs ``waxwing[pandas]``."""
        frames.check()
        return frames.of_series(await self.curves(run))

    async def curves(self, run: str) -> Mapping[str, Sequence[Any]]:
        """The same as lists of equal length, without pandas; ``t`` is the first."""
        told = (await self._transport.send(call("GET", at("runs", run, "series")))).data
        return frames.columns(told.get("series", {}))

    async def events(self, run: str) -> AsyncIterator[Mapping[str, Any]]:
        """What happened to it, oldest first."""
        async for row in lists.rows(self._transport, at("runs", run, "events"), {}):
            yield row


def _table(run: str, name: str) -> str:
    return at("runs", run, SAMPLES) if name == SAMPLES else at("runs", run, "tables", name)
