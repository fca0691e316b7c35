"""The real server in a process of its own: killed, restarted, asked to stop, and talked to by the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.llm.simulate import Reply, SimulatedEndpoint
from tests.harness import COMPARE, KITTIWAKE, LUYU, THREE, write_files

Json = dict[str, Any]
PROJECT = Path(__file__).resolve().parents[1]
ROLE_BOUND = 4000
"""Characters of a role's system prompt: it describes one thing."""


def environment(home: Path, endpoint: SimulatedEndpoint | None = None, key: str = "sk-first") -> dict[str, str]:
    found = {"PATH": os.environ["PATH"], "CITEDRAG_HOME": str(home), "CITEDRAG_EMBEDDER": "hashing", "COLUMNS": "200"}
    if endpoint is not None:
        found |= {"OPENAI_API_KEY": key, "OPENAI_BASE_URL": endpoint.base_url}
    return found


def command(env: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "app", *words], env=env, capture_output=True, text=True, cwd=PROJECT, timeout=90,
        check=False,
    )  # fmt: skip


class ServerProcess:
    """A server on a free port."""

    def __init__(self, env: dict[str, str]) -> None:
        self.note = Path(env["CITEDRAG_HOME"]) / "server.json"
        words = [sys.executable, "-m", "app", "serve", "--port", "0"]
        self.process = subprocess.Popen(words, env=env, cwd=PROJECT, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert "serves" in line, line
        self.told: Json = json.loads(self.note.read_text(encoding="utf-8"))
        self.client = httpx.Client(base_url=self.told["url"] + "/api/v1", timeout=30)

    def kill(self, number: int = signal.SIGKILL) -> None:
        self.client.close()
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.process.wait(timeout=20)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def start(self, question: str, **options: Any) -> str:
        created = self.client.post("/runs", json={"question": question, **options}).raise_for_status()
        return str(created.json()["run_id"])

    def events(self, run_id: str, after: int = 0) -> list[tuple[str, Json]]:
        with self.client.stream("GET", f"/runs/{run_id}/events", headers={"Last-Event-ID": str(after)}) as response:
            text = "".join(response.iter_text())
        told = [block for block in text.split("\n\n") if "data: " in block]
        blocks = [dict(line.split(": ", 1) for line in block.splitlines()) for block in told]
        return [(block["event"], json.loads(block["data"])) for block in blocks]

    def run(self, run_id: str) -> Json:
        found: Json = self.client.get(f"/runs/{run_id}").raise_for_status().json()
        return found

    def wait_for(self, run_id: str, *statuses: str) -> Json:
        for _ in range(200):
            found = self.run(run_id)
            if found["status"] in statuses:
                return found
            time.sleep(0.1)
        raise AssertionError(f"{run_id} is still {found['status']}")


@contextmanager
def serving(env: dict[str, str]) -> Iterator[ServerProcess]:
    server = ServerProcess(env)
    try:
        yield server
    finally:
        server.kill()


def role(request: Json) -> str:
    """Return which role a request is for, by the words of its system prompt's first lines."""
    return str(request["messages"][0]["content"])


def plays(request: Json, delay: float = 0.0) -> Reply:
    """Reply as the roles do: a plan to the planner, and to the writer what it is shown about the two ships."""
    asked = request["messages"][-1]["content"]
    if not request.get("stream"):
        return Reply("ROLE: planner" if "ROLE:" in role(request) else THREE, delay=delay)
    said = []
    for block in asked.split("<passage key=")[1:]:
        key = block.split('"')[1]
        said += [f"{sentence} [{key}]" for sentence in (KITTIWAKE, LUYU) if sentence in block]
    return Reply(" ".join(said), delay=delay)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    done = command(environment(tmp_path / "home"), "ingest", str(write_files(tmp_path / "docs")))
    assert done.returncode == 0, done.stderr
    return tmp_path / "home"


def test_a_waiting_run_outlives_its_server_and_goes_on_with_the_new_endpoint(home: Path) -> None:
    with SimulatedEndpoint(plays) as first, SimulatedEndpoint(plays) as second:
        with serving(environment(home, first)) as server:
            run_id = server.start(COMPARE)
            assert server.events(run_id)[-1][0] == "approval_required"
            server.kill()
        asked = len(first.requests)
        with serving(environment(home, second, "sk-second")) as server:
            waiting = server.run(run_id)
            assert (waiting["status"], len(waiting["research_tasks"])) == ("awaiting_approval", 3)
            tasks = [{"query": "oil change interval of Kittiwake"}, {"query": "oil change interval of Luyu Star"}]
            body = {"decision": "edit", "tasks": tasks, "plan_version": waiting["plan_version"]}
            assert server.client.post(f"/runs/{run_id}/approval", json=body).status_code == 202
            assert server.events(run_id, waiting["last_seq"])[-1][0] == "final"
            result = server.run(run_id)
            again = server.client.post(f"/runs/{run_id}/approval", json=body)
            assert (again.status_code, again.json()["code"]) == (409, "not_waiting")
    assert result["status"] == "completed"
    assert {citation["document"]["path"] for citation in result["citations"]} == {"kittiwake.md", "luyu.md"}
    assert result["usage"]["llm_calls_by_role"]["planner"] == 1
    assert (len(first.requests), len(second.requests)) == (asked, 1)


@pytest.mark.parametrize("stage", ["planner", "writer"])
def test_a_run_killed_in_a_node_is_resumed_to_the_same_answer(home: Path, stage: str) -> None:
    slow = {"planner": lambda r: not r.get("stream"), "writer": lambda r: bool(r.get("stream"))}[stage]
    with SimulatedEndpoint(lambda request: plays(request, 1.0 if slow(request) else 0.0)) as endpoint:
        with serving(environment(home, endpoint)) as server:
            run_id = server.start(COMPARE, approval="never")
            while not any(slow(request) for request in endpoint.requests):
                time.sleep(0.02)
            time.sleep(1.5 if stage == "writer" else 0.1)
            server.kill()
        endpoint.script = plays
        with serving(environment(home, endpoint)) as server:
            assert server.wait_for(run_id, "resumable")["status"] == "resumable"
            assert server.client.post(f"/runs/{run_id}/resume").status_code == 202
            result = server.wait_for(run_id, "completed", "refused")
            assert server.client.post(f"/runs/{run_id}/resume").status_code == 409
            whole = server.wait_for(server.start(COMPARE, approval="never"), "completed", "refused")
            names = [kind for kind, _ in server.events(run_id)]
    assert names.count("final") == 1
    assert result["answer"] == whole["answer"]
    assert [one["quotes"][0]["text"] for one in result["citations"]] == [
        one["quotes"][0]["text"] for one in whole["citations"]
    ]
    resumes = next(trace for trace in result["traces"] if trace["kind"] == "checkpoint_resume")
    assert (resumes["times"], result["usage"]["searches"]) == (1, 3)


def test_a_stop_ends_the_stream_with_interrupted_and_takes_the_note_away(home: Path) -> None:
    with (
        SimulatedEndpoint(lambda request: plays(request, 0.5)) as endpoint,
        serving(environment(home, endpoint)) as server,
    ):
        assert server.note.stat().st_mode & 0o777 == 0o600
        run_id = server.start(COMPARE, approval="never")
        with server.client.stream("GET", f"/runs/{run_id}/events") as response:
            server.process.send_signal(signal.SIGTERM)
            text = "".join(response.iter_text())
        server.process.wait(timeout=20)
        assert not server.note.exists()
        last = text.strip().split("\n\n")[-1]
        assert "event: error" in last
        assert '"interrupted"' in last
        with serving(environment(home, endpoint)) as again:
            assert again.run(run_id)["status"] == "resumable"


def test_the_command_line_talks_to_the_server_that_has_the_data_open(home: Path) -> None:
    env = environment(home)
    with serving(env):
        answered = command(env, "ask", "What is the oil change interval of Kittiwake?", "--json")
        assert answered.returncode == 0, answered.stderr
        assert "500 hours" in json.loads(answered.stdout)["answer"]
        assert command(env, "ask", "What is the capital of France?").returncode == 3
        assert command(env, "serve", "--port", "0").returncode == 6
        waiting = command(env, "ask", COMPARE, "--json")
        assert waiting.returncode == 4
        assert command(env, "runs", "cancel", json.loads(waiting.stdout)["run_id"]).returncode == 0
    assert command(env, "runs", "list").returncode == 0


def test_what_is_sent_to_the_endpoint(home: Path) -> None:
    questions = (COMPARE, "What is the oil change interval of Kittiwake?", " ".join(["oil"] * 41))
    with SimulatedEndpoint(plays) as endpoint, serving(environment(home, endpoint)) as server:
        for question in questions:
            server.events(server.start(question, approval="never"))
    assert all("response_format" not in request and "tools" not in request for request in endpoint.requests)
    assert all(request["messages"][-1]["role"] == "user" for request in endpoint.requests)
    roles = {message["role"] for request in endpoint.requests for message in request["messages"]}
    assert roles <= {"system", "user", "assistant"}
    prompts = {role(request) for request in endpoint.requests}
    assert len(prompts) == 4  # the researcher's queries are the plan's: it asks no model
    assert max(map(len, prompts)) < ROLE_BOUND
