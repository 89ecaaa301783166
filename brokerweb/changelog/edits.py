"""What the admin's own forms and Django's commands change, without a service: recorded when rows are saved or deleted
there."""

from __future__ import annotations

import sys
from typing import Any

from django.db.models import Model
from django.db.models.signals import post_save, pre_delete, pre_save
from django.dispatch import receiver

from brokerweb.changelog.difference import difference
from brokerweb.changelog.recording import CHANGE, CREATE, DELETE, SUBJECTS, key_of, recording, say, state_of
from brokerweb.kit.origin import ADMIN, COMMAND, origin

COMMANDS = ("createsuperuser",)
"""Commands of Django that change an account."""


def _is_edit(sender: type[Model]) -> bool:
    if sender not in SUBJECTS or recording.get():
        return False
    source = origin().source
    return source == ADMIN or (source == COMMAND and sys.argv[1:2] in [[name] for name in COMMANDS])


@receiver(pre_save)
def before_save(sender: type[Model], instance: Any, **sent: Any) -> None:
    if _is_edit(sender):
        instance.state_before = state_of(instance) if instance.pk else {}


@receiver(post_save)
def after_save(sender: type[Model], instance: Any, created: bool, **sent: Any) -> None:
    if not _is_edit(sender):
        return
    was, now = difference(instance.__dict__.pop("state_before", {}), state_of(instance))
    if was or now:
        say(SUBJECTS[sender].kind, key_of(instance), str(instance), CREATE if created else CHANGE, was, now)


@receiver(pre_delete)
def before_delete(sender: type[Model], instance: Any, **sent: Any) -> None:
    if _is_edit(sender):
        say(SUBJECTS[sender].kind, key_of(instance), str(instance), DELETE, state_of(instance))
