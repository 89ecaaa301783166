"""Messages of SilboPS (seed 002, section 6). Pure.

- ``messages``  one class for each of the 22 messages
- ``kinds``     types of fields in addition to those of ``overlay.messages``
- ``table``     every message, field by field
- ``codec``     reading and writing what the table says
"""
