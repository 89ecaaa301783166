"""The foundation of the pure cores. Nothing here knows a system, a clock or a socket.

- ``node``        the interface between drivers and cores; ``chance``: random streams, passed as arguments
- ``addresses``   ``host:port``; ``hashes``; ``errors``: errors of input and errors of our own
- ``settings``    declarative settings, from which flags, forms and the API are generated
- ``untrusted``   limits for reading JSON and YAML from outside
- ``links``       delay, jitter, loss and more, for real and simulated datagrams; ``link_shapes``: their combination
- ``admission``   fair queueing of datagrams under overload
- ``numbered_log``  the last items of a sequence, which listeners resume
- ``silence``     how long a peer has been silent
- ``engines``     live and simulated, with the largest overlay of each
- ``service_times``  measured processor time and memory of the roles of a system, for simulated ones
- ``curves``      numbers and delays by the length of a sleep; ``calibration``: the file with both
"""
