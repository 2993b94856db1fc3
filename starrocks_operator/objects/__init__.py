"""From a StarRocksCluster to the Kubernetes objects it is made of. Pure, and the same for equal input."""

from starrocks_operator.objects.build import build
from starrocks_operator.objects.references import References, references

__all__ = ["References", "build", "references"]
