"""What pages and REST show of one system and of no other: a room for each system, and what all others know of them.

- ``contract``   what a system may add to pages, and what it adds where it says nothing
- ``registry``   what each system adds, by its name
- one folder per system: its pages, panels and addresses
"""
