"""The texts that the forms of messages begin with. Times are relative to the moment of composing. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from overlay.systems.federation.wire import messages as m

SID = '["c0", 1]'
SUBSCRIPTION = '[["c0", 1], ["climate"], "temperature > 25", "now+60s", 1, false]'
NOTIFICATION = '[["p0", 1], "room", "r17", "climate", "now", "now+60s", {"temperature": 26.5}]'
CONSUMER = '["c0", 1, 0, "", [], {}]'
PROVIDER = '["p0", 1, 1, "", ["climate"], {}]'
BROKER = '["b1", "127.0.0.1:7001", false, null, "", [["b0", 1000, true]]]'
STRANGER = '["b0", "127.0.0.1:7000", false, null, "", []]'
EMPTY, ZEROS = "[]", "[0, 0]"

EXAMPLES: Mapping[type, Mapping[str, str]] = {
    m.Register: {"req": "1", "advertisement": CONSUMER},
    m.KeepAlive: {"number": "1"},
    m.Unregister: {"req": "2", "registration": "1"},
    m.Subscribe: {"req": "3", "added": f"[{SUBSCRIPTION}]", "removed": EMPTY},
    m.Publish: {"req": "4", "publications": f"[[{NOTIFICATION}, [{SID}]]]"},
    m.Notify: {"notification": NOTIFICATION, "satisfied": f"[{SID}]", "is_cached": "false", "hops": "1"},
    m.Offer: {"added": f"[{SUBSCRIPTION}]", "withdrawn": EMPTY},
    m.Lookup: {"req": "5", "scope": "climate"},
    m.Found: {"req": "5", "found": '[["p0", "127.0.0.1:7010", ""]]'},
    m.Query: {"req": "6", "entity_type": "room", "entity_id": "r17", "scopes": '["climate"]', "left_ms": "1000"},
    m.Answer: {"req": "6", "code": "0", "notifications": f"[{NOTIFICATION}]"},
    m.Hello: {"broker": BROKER, "epoch": "1", "subscriptions": ZEROS, "registrations": ZEROS},
    m.SubTable: {"version": "1", "whole": "0", "added": f"[{SUBSCRIPTION}]", "removed": EMPTY},
    m.RegTable: {
        "version": "1",
        "whole": "0",
        "added": f'[[{PROVIDER}, "127.0.0.1:7010", "b1", 1]]',
        "removed": EMPTY,
        "summary": ZEROS,
    },
    m.Forward: {"notification": NOTIFICATION, "hops": "1", "path": EMPTY, "ended": EMPTY},
    m.Tables: {"wanted": "1"},
    m.Broker: {"req": "7", "broker": BROKER, "last_epoch": "0", "is_registering": "true"},
    m.Brokers: {
        "epoch": "1",
        "whole": "1",
        "brokers": f"[{STRANGER}, {BROKER}]",
        "gone": EMPTY,
        "edges": '[["b0", "b1"]]',
    },
    m.Find: {"req": "8", "position": "[0.5, 0.5]", "scope": ""},
    m.Discover: {"nonce": "9"},
    m.Here: {"nonce": "9", "broker": STRANGER},
    m.Ack: {"req": "1"},
    m.Nack: {"kind": "4", "req": "3", "code": "1", "words": "Register first."},
    m.Link: {"is_up": "true"},
}
"""By message and field."""
