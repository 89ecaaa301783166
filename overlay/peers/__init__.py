"""The messages of a node to and from others over the channel, for all systems whose messages ``overlay.messages``
describes. Pure.

- ``peers``      sending, reading, counting and refusing messages
- ``questions``  those of operators' programs, which are no messages of a network
- ``answers``    answering them
- ``names``      of sums of messages
"""
