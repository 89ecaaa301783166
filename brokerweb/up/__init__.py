"""``make up``: installs, starts and stops all processes.

- ``environment``  creates ``.venv`` and installs into it; runs on the system's Python with the standard library only
- ``redis``        chooses a Redis server, or runs one
- ``parts``        the processes, one command each
- ``manager``      starts, restarts and stops parts by the policy of ``overlay.deployment.fleet``
- ``home``         files under ``var/``: locks and logs
- ``__main__``     the entry point, which prints two lines when ready

Nothing here imports Django: this process must start, and report errors, when nothing else works.
"""
