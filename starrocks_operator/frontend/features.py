"""What a frontend says it can do, over HTTP: the one thing about it that no statement tells."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any
from urllib.error import HTTPError

PATH = "/api/v2/feature"
SECONDS = 2.0
LONGEST = 1_000_000


def features_of(address: str, port: int) -> frozenset[str] | None:
    """None: it could not be asked. A release that does not know the question has none of them."""
    host = f"[{address}]" if ":" in address else address
    try:
        with urllib.request.urlopen(f"http://{host}:{port}{PATH}", timeout=SECONDS) as answer:
            return frozenset(_words(json.loads(answer.read(LONGEST))))
    except HTTPError as refusal:
        return frozenset() if refusal.code in (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED) else None
    except ValueError:
        return frozenset()
    except OSError:
        return None


def _words(document: Any) -> Iterator[str]:
    if isinstance(document, str):
        yield document
    elif isinstance(document, dict):
        for value in document.values():
            yield from _words(value)
    elif isinstance(document, list):
        for value in document:
            yield from _words(value)
