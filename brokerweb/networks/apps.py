from django.apps import AppConfig


class NetworksConfig(AppConfig):
    name = "brokerweb.networks"
