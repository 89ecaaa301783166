"""What a service refuses though every field is right; what is wrong with one is
``overlay.core.errors.InvalidSetting``."""


class NotPossible(Exception):
    """What was asked does not fit the state the thing is in; the sentence says why."""


class NotAnswered(Exception):
    """No server answered in time."""
