"""The preset dictionary of codec 2, built from the format of contexts and chains.

Deflate copies strings from it. A copy costs about two bytes, whatever its length, and a random digit less than half of
one, so the strings are as long as they can be without a random digit: from one number of a context to the next, with
every value of the words between them. What is copied most often is last, because near copies are shorter.

The words are those of the workload's hazards, the first digits of its places, and the members of contexts and chains.
No measured message is in it. Its digest is fixed by a test, because both ends must have the same bytes: changing it
needs a new codec.
"""

from __future__ import annotations

from collections.abc import Iterator

EVENTS = "bump", "pothole", "brake", "swerve"
LATITUDES = "38.6", "38.8", "38.7"
LONGITUDES = "-9.2", "-9.0", "-9.1"
"""Up to the first digit after the point, the middle of the area last."""
MOST_HAZARDS = 5
"""In a message of usual length."""

RARE = (
    '"avg(speed) by cell(location)":[["count(people) by location":[["sum(hazards) by cell(location)":[["sum(likes)'
    ' by object":[["list(people) by distance(s.location, r.location)":[["newest(values) by share":[["share":"values":['
    '"object":"likes":1,"num_of_shares":"friends":["client-000"data":"xxxxxxxxxxxxxxxxxxxx"constant'
    '["127.0.0.1",4["10.0.0.1",5["192.168.1.,"client-00001"],["127.0.0.1",40000,"client-00002"],["127.0.0.1",4'
)
"""Of aggregates, other scenarios, other contents, and chains."""
JOINED = (
    '{"a":{"events":[[{"latitude":38."hazards":["location":[{"latitude":38."speed":[},"n":20,"p":["client-00'
    '},"n":50,"p":["client-00'
)


def _strings() -> Iterator[str]:
    yield RARE + JOINED
    for kind in EVENTS:
        yield f',"type":"{kind}"}}],[{{"latitude":38.'
    for hazards in range(MOST_HAZARDS, 0, -1):
        for kind in EVENTS:
            yield f',"type":"{kind}"}}],"hazards":{hazards},"location":{{"latitude":38.'
    for digit in range(10):
        yield f'.{digit}}},"n":1,"p":["client-00'
    for latitude in LATITUDES:
        for kind in EVENTS:
            yield f',"type":"{kind}"}},{{"latitude":{latitude}'
    for latitude in LATITUDES:
        yield f'{{"a":{{"events":[{{"latitude":{latitude}'
    yield '"],"t":[18"],"t":[17'
    for digit in range(10):
        yield f'}},"speed":{digit}'
    for longitude in LONGITUDES:
        yield f',"longitude":{longitude}'
    yield "]}"


DICTIONARY = "".join(_strings()).encode()
