"""A real Kubernetes node for the lab: kubelet, containerd, kube-proxy and DNS in namespaces of their own.

`Node.start(directory)` returns a running one that ends with the process that started it; `python -m lab.node` does the
same for people. What it needs, what it is made of and what it leaves alone: README.md.
"""

from lab.node.node import Node

__all__ = ["Node"]
