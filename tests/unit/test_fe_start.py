"""The frontends' start script, run by bash with stand-ins for mysql, getent, hostname and the frontend itself.

`mysql` answers from files that each test writes, one per peer address and statement. The stand-in for waiting moves
the story on to the next round, so that nothing sleeps; a story that runs out of rounds ends the script.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "starrocks_operator" / "scripts" / "fe_start.sh"
COLUMNS = ["Name", "IP", "EditLogPort", "HttpPort", "QueryPort", "RpcPort", "Role", "ClusterId", "Join", "Alive"]
DOMAIN = "sample-fe-search.db.svc.cluster.local"
OUT_OF_ROUNDS = 99

STANDINS = {
    "hostname": 'echo "$FAKE_SELF"',
    "getent": 'grep "^$2 " "$FAKE/names" | cut -d " " -f 2 | sed "s/$/ STREAM/"',
    "mysql": """
for argument in "$@"; do
  case "$argument" in --host=*) host="${argument#--host=}" ;; --execute=*) statement="${argument#--execute=}" ;; esac
done
round="$(cat "$FAKE/round")"
echo "$round $host $statement" >>"$FAKE/asked"
[[ "$*" == *s3cret* ]] && echo "the password is on the command line" >>"$FAKE/leak"
verb="${statement%% *}"
for answer in "$FAKE/$host.$verb.$round" "$FAKE/$host.$verb"; do
  if [[ -f "$answer" ]]; then
    tail -n +2 "$answer"
    exit "$(head -n 1 "$answer")"
  fi
done
echo "ERROR 2003 (HY000): Can't connect to MySQL server on '$host' (111)" >&2
exit 1
""",
    "sleep": """
