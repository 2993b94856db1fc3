"""The simulator's effects: sockets, the Kubernetes API, files, real time. The rules are in lab.simulator.model."""
