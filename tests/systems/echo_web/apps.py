from django.apps import AppConfig


class EchoConfig(AppConfig):
    name = "tests.systems.echo_web"

    def ready(self):
        from brokerweb.systems.registry import register
        from tests.systems.echo_web.web import EchoWeb

        register("echo", EchoWeb())
