"""The measures of a run, from what clients and brokers reported (seed 002, presets: measures). Pure.

- ``records``    the facts that measures are made of
- ``effects``    what followed from a message of a client
- ``processed``  when all brokers had processed what a client set
- ``states``     what clients had set, state by state, and the window of a publication
- ``truth``      who should get a publication, by brute force over states
- ``absences``   when clients were away, and when links or brokers were down
- ``oracle``     due, lost, spurious, duplicates
- ``figures``    all measures by name
"""

from overlay.systems.silbops.measuring.figures import measures

__all__ = ["measures"]
