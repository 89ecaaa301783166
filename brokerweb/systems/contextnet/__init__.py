"""Seed 004 on the web.

- ``web``     what it adds to common pages and REST
- ``nodes``   a part of a network's page: nodes and their secrets
- ``doors``   applications over HTTP; ``models``: their rows
"""
