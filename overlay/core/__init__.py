"""What a pure core may stand on: nothing here knows a system, a clock or a socket.

- ``node``        the seam: what a driver may call on a core; ``chance``: randomness, handed in too
- ``addresses``   ``host:port``; ``hashes``; ``errors``: our mistakes and theirs
- ``settings``    declarative settings, from which flags, forms and the API are made
- ``untrusted``   JSON and YAML that others wrote, read within limits
- ``links``       delay, jitter, loss and the rest, for real and simulated datagrams alike; ``link_shapes``: in words
- ``admission``   whose datagram is served next, when more come than a node can serve
- ``silence``     how long somebody was not heard of
- ``engines``     live or simulated, and how large an overlay each takes
- ``service_times``  what time and memory a node takes, as measured, for simulated ones to take
"""
