#!/usr/bin/python

from __future__ import annotations

DOCUMENTATION = r"""
---
module: member
short_description: Take the recorded next step of a StarRocks cluster's membership
description:
  - Takes one step, such as adding a follower or forgetting a compute node that is gone, by SQL on the leading frontend.
  - A few steps are writes to the API server instead, such as taking the highest ordinal away from a StatefulSet when
    its member may go. They are bound to the very version of the object that was read.
  - Before that everything is read afresh - the operator's Lease, the StarRocksCluster, its StatefulSets, pods, claims
    and marker, and every frontend by itself - and the step is decided again by the function that decided it first.
  - The step is taken only if it is still the same, and the one recorded in C(status.nextStep). Otherwise nothing is
    done and the outcome is V(stale), which is no failure.
  - A reply that was lost is resolved by looking, never by repeating the statement.
  - The action plugin of the same name calls it in the process of the task, which saves the start of another one.
  - The API server is the one that the environment variable E(KUBECONFIG) names, or the one of the cluster it runs in.
author:
  - The StarRocks operator authors (@starrocks-operator)
version_added: "0.1.0"
options:
  cluster_file:
    description:
      - JSON file with C(cluster) (the StarRocksCluster), C(step) (the step) and C(operator) (C(identity), C(lease) with
        C(namespace) and C(name), C(default_profile), C(dns_domain) and C(fe_ssl_mode)).
      - C(former), if a password is to be changed, holds the one that FE accepted last.
      - Without C(operator.lease) in it, no Lease is checked.
    type: path
    required: true
attributes:
  check_mode:
    description: Everything is read and decided, and nothing is sent.
    support: full
  diff_mode:
    description: There is no difference to show.
    support: none
requirements:
  - kubernetes
  - pymysql
  - starrocks_operator
"""

EXAMPLES = r"""
- name: Take the next step of the membership
  starrocks.operator.member:
    cluster_file: /run/starrocks/default.sample.json
  register: step

- name: Show what became of it
  ansible.builtin.debug:
    msg: "{{ step.outcome }}: {{ step.message }}"
"""

RETURN = r"""
outcome:
  description:
    - V(done) - the step was taken, or was found to be taken already.
    - V(stale) - it is no longer the step to take; nothing was done.
    - V(unknown) - the statement was sent and its reply lost; the next look at FE shows what became of it.
    - V(failed) - FE or the API server refused it, or something that is needed could not be read; nothing was changed.
    - V(none) - check mode, the step would be taken.
  returned: always
  type: str
  sample: done
message:
  description: A sentence about it, without secrets.
  returned: always
  type: str
  sample: 'AddBackend sample-be-0.sample-be-search.default.svc.cluster.local:9050: done.'
objects:
  description: The objects that were applied, if the step was a write to the API server.
  returned: always
  type: list
  elements: dict
"""

import json
from datetime import UTC, datetime
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule, missing_required_lib
from ansible_collections.starrocks.operator.plugins.module_utils import fresh, hands

try:
    from starrocks_operator.decision import Customs
    from starrocks_operator.frontend import FrontendPool
    from starrocks_operator.frontend.group import take_group
    from starrocks_operator.frontend.take import take
    from starrocks_operator.lease import lease_objection
    from starrocks_operator.model import GROUP_KIND
    from starrocks_operator.objects.names import CLUSTER_DOMAIN
    from starrocks_operator.step import Step
    from starrocks_operator.wish import wish_objection
except ImportError:
    pass  # fresh.DOMAIN_MISSING tells


def main():
    module = AnsibleModule(argument_spec={"cluster_file": {"type": "path", "required": True}}, supports_check_mode=True)
    for library, missing in (("kubernetes", fresh.KUBERNETES_MISSING), ("starrocks_operator", fresh.DOMAIN_MISSING)):
        if missing:
            message = missing_required_lib(library)
            module.fail_json(msg=message, exception=missing, outcome="failed", message=message)
    result = answer(module.params["cluster_file"], check_mode=module.check_mode)
    if result["outcome"] == "failed":
        module.fail_json(msg=result["message"], **result)
    module.exit_json(**result)


