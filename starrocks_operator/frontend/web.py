"""What a frontend shows over HTTP, for the few things about it that no statement tells."""

from __future__ import annotations

import urllib.request

SECONDS = 2.0


def page(address: str, port: int, path: str, *, longest: int) -> bytes:
    """Raises OSError or ValueError."""
    host = f"[{address}]" if ":" in address else address
    with urllib.request.urlopen(f"http://{host}:{port}{path}", timeout=SECONDS) as answer:
        return bytes(answer.read(longest))
