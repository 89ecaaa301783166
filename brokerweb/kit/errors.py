"""Errors of services other than invalid fields, which raise ``overlay.core.errors.InvalidSetting``."""


class NotPossible(Exception):
    """The request conflicts with the object's current state; the sentence gives the reason."""


class NotAnswered(Exception):
    """No server answered in time."""
