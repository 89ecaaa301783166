"""Seed 004 on the web.

- ``web``     what it adds to common pages and REST
- ``doors``   applications over HTTP; ``models``: their rows
"""
