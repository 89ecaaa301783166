"""What an experiment's definition says, apart from any row: read, written, and known of it beforehand.

- ``documents``   a definition as YAML and back, its topologies with it
- ``references``  what it says of its topologies: an id, a name, or what makes one
- ``spelling``    numbers in one way, so that like ones are one
- ``relevance``   which settings a choice uses
- ``presets``     definitions to begin with, from ``docs/examples``

What may be said at all is ``overlay.experiment.definition``; nothing here knows of ``brokerweb.experiments``.
"""
