"""What all tests share: the lab's control plane, and the whole stage for those that need it."""

pytest_plugins = ["lab.controlplane.fixture"]
