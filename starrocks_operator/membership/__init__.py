"""Who should be a member of the cluster, who is, and the one step between: pure truth tables.

Each component has a table (wish x standing -> move), checked cell by cell in the tests; `plan` asks them in order,
frontends first, behind the guards that stop all of them (split brain, no leader, no password).
"""

from starrocks_operator.membership.bootstrap import Founding, founding_of
from starrocks_operator.membership.node_ground import questions_of
from starrocks_operator.membership.outlook import Outlook
from starrocks_operator.membership.plan import Situation, plan
from starrocks_operator.membership.pods import Pod
from starrocks_operator.membership.quorum import Quorum, majority
from starrocks_operator.membership.rosters import Rosters, pods_of, rosters_of
from starrocks_operator.membership.slots import Roster, Slot

__all__ = [
    "Founding",
    "Outlook",
    "Pod",
    "Quorum",
    "Roster",
    "Rosters",
    "Situation",
    "Slot",
    "founding_of",
    "majority",
    "plan",
    "pods_of",
    "questions_of",
    "rosters_of",
]
