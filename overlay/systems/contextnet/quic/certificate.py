"""The certificate of a gateway: its own, made at its start. Nodes check no chain of authorities.

Instead both proofs of the handshake cover the SHA-256 of the certificate that was presented (``frames``): who does not
know the node's secret can neither present another one nor pass on proofs that were made for another one.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509.oid import NameOID

_NAME: Final = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "gateway")])
_FROM, _UNTIL = datetime(2000, 1, 1, tzinfo=UTC), datetime(2999, 1, 1, tzinfo=UTC)


class Identity(NamedTuple):
    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey
    digest: bytes
    """SHA-256 of the certificate, 32 bytes."""


def make_identity() -> Identity:
    """A new key on P-256 and a certificate that it signs itself, from the operating system's randomness."""
    key = ec.generate_private_key(ec.SECP256R1())
    builder = x509.CertificateBuilder(_NAME, _NAME, key.public_key(), x509.random_serial_number(), _FROM, _UNTIL)
    certificate = builder.sign(key, SHA256())
    return Identity(certificate, key, digest_of(certificate))


def digest_of(certificate: x509.Certificate) -> bytes:
    return certificate.fingerprint(SHA256())
