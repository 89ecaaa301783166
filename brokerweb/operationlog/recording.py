"""Records operations: a request adds an entry to a buffer, and a thread writes them each second.

Lost are those that wait when the process is killed, and those beyond what fits into the buffer, which are counted.
"""

from __future__ import annotations

import atexit
import json
import logging
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, Protocol, TypeVar

from django.conf import settings
from django.db import InterfaceError, OperationalError, close_old_connections

from brokerweb.operationlog import storing
from brokerweb.operationlog.buffer import Buffer, Taken
from brokerweb.operationlog.entries import (
    BATCH,
    DELETE,
    GET,
    LIST,
    MOST_NAME,
    PUT,
    REST,
    TAIL_BYTES,
    Entry,
    status_of,
)
from brokerweb.systems.registry import web_of

log = logging.getLogger(__name__)

MOST_WAITING = 5_000
"""Entries between two flushes: more are lost at more operations a second; each takes 1 kB."""
MOST_BYTES = 32_000_000
"""Of the answers to batches among them."""
MOST_ITEMS = 1_000
"""Of a batch."""
FLUSH_S = 1.0

_OPS = {"GET": GET, "PUT": PUT, "DELETE": DELETE, "POST": BATCH}
BUFFER = Buffer(MOST_WAITING, MOST_BYTES)


class Snapshot(Protocol):
    @property
    def network(self) -> str: ...
    @property
    def system(self) -> str: ...


class Request(Protocol):
    """What interfaces pass: ``brokerweb.front.service.ContextRequest``."""

    @property
    def method(self) -> str: ...
    @property
    def snapshot(self) -> Snapshot: ...
    @property
    def who(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def key(self) -> Any: ...
    @property
    def parameters(self) -> Mapping[str, str]: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    @property
    def data(self) -> Any: ...


class Answer(Protocol):
    @property
    def status(self) -> int: ...
    @property
    def body(self) -> bytes: ...


A = TypeVar("A", bound=Request)
R = TypeVar("R", bound=Answer)


def record(entry: Entry) -> None:
    """Record an operation. For every interface, in any thread."""
    if settings.OPERATION_ROWS:
        BUFFER.add(entry)
        _start()


def recorded(carry_out: Callable[[A], Awaitable[R]]) -> Callable[[A], Coroutine[Any, Any, R]]:
    """Record what ``carry_out`` answers or raises, unless it is a dry request."""

    @wraps(carry_out)
    async def wrapper(asked: A) -> R:
        if asked.parameters and asked.parameters.get("dry") == "true":
            return await carry_out(asked)
        at_ns, began = time.time_ns(), time.perf_counter_ns()
        try:
            answer = await carry_out(asked)
        except BaseException as error:
            record(_entry(asked, at_ns, began, status_of(error), b"", error))
            raise
        record(_entry(asked, at_ns, began, answer.status, answer.body, None))
        return answer

    return wrapper


@contextmanager
def noted(
    network: str, who: str, via: str, op: str, key: Sequence[str], source: str = "", *, is_dry: bool = False
) -> Iterator[dict[str, Any]]:
    """Record what is done within, unless it is dry; what is put into the dictionary belongs to its answer:
    ``broker_index``, ``walk``.
    """
    at_ns, began, said = time.time_ns(), time.perf_counter_ns(), dict[str, Any]()
    error: BaseException | None = None
    status = 200
    try:
        yield said
    except Exception as raised:
        error, status = raised, status_of(raised)
        raise
    finally:
        answer, took_ns = json.dumps(said, separators=(",", ":")).encode(), time.perf_counter_ns() - began
        if not is_dry:
            record(Entry(at_ns, took_ns, network, who, via, op, key, source, status, answer, error))


def op_of(method: str) -> str:
    """The operation of a request by this method of HTTP that is no list and no stream."""
    return _OPS.get(method, method)


def forbidden(network: str, who: str, via: str, op: str, key: Sequence[str], sentence: str) -> None:
    """Record a request that was refused for its rights, before it was read."""
    refused = PermissionError(sentence)
    record(Entry(time.time_ns(), 0, network, who, via, op, key, "", 403, b"", refused))


def _entry(asked: Request, at_ns: int, began: int, status: int, body: bytes, error: BaseException | None) -> Entry:
    took_ns, data = time.perf_counter_ns() - began, asked.data
    op, source, items = op_of(asked.method), asked.parameters.get("provider", "")[:MOST_NAME], ()
    if data is not None and isinstance(data, dict):
        said = data.get("provider")
        source = said[:MOST_NAME] if isinstance(said, str) else source
        items = _items(data.get("operations"), asked.snapshot.system) if op == BATCH else ()
    answer, waits = body if items else body[-TAIL_BYTES:], "prefer" in asked.headers
    key, who, network = asked.key or (), asked.who, asked.snapshot.network
    if asked.kind == LIST:
        op, answer, key = LIST, b"", [f"{name}={value}" for name, value in asked.parameters.items()]
    return Entry(at_ns, took_ns, network, who, REST, op, key, source, status, answer, error, waits, items)


def _items(operations: Any, system: str) -> Any:
    """Operation, names and source of each item of a batch, whatever it is."""
    context = web_of(system).context
    if not isinstance(operations, list) or context is None:
        return ()
    return [_item(one, context.names) if isinstance(one, dict) else ("", (), "") for one in operations[:MOST_ITEMS]]


def _item(operation: Mapping[str, Any], names: Sequence[str]) -> tuple[str, Sequence[str], str]:
    said = [str(operation.get(name) or "")[:MOST_NAME] for name in names]
    return str(operation.get("op"))[:10], said, str(operation.get("provider") or "")[:MOST_NAME]


class Recorder(threading.Thread):
    """Writes what waits until the process ends. What the database refuses is tried again, once there is room."""

    def __init__(self) -> None:
        super().__init__(name="operation log", daemon=True)
        self._kept = Taken([], Counter())
        self._lock = threading.Lock()

    def run(self) -> None:
        while True:
            time.sleep(FLUSH_S)
            self.flush()
            close_old_connections()

    def flush(self) -> None:
        """Write what waits now. Errors are logged."""
        with self._lock:
            taken, self._kept = self._kept, Taken([], Counter())
            if not taken.entries:
                new = BUFFER.take()
                taken = Taken(new.entries, taken.lost + new.lost)
            if not taken.entries and not taken.lost:
                return
            try:
                storing.write(taken)
            except (OperationalError, InterfaceError) as error:  # it does not answer
                log.warning("operations were not logged yet: %s", error)
                self._kept = taken
            except Exception:
                log.exception("operations could not be logged")


RECORDER = Recorder()
_started = threading.Lock()


def _start() -> None:
    if not RECORDER.is_alive() and RECORDER.ident is None and _started.acquire(blocking=False):
        RECORDER.start()
        atexit.register(RECORDER.flush)
