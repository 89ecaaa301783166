"""What the toy system adds to the pages."""

from brokerweb.systems.contract import Entry, Part, Web


class EchoWeb(Web):
    urls = "tests.systems.echo_web.urls"
    entries = (Entry("Echo chamber", "Nothing but echoes", "echo-chamber", icon="wire", label="Echo chamber"),)

    def parts_of_run(self, run):
        repeated = run.configuration["settings"]["echoes"]
        return (Part("echoes", "Echoes", "echo_web/echoes.html", {"echoes": repeated}),)
