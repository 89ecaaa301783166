"""The messages of SilboPS in the wire lab.

Counterparts: ``brokerweb.wirelab.channel`` has what is the channel's, ``brokerweb.wirelab.messagepack`` what is the
encoding's.

- ``lab``            declares the parts
- ``table``          the messages, with their texts and words; ``examples`` has the first texts of their forms
- ``village``        brokers and clients without a network
- ``conversations``  examples, held by them
- ``speaking``       who says a message, and what comes before it
- ``verdicts``       what a broker makes of a message
- ``page``           the page of documentation

``python -m`` this package writes it and the dissector for Wireshark again.
"""
