"""Wait until a component answers, for those that others cannot do without."""

import http.client
import ssl
import time
from collections.abc import Callable

from lab.controlplane.errors import LabError
from lab.controlplane.layout import Layout

_INTERVAL = 0.02


def etcd_serves(layout: Layout) -> bool:
    return _answers(http.client.HTTPConnection("127.0.0.1", layout.etcd_port, timeout=5), "/health")


def api_serves(layout: Layout) -> bool:
    trust = ssl.create_default_context(cafile=str(layout.certificates / "ca.crt"))
    return _answers(http.client.HTTPSConnection(layout.address, layout.api_port, context=trust, timeout=5), "/readyz")


PROBES: dict[str, Callable[[Layout], bool]] = {"etcd": etcd_serves, "kube-apiserver": api_serves}


def wait_until_served(component: str, layout: Layout, *, still_alive: Callable[[], None], deadline: float) -> None:
    """Ask until the component says yes; `still_alive` raises when there is nothing left to wait for."""
    while not PROBES[component](layout):
        still_alive()
        if time.monotonic() > deadline:
            raise LabError(f"{component} of lab {layout.name} was not ready in time: see {layout.log(component)}")
        time.sleep(_INTERVAL)


def _answers(connection: http.client.HTTPConnection, path: str) -> bool:
    try:
        connection.request("GET", path)
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
