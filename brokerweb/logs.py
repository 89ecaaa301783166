"""One log record per line: untrusted text from datagrams or forms cannot forge another one."""

import logging
import re

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x85\u2028\u2029]")


class OneLine(logging.Formatter):
    """Escapes control characters in messages; tracebacks keep their lines."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        record.message = _CONTROL.sub(lambda found: ascii(found.group())[1:-1], record.message).replace("\n", "\\n")
        return super().formatMessage(record)
