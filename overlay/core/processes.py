"""The names of processes: a role and a number, ``broker-3``."""


def role_of(process: str) -> str:
    """The role of a process: ``broker`` of ``broker-3``."""
    return process.rpartition("-")[0]
