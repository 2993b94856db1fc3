"""What a frontend says it can do, over HTTP: the one thing about it that no statement tells."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any
from urllib.error import HTTPError

from starrocks_operator.frontend.web import page

PATH = "/api/v2/feature"
LONGEST = 1_000_000


def features_of(address: str, port: int) -> frozenset[str] | None:
    """None: it could not be asked. A release that does not know the question has none of them."""
    try:
        return frozenset(_words(json.loads(page(address, port, PATH, longest=LONGEST))))
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
