from importlib import import_module

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "brokerweb.accounts"

    def ready(self) -> None:
        import_module("brokerweb.accounts.passwords")  # registers its signal receiver; must run after models are loaded
