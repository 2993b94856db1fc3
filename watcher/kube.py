"""The few requests that the watcher itself sends: JSON in, JSON out, over the kubernetes library's client.

The library brings connections, TLS and every kind of log-in; its models would only be unpacked again.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from aiohttp import ClientError
from kubernetes.aio import client, config
from kubernetes.aio.client.exceptions import ApiException

from watcher.metrics import API_REQUESTS
from watcher.settings import SERVICE_ACCOUNT

Json = dict[str, Any]
METADATA_ONLY = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
MERGE_PATCH = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
LEASES = "/apis/coordination.k8s.io/"


class ApiError(Exception):
    """The API server's answer was not what we asked for. status 0: there was no answer."""

    def __init__(self, status: int, message: str, retry_after: float = 0.0) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


class Kube:
    """A client for one API server; at most `limit` requests at a time.

    may_write: asked right before every write but those of the Lease itself: a process that was frozen wakes up with
    its work still to do, and somebody else may do it by then.
    """

    def __init__(self, api: client.ApiClient, *, limit: int = 16, timeout: float = 20.0) -> None:
        self._api, self._timeout = api, timeout
        self._slots = asyncio.Semaphore(limit)
        self.may_write: Callable[[], bool] = lambda: True

    async def close(self) -> None:
        await self._api.close()

    async def get(self, path: str, *, accept: str = "application/json") -> Json:
        return await self.request("GET", path, accept=accept)

    async def request(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        content: str = "application/json",
        accept: str = "application/json",
        timeout: float | None = None,
    ) -> Json:
        headers = {"Accept": accept}
        if body is not None:
            headers["Content-Type"] = content
        async with self._slots:
            if method != "GET" and LEASES not in path and not self.may_write():
                raise ApiError(0, f"{method} {path}: not sent, as the operator's Lease was not renewed in time")
            status, text, answer_headers = await self._send(method, path, headers, body, timeout or self._timeout)
        if method != "GET":
            API_REQUESTS.labels(verb=method, code=str(status)).inc()
        if not 200 <= status < 300:
            raise _refusal(method, path, status, text, answer_headers)
        return json.loads(text)  # type: ignore[no-any-return]

    async def list(self, path: str, *, selector: str = "", field: str = "", limit: int = 100) -> AsyncIterator[Json]:
        """The metadata of every object at `path`, page by page."""
        query, token = f"limit={limit}", ""
        query += f"&labelSelector={selector}" if selector else ""
        query += f"&fieldSelector={field}" if field else ""
        while True:
            page = await self.get(f"{path}?{query}{token}", accept=METADATA_LIST)
            for item in page.get("items") or ():
                yield item
            if not (more := page.get("metadata", {}).get("continue")):
                return
            token = f"&continue={more}"

    async def _send(
        self, method: str, path: str, headers: dict[str, str], body: Any, timeout: float
    ) -> tuple[int, str, Mapping[str, str]]:
        url = self._api.configuration.host.rstrip("/") + path
        try:
            await self._api.update_params_for_auth(headers, [], ["BearerToken"], path, method, body)
            response = await self._api.call_api(method, url, headers, body, _request_timeout=timeout)
            data = await response.read()
            return response.status, data.decode(), response.headers
        except ApiException as error:
            return error.status or 0, str(error.body or error.reason or ""), error.headers or {}
        except (ClientError, TimeoutError, OSError) as error:
            raise ApiError(0, f"{method} {path}: no answer ({type(error).__name__})") from error


async def connect(kubeconfig: str) -> Kube:
    """Log in by the kubeconfig, or else as the pod's service account; never by whatever lies around."""
    settings = client.Configuration()
    if kubeconfig:
        await config.load_kube_config(config_file=kubeconfig, client_configuration=settings)
    elif (SERVICE_ACCOUNT / "token").exists():
        config.load_incluster_config(client_configuration=settings)
    else:
        raise ApiError(0, "No cluster to work on: set KUBECONFIG (or --kubeconfig), or run in a pod.")
    return Kube(client.ApiClient(configuration=settings))


def _refusal(method: str, path: str, status: int, text: str, headers: Mapping[str, str]) -> ApiError:
    try:
        message = str(json.loads(text)["message"])
    except (ValueError, KeyError, TypeError):
        message = text[:200]
    delay = headers.get("Retry-After", "")
    return ApiError(status, f"{method} {path}: {status} {message}", float(delay) if delay.isdigit() else 0.0)
