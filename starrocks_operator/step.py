"""A Step: the one thing the operator does next to a cluster's membership, as data.

Membership, rollout, configuration and storage all return Steps, and one executor performs them; so a plan is a list
of Steps, what happened is a Step in status, and a crash is survived by deciding again. A Step is written to
`status.nextStep` before it is done, and done only if deciding afresh still gives a Step with the same hash.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class StepKind(StrEnum):
    """What a Step does; the values appear in status, events and metrics."""

    ADD_FOLLOWER = "AddFollower"
    DROP_FOLLOWER = "DropFollower"
    ADD_OBSERVER = "AddObserver"
    DROP_OBSERVER = "DropObserver"
    ADD_BACKEND = "AddBackend"
    DECOMMISSION_BACKEND = "DecommissionBackend"
    CANCEL_DECOMMISSION = "CancelDecommission"
    DROP_BACKEND = "DropBackend"
    FORCE_DROP_BACKEND = "ForceDropBackend"
    ADD_COMPUTE_NODE = "AddComputeNode"
    DROP_COMPUTE_NODE = "DropComputeNode"
    DROP_WAREHOUSE = "DropWarehouse"
    BLACKLIST_COMPUTE_NODE = "BlacklistComputeNode"
    UNBLACKLIST_COMPUTE_NODE = "UnblacklistComputeNode"
    DIVERT_QUERIES = "DivertQueries"
    READMIT_QUERIES = "ReadmitQueries"
    HOLD_SETTING = "HoldSetting"
    RESTORE_SETTING = "RestoreSetting"
    CREATE_IMAGE = "CreateImage"
    HOLD_AUTO_DROP = "HoldAutoDrop"
    RESTORE_AUTO_DROP = "RestoreAutoDrop"
    SET_FRONTEND_CONFIG = "SetFrontendConfig"
    SHRINK_STATEFUL_SET = "ShrinkStatefulSet"
    SLEEP_STATEFUL_SET = "SleepStatefulSet"
    DELETE_META_VOLUME = "DeleteMetaVolume"
    DELETE_POD = "DeletePod"
    REPLACE_POD = "ReplacePod"
    OFFER_TEMPLATE = "OfferTemplate"
    GROW_CLAIM = "GrowClaim"
    ORPHAN_STATEFUL_SET = "OrphanStatefulSet"
    DELETE_BACKEND_VOLUME = "DeleteBackendVolume"
    SET_ROOT_PASSWORD = "SetRootPassword"  # noqa: S105
    ROTATE_ROOT_PASSWORD = "RotateRootPassword"  # noqa: S105
    CREATE_OPERATOR_ACCOUNT = "CreateOperatorAccount"
    ROTATE_OPERATOR_PASSWORD = "RotateOperatorPassword"  # noqa: S105


KUBERNETES_STEPS = frozenset(
    {
        StepKind.SHRINK_STATEFUL_SET,
        StepKind.SLEEP_STATEFUL_SET,
        StepKind.DELETE_META_VOLUME,
        StepKind.DELETE_POD,
        StepKind.REPLACE_POD,
        StepKind.OFFER_TEMPLATE,
        StepKind.GROW_CLAIM,
        StepKind.ORPHAN_STATEFUL_SET,
        StepKind.DELETE_BACKEND_VOLUME,
    }
)
"""Steps that are taken on the API server, not on FE; see `starrocks_operator.deed`."""

LOCAL_STEPS = frozenset(
    {
        StepKind.BLACKLIST_COMPUTE_NODE,
        StepKind.UNBLACKLIST_COMPUTE_NODE,
        StepKind.DIVERT_QUERIES,
        StepKind.READMIT_QUERIES,
    }
)
"""Steps that every frontend must be told by itself, since none passes them on."""

HOLDING_STEPS = frozenset({StepKind.HOLD_AUTO_DROP, StepKind.HOLD_SETTING})
SETTING_STEPS = HOLDING_STEPS | {StepKind.RESTORE_AUTO_DROP, StepKind.RESTORE_SETTING, StepKind.SET_FRONTEND_CONFIG}
"""Steps that change a setting of the frontends: the target is its key, `to` among the facts its new value."""

REPEATED_STEPS = frozenset({StepKind.DROP_WAREHOUSE, StepKind.CREATE_IMAGE})
"""Steps that may be said twice: no question shows beforehand whether they were."""

ACCOUNT_STEPS = frozenset(
    {
        StepKind.SET_ROOT_PASSWORD,
        StepKind.ROTATE_ROOT_PASSWORD,
        StepKind.CREATE_OPERATOR_ACCOUNT,
        StepKind.ROTATE_OPERATOR_PASSWORD,
    }
)
"""Steps that change a password: the target is the account, `login` among the facts how FE lets us in before, `secret`
where the new password is and in which version. The password itself is no part of a step."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step on one member.

    target: what FE calls the member: `host:edit_log_port` for a frontend, `host:heartbeat_port` for a backend or
        compute node; the key of FE's setting; the name of a warehouse; or the name of the StatefulSet, claim or pod.
    expects: what must still be so when the step is done, as (fact, value) pairs, for example
        ("name", "<member name in SHOW FRONTENDS>") so that a member that was re-added meanwhile is never dropped.
    reversible: whether the opposite step takes it back without loss.
    reason: a sentence for a person.
    """

    kind: StepKind
    target: str
    reason: str
    reversible: bool
    expects: tuple[tuple[str, str], ...] = ()

    def fact(self, name: str) -> str:
        """What it expects of one fact; empty: nothing."""
        return dict(self.expects).get(name, "")

    @property
    def hash(self) -> str:
        """What makes two Steps the same; the sentence is not part of it."""
        identity = [self.kind, self.target, sorted(self.expects), self.reversible]
        return hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:16]

    def document(self) -> dict[str, Any]:
        """The form in `status.nextStep` and in the file that a run is given."""
        return {
            "kind": str(self.kind),
            "target": self.target,
            "reason": self.reason,
            "reversible": self.reversible,
            "expects": [{"fact": fact, "value": value} for fact, value in self.expects],
            "hash": self.hash,
        }

    @classmethod
    def parse(cls, document: Mapping[str, Any]) -> Step:
        """The inverse of `document`."""
        return cls(
            kind=StepKind(document["kind"]),
            target=document["target"],
            reason=document.get("reason", ""),
            reversible=bool(document["reversible"]),
            expects=tuple((item["fact"], item["value"]) for item in document.get("expects", ())),
        )
