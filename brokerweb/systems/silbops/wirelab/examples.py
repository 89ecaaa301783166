"""The texts that the forms of messages begin with. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from overlay.systems.silbops.wire import messages as m

CLIENT = "63616d6572612d31" + "00" * 8
"""``camera-1`` and zeros: 16 bytes."""
OWNER = "0123456789abcdef0123456789abcdef"
KEY = f'["{OWNER}", 1]'
FILTER = '[["lane", "=", 2], ["speed", ">", 90]]'
SCOPE = "this.x - 20 <= pub.x <= this.x + 20"
CONTEXT = '{"x": 12.5, "y": 30}'
NOTIFICATION = '{"lane": 2, "plate": "1234 BCD", "speed": 104.5}'
SUBSCRIPTION = f'["{OWNER}", 1, {FILTER}, "{SCOPE}", 0]'
ADVERTISEMENT = f'[{KEY}, [["speed", "any"]], ["x", "y"], null, 0]'
NOTE = f"[1234605616436508552, 7, {NOTIFICATION}, [1]]"
EMPTY, FOR_EVER = "[]", "0"

EXAMPLES: Mapping[type, Mapping[str, str]] = {
    m.Attach: {"client": CLIENT, "mode": "0", "old": ""},
    m.Attached: {"is_resumed": "false"},
    m.SetCtx: {"req": "1", "values": CONTEXT},
    m.Advertise: {
        "req": "2",
        "id": "1",
        "filter": '[["speed", "any"]]',
        "variables": '["x", "y"]',
        "subscriber_variables": "",
        "ttl_ms": FOR_EVER,
    },
    m.Unadvertise: {"req": "3", "id": "1"},
    m.Subscribe: {"req": "4", "id": "1", "filter": FILTER, "scope": SCOPE, "ttl_ms": FOR_EVER},
    m.Unsubscribe: {"req": "5", "id": "1"},
    m.Publish: {"number": "7", "notification": NOTIFICATION, "context": CONTEXT, "scope": ""},
    m.Notify: {
        "publisher": "1234605616436508552",
        "number": "7",
        "notification": NOTIFICATION,
        "ids": "[1]",
        "passed": "",
    },
    m.Ok: {"req": "4"},
    m.Refused: {"req": "4", "code": "6", "text": "attach first"},
    m.Peer: {"broker": "b1", "epoch": "1", "version": "1"},
    m.Adv: {
        "key": KEY,
        "filter": '[["speed", "any"]]',
        "variables": '["x", "y"]',
        "subscriber_variables": "",
        "ttl_ms": FOR_EVER,
    },
    m.Unadv: {"key": KEY},
    m.Ctx: {"owner": OWNER, "version": "1", "values": CONTEXT},
    m.Sub: {"owner": OWNER, "id": "1", "filter": FILTER, "scope": SCOPE, "ttl_ms": FOR_EVER},
    m.Unsub: {"owner": OWNER, "id": "1"},
    m.Forget: {"owner": OWNER},
    m.Pub: {"publisher": OWNER, "number": "7", "notification": NOTIFICATION, "context": CONTEXT, "scope": ""},
    m.Pctx: {"publisher": OWNER, "version": "1", "values": CONTEXT},
    m.Move: {"client": CLIENT},
    m.Take: {
        "client": CLIENT,
        "owner": OWNER,
        "context": f"[1, {CONTEXT}]",
        "subscriptions": f"[{SUBSCRIPTION}]",
        "advertisements": f"[{ADVERTISEMENT}]",
        "kept": f"[{NOTE}]",
        "is_last": "true",
    },
}
"""By message and field."""
