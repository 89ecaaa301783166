"""The messages of the federation in the wire lab.

Counterparts: ``brokerweb.wirelab.channel`` has what is the channel's, ``brokerweb.wirelab.messagepack`` what is the
encoding's.

- ``lab``            declares the parts
- ``table``          the messages, with their texts and words; ``examples`` has the first texts of their forms
- ``village``        brokers, a registration service and clients without a network
- ``conversations``  examples, held by them
- ``verdicts``       what one of them makes of a message
- ``page``           the page of documentation

``python -m`` this package writes it and the dissector for Wireshark again.
"""
