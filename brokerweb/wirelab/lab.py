"""What a system declares of its datagrams, so that the common pages decode, compose and send them. Pure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Protocol

from brokerweb.wirelab.exchanges import Exchange, Once
from overlay.core.chance import Chance
from overlay.core.errors import InvalidSetting

FAMILIES = ("request", "answer", "refusal", "update", "acknowledgement", "upkeep")
"""Of messages, each with a colour of its own in ``static/js/replay-picture.js``."""
OPENING = frozenset({"request", "update"})
"""Those by which a client begins something."""
SEPARATOR = "separator"
"""The kind of a segment between fields."""


class Message(Protocol):
    """A kind of datagram, as a system's table describes it."""

    @property
    def code(self) -> int: ...

    @property
    def name(self) -> str: ...

    @property
    def short(self) -> str:
        """Its name in lists."""

    @property
    def way(self) -> str:
        """Sender and receiver."""

    @property
    def purpose(self) -> str: ...

    @property
    def changes(self) -> str:
        """What sending it does to a network; empty of one that only asks."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Bytes ``offset`` to before ``offset + length``, in bytes; a field that is empty has none."""

    name: str
    kind: str
    offset: int
    length: int
    text: str
    """Its value, or its bytes as UTF-8 with replacement characters where it is none."""
    words: str = ""
    """Its meaning, if the text does not show it already."""
    problem: str = ""
    help: str = ""
    depth: int = 0
    """Above 0: of a message within the message."""

    @property
    def end(self) -> int:
        return self.offset + self.length


@dataclass(frozen=True, slots=True)
class Dissection:
    data: bytes
    layout: Message | None
    """``None`` where the code is none that is known."""
    segments: tuple[Segment, ...]
    missing: tuple[str, ...] = ()
    """Fields that should have come behind the last byte."""
    problems: tuple[str, ...] = ()
    """What is wrong with it, by field and in its order; empty of what the codec reads."""
    inside: str = ""
    """What a field contains, as text: decompressed, or indented."""

    @property
    def fields(self) -> list[Segment]:
        return [one for one in self.segments if one.kind != SEPARATOR]


class Judgement(StrEnum):
    ACCEPTED = "accepted"
    REFUSED = "refused"
    IGNORED = "ignored"


@dataclass(frozen=True, slots=True)
class Verdict:
    judgement: Judgement
    sentence: str
    status: int | None = None
    """Of the answer that refuses it."""
    answers: tuple[bytes, ...] = ()
    """What goes back to the sender at once."""
    needs: str = ""
    """Settings without which a server does not know it."""


@dataclass(frozen=True, slots=True)
class Blank:
    """A form field."""

    key: str
    label: str
    text: str
    help: str
    lines: int = 1
    choices: tuple[str, ...] = ()
    """Valid values to choose from; others may be entered."""
    unit: str = ""