def answer(cluster_file, check_mode):
    """Take the step of this file; what became of it, as the task's result."""
    objects = []
    try:
        play = json.loads(Path(cluster_file).read_text(encoding="utf-8"))
        outcome, message, objects = attempt(play, check_mode=check_mode)
    except (OSError, ValueError, KeyError) as failure:
        outcome, message = "failed", f"The step could not be read: {failure!r}."
    except (fresh.ApiError, fresh.config.ConfigException) as failure:
        outcome, message = "failed", str(failure)
    changed = outcome in ("done", "unknown", "none")
    return {"changed": changed, "outcome": str(outcome), "message": message, "objects": objects}


def attempt(play, check_mode):
    """Read everything afresh, and take the step if it is still the one. Returns outcome, message, objects written."""
    step, operator = Step.parse(play["step"]), play["operator"]
    name = f"{step.kind} {step.target}"
    api = fresh.ApiServer()
    objection = lease_problem(api, operator)
    if objection:
        return "stale", f"{name}: {objection}.", []
    metadata = play["cluster"]["metadata"]
    kind = play["cluster"].get("kind", "StarRocksCluster")
    if kind == GROUP_KIND:
        return attempt_group(api, step, metadata, operator, check_mode=check_mode)
    cluster = fresh.read_cluster(api, metadata["namespace"], metadata["name"], kind)
    if cluster is None or cluster.uid != metadata["uid"]:
        return "stale", f"{name}: the cluster is gone.", []
    found = fresh.read_fresh(api, cluster, play.get("former"), operator.get("fe_ssl_mode", "DISABLED"), step)
    if found.credentials is None:
        return "failed", f"{name}: {found.observed.credentials_problem}", []
    pool = FrontendPool(threads=8)

    def objection():
        """FE may have taken long to be looked at: the Lease may be another's by now, and the wish another one."""
        return lease_problem(api, operator) or wish_problem(api, cluster)

    lent = hands.Hands(api, objection)
    try:
        outcome, message = take(
            step,
            cluster=cluster,
            observed=found.observed,
            credentials=found.credentials,
            pool=pool,
            default_profile=operator.get("default_profile", "safe"),
            domain=operator.get("dns_domain", CLUSTER_DOMAIN),
            customs=Customs.of(play.get("context") or {}),
            dry_run=check_mode,
            hand=lent.do,
            objection=objection,
        )
        return outcome, message, lent.written
    finally:
        pool.close()


def attempt_group(api, step, metadata, operator, check_mode):
    """The same for a ComputeNodeGroup, whose frontends are elsewhere."""
    name = f"{step.kind} {step.target}"
    group = fresh.read_group(api, metadata["namespace"], metadata["name"])
    if group is None or group.uid != metadata["uid"]:
        return "stale", f"{name}: the group is gone.", []
    found = fresh.read_fresh_group(api, group, operator.get("fe_ssl_mode", "DISABLED"))
    if found.credentials is None:
        return "failed", f"{name}: {found.observed.credentials_problem}", []
    pool = FrontendPool(threads=8)

    def objection():
        now = fresh.read_group(api, group.namespace, group.name)
        if (
            now is None
            or now.uid != group.uid
            or (now.generation, now.is_deleted)
            != (
                group.generation,
                group.is_deleted,
            )
        ):
            return "the group was changed meanwhile"
        return lease_problem(api, operator)

    try:
        outcome, message = take_group(
            step,
            group=group,
            observed=found.observed,
            credentials=found.credentials,
            pool=pool,
            dry_run=check_mode,
            objection=objection,
        )
        return outcome, message, []
    finally:
        pool.close()


def lease_problem(api, operator):
    """Why the operator that started this run may no longer act; empty if it may."""
    lease = operator.get("lease")
    if not lease:
        return ""
    found = fresh.read_lease(api, lease["namespace"], lease["name"])
    return lease_objection(found, identity=operator["identity"], now=datetime.now(UTC))


def wish_problem(api, cluster):
    """Why what the step was decided for is not wished any more; empty if it is."""
    now = fresh.read_cluster(api, cluster.namespace, cluster.resource_name, cluster.kind)
    return wish_objection(now, decided=cluster)


if __name__ == "__main__":
    main()
