"""``make up``: from a fresh clone to a running house, and back to nothing.

- ``environment``  makes ``.venv`` and installs into it; by the system's Python, so with the standard library only
- ``redis``        which Redis to use, and how to run one of our own
- ``parts``        what the house consists of: one command each
- ``manager``      starts, restarts and ends parts by the policy of ``overlay.deployment.fleet``
- ``home``         what lies under ``var/`` for this: who is running, where the logs are
- ``__main__``     the wiring, and the two lines that say it is ready

Nothing here imports Django: this process must start, and explain itself, where the rest cannot.
"""
