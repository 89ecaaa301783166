"""The language of Radiator's functions: a subset of Python's expressions, checked node by node and compiled once.

``s`` is the message, ``r`` the recipient::

    {time: 30} if friend(s, r) else {volume: distance_km(s.location, r.location)}     aggregability
    avg(speed) by cell(location); count(people)                                       aggregation
    1 if a.network == b.network else 0                                                chainability

Evaluation never raises: a missing attribute, a wrong type, or a number that is not finite or an integer beyond ±2^63
*fails*, which gives a constant and is counted.

- ``source``         text to a syntax tree within the limits; errors that point at a character
- ``compiler``       checks every node and builds the Python function
- ``operations``     what operators and functions compute; all checked
- ``thresholds``     the results of aggregability functions
- ``aggregability``, ``aggregates``, ``chainability``   the three kinds of text
- ``installed``      trusted Python functions
- ``scenarios``      the six scenarios of the paper
"""
