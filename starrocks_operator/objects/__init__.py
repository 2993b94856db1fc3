"""From a StarRocksCluster to the Kubernetes objects it is made of. Pure, and the same for equal input."""

from starrocks_operator.objects.build import build, objects_of
from starrocks_operator.objects.references import References, references

__all__ = ["References", "build", "objects_of", "references"]
