"""Images without an engine: a Debian base made here, Dockerfiles built on it by buildah, archives for a node to import.

Nothing is pulled from a registry of images. The base stands in for `docker.io/library/python:3.11-slim-bookworm` and
its like: a Dockerfile takes it by the build argument BASE. Images are kept in buildah's own storage in the cache.
"""

import fcntl
import hashlib
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from lab.controlplane.binaries import cache_directory
from lab.controlplane.errors import LabError
from lab.node import packages
from lab.node.place import Place

BASE = "localhost/starrocks-operator-base"
RELEASE = "bookworm"
# What the images here need of it; none is in minbase.
CONTENTS = ("bash", "ca-certificates", "curl", "default-mysql-client", "procps", "python3", "python3-venv", "tini")
# How this machine's pip and TLS find their way is the build's business too, and stays out of the image.
_MACHINE = ("/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt")


def base(report: Callable[[str], None]) -> str:
    """The name of the base image, made now if this machine has none yet."""
    packages.ensure(report)
    key = hashlib.sha256("\0".join((RELEASE, *CONTENTS)).encode()).hexdigest()[:12]
    name = f"{BASE}:{RELEASE}-{key}"
    with _alone("base"):
        if not exists(name):
            _make(name, report)
    return name


def build(
    dockerfile: Path,
    tag: str,
    *,
    context: Path,
    target: str | None = None,
    arguments: Mapping[str, str] | None = None,
    report: Callable[[str], None],
) -> None:
    """Build a Dockerfile on the base image, as `docker build -f DOCKERFILE -t TAG CONTEXT` would on another."""
    given = {"BASE": base(report), **(arguments or {})}
    report(f"building {tag} from {dockerfile}")
    started = time.monotonic()
    # No cache of layers: this buildah takes an ENV that another build argument had given for the same.
    command = ["bud", "--isolation=chroot", "--layers=false", "--pull-never", "--format=docker", f"--tag={tag}"]
    command += [f"--build-arg={name}={value}" for name, value in given.items()]
    ignored = dockerfile.with_name(f"{dockerfile.name}.dockerignore")  # docker finds it by itself
    command += [f"--ignorefile={ignored}"] if ignored.exists() else []
    command += [f"--target={target}"] if target else []
    command += [f"--volume={path}:{path}:ro" for path in _MACHINE if Path(path).exists()]
    buildah(*command, f"--file={dockerfile}", str(context))
    report(f"built {tag} in {time.monotonic() - started:.0f} s")


def name_also(tag: str, other: str) -> None:
    """Give an image another name."""
    buildah("tag", tag, other)


def save(tag: str, archive: Path) -> None:
    """Write an image as an archive that `ctr images import` and `docker load` read."""
    archive.unlink(missing_ok=True)
    buildah("push", tag, f"docker-archive:{archive}:{tag}")


def pack(tag: str, program: Path, archive: Path) -> None:
    """An image of one static program and nothing else, as an archive."""
    container = buildah("from", "scratch").strip()
    try:
        buildah("add", container, str(program), f"/{program.name}")
        buildah("config", f'--entrypoint=["/{program.name}"]', container)
        buildah("commit", "--quiet", container, tag)
    finally:
        buildah("rm", container)
    save(tag, archive)


def exists(tag: str) -> bool:
    try:
        buildah("inspect", "--type=image", tag)
    except LabError:
        return False
    return True


def buildah(*arguments: str) -> str:
    """Run buildah on the lab's own storage."""
    store = cache_directory() / "images"
    command = [
        "buildah",
        f"--storage-driver={_driver()}",
        f"--root={store / 'root'}",
        f"--runroot={store / 'run'}",
        *arguments,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = (done.stdout + done.stderr).strip()[-4000:]
        raise LabError(f"`buildah {' '.join(arguments)}` failed:\n{said}")
    return done.stdout


def _driver() -> str:
    """Overlay mounts where the kernel knows them; else every layer is a copy of the whole, which is slow."""
    known = Path("/proc/filesystems").read_text().split()
    return "overlay" if "overlay" in known else "vfs"


def ctr(place: Place, *arguments: str) -> str:
    """Run containerd's own client on a node, in Kubernetes' namespace."""
    command = ["ctr", f"--address={place.containerd_socket}", "--namespace=k8s.io", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LabError(f"`ctr {' '.join(arguments)}` failed on the node in {place.directory}: {done.stderr.strip()}")
    return done.stdout


def _make(name: str, report: Callable[[str], None]) -> None:
    report(f"making the base image {name} (once, half a minute)")
    archive = cache_directory() / f"base.{os.getpid()}.tar"
    command = ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={','.join(CONTENTS)}", RELEASE, str(archive)]
    try:
        _run(command)
        container = buildah("from", "scratch").strip()
        try:
            buildah("add", container, str(archive), "/")
            buildah("config", "--env=LANG=C.UTF-8", "--cmd=/bin/bash", container)
            buildah("commit", container, name)
        finally:
            buildah("rm", container)
    finally:
        archive.unlink(missing_ok=True)


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LabError(f"`{' '.join(command)}` failed:\n{done.stderr.strip()[-2000:]}")


@contextmanager
def _alone(what: str) -> Iterator[None]:
    directory = cache_directory() / "images"
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / f".{what}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
