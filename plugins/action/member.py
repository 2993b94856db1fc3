"""One step of the membership, taken by the module of the same name in the process of its task.

A module is a program of its own, and most of what it costs is starting: more than a second of CPU for what the parent
of the run has imported already. What is read, decided and said is the module's; it runs as it is where there is no
controller to run it in.
"""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.starrocks.operator.plugins.modules.member import answer
from ansible_collections.starrocks.operator.plugins.plugin_utils.lifeline import end_with_parent

ARGUMENTS = {"cluster_file": {"type": "path", "required": True}}


class ActionModule(ActionBase):
    """Takes the recorded step, if it is still the one to take."""

    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        super().run(tmp, task_vars)
        end_with_parent()
        _, arguments = self.validate_argument_spec(argument_spec=ARGUMENTS)
        result: dict[str, Any] = answer(arguments["cluster_file"], check_mode=self._task.check_mode)
        return result | ({"failed": True, "msg": result["message"]} if result["outcome"] == "failed" else {})
