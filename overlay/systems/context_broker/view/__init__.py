"""The view of a network: the tables of all its brokers as one, made from their feeds. Pure.

Counterparts: ``clients.feed_reader`` reads the feed of one broker; ``overlay.programs.context_broker.follower`` gives
the view sockets in an event loop::

    broker ──feed──> FeedReader ──┐                   ┌──> entries: one per key and provider, with its holders
    broker ──feed──> FeedReader ──┼──> NetworkView ───┤
    broker ──feed──> FeedReader ──┘                   └──> ChangeLog: the last changes, by number

- ``view``        the merged table
- ``entries``     an entry of it, and which of several records is the present one
- ``name_index``  its names in order, for lists in pages
- ``change_log``  numbered changes, of which a listener can resume
- ``polls``       when a broker is asked next
"""
