"""Log lines are one line each: text that came from a datagram or a form cannot forge a second one."""

import logging
import re

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x85\u2028\u2029]")


class OneLine(logging.Formatter):
    """Escapes control characters in the message; a traceback, which is ours, keeps its lines."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        record.message = _CONTROL.sub(lambda found: ascii(found.group())[1:-1], record.message).replace("\n", "\\n")
        return super().formatMessage(record)
