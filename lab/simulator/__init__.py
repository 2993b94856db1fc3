"""StarRocks, played: what frontends, backends and compute nodes would do inside the pods of a Kubernetes cluster."""
