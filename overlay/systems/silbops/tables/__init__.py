"""What a broker knows, where it sends notifications, and what its neighbours are to be told (seed 002, section 7).

- ``rows``       links, subscriptions and advertisements
- ``contexts``   the context manager: the newest context of each client
- ``publishers`` the advertisements behind a neighbour, and which subscriptions they call for
- ``forwarded``  the subscriptions of a link that no other covers
- ``outlet``     what one neighbour is to know, and what it was told
- ``announced``  contexts of publishers that are told apart from publications
- ``pruning``    subscriptions that a neighbour need not know for now
- ``explaining`` what says no to a notification
- ``tables``     all of it, and routing

What a neighbour is told is a function of the tables. After a change the difference is told, so late publishers, lost
neighbours and broader subscriptions that leave need no code of their own.
"""

from overlay.systems.silbops.tables.rows import Advertisement, Key, Kind, Link, Subscription
from overlay.systems.silbops.tables.tables import Delivery, Tables

__all__ = ["Advertisement", "Delivery", "Key", "Kind", "Link", "Subscription", "Tables"]
