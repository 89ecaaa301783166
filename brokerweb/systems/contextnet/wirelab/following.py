"""What a node says next: a HELLO again, with the cookie that a gateway asks for. Pure."""

from __future__ import annotations

from overlay.systems.contextnet.transport import layouts, secrets
from overlay.systems.contextnet.transport.layouts import BadPacket, Type
from overlay.systems.contextnet.transport.secrets import NO_SECRET


def with_cookie(asked: bytes, answer: bytes) -> bytes | None:
    """``None`` if ``answer`` is no RETRY to this HELLO, or its secret is not that of zeros."""
    try:
        if layouts.type_of(asked) is not Type.HELLO or layouts.type_of(answer) is not Type.RETRY:
            return None
        hello, retry = layouts.read_hello(asked), layouts.read_retry(answer)
    except BadPacket:
        return None
    if retry.nonce != hello.nonce or not secrets.is_proven(NO_SECRET, b"hello", asked):
        return None
    data = layouts.write_hello(hello._replace(cookie=retry.cookie))
    return data + secrets.proof(NO_SECRET, b"hello", data)
