"""A form that several send at once, or one person twice: one is taken, the others are told that the name is taken."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connections

from brokerweb.notices import services as notices
from brokerweb.runlist import saved_views
from overlay.errors import InvalidSetting


def outcomes(send: Callable[[], Any], times: int = 6) -> list[str]:
    """What each of so many that send at once is told."""
    told: list[str] = []

    def one() -> None:
        try:
            send()
            told.append("taken")
        except InvalidSetting as refused:
            told.append(refused.field)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=one) for _ in range(times)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(told)


@pytest.mark.django_db(transaction=True)
def test_one_is_taken_and_the_others_are_told_so() -> None:
    olga = User.objects.create_user("olga")
    hook = {"name": "ops", "channel": "webhook", "address": "http://127.0.0.1:9/", "kinds": ["run_failed"]}
    expected = ["name"] * 5 + ["taken"]
    assert outcomes(lambda: saved_views.save(olga, "runs", "Slow", "q=p95 > 2ms")) == expected
    assert outcomes(lambda: notices.create(**hook)) == expected
