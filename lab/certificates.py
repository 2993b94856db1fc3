"""Certificates for frontends, as an owner who turns on TLS has them made: an authority, and keystores it signs."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, pkcs12
from cryptography.x509.oid import ExtendedKeyUsageOID

from lab.controlplane.pki import named, unsigned

LIFETIME = datetime.timedelta(days=30)


@dataclass(frozen=True)
class Authority:
    """Signs what frontends show."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @classmethod
    def make(cls, name: str = "frontends' authority") -> Authority:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = (
            unsigned(subject=named(name), issuer=named(name), key=key, lifetime=LIFETIME)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(_usage(signs=True), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        )
        return cls(builder.sign(key, hashes.SHA256()), key)

    @property
    def pem(self) -> str:
        return self.certificate.public_bytes(Encoding.PEM).decode()

    def keystore(self, hosts: Sequence[str], password: str) -> bytes:
        """A PKCS12 keystore with a certificate for these host names, wildcards among them."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = x509.SubjectAlternativeName([x509.DNSName(host) for host in hosts])
        builder = (
            unsigned(subject=named("frontend"), issuer=self.certificate.subject, key=key, lifetime=LIFETIME)
            .add_extension(names, critical=False)
            .add_extension(_usage(signs=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()), critical=False)
        )
        certificate = builder.sign(self.key, hashes.SHA256())
        return pkcs12.serialize_key_and_certificates(
            b"fe", key, certificate, None, BestAvailableEncryption(password.encode())
        )


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs,
        key_cert_sign=signs,
        crl_sign=signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
