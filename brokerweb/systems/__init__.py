"""Parts of pages and REST that belong to single systems: one package per system, and a common contract.

- ``contract``   what a system may add to pages, and what it adds where it says nothing
- ``registry``   what each system adds, by its name
- one folder per system: its pages, panels and addresses
"""
