"""REST: ``*_views`` are the doors, one module per app; ``shapes`` is what goes in and out.

What all doors share is in ``resources``, ``errors``, ``auth``, ``parsers``, ``filters``, ``pages``, ``streams`` and
``schema``; ``health`` is for whoever watches the house.
"""
