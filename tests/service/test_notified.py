"""The verdict on notifications, from what a driver wrote down."""

from __future__ import annotations

from tests.service.notified import Broken, Notices, Number, Published, Verdict

FIRST, SECOND, THIRD = (Number("rest", number) for number in (1, 2, 3))


def test_what_was_published_in_peace_is_due_and_the_rest_is_not() -> None:
    notices = Notices()
    notices.published = [Published(FIRST, 0, 0.1), Published(SECOND, 9, 9.1), Published(THIRD, 30, 30.1)]
    notices.broken = [Broken(10, 12)]
    notices.heard["webhook"].update([FIRST, SECOND, SECOND])
    assert notices.verdict("webhook") == Verdict(published=3, due=2, notified=1, also=1, repeated=1, missed=[THIRD])
    assert notices.verdict("client").missed == [FIRST, THIRD]


def test_a_disturbance_counts_until_all_is_settled_again() -> None:
    notices = Notices()
    notices.broken = [Broken(10, 12)]
    assert not notices.is_due(Published(FIRST, 16.9, 16.95))
    assert notices.is_due(Published(FIRST, 17.1, 17.2))
    assert not notices.is_due(Published(FIRST, 7.9, 8.1)), "it may still be on its way when the broker dies"
