"""ContextML: the values of messages as XML, for HTTP and for networks with ``encoding=contextml``.

The published schema could not be had, so this one is ours (seed 001, section 4); no interoperation is claimed.

- ``xml``         reading XML within limits, and writing it
- ``scalars``     texts, numbers, booleans and times
- ``constraints`` expressions
- ``elements``    ``ctxEl``, ``ctxSubscr`` and ``ctxAdv``
- ``documents``   a complete document, ``contextML``, with queries and answers
- ``encoding``    the kinds of fields in messages with ContextML

Reading raises ``InvalidContextML`` and nothing else. Writing raises it for what XML cannot carry.
"""
