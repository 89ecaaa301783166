"""The preset dictionary of codec 2: strings of contexts and chains, the most frequent last.

Changing it needs a new codec. Its digest is fixed by a test, because both ends must have the same bytes.
"""

DICTIONARY = (
    b'"avg(speed) by cell(location)":[["count(people) by location":[["sum(hazards) by cell(location)":[["sum(likes)'
    b' by object":[["list(people) by distance(s.location, r.location)":[["newest(values) by share":[["share":"values":['
    b'"object":"likes":1,"num_of_shares":"friends":["client-000"data":"xxxxxxxxxxxxxxxxxxxx"constant'
    b'["127.0.0.1",4["10.0.0.1",5["192.168.1.,"client-00001"],["127.0.0.1",40000,"client-00002"],["127.0.0.1",4'
    b'"hazards":0,"hazards":1,"hazards":2,"hazards":3,"hazards":4,"hazards":5,'
    b'"location":{"latitude":38.6,"longitude":-9.0},"speed":'
    b'},"n":20,"p":["client-00"},"n":50,"p":["client-00'
    b'{"a":{"events":[[{"latitude":38.8,"longitude":-9.2,"type":"brake"},{"latitude":38.7,"longitude":-9.1,"type":"bump"}'
    b'{"latitude":38.69,"longitude":-9.19,"type":"pothole"},{"latitude":38.65,"longitude":-9.05,"type":"swerve"}],'
    b'"hazards":3,"location":{"latitude":38.75,"longitude":-9.15},"speed":70.5},"n":1,"p":["client-00000"],'
    b'"t":[1700000000000,1700000000000]}'
)
