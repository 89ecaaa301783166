"""One non-blocking connection to a server of NATS, and requests to its JetStream."""

from __future__ import annotations

import base64
import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from overlay.core.errors import WaxwingError
from overlay.runtime.logs.nats.protocol import BadBytes, Line, Message, Messages, publish, subscribe
from overlay.runtime.logs.wire import LostConnection, Wire

WRONG_SEQUENCE, NO_MESSAGE, NAME_IN_USE, NO_STREAM = 10071, 10037, 10058, 10059
"""Codes of errors of JetStream: another client has written, nothing is there, such a stream has other settings,
there is no such stream."""

OnMessage = Callable[[Message], None]
OnAnswer = Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class Server:
    """The servers of a cluster, of which one is used at a time, and how to log in."""

    places: tuple[tuple[str, int], ...]
    user: str = ""
    """A token, if there is no password."""
    password: str = ""
    replicas: int = 1
    """Of each stream."""

    @classmethod
    def of(cls, url: str) -> Server:
        """From ``nats://user:password@host:port,host:port?replicas=3``. Raises ``WaxwingError``."""
        try:
            parts = urlsplit(url)
            login, _, hosts = parts.netloc.rpartition("@")
            places = [urlsplit(f"//{one}") for one in hosts.split(",")]
            named = tuple((one.hostname or "", one.port or 4222) for one in places)
            wish, _, number = parts.query.partition("=")
            if parts.scheme != "nats" or parts.path.strip("/") or wish not in ("", "replicas") or ("", 4222) in named:
                raise ValueError
            user, _, password = login.partition(":")
            return cls(named, unquote(user), unquote(password), int(number or 1))
        except ValueError:
            shape = "nats://user:password@host:port, with further hosts after commas and ?replicas=3 at the end"
            raise WaxwingError(f"the address of the log must be as {shape}") from None

    @property
    def where(self) -> str:
        return ",".join(f"{host}:{port}" for host, port in self.places)


class Stored(NamedTuple):
    """The last message of a subject. Without one, all is 0."""

    sequence: int = 0
    payload: bytes = b""
    time: str = ""


class Connection(Wire):
    def __init__(self, server: Server, turn: int = 0) -> None:
        """``turn``: which of the servers. Raises ``LostConnection``."""
        super().__init__(*server.places[turn % len(server.places)])
        self._server = server
        self._messages = Messages()
        self._numbers = count(1)
        self._inbox = f"_INBOX.{secrets.token_hex(8)}"
        self._waiting: dict[str, tuple[OnMessage, float]] = {}
        """Requests, by the subject of their answer, with the time when they were sent."""
        self._listening: dict[int, OnMessage] = {}
        login = {"user": server.user, "pass": server.password} if server.password else {"auth_token": server.user}
        about: dict[str, Any] = {
            "verbose": False,
            "pedantic": False,
            "headers": True,
            "no_responders": True,
            "echo": False,
        }
        about |= {"name": "waxwing", "lang": "python", "version": "1", "protocol": 1} | (login if server.user else {})
        self.out += f"CONNECT {json.dumps(about)}\r\n".encode()
        self.out += subscribe(f"{self._inbox}.*", next(self._numbers))

    @property
    def under_way(self) -> int:
        return len(self._waiting)

    @property
    def waits_s(self) -> float:
        """How long the oldest request has been waiting."""
        oldest = next(iter(self._waiting.values()), None)
        return time.monotonic() - oldest[1] if oldest else 0.0

    # ---- messages

    def publish(self, subject: str, payload: bytes, inbox: str = "") -> None:
        """``inbox``: where answers go."""
        self.out += publish(subject, payload, inbox)

    def listen(self, subject: str, on_message: OnMessage) -> int:
        """Returns the number that ``hush`` takes."""
        number = next(self._numbers)
        self._listening[number] = on_message
        self.out += subscribe(subject, number)
        return number

    def hush(self, number: int) -> None:
        self._listening.pop(number, None)
        self.out += f"UNSUB {number}\r\n".encode()

    def new_inbox(self) -> str:
        """A subject to listen to for any number of answers. Records come with subjects of their own, so that it needs a
        subscription."""
        return f"{self._inbox}.{next(self._numbers)}.records"

    # ---- requests

    def ask(self, on_answer: OnAnswer, subject: str, payload: bytes, headers: bytes = b"") -> None:
        """``on_answer`` gets the JSON of the answer, also an ``error``."""
        inbox = f"{self._inbox}.{next(self._numbers)}"
        self._waiting[inbox] = (lambda message: on_answer(_json(message))), time.monotonic()
        self.out += publish(subject, payload, inbox, headers)

    def api(self, on_answer: OnAnswer, what: str, **about: Any) -> None:
        """A request to the interface of JetStream, for example ``STREAM.CREATE.name``."""
        self.ask(on_answer, f"$JS.API.{what}", json.dumps(about).encode() if about else b"")

    def last(self, on_stored: Callable[[Stored], None], stream: str, subject: str) -> None:
        """The last message of a subject, or of several."""

        def stored(answer: Any) -> None:
            if code_of(answer) == NO_MESSAGE:
                on_stored(Stored())
                return
            found = accepted(answer)["message"]
            on_stored(Stored(found["seq"], base64.b64decode(found.get("data", "")), found["time"]))

        self.api(stored, f"STREAM.MSG.GET.{stream}", last_by_subj=subject)

    def replace(self, on_sequence: Callable[[int | None], None], subject: str, before: int, payload: bytes) -> None:
        """Write if the last message of the subject has still this sequence; ``on_sequence`` gets the new one, or
        ``None``: another client has written."""

        def replaced(answer: Any) -> None:
            on_sequence(None if code_of(answer) == WRONG_SEQUENCE else accepted(answer)["seq"])

        self.ask(replaced, subject, payload, b"Nats-Expected-Last-Subject-Sequence: %d\r\n" % before)

    # ---- what comes

    def received(self, data: bytes) -> None:
        try:
            found = self._messages.feed(data)
        except BadBytes as error:
            raise LostConnection(str(error)) from None
        for one in found:
            if isinstance(one, Message):
                self._pass_on(one)
            else:
                self._obey(one)

    def _obey(self, line: Line) -> None:
        if line.kind == "PING":
            self.out += b"PONG\r\n"
        elif line.kind == "-ERR":
            raise LostConnection(f"NATS says {line.text}")
        elif line.kind == "INFO" and '"tls_required":true' in line.text.replace(" ", ""):
            raise LostConnection("it requires TLS, which logs over NATS do not have")

    def _pass_on(self, message: Message) -> None:
        if message.subscription in self._listening:
            self._listening[message.subscription](message)
        elif (waiting := self._waiting.pop(message.subject, None)) is not None:
            waiting[0](message)


def code_of(answer: Any) -> int:
    """Of its error; 0: it has none."""
    error = answer.get("error")
    return int(error.get("err_code", error.get("code", 1))) if error else 0


def accepted(answer: Any) -> Any:
    """What must not be refused. Raises ``LostConnection``."""
    if code_of(answer):
        raise LostConnection(f"JetStream says {answer['error'].get('description', 'no')}")
    return answer


def _json(message: Message) -> Any:
    if message.status == 503:
        raise LostConnection(
            "nothing answers there: JetStream is not enabled (nats-server --jetstream), or has no leader"
        )
    try:
        found = json.loads(message.payload)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise LostConnection("JetStream answered what is not JSON")
    return found
