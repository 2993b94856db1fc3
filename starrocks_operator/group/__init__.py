"""ComputeNodeGroup: what is decided about it, and what its status says."""
