"""One log record per line: untrusted text from datagrams or forms cannot forge another one."""

import logging
import re
from contextvars import ContextVar

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x85\u2028\u2029]")
request_id: ContextVar[str] = ContextVar("request_id", default="")
"""Of the request that is answered, in front of what is logged for it."""


class OneLine(logging.Formatter):
    """Escapes control characters in messages; tracebacks keep their lines."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        # Django logs refused requests, with the request, when middleware has ended.
        own = request_id.get() or getattr(getattr(record, "request", None), "request_id", "")
        asked = f"[{own}] " if own else ""
        said = _CONTROL.sub(lambda found: ascii(found.group())[1:-1], record.message).replace("\n", "\\n")
        record.message = asked + said
        return super().formatMessage(record)
