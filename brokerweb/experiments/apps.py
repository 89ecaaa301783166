from django.apps import AppConfig


class ExperimentsConfig(AppConfig):
    name = "brokerweb.experiments"

    def ready(self) -> None:
        """Register the users of topologies."""
        from brokerweb.experiments.topology_uses import ExperimentsAndRuns
        from brokerweb.topologies import uses

        uses.USERS.append(ExperimentsAndRuns())
