"""The library of SilboPS clients, as a pure core: for the workload, and for any other program (seed 002, section 2).

- ``client``     what an application calls; the ``Node``
- ``attaching``  at a broker: attach, resume, detach, and again after a lost session
- ``arms``       what the application has set, and the messages that tell a broker; ``siena``: the same by rewriting
- ``requests``   messages without an answer, and the calls of the application that wait for them
- ``wires``      what the library needs of the channel
- ``events``     what it reports
"""
