"""Every command of the README runs as it stands, on a small folder and with the embedder that needs no model."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.llm.simulate import Reply, SimulatedEndpoint

ROOT = Path(__file__).resolve().parent.parent
BLOCKS = re.findall(r"```bash\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
INSTALLING = ("python3 -m venv", "make test")
"""What CI itself calls."""
PAUSES, REFUSES, ANSWERS = 4, 3, 0
LEAVE = "# Leave\n\nEvery employee has 24 days of annual leave. How many days I have is in the contract.\n"
OIL = "# Oil\n\nThe oil change interval of Kittiwake is 500 hours. The oil change interval of Luyu Star is 750 hours.\n"


def commands(block: str) -> list[str]:
    """The commands of a block: lines joined where they end in a backslash, comments left out."""
    joined = block.replace("\\\n", " ")
    return [line.split("   #")[0].strip() for line in joined.splitlines() if line.strip()]


def blocks_with(word: str) -> list[str]:
    return [command for block in BLOCKS if word in block for command in commands(block)]


class Shell:
    """Runs README commands in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "Documents" / "policies").mkdir(parents=True)
        (folder / "Documents" / "policies" / "leave.md").write_text(LEAVE, encoding="utf-8")
        (folder / "Documents" / "policies" / "oil.md").write_text(OIL, encoding="utf-8")
        self.port = free_port()
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        keep = {name: os.environ[name] for name in ("LANG", "TMPDIR") if name in os.environ}
        self.environment = keep | {"PATH": path, "HOME": str(folder), "CITEDRAG_EMBEDDER": "hashing", "COLUMNS": "200"}

    def run(self, command: str, run_id: str = "", timeout: float = 60) -> subprocess.CompletedProcess[str]:
        text = command.replace("RUN_ID", run_id).replace("http://127.0.0.1:8765", f"http://127.0.0.1:{self.port}")
        text = text.replace("/home/me", str(self.folder))
        return subprocess.run(
            ["bash", "-c", text], cwd=self.folder, env=self.environment, capture_output=True, text=True,
            timeout=timeout, check=False,
        )  # fmt: skip

    def latest(self) -> str:
        return str(json.loads(self.run("citedrag runs list --json").stdout)["items"][0]["run_id"])


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    return Shell(tmp_path_factory.mktemp("readme"))


def test_the_readme_has_one_command_to_try_it_and_one_to_test_it() -> None:
    assert (
        sum(block.strip().startswith(INSTALLING[0]) and block.strip().endswith("citedrag demo") for block in BLOCKS)
        == 1
    )
    assert sum(block.strip() == INSTALLING[1] for block in BLOCKS) == 1


def test_your_own_documents(shell: Shell) -> None:
    for command in blocks_with("citedrag ingest"):
        done = shell.run(command)
        assert done.returncode == ANSWERS, (command, done.stdout, done.stderr)
    assert "24 days of annual leave" in shell.run('citedrag ask "How many days of annual leave do I have?"').stdout


def test_answers_are_checked_again(shell: Shell) -> None:
    run_id = shell.latest()
    for command in blocks_with("citedrag runs verify"):
        done = shell.run(command, run_id)
        assert done.returncode == ANSWERS, (command, done.stdout, done.stderr)


def test_a_plan_waits_and_is_decided(shell: Shell) -> None:
    ask, *decisions = blocks_with("citedrag runs approve RUN_ID --task")
    for decision in decisions:
        assert shell.run(ask).returncode == PAUSES
        done = shell.run(decision, shell.latest())
        assert done.returncode in (ANSWERS, REFUSES), (decision, done.stdout, done.stderr)


def test_a_model_by_the_variables_of_the_readme(shell: Shell) -> None:
    """The endpoint is ours, and cites the first key that it is shown."""
    exports, ask = blocks_with("OPENAI_API_KEY")[:-1], blocks_with("OPENAI_API_KEY")[-1]

    def script(request: dict[str, Any]) -> Reply:
        key = re.search(r"Keys that you may cite: \[?(\w+)", request["messages"][-1]["content"])
        return Reply("Every employee has 24 days of annual leave." + (f" [{key[1]}]" if key else ""))

    with SimulatedEndpoint(script) as endpoint:
        lines = [line.split(" #")[0].replace("https://...", endpoint.base_url) for line in exports]
        done = shell.run("; ".join([*lines, f"{ask} --json"]))
        assert endpoint.requests, (done.stdout, done.stderr)
    assert done.returncode in (ANSWERS, REFUSES), (done.stdout, done.stderr)
    assert json.loads(done.stdout)["fingerprint"]["model"] == "gpt-5-mini"


@pytest.fixture(scope="module")
def served(shell: Shell) -> Iterator[Shell]:
    (command,) = [one for one in blocks_with("citedrag serve") if one.startswith("citedrag serve")]
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    process = subprocess.Popen(
        ["bash", "-c", f"exec {command} --port {shell.port}"], cwd=shell.folder, env=shell.environment
    )
    try:
        for _ in range(300):
            if shell.run(f"curl -s -f http://127.0.0.1:{shell.port}/health").returncode == 0:
                break
            time.sleep(0.2)
        yield shell
    finally:
        process.terminate()
        process.wait(timeout=20)


def test_the_interface_by_curl(served: Shell) -> None:
    create, *rest = blocks_with("curl")
    run_id = json.loads(served.run(create).stdout)["run_id"]
    for command in rest:
        done = served.run(command, run_id)
        assert done.returncode == 0, (command, done.stderr)
        assert done.stdout.strip(), command
        if "/approval" in command:
            assert json.loads(done.stdout)["code"] == "not_waiting"
        elif "/events" not in command:
            assert json.loads(done.stdout).get("status") not in (400, 403, 404, 415, 422, 500), (command, done.stdout)


def test_measuring(shell: Shell) -> None:
    needs_model = ("gate", "bench answer")
    every = [
        one for one in blocks_with("citedrag eval") if one.startswith("citedrag") and not one.endswith(needs_model)
    ]
    assert len(every) >= 7
    for command in every:
        done = shell.run(command, timeout=240)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        if " new " in command:  # and the questions are filled in, as the README says
            table = "question,answers\nHow many days of annual leave has every employee?,24 days\n"
            (shell.folder / "my-eval" / "questions.csv").write_text(table, encoding="utf-8")
        assert done.stdout.strip(), command
    assert "no difference" in shell.run("citedrag eval compare own --variants bm25,dense --all").stdout


@pytest.mark.models
def test_the_gate(shell: Shell) -> None:
    """The program as it is, with its model and without a key, against the committed baseline."""
    (command,) = [one for one in blocks_with("citedrag eval gate") if one.endswith("gate")]
    done = shell.run(command, timeout=600)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert "The gate is passed." in done.stdout


@pytest.mark.models
def test_the_benchmark_of_answers(shell: Shell) -> None:
    """With the model: the embedder that needs none finds too little to answer from."""
    (command,) = [one for one in blocks_with("citedrag eval bench answer") if one.endswith("answer")]
    done = shell.run(f"unset CITEDRAG_EMBEDDER; {command} --json", timeout=600)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert json.loads(done.stdout)["bench"] == "answer"