round=$(( $(cat "$FAKE/round") + 1 ))
echo "$round" >"$FAKE/round"
if (( round > FAKE_ROUNDS )); then kill -TERM "$PPID"; fi
""",
}


class Pod:
    """The world of one frontend pod."""

    def __init__(self, directory: Path, ordinal: int) -> None:
        self.directory, self.ordinal = directory, ordinal
        self.fake, self.root, self.marker = (directory / name for name in ("fake", "root", "marker"))
        for path in (self.fake, self.root / "fe" / "conf", self.root / "fe" / "bin", self.marker):
            path.mkdir(parents=True)
        for name, body in STANDINS.items():
            self._program(self.fake / "bin" / name, body)
        self._program(self.root / "fe" / "bin" / "start_fe.sh", 'echo "started $*"')
        (self.fake / "round").write_text("0")
        self.configuration = self.root / "fe" / "conf" / "fe.conf"
        self.configuration.write_text("edit_log_port = 9010\nquery_port = 9030\n")
        self.meta = self.root / "fe" / "meta"
        self.environment: dict[str, str] = {}
        self.pods(ordinal)
        self.found("")

    @staticmethod
    def _program(path: Path, body: str) -> None:
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/bash\n{body}\n")
        path.chmod(0o755)

    def pods(self, *ordinals: int) -> None:
        """The pods that DNS knows; pod N has the address 127.9.0.N."""
        lines = [f"sample-fe-{n}.{DOMAIN} {address(n)}\n{DOMAIN} {address(n)}\n" for n in ordinals]
        (self.fake / "names").write_text("".join(lines))

    def found(self, cluster_id: str | None) -> None:
        """What the marker says; None: there is no marker."""
        file = self.marker / "cluster-id"
        file.unlink(missing_ok=True)
        if cluster_id is not None:
            file.write_text(cluster_id)

    def answers(self, peer: int, text: str, *, status: int = 0, verb: str = "SHOW", round_: int | None = None) -> None:
        suffix = "" if round_ is None else f".{round_}"
        (self.fake / f"{address(peer)}.{verb}{suffix}").write_text(f"{status}\n{text}")

    def accepts(self, leader: str) -> None:
        """The leader takes ALTER statements; it is asked by the name that its row has."""
        (self.fake / f"{leader}.ALTER").write_text("0\n")

    def few_programs(self) -> Path:
        """A directory with what the script needs of the system, and no mysql client."""
        directory = self.directory / "system"
        directory.mkdir()
        for name in ("bash", "awk", "basename", "date", "timeout"):
            (directory / name).symlink_to(str(shutil.which(name)))
        return directory

    def run(self, *, rounds: int = 3) -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": f"{self.fake / 'bin'}:{os.environ['PATH']}",
            "FAKE": str(self.fake),
            "FAKE_SELF": f"sample-fe-{self.ordinal}.{DOMAIN}",
            "FAKE_ROUNDS": str(rounds),
            "STARROCKS_ROOT": str(self.root),
            "FE_MARKER_DIRECTORY": str(self.marker),
            "FE_SETTLE_SECONDS": "0",
            "POD_IP": address(self.ordinal),
            "HOST_TYPE": "FQDN",
            "MYSQL_PWD": "s3cret",
            **self.environment,
        }
        command = ["bash", str(SCRIPT), "sample-fe-service.db"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
        assert not (self.fake / "leak").exists()
        assert "s3cret" not in done.stdout + done.stderr
        return done

    @property
    def asked(self) -> list[str]:
        """Every statement, as "<round> <host> <statement>"."""
        file = self.fake / "asked"
        return file.read_text().splitlines() if file.exists() else []


def address(ordinal: int) -> str:
    return f"127.9.0.{ordinal + 1}"


def host(ordinal: int) -> str:
    return f"sample-fe-{ordinal}.{DOMAIN}"


def frontends(
    *rows: tuple[int, str, bool], cluster_id: str = "77", columns: list[str] | None = None, edit_log_port: int = 9010
) -> str:
    """SHOW FRONTENDS as the mysql client prints it; rows: (ordinal, role, joined)."""
    named = columns or COLUMNS
    lines = ["\t".join(named)]
    for ordinal, role, joined in rows:
        values = {
            "Name": f"{host(ordinal)}_9010_17",
            "IP": host(ordinal),
            "Host": host(ordinal),
            "EditLogPort": str(edit_log_port),
            "QueryPort": "9030",
            "Role": role,
            "ClusterId": cluster_id,
            "Join": str(joined).lower(),
        }
        lines.append("\t".join(values.get(column, "1") for column in named))
    return "\n".join(lines) + "\n"


LEADER = (0, "LEADER", True)
STARTED = "started --host_type FQDN"
JOINED = f"{STARTED} --helper {host(0)}:9010"


@pytest.fixture
def pod(tmp_path: Path) -> Pod:
    """fe-1 beside a fe-0; what fe-0 says is up to the test."""
    made = Pod(tmp_path, 1)
    made.pods(0, 1)
    return made


@pytest.fixture
def first(tmp_path: Path) -> Pod:
    """fe-0 beside a fe-1."""
    made = Pod(tmp_path, 0)
    made.pods(0, 1)
    return made


def with_metadata(pod: Pod, *, image: bool = True) -> None:
    (pod.meta / "image").mkdir(parents=True)
    (pod.meta / "image" / "ROLE").write_text("role=FOLLOWER\n")
    if image:
        (pod.meta / "image" / "image.12").touch()


def test_metadata_is_started_as_it_is(pod: Pod) -> None:
    with_metadata(pod)
    done = pod.run()
    assert done.stdout.strip() == STARTED
    assert pod.asked == []


def test_an_interrupted_first_start_is_explained_and_nothing_is_deleted(pod: Pod) -> None:
    with_metadata(pod, image=False)
    done = pod.run()
    assert "a first start was interrupted" in done.stderr
    assert done.stdout.strip() == STARTED
    assert (pod.meta / "image" / "ROLE").exists()


def test_a_new_frontend_is_added_and_starts_with_the_leader_as_helper(pod: Pod) -> None:
    pod.answers(0, frontends(LEADER), round_=0)
    pod.answers(0, frontends(LEADER, (1, "FOLLOWER", False)))
    pod.accepts(host(0))
    done = pod.run()
    assert done.stdout.strip() == JOINED
    assert "No such file" not in done.stderr
    added = f'0 {host(0)} ALTER SYSTEM ADD FOLLOWER "{host(1)}:9010"'
    assert [line for line in pod.asked if "ALTER" in line] == [added]


def test_a_frontend_that_was_added_before_is_not_added_again(pod: Pod) -> None:
    pod.answers(0, frontends(LEADER, (1, "FOLLOWER", False)))
    assert pod.run().stdout.strip() == JOINED
    assert not [line for line in pod.asked if "ALTER" in line]


OTHER = (2, "FOLLOWER", False)


def test_one_joins_after_the_other(pod: Pod) -> None:
    pod.answers(0, frontends(LEADER, OTHER), round_=0)
    pod.answers(0, frontends(LEADER, OTHER), round_=1)
    pod.answers(0, frontends(LEADER, (2, "FOLLOWER", True)), round_=2)
    pod.answers(0, frontends(LEADER, (2, "FOLLOWER", True), (1, "FOLLOWER", False)))
    pod.accepts(host(0))
    done = pod.run(rounds=4)
    assert done.stdout.strip() == JOINED
    assert done.stderr.count(f"waiting until {host(2)} has joined: one frontend after the other") == 2
    assert next(line for line in pod.asked if "ALTER" in line).startswith("2 ")


def test_one_that_joined_and_was_never_seen_alive_is_waited_for(pod: Pod) -> None:
    columns = [*COLUMNS, "StartTime"]
    rows = frontends(LEADER, (2, "FOLLOWER", True), columns=columns).splitlines()
    pod.answers(0, "\n".join([*rows[:2], rows[2].removesuffix("\t1") + "\tNULL"]) + "\n")
    assert f"waiting until {host(2)} has joined" in pod.run(rounds=1).stderr


@pytest.mark.parametrize(("ordinal", "waits"), [(1, False), (2, True)])
def test_of_two_that_were_added_together_one_goes_first(tmp_path: Path, ordinal: int, waits: bool) -> None:
    pod = Pod(tmp_path, ordinal)
    pod.pods(0, 1, 2)
    pod.answers(0, frontends(LEADER, (1, "FOLLOWER", False), OTHER))
    assert (pod.run(rounds=1).stdout == "") == waits


def test_one_that_never_joins_is_not_waited_for_for_ever(pod: Pod) -> None:
    pod.environment["FE_TURN_SECONDS"] = "0"
    pod.answers(0, frontends(LEADER, OTHER), round_=0)
    pod.answers(0, frontends(LEADER, OTHER, (1, "FOLLOWER", False)))
    pod.accepts(host(0))
    done = pod.run()
    assert done.stdout.strip() == JOINED
    assert f"{host(2)} has not joined in 0 s: not waiting for it any longer" in done.stderr


@pytest.mark.parametrize("other", [(2, "OBSERVER", False), OTHER])
def test_observers_wait_for_nobody_and_nobody_waits_for_them(pod: Pod, other: tuple[int, str, bool]) -> None:
    if other == OTHER:
        pod.environment["IS_FE_OBSERVER"] = "true"
    pod.answers(0, frontends(LEADER, other))
    pod.accepts(host(0))
    pod.run(rounds=1)
    assert [line for line in pod.asked if "ALTER" in line]


def test_an_observer_is_added_as_one(pod: Pod) -> None:
    pod.environment["IS_FE_OBSERVER"] = "true"
    pod.answers(0, frontends(LEADER))
    pod.accepts(host(0))
    pod.run(rounds=1)
    assert f'0 {host(0)} ALTER SYSTEM ADD OBSERVER "{host(1)}:9010"' in pod.asked


OBSERVING = "sample-fe-observer-0.sample-fe-observer-search.db.svc.cluster.local"


def observe(pod: Pod) -> None:
    """The pod is observer 0 of its own StatefulSet; frontends 0 and 2 are there, too."""
    pod.pods(0, 2)
    with (pod.fake / "names").open("a") as names:
        names.write(f"{OBSERVING} 127.9.1.1\nsample-fe-observer-search.db.svc.cluster.local 127.9.1.1\n")
    pod.environment |= {"IS_FE_OBSERVER": "true", "FE_GROUP": "sample-fe.sample-fe-search", "FAKE_SELF": OBSERVING}


def test_an_observer_asks_the_frontends_of_the_other_group_and_joins(pod: Pod) -> None:
    observe(pod)
    pod.answers(0, frontends(LEADER))
    pod.accepts(host(0))
    pod.run(rounds=1)
    assert f'0 {host(0)} ALTER SYSTEM ADD OBSERVER "{OBSERVING}:9010"' in pod.asked
    assert {line.split()[1] for line in pod.asked if "SHOW FRONTENDS" in line} == {address(0), address(2)}


@pytest.mark.parametrize("found", ["", None, "4711"])
def test_an_observer_never_founds_a_cluster(pod: Pod, found: str | None) -> None:
    observe(pod)
    pod.environment["FE_SETTLE_SECONDS"] = "0"
    pod.found(found)
    done = pod.run(rounds=4)
    assert done.stdout == ""
    assert ("an observer never founds a cluster" in done.stderr) == (not found)


def test_a_refused_add_is_told_and_tried_again(pod: Pod) -> None:
    pod.answers(0, frontends(LEADER))
    (pod.fake / f"{host(0)}.ALTER").write_text("1\nERROR 1064 (HY000): frontend already exists\n")
    done = pod.run(rounds=1)
    assert "the leader refused: ERROR 1064 (HY000): frontend already exists" in done.stderr
    assert done.stdout == ""
    assert len([line for line in pod.asked if "ALTER" in line]) == 2


@pytest.mark.parametrize(
    "columns",
    [
        ["Id", *COLUMNS],
        list(reversed(COLUMNS)),
        ["Host" if column == "IP" else column for column in COLUMNS],
    ],
)
def test_columns_are_found_by_name(pod: Pod, columns: list[str]) -> None:
    pod.answers(0, frontends(LEADER, (1, "FOLLOWER", False), columns=columns))
    assert pod.run().stdout.strip() == JOINED


def test_ports_come_from_the_configuration_and_from_the_leader(pod: Pod) -> None:
    pod.configuration.write_text("#edit_log_port = 1\nedit_log_port = 1\n  edit_log_port = 19010  \n")
    pod.answers(0, frontends(LEADER, edit_log_port=19010), round_=0)
    pod.answers(0, frontends(LEADER, (1, "FOLLOWER", False), edit_log_port=19010))
    pod.accepts(host(0))
    assert pod.run().stdout.strip() == f"{STARTED} --helper {host(0)}:19010"
    assert any(f'"{host(1)}:19010"' in line for line in pod.asked)


def test_where_show_frontends_names_no_leader_proc_is_asked(pod: Pod) -> None:
    pod.answers(0, frontends((0, "FOLLOWER", True)))
    pod.run(rounds=1)
    assert f"0 {address(0)} SHOW PROC '/frontends'" in pod.asked


def test_two_leaders_in_one_answer_are_none(pod: Pod) -> None:
    pod.answers(0, frontends(LEADER, (2, "LEADER", True)))
    done = pod.run(rounds=1)
    assert done.stdout == ""
    assert "name no leader" in done.stderr


def test_the_first_frontend_founds_the_cluster_when_nobody_answers(first: Pod) -> None:
    done = first.run()
    assert done.stdout.strip() == STARTED
    assert "founding it" in done.stderr


def test_a_lone_frontend_founds_its_cluster(tmp_path: Path) -> None:
    assert Pod(tmp_path, 0).run().stdout.strip() == STARTED


def test_a_peer_whose_process_runs_forbids_founding_before_it_answers(first: Pod) -> None:
    with socket.create_server((address(1), 0)) as server:
        first.configuration.write_text(f"edit_log_port = {server.getsockname()[1]}\n")
        done = first.run()
    assert done.stdout == ""
    assert "name no leader (1 running)" in done.stderr


def test_it_founds_only_after_a_settled_silence(first: Pod) -> None:
    first.environment["FE_SETTLE_SECONDS"] = "3600"
    done = first.run(rounds=2)
    assert done.stdout == ""
    assert "founding the cluster in" in done.stderr


def test_others_wait_for_the_first(pod: Pod) -> None:
    done = pod.run()
    assert done.stdout == ""
    assert "waiting for sample-fe-0 to found the cluster" in done.stderr


@pytest.mark.parametrize("ordinal", [0, 1])
def test_a_founded_cluster_is_never_founded_again(tmp_path: Path, ordinal: int) -> None:
    pod = Pod(tmp_path, ordinal)
    pod.found("77\n")
    done = pod.run(rounds=5)
    assert done.stdout == ""
    assert "cluster 77 was founded before" in done.stderr


def test_without_a_marker_nothing_is_founded(first: Pod) -> None:
    first.found(None)
    done = first.run()
    assert done.stdout == ""
    assert "the bootstrap marker is missing" in done.stderr


def test_a_marker_that_arrives_late_is_heeded(first: Pod) -> None:
    """kubelet updates mounts late: peers that answer count, whatever the marker says."""
    first.answers(1, frontends((1, "LEADER", True)), round_=0)
    first.answers(1, frontends((1, "LEADER", True), (0, "FOLLOWER", False)))
    first.accepts(host(1))
    assert first.run().stdout.strip() == f"{STARTED} --helper {host(1)}:9010"


@pytest.mark.parametrize(
    ("answer", "status", "word"),
    [
        ("", 124, "1 hung"),
        ("", 137, "1 hung"),
        ("ERROR 1045 (28000): Access denied for user 'root'", 1, "1 denied"),
        ("ERROR 1064 (HY000): Unknown error", 1, "1 failed"),
        ("ERROR 2013 (HY000): Lost connection to server at 'reading initial communication packet'", 1, "1 failed"),
        (frontends((1, "FOLLOWER", True)), 0, "1 leaderless"),
    ],
)
def test_a_peer_that_is_there_but_cannot_tell_forbids_founding(first: Pod, answer: str, status: int, word: str) -> None:
    first.answers(1, answer, status=status)
    done = first.run()
    assert done.stdout == ""
    assert f"frontends are there but name no leader ({word})" in done.stderr


def test_a_password_that_stays_refused_ends_the_container(first: Pod) -> None:
    """It was resolved when the container started: only another start can bring another one."""
    first.environment["FE_DENIED_SECONDS"] = "0"
    first.answers(1, "ERROR 1045 (28000): Access denied for user 'root'", status=1)
    done = first.run()
    assert done.returncode == 1
    assert done.stdout == ""
    assert "have refused root's password (MYSQL_PWD) for 0 s: ending" in done.stderr


def test_silence_must_last_without_interruption(first: Pod) -> None:
    first.answers(1, "", status=124, round_=0)
    first.environment["FE_SETTLE_SECONDS"] = "3600"
    done = first.run(rounds=1)
    assert "1 hung" in done.stderr
    assert "founding the cluster in 3600 s" in done.stderr


def test_a_journal_without_a_role_is_never_founded_over(first: Pod) -> None:
    (first.meta / "bdb").mkdir(parents=True)
    (first.meta / "bdb" / "00000000.jdb").touch()
    done = first.run()
    assert done.stdout == ""
    assert "a person must look" in done.stderr


def test_a_foreign_cluster_is_not_joined(pod: Pod) -> None:
    pod.found("77")
    pod.answers(0, frontends(LEADER, cluster_id="88"))
    done = pod.run()
    assert done.stdout == ""
    assert "not joining a foreign cluster" in done.stderr
    assert not [line for line in pod.asked if "ALTER" in line]


def test_peers_of_two_clusters_are_left_to_a_person(tmp_path: Path) -> None:
    pod = Pod(tmp_path, 2)
    pod.pods(0, 1, 2)
    pod.answers(0, frontends(LEADER, cluster_id="77"))
    pod.answers(1, frontends((1, "LEADER", True), cluster_id="88"))
    done = pod.run()
    assert done.stdout == ""
    assert "peers belong to different clusters (77 88)" in done.stderr


def test_a_lost_volume_waits_until_the_old_member_is_dropped(pod: Pod) -> None:
    pod.found("77")
    pod.answers(0, frontends(LEADER, (1, "FOLLOWER", True)), round_=0)
    pod.answers(0, frontends(LEADER, (1, "FOLLOWER", False)))
    done = pod.run()
    assert "waiting until the operator has dropped it" in done.stderr
    assert done.stdout.strip() == JOINED


@pytest.mark.parametrize("listed", [(), ((1, "FOLLOWER", False),)])
@pytest.mark.parametrize("named", ["sample-fe-1", "sample-fe-0 sample-fe-1 sample-fe-11\n"])
def test_one_that_is_leaving_does_not_join_by_itself(
    pod: Pod, named: str, listed: tuple[tuple[int, str, bool], ...]
) -> None:
    pod.found("77")
    (pod.marker / "leaving").write_text(named)
    pod.answers(0, frontends(LEADER, *listed))
    pod.accepts(host(0))
    done = pod.run()
    assert done.stdout == ""
    assert "is leaving the cluster of leader" in done.stderr
    assert not [line for line in pod.asked if "ALTER" in line]


@pytest.mark.parametrize("named", ["", "sample-fe-11 sample-fe-10", "a-sample-fe-1"])
def test_others_that_leave_are_no_hindrance(pod: Pod, named: str) -> None:
    pod.found("77")
    (pod.marker / "leaving").write_text(named)
    pod.answers(0, frontends(LEADER, (1, "FOLLOWER", False)))
    done = pod.run()
    assert done.stdout.strip() == JOINED
    assert "leaving: No such file" not in done.stderr


def test_a_leaving_one_with_metadata_starts_as_the_member_it_is(pod: Pod) -> None:
    (pod.marker / "leaving").write_text("sample-fe-1")
    with_metadata(pod)
    assert pod.run().stdout.strip() == STARTED


def test_a_frontend_does_not_take_itself_as_helper(first: Pod) -> None:
    first.found("77")
    first.answers(1, frontends(LEADER, (1, "FOLLOWER", True)))
    done = first.run()
    assert done.stdout == ""
    assert "waiting for another leader" in done.stderr


def test_all_peers_are_asked_and_not_itself(tmp_path: Path) -> None:
    pod = Pod(tmp_path, 1)
    pod.pods(0, 1, 2, 4)  # 3 is away, and 4 is found by the headless service
    pod.run(rounds=1)
    assert {line.split()[1] for line in pod.asked} == {address(0), address(2), address(4)}


def test_the_mounted_configuration_takes_the_place_of_the_images(pod: Pod, tmp_path: Path) -> None:
    mount = tmp_path / "mounted"
    mount.mkdir()
    (mount / "fe.conf").write_text(f"meta_dir = {tmp_path}/elsewhere\n")
    (tmp_path / "elsewhere" / "image").mkdir(parents=True)
    (tmp_path / "elsewhere" / "image" / "ROLE").touch()
    pod.environment |= {"CONFIGMAP_MOUNT_PATH": str(mount), "LOG_CONSOLE": "1"}
    for _ in range(2):  # a container that restarts finds the links of its first start
        assert pod.run().stdout.strip() == f"{STARTED} --logconsole"
    assert pod.configuration.resolve() == mount / "fe.conf"
    assert pod.configuration.with_name("fe.conf.bak").read_text().startswith("edit_log_port")


def test_the_home_in_meta_dir_is_replaced(pod: Pod) -> None:
    pod.configuration.write_text("meta_dir = ${STARROCKS_HOME}/meta\n")
    with_metadata(pod)
    assert pod.run().stdout.strip() == STARTED


def test_it_waits_for_a_full_name(pod: Pod) -> None:
    pod.environment["FAKE_SELF"] = "sample-fe-1"
    done = pod.run()
    assert done.stdout == ""
    assert "has no full name yet" in done.stderr


def test_an_image_without_the_client_is_told_and_founds_nothing(first: Pod) -> None:
    (first.fake / "bin" / "mysql").unlink()
    first.environment["PATH"] = f"{first.fake / 'bin'}:{first.few_programs()}"
    done = first.run()
    assert done.returncode == 1
    assert done.stdout == ""
    assert "the image has no 'mysql'" in done.stderr
