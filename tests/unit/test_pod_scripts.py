"""The scripts inside of pods, run by bash beside a process that is a stand-in, and probed through real sockets."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from lab.stack import ROOT

SCRIPTS = ROOT / "starrocks_operator" / "scripts"
OUT_OF_ROUNDS = 143
SLEEP = """
round=$(( $(cat "$FAKE/round") + 1 ))
echo "$round" >"$FAKE/round"
[[ -f "$FAKE/round.$round" ]] && bash "$FAKE/round.$round"
if (( round > 3 )); then kill -TERM "$PPID"; fi
exit 0
"""
PROCESS = 'echo "started ${0##*/} $*"; echo "its last words" >"${0%/*}/../log/$COMPONENT.out"; exit "${STATUS:-0}"'


def test_shellcheck_finds_nothing() -> None:
    found = shutil.which("shellcheck", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    assert found, "shellcheck is missing: install requirements-dev.lock (make deps)"
    scripts = sorted(str(path) for path in SCRIPTS.glob("*.sh"))
    command = [found, "--external-sources", "--source-path", str(ROOT), *scripts]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


class Pod:
    """The world of one pod: an image's tree, mounted files, and `sleep`, which moves the story on by one round."""

    def __init__(self, directory: Path, component: str) -> None:
        self.component = component
        self.fake, self.root, self.debug = (directory / name for name in ("fake", "root", "debug"))
        self.home = self.root / component
        for path in (self.fake, self.debug, *(self.home / name for name in ("bin", "conf", "log"))):
            path.mkdir(parents=True)
        self.program(self.fake / "bin" / "sleep", SLEEP)
        self.program(self.home / "bin" / f"start_{component}.sh", PROCESS)
        self.program(self.root / f"{component}_entrypoint.sh", 'echo "entered $*"')
        (self.fake / "round").write_text("0")
        self.log = directory / "pod.log"
        self.environment: dict[str, str] = {}

    @staticmethod
    def program(path: Path, body: str) -> None:
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/bash\n{body}\n")
        path.chmod(0o755)

    def named(self, pods: str) -> None:
        (self.debug / "pods").write_text(pods)

    def in_round(self, number: int, command: str) -> None:
        (self.fake / f"round.{number}").write_text(command)

    def command(self, script: str, *arguments: str) -> dict[str, Any]:
        environment = {
            "PATH": f"{self.fake / 'bin'}:{os.environ['PATH']}",
            "FAKE": str(self.fake),
            "COMPONENT": self.component,
            "STARROCKS_ROOT": str(self.root),
            "DEBUG_DIRECTORY": str(self.debug),
            "POD_NAME": f"sample-{self.component}-1",
            "POD_IP": "127.0.0.1",
            "POD_LOG": str(self.log),
            "MYSQL_PWD": "s3cret",
            **self.environment,
        }
        return {"args": ["bash", str(SCRIPTS / script), *arguments], "env": environment}

    def run(self, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            **self.command(script, *arguments), capture_output=True, text=True, timeout=60, check=False
        )
        assert "s3cret" not in done.stdout + done.stderr
        return done

    def start(self) -> subprocess.CompletedProcess[str]:
        return self.run("node_start.sh", self.component, "sample-fe-service")

    def probe(self, question: str, port: int) -> subprocess.CompletedProcess[str]:
        return self.run("pod_probe.sh", self.component, question, str(port))

    @contextmanager
    def process(self, body: str = "exec sleep 600") -> Iterator[subprocess.Popen[bytes]]:
        """A process that its pid file names."""
        with subprocess.Popen(["bash", "-c", body], stdout=subprocess.PIPE) as process:
            (self.home / "bin" / f"{self.component}.pid").write_text(f"{process.pid}\n")
            try:
                yield process
            finally:
                process.kill()


@pytest.fixture(params=["be", "cn"])
def node(tmp_path: Path, request: pytest.FixtureRequest) -> Pod:
    return Pod(tmp_path, request.param)


@pytest.fixture
def backend(tmp_path: Path) -> Pod:
    return Pod(tmp_path, "be")


# -- start -----------------------------------------------------------------------------------------------------


def test_a_node_starts_its_process_and_registers_nowhere(node: Pod) -> None:
    done = node.start()
    assert (done.returncode, done.stdout.strip()) == (0, f"started start_{node.component}.sh")
    assert "the operator registers this node" in done.stderr


def test_a_node_that_registers_itself_is_left_to_the_images_script(node: Pod) -> None:
    node.environment["STARROCKS_SELF_REGISTRATION"] = "true"
    assert node.start().stdout.strip() == "entered sample-fe-service"


def test_the_mounted_configuration_and_the_console_are_heeded(backend: Pod, tmp_path: Path) -> None:
    (tmp_path / "mounted").mkdir()
    (tmp_path / "mounted" / "be.conf").write_text("be_port = 1\n")
    backend.environment |= {"CONFIGMAP_MOUNT_PATH": str(tmp_path / "mounted"), "LOG_CONSOLE": "1"}
    assert backend.start().stdout.strip() == "started start_be.sh --logconsole"
    assert (backend.home / "conf" / "be.conf").read_text() == "be_port = 1\n"


