"""TLS with an authority of one's own, against a real server in this process."""

from __future__ import annotations

import http.server
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from waxwing import Client, NoConnection, NotConfigured, Retry


@dataclass(frozen=True)
class Served:
    url: str
    ca: Path
    asked: list[str]


def certify(key: Path, certificate: Path) -> None:
    """A key, and its certificate by itself, for 127.0.0.1."""
    private = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "our own")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, private.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(private, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    key.write_bytes(private.private_bytes(pem, *plain))
    certificate.write_bytes(made.public_bytes(pem))


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    key, ca, asked = tmp_path / "key.pem", tmp_path / "ca.pem", list[str]()
    certify(key, ca)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.headers["Authorization"])
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"id": "r"}')

        def log_message(self, *_: object) -> None:
            pass

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(ca, key)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield Served(f"https://127.0.0.1:{server.server_port}", ca, asked)
        server.shutdown()
        thread.join()


def test_a_private_authority_is_trusted_if_it_is_named_and_nobody_else_is_told_the_token(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def name(**given: str) -> str:
        with Client(served.url, "secret", retry=Retry(attempts=3, first_s=60), **given) as client:
            return client.runs.get("r").id

    with pytest.raises(NoConnection, match=r"its certificate is not trusted.* --ca FILE, WAXWING_CA"):
        name()  # at once: trying again would not help
    assert name(ca=str(served.ca)) == "r"
    monkeypatch.setenv("WAXWING_CA", str(served.ca))
    assert name() == "r"
    other = tmp_path / "other.pem"
    certify(tmp_path / "other.key", other)
    with pytest.raises(NoConnection, match="not trusted"):
        name(ca=str(other))
    assert served.asked == ["Bearer secret"] * 2
    for wrong in (tmp_path / "nowhere.pem", tmp_path / "key.pem"):
        with pytest.raises(NotConfigured, match="no certificates can be read"):
            name(ca=str(wrong))
