"""When is a run taken to be abandoned? See `tests/test_server.py` for processes that are really killed."""

from __future__ import annotations

import os
import socket

import pytest

from app.runs.service import LEASE_SECONDS, LOST_SECONDS, orphaned

HERE = socket.gethostname()
DEAD = 2**22 + 1
"""More than the largest process number of Linux."""


@pytest.mark.parametrize(
    ("owner", "silent", "gone"),
    [
        pytest.param(f"{DEAD}-a-{HERE}", 0.0, True, id="a dead process of this machine: at once"),
        pytest.param(f"{os.getpid()}-a-{HERE}", 0.0, True, id="our own number from an earlier life"),
        pytest.param(f"{os.getppid()}-a-{HERE}", LEASE_SECONDS + 1, False, id="a live process that is busy"),
        pytest.param(f"{os.getppid()}-a-{HERE}", LOST_SECONDS + 1, True, id="a live process of another program"),
        pytest.param(f"{DEAD}-a-elsewhere", LEASE_SECONDS - 1, False, id="another machine within its lease"),
        pytest.param(f"{DEAD}-a-elsewhere", LEASE_SECONDS + 1, True, id="another machine after its lease"),
        pytest.param(None, LEASE_SECONDS + 1, True, id="nobody"),
    ],
)
def test_a_run_is_taken_from_nobody_who_may_be_carrying_it(owner: str | None, silent: float, gone: bool) -> None:
    assert orphaned(owner, silent) is gone
