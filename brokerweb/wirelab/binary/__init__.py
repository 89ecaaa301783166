"""The wire lab of a system with a table of binary messages (``overlay.core.binary``).

- ``dissecting``  a datagram field by field, however wrong it is
- ``composing``   a datagram from a form, and the form of a datagram
- ``lab``         ``BinaryLab``, of which a system overrides what only it knows
- ``lua``         the dissector for Wireshark
- ``page``        the page of documentation
"""
