"""The shortest useful client over HTTP: registers, calls, receives, forwards chains, reports. Standard library only, so
that it can be copied and translated::

    with Phone("http://127.0.0.1:8003", "alice", print, is_p2p=True) as phone:
        phone.propagate(["alice"], {"location": "Joe's Pub"})
"""

from __future__ import annotations

import gzip
import hmac
import json
import secrets
import struct
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable
from hashlib import blake2s
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote, urlsplit

Json = Any
DIRECT = 65_535
"""The chain of a push that is not forwarded."""
WAITS_S = (0.2, 0.4, 0.8, 1.6)
"""After each try to forward."""
TRY_S = 1.5
REPORT_EVERY = 64
RENEW_S = 120.0
"""A registration is repeated, so that the server knows that the phone is there."""
MOST_BYTES = 5 << 20
MOST_REMEMBERED = 1_024


class Refused(Exception):
    """The gateway refused a request."""


class Phone:
    """``on_context`` is called with each context, in a thread. Without ``has_port`` it reads server-sent events."""

    def __init__(
        self,
        gateway: str,
        id: str,
        on_context: Callable[[Json], object] = lambda context: None,
        attributes: dict[str, Json] | None = None,
        *,
        is_p2p: bool = False,
        has_port: bool = True,
        host: str = "",
    ) -> None:
        """``host`` is the address at which it receives; by default all of this machine."""
        self.id, self.instance, self._on_context = id, secrets.randbits(64), on_context
        self._gateway = urlsplit(gateway).netloc
        self._wanted: dict[str, Json] = {"id": id, "instance": self.instance, "attributes": attributes or {}}
        self._req, self._epoch, self._key, self._last_event = 0, 0, b"", ""
        self._seen: OrderedDict[tuple[int, int], set[tuple[int, int]]] = OrderedDict()
        """By epoch and propagation: the attempts that were forwarded."""
        self._lock, self._is_over = threading.Lock(), threading.Event()
        self.server: ThreadingHTTPServer | None = None
        self._threads = [threading.Thread(target=self._renew, daemon=True)]
        if has_port:
            self.server = ThreadingHTTPServer((host, 0), type("PhoneHandler", (Handler,), {"phone": self}))
            self._wanted |= {"port": self.server.server_address[1], "p2p": is_p2p}
            self._threads.append(threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True))
        else:
            self._threads.append(threading.Thread(target=self._listen, daemon=True))

    def __enter__(self) -> Self:
        """Raises ``Refused``, ``OSError``."""
        try:
            self._register()
        except BaseException:
            if self.server is not None:
                self.server.server_close()
            raise
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._is_over.set()
        self._ask("DELETE", f"/clients/{quote(self.id, safe='')}?instance={self.instance}")
        self.stop()

    def stop(self) -> None:
        """Without a word to the gateway, as if the battery was empty."""
        self._is_over.set()
        if self.server is not None:
            self.server.shutdown()
            self.server.server_close()

    def propagate(self, people: list[str], attributes: dict[str, Json]) -> None:
        """Send a context of now. Raises ``Refused``, ``OSError``."""
        self._req += 1
        now = time.time_ns() // 1_000_000
        context = {"a": attributes, "n": 1, "p": people, "t": [now, now]}
        call = {"client": self.id, "instance": self.instance, "req": self._req, "context": context}
        for _ in range(5):
            status, answer, retry_s = self._ask("POST", "/contexts", call)
            if status not in (429, 503, 504):
                break
            self._is_over.wait(retry_s)  # a repeat has the same req, so it is accepted once
        if status != 202:
            raise Refused(f"{status}: {answer}")

    # ---- registration

    def _register(self) -> None:
        status, answer, _ = self._ask("POST", "/clients", self._wanted)
        if status != 201:
            raise Refused(f"{status}: {answer}")
        self._epoch, self._key = answer["epoch"], bytes.fromhex(answer["key"])

    def _renew(self) -> None:
        while not self._is_over.wait(RENEW_S):
            try:
                self._register()
            except (Refused, OSError, HTTPException):
                continue  # the next time

    # ---- pushes

    def receive(self, push: Json) -> int:
        """The status that answers a push; ``handle`` must follow a 204."""
        try:
            if push["epoch"] != self._epoch:
                self._register()  # the server has restarted
            head = struct.pack(">QQH", push["epoch"], push["propagation"], push["chain"])
            mac = blake2s(head, key=self._key, digest_size=8)
            mac.update(_canonical(push["blob"]))
            is_mine = push["chain"] == DIRECT or push["blob"][0][push["position"]][2] == self.id
            is_authentic = hmac.compare_digest(mac.hexdigest(), push["mac"])
        except (KeyError, TypeError, IndexError, ValueError, struct.error):
            return 400
        except (Refused, OSError, HTTPException):
            return 503
        return 204 if is_authentic and is_mine else 403

    def handle(self, push: Json) -> None:
        """Deliver it if it is new, and forward each attempt once."""
        key, attempt = (push["epoch"], push["propagation"]), (push["chain"], push["attempt"])
        with self._lock:
            is_new = key not in self._seen
            seen = self._seen.setdefault(key, set())
            is_forwarded = attempt in seen
            seen.add(attempt)
            if len(self._seen) > MOST_REMEMBERED:
                self._seen.popitem(last=False)
        body = push["blob"] if push["chain"] == DIRECT else push["blob"][2]
        if is_new:
            for context in body if isinstance(body, list) else [body]:
                self._on_context(context)
        if push["chain"] != DIRECT and not is_forwarded:
            self._forward(push)

    def _forward(self, push: Json) -> None:
        members, at = push["blob"][0], push["position"] + 1
        if at == len(members):
            self._report(push, "DONE", at - 1)
            return
        if at % REPORT_EVERY == 0:
            self._report(push, "PROGRESS", at - 1)
        data = gzip.compress(_canonical({**push, "position": at}))
        for wait_s in WAITS_S:
            until = time.monotonic() + wait_s
            if _is_taken(members[at][0], members[at][1], data):
                return
            self._is_over.wait(max(0.0, until - time.monotonic()))
        self._report(push, "FAILED", at)

    def _report(self, push: Json, kind: str, position: int) -> None:
        numbers = {name: push[name] for name in ("epoch", "propagation", "chain", "attempt")}
        document = {"client": self.id, "instance": self.instance, **numbers, "kind": kind, "position": position}
        for wait_s in WAITS_S:
            if self._ask("POST", "/reports", document)[0] < 429:
                return
            self._is_over.wait(wait_s)

    # ---- without a port

    def _listen(self) -> None:
        while not self._is_over.is_set():
            connection = HTTPConnection(self._gateway, timeout=60)
            try:
                path = f"/radiator/v1/clients/{quote(self.id, safe='')}/events?instance={self.instance}"
                connection.request("GET", path, headers={"Last-Event-ID": self._last_event})
                stream = connection.getresponse()
                self._read(stream) if stream.status == 200 else self._register()
            except (Refused, OSError, HTTPException):
                pass  # the next time
            finally:
                connection.close()
            self._is_over.wait(1)

    def _read(self, stream: Any) -> None:
        """Until the stream ends."""
        event: dict[str, str] = {}
        while line := stream.readline(MOST_BYTES):
            name, colon, value = line.decode().rstrip("\n").partition(": ")
            if colon:
                event[name] = value
            elif event.get("event") == "context":
                push = json.loads(event["data"])
                if self.receive(push) == 204:
                    self.handle(push)
                    self._last_event = event["id"]
            if line == b"\n":
                event = {}

    def _ask(self, method: str, path: str, document: Json = None) -> tuple[int, Json, float]:
        """Status, document and ``Retry-After`` of the gateway's answer; 504 without an answer."""
        connection = HTTPConnection(self._gateway, timeout=30)
        headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"} if document is not None else {}
        try:
            data = None if document is None else gzip.compress(json.dumps(document).encode())
            connection.request(method, f"/radiator/v1{path}", data, headers)
            answer = connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text else None, float(answer.headers.get("Retry-After", 1))
        except (OSError, HTTPException) as error:
            return 504, str(error), 1.0
        finally:
            connection.close()


class Handler(BaseHTTPRequestHandler):
    """``POST /receive``."""

    phone: Phone
    timeout = 10

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        status, push = 413, None
        if self.path == "/receive" and length.isdecimal() and int(length) <= MOST_BYTES:
            push = _document(self.rfile.read(int(length)))
            status = 400 if push is None else self.phone.receive(push)
        self.send_response(status)
        self.end_headers()
        self.wfile.flush()
        if status == 204:
            self.phone.handle(push)

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


def _document(data: bytes) -> Json:
    """``None`` for anything that is not one, or is too large."""
    try:
        inflater = zlib.decompressobj(31)
        text = inflater.decompress(data, MOST_BYTES)
        return json.loads(text) if inflater.eof else None
    except (zlib.error, ValueError, RecursionError):
        return None


def _is_taken(host: str, port: int, data: bytes) -> bool:
    connection = HTTPConnection(host, port, timeout=TRY_S)
    try:
        headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
        connection.request("POST", "/receive", data, headers)
        return connection.getresponse().status == 204
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def _canonical(value: Json) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
