"""What can go wrong. Everything that this package raises on purpose is a ``WaxwingError``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


class WaxwingError(Exception):
    """Base of all errors of this package."""


class NotConfigured(WaxwingError):
    """There is no address or token, or the configuration file cannot be read."""


class InvalidMessage(WaxwingError, ValueError):
    """A name, payload or time that no message can contain. Nothing was sent."""


class NoConnection(WaxwingError):
    """The server could not be reached, or did not answer in time, also after retries."""


class UnexpectedAnswer(WaxwingError):
    """What answered does not speak this API, such as the log-in page of a proxy."""


class Redirected(WaxwingError):
    """The server names another address, to which this client does not go by itself."""


class RunFailed(WaxwingError):
    """A run or report ended as ``failed`` or ``cancelled``."""


class NotInTime(WaxwingError):
    """What was waited for did not happen within ``timeout_s``. It may still happen."""


class NothingFound(WaxwingError):
    """By UDP: no broker that was reached has valid data."""


class NoAnswer(WaxwingError):
    """By UDP: no broker answered within the time of an exchange."""


class Refused(WaxwingError):
    """By UDP: a broker answered NACK; ``status`` is 201 or 301."""

    def __init__(self, broker: str, status: int) -> None:
        super().__init__(f"{broker} refused: {REFUSALS.get(status, 'no reason given')} (status {status})")
        self.status = status


REFUSALS = {201: "it could not complete the operation", 301: "it does not accept this message"}


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a request."""

    field: str
    """Dotted if nested; empty if none."""
    code: str
    sentence: str


class ApiError(WaxwingError):
    """The server refused the request: ``status`` of HTTP, then the first problem. ``problems`` has all."""

    def __init__(
        self,
        status: int,
        problems: Sequence[Problem],
        headers: Mapping[str, str] | None = None,
        request: str = "",
    ) -> None:
        self.status = status
        self.problems = tuple(problems)
        self.field, self.code, self.sentence = problems[0].field, problems[0].code, problems[0].sentence
        self.headers = dict(headers or {})
        self.request = request
        """Method and path; empty if unknown."""
        about = f"{request}: " if request else ""
        super().__init__(f"{self.told} ({about}status {status}, {self.code})")

    @property
    def told(self) -> str:
        """All problems in one line each, with their fields."""
        return "\n".join(f"{one.field}: {one.sentence}" if one.field else one.sentence for one in self.problems)


class NotAllowed(ApiError):
    """401, 403: no valid token, a read-only one, or an account without the right."""


class NotFound(ApiError):
    """404."""


class Conflict(ApiError):
    """409: the state of the object does not allow it."""


class PreconditionFailed(ApiError):
    """412: the stored value is another one than the condition names."""


class TooMany(ApiError):
    """429, 503: a limit is reached, also after retries. ``Retry-After`` is in ``headers``."""


class NotAnswered(ApiError):
    """502, 504: no broker answered in time."""


KINDS: Mapping[int, type[ApiError]] = {
    401: NotAllowed,
    403: NotAllowed,
    404: NotFound,
    409: Conflict,
    412: PreconditionFailed,
    429: TooMany,
    502: NotAnswered,
    503: TooMany,
    504: NotAnswered,
}


def api_error(status: int, body: Any, headers: Mapping[str, str] | None = None, request: str = "") -> ApiError:
    """The error of an answer; ``body`` is its JSON, or its text if it has none."""
    return KINDS.get(status, ApiError)(status, _problems(status, body), headers, request)


def _problems(status: int, body: Any) -> list[Problem]:
    """Of this API; of problem details and of the standards whose errors have a ``description``; else of any text."""
    if not isinstance(body, dict):
        text = body if isinstance(body, str) and len(body) < 200 and "<" not in body else ""
        return [Problem("", f"status_{status}", text.strip() or "The server gave no reason.")]
    listed = [one for one in body.get("errors") or () if isinstance(one, dict)]
    return [_problem(status, one) for one in listed or [body]]


def _problem(status: int, one: Mapping[str, Any]) -> Problem:
    sentence = one.get("sentence") or one.get("description") or one.get("detail") or one.get("title")
    code = one.get("code") or one.get("error") or f"status_{status}"
    return Problem(str(one.get("field", "")), str(code), str(sentence or "The server gave no reason."))
