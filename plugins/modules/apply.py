#!/usr/bin/python
# The action plugin of the same name does the work; this file documents it.

DOCUMENTATION = r"""
---
module: apply
short_description: Apply the Kubernetes objects of one component of a StarRocks cluster
description:
  - Builds the objects of one component from a StarRocksCluster and writes them by server-side apply, all in one task.
  - Deletes the objects that are no longer wanted, if told to. Never a StatefulSet or a PersistentVolumeClaim.
  - One object that the API server refuses does not keep the others from being applied; every refusal is reported.
  - Nothing is done, and nothing fails, when the StarRocksCluster or its namespace is being deleted.
  - The API server is the one that the environment variable E(KUBECONFIG) names, or the one of the cluster it runs in.
author:
  - The StarRocks operator authors (@starrocks-operator)
version_added: "0.1.0"
options:
  cluster_file:
    description:
      - JSON file with C(cluster) (the resource), C(context) (what building depends on), C(due)
        (the components whose turn it is) and C(prune) (kind and name of the objects that are no longer wanted).
      - C(known) may hold the resource versions of existing objects by C(Kind/name); it saves a request for each.
      - It is a file so that no value of a StarRocksCluster is ever treated as a template.
    type: path
    required: true
  component:
    description: The component whose objects are built and applied, if it is due.
    type: str
    choices: [fe, fe-observer, be, cn, hpa, fe_proxy, compute-node-group]
  objects:
    description: Objects to apply instead of those of a component. They become the cluster's own.
    type: list
    elements: dict
  prune:
    description: Delete the objects that C(prune) in the file names, as far as the cluster owns them.
    type: bool
    default: false
attributes:
  check_mode:
    description: The API server is asked for a dry run.
    support: full
  diff_mode:
    description: Literal values of environment variables are hidden.
    support: full
notes:
  - Exactly one of O(component), O(objects) and O(prune) is given.
"""

EXAMPLES = r"""
- name: Apply the objects of the frontends
  starrocks.operator.apply:
    cluster_file: /run/starrocks/default.sample.json
    component: fe

- name: Delete what is no longer wanted
  starrocks.operator.apply:
    cluster_file: /run/starrocks/default.sample.json
    prune: true
"""

RETURN = r"""
objects:
  description: What became of each object.
  returned: always
  type: list
  elements: dict
  contains:
    kind:
      description: Kind of the object.
      type: str
    name:
      description: Name of the object.
      type: str
    changed:
      description: Whether it is different now.
      type: bool
    resourceVersion:
      description: Its version now.
      type: str
    new_pods:
      description: Whether its pod template changes, so that its pods are replaced. Told in check and diff mode.
      type: bool
msg:
  description: One sentence per object that was refused, or why nothing was done.
  returned: when there is something to say
  type: str
"""
