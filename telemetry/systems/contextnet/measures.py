"""The measures of seed 004, in addition to ``telemetry.measures.COMMON``: what each means, and in which unit.

Counterpart: ``overlay.systems.contextnet.measuring`` computes them. A message is one that is due while measuring; it is
delivered when its answer has reached its sender before the drain ended.
"""

from __future__ import annotations

from telemetry.measures import Better, Measure
from telemetry.statistics.intervals import COUNT, LOG, SIGNED, Scale

PART = "contextnet"
"""Of a run's summary: the figures by declared name."""


def _count(name: str, title: str, definition: str, better: Better = "") -> Measure:
    return Measure(name, title, "", (PART, name), better, is_count=True, scale=COUNT, definition=definition)


def _percent(name: str, title: str, definition: str, better: Better = "higher") -> Measure:
    return Measure(name, title, "%", (PART, name), better, scale=COUNT, definition=definition)


def _number(
    name: str, title: str, unit: str, definition: str, better: Better = "lower", scale: Scale = COUNT
) -> Measure:
    suffix = {"s": "_s", "ms": "_ms", "per_s": ""}.get(unit, "")
    path = name if name.endswith(suffix) else name + suffix
    return Measure(name, title, unit, (PART, path), better, scale=scale, definition=definition)


_WHOSE = {"": "", "_fixed": ", nodes that stay", "_disconnecting": ", nodes that disconnect"}
_STATISTICS = {
    "mean": ("Mean RTT", "Mean"),
    "sd": ("Standard deviation of RTT", "Standard deviation (with n − 1)"),
    "p50": ("Median RTT", "Median"),
    "p99": ("RTT, 99th percentile", "99th percentile"),
}


def _rtt(whose: str, name: str) -> Measure:
    title, what = _STATISTICS[name]
    definition = (
        f"{what} of the time from the instant at which a message is due to its first answer, of delivered ones."
    )
    full = f"rtt{whose}_{name}"
    path = (PART, f"{full}_us")
    return Measure(full, title + _WHOSE[whose], "us", path, "lower", scale=LOG, is_response=True, definition=definition)


MEASURES = (
    _count("sent", "Messages", "Messages that were due while measuring."),
    _count("delivered", "Delivered", "Messages answered to their sender before the drain ended.", "higher"),
    _count("late", "Late", "Not delivered, but still held where delivery can come when the drain ended.", "lower"),
    _count("expired", "Expired", "Not delivered, and dropped at the end of their lifetime.", "lower"),
    _count("evicted", "Evicted", "Not delivered, and dropped because the store was full.", "lower"),
    _count("refused", "Refused", "Refused to their sender, whose queue was full.", "lower"),
    _count("lost", "Lost", "The rest of the messages.", "lower"),
    _count("stored", "Stored", "Messages that were stored, or whose answer was, at any time.", ""),
    _count("duplicates", "Duplicates", "Messages that a receiver's application got again.", "lower"),
    _percent("te", "Transmission efficiency", "Delivered messages / messages."),
    _percent("te_inbound", "Transmission efficiency, inbound", "The same of messages from nodes."),
    _percent("te_outbound", "Transmission efficiency, outbound", "The same of messages to nodes."),
    _percent(
        "te_disconnecting",
        "Transmission efficiency, nodes that disconnect",
        "The same of messages from or to nodes that are off from time to time.",
    ),
    _percent("te_fixed", "Transmission efficiency, nodes that stay", "The same of the other nodes."),
    _percent(
        "nodes_with_all_share",
        "Nodes with all messages",
        "Disconnecting nodes (all nodes, if none disconnect) of which every message was delivered.",
    ),
    *(_rtt(whose, name) for whose in _WHOSE for name in _STATISTICS),
    _percent("share_within_20ms", "RTT within 20 ms", "Delivered messages with an RTT of at most 20 ms."),
    _percent("share_within_50ms", "RTT within 50 ms", "Delivered messages with an RTT of at most 50 ms."),
    _percent(
        "share_1s_to_2s_disconnecting",
        "RTT between 1 and 2 s, nodes that disconnect",
        "Delivered messages of nodes that are off from time to time with an RTT above 1 s and at most 2 s.",
        "lower",
    ),
    _percent("share_over_100ms", "RTT over 100 ms", "Delivered messages with an RTT of more than 100 ms.", "lower"),
    _percent("share_over_2s", "RTT over 2 s", "Delivered messages with an RTT of more than 2 s.", "lower"),
    _percent(
        "share_over_2s_disconnecting",
        "RTT over 2 s, nodes that disconnect",
        "The same of nodes that are off from time to time.",
        "lower",
    ),
    _number(
        "stored_delay_mean", "Mean RTT of stored messages", "s", "Mean RTT of delivered messages that were stored."
    ),
    _number(
        "stored_longest",
        "Longest wait of a stored message",
        "s",
        "From the instant at which a message was due until the store sent it, of those that it sent.",
    ),
    _count("due_while_off", "Due while off", "Messages that were due while their node was off."),
    _number(
        "rtt_drift",
        "Drift of RTT",
        "ms",
        "Least squares of the mean RTT of the first, second, … message of each node, over the whole run.",
        scale=SIGNED,
    ),
    _number(
        "rtt_trend_p",
        "Probability of such a trend by chance",
        "",
        "Mann-Kendall test of the same means, two-sided.",
        "",
    ),
    _count("handovers", "Hand-overs", "Connections of nodes to a gateway that a hand-over named."),
    _number(
        "handovers_per_min",
        "Hand-overs per minute",
        "1/min",
        "Those later than 300 s after the start of measuring and after the last fault / the minutes of that part.",
    ),
    _number(
        "moves_apart",
        "Least time between two moves of a node",
        "s",
        "Shortest time between two hand-overs of one node, from start to start.",
        "higher",
    ),
    _number(
        "reopened",
        "Time until nodes of a dead gateway are back",
        "s",
        "Median over nodes from the death of their gateway until they are connected again.",
    ),
    _number(
        "max_load_over_mean",
        "Highest load / mean load",
        "",
        "Connections / capacity of the most loaded gateway / the mean over gateways; in the second half of measuring.",
    ),
    _number(
        "seconds_to_even",
        "Time until loads are even",
        "seconds",
        "Until that ratio is at most 1.15 for the first time.",
    ),
    _count("repeats", "Repeats", "DATA that nodes and gateways transmitted again.", "lower"),
    _count("breaks", "Broken connections", "Connections that a gateway declared broken.", "lower"),
    _number("detect_mean", "Mean time to detection", "s", "From a node's going off until its gateway noticed."),
    _number("lost_per_break", "Lost per broken connection", "", "Lost messages / broken connections."),
    _number(
        "goodput_per_s", "Deliveries per second", "per_s", "Messages delivered while measuring / its length.", "higher"
    ),
    _number(
        "app_queue_slope",
        "Growth of the applications' queue",
        "1/s",
        "Least squares over measuring of the messages for applications that wait.",
        scale=SIGNED,
    ),
    _number(
        "path_extra",
        "Extra RTT after a new address",
        "ms",
        "Median over changes of address: RTT of the next message − the median RTT.",
        scale=SIGNED,
    ),
    _count(
        "group_wrong", "Wrong deliveries to groups", "Messages to groups that are missing or went beyond them.", "lower"
    ),
)
