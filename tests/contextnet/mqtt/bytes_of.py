"""The packets of a client of MQTT as bytes, written from the standard."""

from __future__ import annotations


def text(value):
    data = value if isinstance(value, bytes) else value.encode()
    return len(data).to_bytes(2, "big") + data


def packet(first, body=b""):
    size, length = len(body), b""
    while True:
        size, low = divmod(size, 128)[0], size % 128
        length += bytes([low | (0x80 if size else 0)])
        if not size:
            return bytes([first]) + length + body


def connect(client="phone", keepalive_s=60, *, clean=True, user=None, password=None, will=None, level=4, name="MQTT"):
    flags = 0x02 * clean + 0x04 * (will is not None) + 0x80 * (user is not None) + 0x40 * (password is not None)
    body = text(name) + bytes([level, flags]) + keepalive_s.to_bytes(2, "big") + text(client)
    if will is not None:
        body += text(will) + text(b"gone")
    if user is not None:
        body += text(user)
    if password is not None:
        body += text(password)
    return packet(0x10, body)


def publish(topic, payload=b"", qos=0, number=0, *, dup=False, retain=False):
    first = 0x30 | 0x08 * dup | qos << 1 | retain
    return packet(first, text(topic) + (number.to_bytes(2, "big") if qos else b"") + payload)


def subscribe(number, *filters):
    return packet(0x82, number.to_bytes(2, "big") + b"".join(text(one) + b"\1" for one in filters))


def unsubscribe(number, *filters):
    return packet(0xA2, number.to_bytes(2, "big") + b"".join(map(text, filters)))


PING, DISCONNECT = packet(0xC0), packet(0xE0)
