"""What an operator writes to disk: nothing outside its scratch directory, and nothing stays there."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

from lab.stack import Stack
from tests.cluster.clusters import cluster
from tests.cluster.operators import Operators

FILES = {"certificate-authority", "client-certificate", "client-key"}


def test_credentials_in_a_kubeconfig_leave_no_files_behind(operators: Operators, tmp_path: Path) -> None:
    space, usual = operators.space, tmp_path / "usual"
    usual.mkdir()
    kubeconfig = embedded(operators.stack, tmp_path / "embedded.kubeconfig")
    operators.start(kubeconfig=kubeconfig, environment={"TMPDIR": str(usual)})
    space.apply(cluster("one", cn=1))
    space.wait_ready("one")
    space.scale("one", "starRocksCnSpec", 2)
    space.wait_ready("one")
    assert files(usual) == []
    held = files(operators.scratch)
    assert held, "the operator itself has written its credentials"
    operators.kill()
    operators.start("second", kubeconfig=kubeconfig, environment={"TMPDIR": str(usual)})
    operators.wait_for_readiness("ok", "second")
    assert not set(held) & set(files(operators.scratch)), "those of a killed one are removed by its successor"
    operators.end()
    assert files(usual) == []
    assert list(operators.scratch.iterdir()) == []


def embedded(stack: Stack, path: Path) -> Path:
    """The operator's kubeconfig with certificates in it, as clouds hand them out."""
    document = json.loads(stack.operator_kubeconfig.read_text())
    admin = json.loads(stack.plane.kubeconfig.read_text())
    unused = {key: value for key, value in admin["users"][0]["user"].items() if key in FILES}
    document["users"][0]["user"] |= unused  # a token beside them is what the server goes by
    for part in (document["clusters"][0]["cluster"], document["users"][0]["user"]):
        embed(part)
    path.write_text(json.dumps(document))
    path.chmod(0o600)
    return path


def embed(part: dict[str, Any]) -> None:
    for key in FILES & part.keys():
        part[f"{key}-data"] = b64encode(Path(part.pop(key)).read_bytes()).decode()


def files(directory: Path) -> list[Path]:
    return sorted(path for path in directory.rglob("*") if path.is_file())
