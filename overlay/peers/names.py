"""Names of sums of messages, as work of servers. Without imports, since processes of every system import it."""

IN_OTHER, OUT = "in_other", "out_messages"
"""Messages received that are not told apart, and all that are sent."""
