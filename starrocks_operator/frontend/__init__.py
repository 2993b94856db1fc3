"""The one place with effects in this package: questions and steps put to frontends over the MySQL protocol."""

from starrocks_operator.frontend.act import perform
from starrocks_operator.frontend.connection import FrontendConnection, FrontendError, Timeouts, Witness
from starrocks_operator.frontend.endpoints import Credentials, Endpoint, endpoints
from starrocks_operator.frontend.look import look
from starrocks_operator.frontend.pool import FrontendPool

__all__ = [
    "Credentials",
    "Endpoint",
    "FrontendConnection",
    "FrontendError",
    "FrontendPool",
    "Timeouts",
    "Witness",
    "endpoints",
    "look",
    "perform",
]
