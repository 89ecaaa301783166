"""A Mosquitto of a test: with TLS, a certificate of each client, a user and password, and what it keeps on disk."""

from __future__ import annotations

import socket
import ssl
import subprocess
from pathlib import Path

import paho.mqtt.client as paho
import trustme
from paho.mqtt.enums import CallbackAPIVersion

from brokerweb.up.environment import find_mosquitto
from tests.waiting import BOUND_S, wait_for

USER, PASSWORD = "bridge", "a secret"
CONFIGURATION = """\
listener {port} 127.0.0.1
cafile {folder}/ca.pem
certfile {folder}/server.pem
keyfile {folder}/server.key
require_certificate true
allow_anonymous false
password_file {folder}/passwords
persistence true
persistence_location {folder}/
log_dest file {folder}/log
"""


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class Mosquitto:
    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.process: subprocess.Popen[bytes] | None = None
        authority = trustme.CA()
        authority.cert_pem.write_to_path(folder / "ca.pem")
        for name in ("server", "client"):
            one = authority.issue_cert("127.0.0.1" if name == "server" else "client.test")
            (folder / f"{name}.pem").write_bytes(b"".join(part.bytes() for part in one.cert_chain_pems))
            one.private_key_pem.write_to_path(folder / f"{name}.key")
        # Run by root, it becomes the user mosquitto, and reads its files as that.
        (folder / "mosquitto.conf").write_text(CONFIGURATION.format(port=self.port, folder=folder) + "user root\n")
        subprocess.run(["mosquitto_passwd", "-c", "-b", folder / "passwords", USER, PASSWORD], check=True)

    @property
    def url(self) -> str:
        return f"mqtts://127.0.0.1:{self.port}"

    @property
    def tls(self) -> dict[str, str]:
        return {name: str(self.folder / file) for name, file in _FILES.items()}

    def start(self) -> None:
        program = find_mosquitto()
        assert program is not None
        self.process = subprocess.Popen([program, "-c", self.folder / "mosquitto.conf"])
        wait_for(self._answers, lambda: f"an answer of Mosquitto: {(self.folder / 'log').read_text()}")

    def stop(self) -> None:
        """It writes what it keeps."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait(BOUND_S)
            self.process = None

    def client(self, client_id: str) -> paho.Client:
        """Connected, with a thread of its own."""
        client = paho.Client(CallbackAPIVersion.VERSION2, client_id)
        context = ssl.create_default_context(cafile=self.tls["ca"])
        context.load_cert_chain(self.tls["certificate"], self.tls["key"])
        client.tls_set_context(context)
        client.username_pw_set(USER, PASSWORD)
        client.connect("127.0.0.1", self.port)
        client.loop_start()
        return client

    def _answers(self) -> bool:
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", self.port)) == 0


_FILES = {"ca": "ca.pem", "certificate": "client.pem", "key": "client.key"}