def test_a_process_that_fails_ends_the_container_with_its_status_and_last_words(node: Pod) -> None:
    node.environment["STATUS"] = "3"
    done = node.start()
    assert done.returncode == 3
    assert f"start_{node.component}.sh has ended with 3" in done.stderr
    assert "its last words" in done.stderr


def test_the_signal_to_end_reaches_the_process(backend: Pod) -> None:
    body = 'trap "echo told; exit 0" TERM; echo up; while true; do read -rt 1 <> <(:); done'
    backend.program(backend.home / "bin" / "start_be.sh", body)
    with subprocess.Popen(**backend.command("node_start.sh", "be"), stdout=subprocess.PIPE) as pod:
        assert pod.stdout is not None
        assert pod.stdout.readline() == b"up\n"
        pod.send_signal(signal.SIGTERM)
        assert pod.stdout.read() == b"told\n"
    assert pod.returncode == 0


# -- debugging -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", ["sample-be-1", "sample-be-0 sample-be-1\n", "sample-be-1,sample-be-2"])
def test_a_marked_pod_stays_up_without_its_process_and_says_how_to_start_it(backend: Pod, names: str) -> None:
    backend.named(names)
    done = backend.start()
    assert (done.returncode, done.stdout) == (OUT_OF_ROUNDS, "")
    script = SCRIPTS / "node_start.sh"
    assert f"from there: START_BY_HAND=1 bash {script} be sample-fe-service" in done.stderr


@pytest.mark.parametrize("names", ["", "sample-be-11 sample-be-0", "a-sample-be-1"])
def test_others_are_not_held(backend: Pod, names: str) -> None:
    backend.named(names)
    assert backend.start().stdout.strip() == "started start_be.sh"


def test_by_hand_it_starts_in_spite_of_the_mark(backend: Pod) -> None:
    backend.named("sample-be-1")
    backend.environment["START_BY_HAND"] = "1"
    assert backend.start().stdout.strip() == "started start_be.sh"


def test_when_the_mark_is_gone_the_container_ends_to_start_anew(backend: Pod) -> None:
    backend.named("sample-be-1")
    backend.in_round(2, f"rm {backend.debug / 'pods'}")
    done = backend.start()
    assert (done.returncode, done.stdout) == (0, "")
    assert "the mark is gone" in done.stderr


def test_a_crash_under_the_mark_keeps_the_container(backend: Pod) -> None:
    mark = f'echo sample-be-1 >"{backend.debug}/pods"; exit 5'
    backend.program(backend.home / "bin" / "start_be.sh", mark)
    backend.in_round(2, f"rm {backend.debug / 'pods'}")
    done = backend.start()
    assert done.returncode == 0
    assert "its process has ended with 5" in done.stderr


def test_a_marked_frontend_asks_nobody_and_founds_nothing(tmp_path: Path) -> None:
    frontend = Pod(tmp_path, "fe")
    frontend.named("sample-fe-1")
    done = frontend.run("fe_start.sh", "sample-fe-service.db")
    assert (done.returncode, done.stdout) == (OUT_OF_ROUNDS, "")
    assert "is marked for debugging: its process is not started" in done.stderr


# -- probes ----------------------------------------------------------------------------------------------------


class WebServer(ThreadingHTTPServer):
    """Answers by path: status and body."""

    answers: dict[str, tuple[int, str]]


class Answer(BaseHTTPRequestHandler):
    server: WebServer

    def do_GET(self) -> None:
        status, body = self.server.answers.get(self.path, (404, "{}"))
        self.send_response(status)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""


@contextmanager
def web_server(answers: dict[str, tuple[int, str]]) -> Iterator[int]:
    with WebServer(("127.0.0.1", 0), Answer) as server:
        server.answers = answers
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


@contextmanager
def closed_port() -> Iterator[int]:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


HEALTH, BOOTSTRAP = "/api/health", "/api/bootstrap"
OK = (200, '{"status": "OK","msg": "Success"}')
NOT_READY = (200, '{"status":"FAILED","msg":"not ready"}')
ANSWERS = {
    ("fe", "serving"): {HEALTH: OK, BOOTSTRAP: OK},
    ("fe", "serving with an unknown bootstrap"): {HEALTH: OK},
    ("fe", "serving behind a password"): {HEALTH: (401, "")},
    ("fe", "leaderless"): {HEALTH: OK, BOOTSTRAP: NOT_READY},
    ("fe", "leaving"): {HEALTH: (500, ""), BOOTSTRAP: OK},
    ("be", "serving"): {HEALTH: OK},
    ("cn", "serving"): {HEALTH: OK, BOOTSTRAP: NOT_READY},  # which only frontends are asked for
    ("cn", "leaving"): {HEALTH: (500, "")},
}


@pytest.mark.parametrize(("component", "words"), ANSWERS)
def test_what_a_process_answers_tells_how_it_is(tmp_path: Path, component: str, words: str) -> None:
    pod, state = Pod(tmp_path, component), words.split()[0]
    with web_server(ANSWERS[component, words]) as port:
        assert pod.probe("state", port).stdout.strip() == state
        assert pod.probe("alive", port).returncode == 0
        assert pod.probe("started", port).returncode == 0
        ready = pod.probe("ready", port)
    assert ready.returncode == (0 if state == "serving" else 1)
    assert ready.stdout.startswith("" if state == "serving" else f"{state}: ")


