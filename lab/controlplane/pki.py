"""The lab's certificates and kubeconfigs: one authority, one server, one client per component and one for the admin."""

import datetime
import ipaddress
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from lab.controlplane.layout import Layout

_LIFETIME = datetime.timedelta(days=365)
_SERVER_NAMES = ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")
_MASTERS = "system:masters"

# kubeconfig of → (user, group). The names are the ones that Kubernetes' own cluster roles are bound to.
CLIENTS: dict[str, tuple[str, str | None]] = {
    "admin": ("lab:admin", _MASTERS),
    "kube-controller-manager": ("system:kube-controller-manager", None),
    "kube-scheduler": ("system:kube-scheduler", None),
    "kwok": ("lab:kwok", _MASTERS),
}


@dataclass(frozen=True)
class _Pair:
    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    def certificate_pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    def key_pem(self) -> bytes:
        return _key_pem(self.key)


def write_credentials(layout: Layout, *, more: Mapping[str, tuple[str, str | None]] | None = None) -> None:
    """Write everything the components need to trust each other, and a kubeconfig for each of them."""
    layout.certificates.mkdir(parents=True, exist_ok=True, mode=0o700)
    authority = _authority()
    addresses = sorted({"127.0.0.1", layout.address, layout.api_service})
    server = _signed(authority, common_name="kube-apiserver", addresses=addresses)
    tokens = ec.generate_private_key(ec.SECP256R1())
    files = {
        "ca.crt": authority.certificate_pem(),
        "server.crt": server.certificate_pem(),
        "server.key": server.key_pem(),
        "tokens.key": _key_pem(tokens),
        "tokens.pub": tokens.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        ),
    }
    for name, content in files.items():
        write_private(layout.certificates / name, content)
    for component, (user, group) in (CLIENTS | dict(more or {})).items():
        client = _signed(authority, common_name=user, organisation=group)
        path = layout.kubeconfig if component == "admin" else layout.component_kubeconfig(component)
        certificate, key = (layout.certificates / f"{component}.{end}" for end in ("crt", "key"))
        write_private(certificate, client.certificate_pem())
        write_private(key, client.key_pem())
        write_private(path, _kubeconfig(layout, certificate=certificate, key=key))


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner may read, whole or not at all."""
    partial = path.with_name(path.name + ".partial")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    partial.replace(path)


def _authority() -> _Pair:
    key = ec.generate_private_key(ec.SECP256R1())
    name = named("lab")
    builder = (
        unsigned(subject=name, issuer=name, key=key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    return _Pair(builder.sign(key, hashes.SHA256()), key)


def _signed(
    authority: _Pair, *, common_name: str, organisation: str | None = None, addresses: Sequence[str] = ()
) -> _Pair:
    """A certificate of a client, or of a server at these addresses."""
    key = ec.generate_private_key(ec.SECP256R1())
    usage = ExtendedKeyUsageOID.SERVER_AUTH if addresses else ExtendedKeyUsageOID.CLIENT_AUTH
    builder = unsigned(
        subject=named(common_name, organisation), issuer=authority.certificate.subject, key=key
    ).add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
    builder = builder.add_extension(
        x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key()), critical=False
    )
    if addresses:
        alternatives: list[x509.GeneralName] = [x509.DNSName(name) for name in _SERVER_NAMES]
        alternatives.extend(x509.IPAddress(ipaddress.ip_address(address)) for address in addresses)
        builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
    return _Pair(builder.sign(authority.key, hashes.SHA256()), key)


def unsigned(
    *, subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, lifetime: datetime.timedelta = _LIFETIME
) -> x509.CertificateBuilder:
    """A certificate that is valid from now on and says nothing yet of what it is for."""
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + lifetime)
    )


def named(common_name: str, organisation: str | None = None) -> x509.Name:
    attributes = [x509.NameAttribute(NameOID.COMMON_NAME, common_name)]
    if organisation:
        attributes.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, organisation))
    return x509.Name(attributes)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )


def _kubeconfig(layout: Layout, *, certificate: Path, key: Path) -> bytes:
    """A kubeconfig that names the files of its credentials (JSON is YAML too).

    With the credentials in it, every client in Python would write them to temporary files, and many are killed.
    """
    name = f"lab-{layout.name}"
    cluster = {"server": layout.server, "certificate-authority": str(layout.certificates / "ca.crt")}
    user = {"client-certificate": str(certificate), "client-key": str(key)}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": cluster}],
        "users": [{"name": name, "user": user}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name, "namespace": "default"}}],
        "current-context": name,
    }
    return json.dumps(document, indent=2).encode()
