"""The messages of the federation in the wire lab. Counterpart: ``brokerweb.wirelab.channel`` has what is the channel's.

- ``lab``            declares the parts
- ``dissecting``     a message value by value, with what is wrong and where
- ``composing``      a message from a form, and the form of a message; ``examples`` has its first texts
- ``village``        brokers, a registration service and clients without a network
- ``conversations``  examples, held by them
- ``verdicts``       what one of them makes of a message
- ``page``, ``lua``  the page of documentation and the dissector for Wireshark

``python -m`` this package writes the last two again.
"""