def test_what_waits_or_joins_is_alive_and_not_ready(tmp_path: Path) -> None:
    pod = Pod(tmp_path, "fe")
    with closed_port() as port:
        assert pod.probe("state", port).stdout.strip() == "waiting"
        assert pod.probe("alive", port).returncode == 0
        with pod.process():
            assert pod.probe("state", port).stdout.strip() == "joining"
            assert pod.probe("alive", port).returncode == 0
            assert pod.probe("ready", port).stdout.startswith("joining: ")
            assert pod.probe("started", port).returncode == 1


def test_only_an_open_port_where_nobody_answers_is_deadly(backend: Pod) -> None:
    backend.environment["PROBE_SECONDS"] = "0.5"
    with socket.create_server(("127.0.0.1", 0)) as mute:
        port = mute.getsockname()[1]
        alive = backend.probe("alive", port)
        assert (alive.returncode, alive.stdout.split(":")[0]) == (1, "hung")
        backend.named("sample-be-1")
        assert backend.probe("alive", port).returncode == 0


def test_a_pod_that_is_debugged_is_alive_and_started_and_not_ready(backend: Pod) -> None:
    backend.named("sample-be-1")
    with closed_port() as port:
        assert backend.probe("state", port).stdout.strip() == "debug"
        assert [backend.probe(question, port).returncode for question in ("alive", "started", "ready")] == [0, 0, 1]


# -- stop ------------------------------------------------------------------------------------------------------


def test_a_graceful_stop_is_the_images(tmp_path: Path) -> None:
    pod = Pod(tmp_path, "fe")
    with pod.process() as process:
        pod.program(pod.home / "bin" / "stop_fe.sh", f'echo "stopped with $*"; kill {process.pid}')
        done = pod.run("pod_stop.sh", "fe", "graceful", "30")
        process.wait()
    assert done.returncode == 0
    assert "stopped with -g" in pod.log.read_text()


def test_where_the_images_script_only_kills_the_process_is_asked_first(backend: Pod) -> None:
    backend.program(backend.home / "bin" / "stop_be.sh", 'echo "killed"')
    reads = 'trap "exit 0" TERM; echo up; while true; do read -rt 1 <> <(:); done'
    with backend.process(reads) as process:
        assert process.stdout is not None
        process.stdout.readline()
        Thread(target=process.wait).start()  # as the parent in the pod would, so that it is gone when it has ended
        assert backend.run("pod_stop.sh", "be", "plain", "30").returncode == 0
    assert "it has ended" in backend.log.read_text()
    assert "killed" not in backend.log.read_text()


def test_one_that_does_not_end_is_left_to_its_fate_in_time(backend: Pod) -> None:
    backend.program(backend.home / "bin" / "stop_be.sh", "exec /bin/sleep 600")
    with backend.process():
        assert backend.run("pod_stop.sh", "be", "graceful", "1").returncode == 0
    assert "leaving it to the kubelet" in backend.log.read_text()


def test_nothing_to_stop_is_no_error(backend: Pod) -> None:
    assert backend.run("pod_stop.sh", "be", "graceful", "30").returncode == 0
    assert "no process is there" in backend.log.read_text()


# -- the nodes' kernels ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("present", "wish", "after", "status"),
    [
        ("65530", "at-least:vm.max_map_count=2000000", "2000000", 0),
        ("2000000", "at-least:vm.max_map_count=2000000", "2000000", 0),
        ("3000000", "at-least:vm.max_map_count=2000000", "3000000", 0),
        ("3000000", "exactly:vm.max_map_count=2000000", "2000000", 0),
        ("60", "at-least:vm.unknown=1", "60", 1),
    ],
)
def test_a_parameter_is_written_only_when_it_is_not_enough(
    backend: Pod, tmp_path: Path, present: str, wish: str, after: str, status: int
) -> None:
    file = tmp_path / "sys" / "vm" / "max_map_count"
    file.parent.mkdir(parents=True)
    file.write_text(f"{present}\n")
    before = file.stat().st_mtime_ns
    backend.environment["SYSCTL_DIRECTORY"] = str(tmp_path / "sys")
    assert backend.run("host_sysctls.sh", wish).returncode == status
    assert file.read_text().strip() == after
    assert (file.stat().st_mtime_ns == before) is (after == present)


def test_without_the_right_to_write_it_fails_in_words(backend: Pod, tmp_path: Path) -> None:
    (tmp_path / "sys" / "vm").mkdir(parents=True)
    (tmp_path / "sys" / "vm" / "swappiness").symlink_to("/proc/self/stat")  # readable, and nobody can write it
    backend.environment["SYSCTL_DIRECTORY"] = str(tmp_path / "sys")
    done = backend.run("host_sysctls.sh", "exactly:vm.swappiness=0")
    assert done.returncode == 1
    assert "this container must be privileged, and run as root" in done.stderr
