from django.apps import AppConfig


class ExperimentsConfig(AppConfig):
    name = "brokerweb.experiments"

    def ready(self) -> None:
        """Tell topologies who uses them."""
        from brokerweb.experiments.topology_uses import ExperimentsAndRuns
        from brokerweb.topologies import uses

        uses.USERS.append(ExperimentsAndRuns())
