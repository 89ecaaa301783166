from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "brokerweb.accounts"

    def ready(self) -> None:
        from brokerweb.accounts import (
            passwords as passwords,
        )  # for its receiver; it needs the models, which are there now
