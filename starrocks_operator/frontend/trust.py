"""What speaks against trusting a frontend, told from what the TLS and MySQL libraries raised."""

from __future__ import annotations

import ssl

from starrocks_operator.frontend.wire import NOT_TRUSTED

_INSECURE = frozenset({5205, 3159})
"""FE demands TLS and got none."""


def distrust(failure: BaseException) -> str:
    """A few words; empty: trust is not the trouble."""
    cause = _tls_failure(failure)
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"its certificate does not pass ({cause.verify_message.rstrip('.')})"
    if cause is not None:
        return f"TLS could not be agreed upon ({cause.reason or type(cause).__name__})"
    code = failure.args[0] if failure.args and isinstance(failure.args[0], int) else 0
    said = str(failure.args[1]) if len(failure.args) > 1 else ""
    if code == NOT_TRUSTED:
        return said
    if code in _INSECURE:
        return f"it demands TLS ({said})"
    return ""


def _tls_failure(failure: BaseException) -> ssl.SSLError | None:
    """pymysql wraps it, in one attribute or another."""
    for found in (failure, getattr(failure, "original_exception", None), failure.__cause__, failure.__context__):
        if isinstance(found, ssl.SSLError):
            return found
    return None
