"""What follows from a new password, wherever it is set: on the account page, in the admin or by a command."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser

from brokerweb.accounts.models import Token


class EndsTokens:
    """Tokens that were made under the old password open nothing any more; sessions end by Django's own doing.

    One of ``AUTH_PASSWORD_VALIDATORS``: Django calls them once a password has been changed, and not where it merely
    stores the same one under a newer hash. It demands nothing of a password.
    """

    def validate(self, password: str, user: AbstractBaseUser | None = None) -> None: ...

    def get_help_text(self) -> str:
        return "Changing it ends your other sessions and revokes your tokens."

    def password_changed(self, password: str, user: AbstractBaseUser) -> None:
        Token.objects.filter(user=user.pk).delete()
