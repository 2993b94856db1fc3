"""Wait until the API is served."""

import http.client
import ssl
import time
from collections.abc import Callable

from lab.controlplane.errors import LabError
from lab.controlplane.layout import Layout

_INTERVAL = 0.05


def wait_until_served(layout: Layout, *, still_alive: Callable[[], None], patience: float) -> None:
    """Ask /readyz until it says ok; `still_alive` raises when there is nothing left to wait for."""
    deadline = time.monotonic() + patience
    trust = ssl.create_default_context(cafile=str(layout.certificates / "ca.crt"))
    while not _ready(layout, trust):
        still_alive()
        if time.monotonic() > deadline:
            raise LabError(
                f"kube-apiserver of lab {layout.name} was not ready within {patience:.0f} s: "
                f"see {layout.log('kube-apiserver')}"
            )
        time.sleep(_INTERVAL)


def _ready(layout: Layout, trust: ssl.SSLContext) -> bool:
    connection = http.client.HTTPSConnection("127.0.0.1", layout.api_port, context=trust, timeout=5)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
