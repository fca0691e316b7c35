"""The graph as it is drawn: LangGraph reads destinations from annotations and draws a wrong one without an error."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args, get_type_hints

from app.agent import graph
from app.agent.supervisor import Destination, supervisor

SNAPSHOT = Path(__file__).with_name("graph.mmd")
WORKERS = ("direct", "planner", "researcher", "writer")


def test_the_drawing_is_the_one_that_was_reviewed() -> None:
    assert graph.mermaid() == SNAPSHOT.read_text(encoding="utf-8")


def test_there_are_exactly_five_nodes() -> None:
    assert set(graph.build().nodes) - {"__start__"} == {"supervisor", *WORKERS}


def test_the_supervisor_leaves_by_command_alone() -> None:
    drawn = graph.build().get_graph()
    leaving = [edge for edge in drawn.edges if edge.source == "supervisor"]
    assert {edge.target for edge in leaving} == {*WORKERS, "__end__"} == set(get_args(Destination))
    assert all(edge.conditional for edge in leaving)
    assert "Command" in str(get_type_hints(supervisor)["return"])


def test_each_worker_goes_back_or_ends_by_a_condition() -> None:
    drawn = graph.build().get_graph()
    for worker in WORKERS:
        leaving = [edge for edge in drawn.edges if edge.source == worker]
        assert {edge.target for edge in leaving} == {"supervisor", "__end__"}, worker
        assert all(edge.conditional for edge in leaving), worker


def test_the_start_leads_to_the_supervisor() -> None:
    assert re.findall(r"__start__ -+> (\w+)", graph.mermaid()) == ["supervisor"]
