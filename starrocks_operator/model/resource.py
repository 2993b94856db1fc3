"""From an object as the apiserver gives it to what it is to us, by its kind."""

from collections.abc import Mapping
from typing import Any

from starrocks_operator.model.cluster import StarRocksCluster
from starrocks_operator.model.warehouse import WAREHOUSE_KIND, Warehouse


def parse(raw: Mapping[str, Any]) -> StarRocksCluster:
    """A StarRocksCluster, or a StarRocksWarehouse seen as a cluster of compute nodes alone."""
    return (Warehouse if raw.get("kind") == WAREHOUSE_KIND else StarRocksCluster).parse(raw)