class WrongFields(InvalidSetting):
    """Several fields of a form are wrong: a sentence by key. As ``InvalidSetting`` it is the first of them."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__(*next(iter(errors.items())))
        self.errors = dict(errors)


@dataclass(frozen=True, slots=True)
class Line:
    """A datagram of a conversation."""

    sender: str
    receiver: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Conversation:
    title: str
    picture: tuple[str, ...]
    """A lifeline for each who takes part, as text."""
    lines: tuple[Line, ...]


class Lab(ABC):
    """The datagrams of one system."""

    system: str
    """Its name in the registry."""
    title: str
    """Heading of the pages."""
    urls: str
    """The name of the first page in the URLconf, and the prefix of the others."""
    server: str
    """What one of its servers is called."""
    first_code: int
    """What composing begins with."""
    text_help: str
    """In which forms a datagram can be pasted, as HTML."""
    forms: Sequence[str]
    """Those of ``pasted.FORMS`` that are offered."""
    compose_help: str
    """Below the form, as HTML."""
    dissector: str
    """The Wireshark dissector below ``static``."""
    protocol: str
    """Its name in Wireshark."""
    filters: Sequence[tuple[str, str]]
    """Examples of Wireshark's filters, and what each shows."""
    verdict_note: str
    """Of what server the verdict is."""
    inside_title: str = "Content of the last field"
    """Heading of ``Dissection.inside``."""
    send_note: str = ""
    """What the lab does by itself while it sends."""
    families: ClassVar[Mapping[str, tuple[str, Collection[int]]]] = {}
    """Of ``FAMILIES``, in this order, a title and the codes of its messages; all other codes are of the last one.
    Empty: recorded runs are not replayed over the overlay."""

    @property
    @abstractmethod
    def messages(self) -> Collection[Message]:
        """All of them, by code."""

    @abstractmethod
    def decode(self, data: bytes, now_ms: int) -> Dissection:
        """Take ``data`` apart; ``now_ms`` is Unix milliseconds, for times in words. Never raises."""

    @abstractmethod
    def judge(self, dissection: Dissection, now_ms: int) -> Verdict:
        """What a server makes of it. Never raises."""

    @abstractmethod
    def blanks(self, code: int, given: Mapping[str, str]) -> list[Blank]:
        """The form of a message with given or default values. Raises ``InvalidSetting`` for an unknown code."""

    @abstractmethod
    def compose(self, code: int, given: Mapping[str, str], now_ms: int) -> bytes:
        """The datagram. Missing values have their defaults. Raises ``InvalidSetting``."""

    @abstractmethod
    def is_last(self, asked: bytes, answer: bytes) -> bool:
        """Whether nothing more is said to ``asked`` after this answer."""

    @property
    def script(self) -> str:
        """The file name of the dissector."""
        return self.dissector.rpartition("/")[2]

    @property
    def recorded_filter(self) -> str:
        """The filter of lists of runs that finds its recorded ones."""
        return f"record_mb > 0 and system = {self.system}"

    def codes_in(self, data: bytes) -> Sequence[int | None]:
        """Of all messages of a datagram, of which it may have several."""
        return (self.code_of(data),)

    def family_of(self, parts: Sequence[bytes]) -> str:
        """Of what a datagram is read as (``follow``): the first that a message of it belongs to; empty without any."""
        within = {code for part in parts for code in self.codes_in(part)}
        found = (name for name, (_, codes) in self.families.items() if not within.isdisjoint(codes))
        return next(found, "".join([*self.families][-1:]))

    def follow_up(self, asked: bytes, answer: bytes) -> bytes | None:
        """What the lab sends from the same port after this answer, once; ``None``: nothing."""
        return None

    def given(self, data: bytes) -> Mapping[str, str] | None:
        """The form that composes ``data`` again; ``None`` if it cannot be filled in."""
        return None

    def exchange(self, data: bytes, chance: Chance, now_ms: int) -> Exchange:
        """How ``data`` is said to a live server: by default once, as it is. ``now_ms`` is Unix milliseconds."""
        return Once(data, self.is_last, self.follow_up)

    @abstractmethod
    def code_of(self, data: bytes) -> int | None:
        """The code of the message that ``data`` is, or begins with; ``None`` if it is none that is known."""

    def form_code(self, data: bytes) -> int | None:
        """That of the form of ``given``."""
        return self.code_of(data)

    def follow(self) -> Callable[[bytes], tuple[bytes, ...]]:
        """For the datagrams of a capture, one after the other as they were sent: what each is read as. By default
        itself; where messages are longer than datagrams, those that it completes.
        """
        return lambda data: (data,)

    def name_of(self, data: bytes) -> str:
        """Its kind in lists."""
        code = self.code_of(data)
        return next((one.short for one in self.messages if one.code == code), "unreadable")

    def summary(self, data: bytes) -> str:
        """One line that says what is in it."""
        return data.decode(errors="replace")

    def conversations(self) -> Sequence[Conversation]:
        """Examples, from the cores themselves."""
        return ()
