"""The feed of a broker's table, and withdrawals (``docs/extensions.md``), field by field."""

from __future__ import annotations

from overlay.systems.context_broker.wire.feed_messages import FeedRequest, FeedResponse, Withdraw
from overlay.systems.context_broker.wire.kinds import Family, Field, Kind, Layout, Tail
from overlay.systems.context_broker.wire.shared_fields import KEY, OF_QUESTION, PROVIDER, SENT, VALID

FEED = (
    Layout(
        35,
        FeedRequest,
        "question for changes",
        Family.UPKEEP,
        "anyone → broker",
        "Asks for the changes of a broker's table behind a number; from 0 for all that it holds.",
        (
            SENT,
            Field("Epoch", Kind.INTEGER, "0", "Epoch of the number, as in the last answer; 0 with none."),
            Field("After", Kind.INTEGER, "0", "Number of the last change known; 0 for all."),
            Field("WaitMs", Kind.INTEGER, "0", "How long to wait for a change if there is none, in ms."),
            Field("MostBytes", Kind.INTEGER, "60000", "Longest answer wanted, in bytes."),
        ),
        is_operation=True,
    ),
    Layout(
        36,
        FeedResponse,
        "changes",
        Family.UPKEEP,
        "broker → asker",
        "The entries that changed, each once, at its latest change.",
        (
            OF_QUESTION,
            Field("Epoch", Kind.INTEGER, "1795338000000", "Start of the broker, in ms since 1970 UTC."),
            Field("After", Kind.INTEGER, "0", "As in the request; 0 if the reader must restart."),
            Field("Next", Kind.INTEGER, "2", "What to ask for next."),
            Field("Last", Kind.INTEGER, "2", "Number of the latest change."),
        ),
        tail=Tail.RECORDS,
        tail_example="1|E|64|4|1795338000000|2|p1|room|r1|temp|1795338000000|1795338120000|21\n"
        "2|W|46|37|1795338000000|p1|room|r2|temp|1795338120000",
        tail_meaning="One record a line: number, change, size of the message, message.",
        is_answer=True,
    ),
    Layout(
        37,
        Withdraw,
        "withdrawal",
        Family.UPDATE,
        "provider → broker",
        "A provider's data about an entity and scope are no longer served.",
        (
            SENT,
            PROVIDER,
            *KEY,
            Field("Until", Kind.TIME, VALID, "Latest ValidEnd of what is withdrawn; 0 if unknown."),
        ),
        changes="The broker no longer serves these data, and refuses older ones.",
        is_operation=True,
    ),
)
