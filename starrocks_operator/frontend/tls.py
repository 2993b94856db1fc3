"""How the connection to a frontend is encrypted, and whose certificate is believed.

The names of the modes are those of MySQL clients, which the official operator uses, too.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache


class TlsMode(StrEnum):
    """How much encryption is wanted."""

    DISABLED = "DISABLED"
    PREFERRED = "PREFERRED"  # if the frontend offers it; whoever sits in between can take the offer away
    REQUIRED = "REQUIRED"  # always, with whatever certificate
    VERIFY_CA = "VERIFY_CA"  # with a certificate that the CA has signed
    VERIFY_IDENTITY = "VERIFY_IDENTITY"  # and that bears the frontend's host name


@dataclass(frozen=True, kw_only=True)
class Tls:
    """ca: certificates in PEM; empty: those of the system."""

    mode: TlsMode = TlsMode.DISABLED
    ca: str = field(default="", repr=False)

    @property
    def required(self) -> bool:
        """Whether a frontend that does not offer it is not spoken to."""
        return self.mode not in (TlsMode.DISABLED, TlsMode.PREFERRED)


@lru_cache(maxsize=256)
def context_of(tls: Tls) -> ssl.SSLContext | None:
    """What the socket is wrapped with; None: nothing. Raises ssl.SSLError or ValueError for a CA that is none."""
    if tls.mode == TlsMode.DISABLED:
        return None
    if tls.mode in (TlsMode.VERIFY_CA, TlsMode.VERIFY_IDENTITY):
        context = ssl.create_default_context(cadata=tls.ca or None)
        context.check_hostname = tls.mode == TlsMode.VERIFY_IDENTITY
    else:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE  # asked for: encrypted, and no more
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context
