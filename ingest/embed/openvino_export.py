"""How does the packaged model become an OpenVINO graph? Once, in a child process that has torch, compared, renamed."""

from __future__ import annotations

import json
import shutil
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from ingest.embed.export import NAME, SHA256, convert, converted, packaged_weights
from ingest.embed.openvino import MODEL, TOKENIZER, compiled, engine, load_tokenizer
from ingest.errors import ModelUnavailable

FORMAT = 1
"""Changes when this conversion does."""
LEAST_COSINE = 0.999
COMPARED = (
    "How many days of annual leave do I have?", "The ferry leaves berth two at noon.", "年假一共有多少天？",
    "船舶在暴风雨中停靠二号泊位。", "Revenue rose by 4.1 % in 2024, to 11.2 million dollars.", "CVE-2024-1234",
    "Los pasajeros deben llegar cuarenta minutos antes.", "def search(query: str) -> list[Hit]:", "?", "a b c",
    "Die Fähre fährt täglich um acht Uhr ab.", "乗客は出航の四十分前までに到着してください。",
    "여객선은 매일 여덟 시에 출발합니다.", "Yes.", "不是。", "1 2 3 4 5 6 7 8 9 10", "http://example.org/a?b=c#d",
    "The oil is changed after 500 running hours, and the filter with it; a record is kept for seven years. " * 12,
    "采购金额超过二十五万美元的，须经董事会批准，并在会议纪要中载明理由。" * 14,
    "A passage about nothing in particular that goes on for a while and then ends.",
)  # fmt: skip
"""Twenty texts on which the graph must give the vectors of the model that it came from."""


def ensure_openvino_model(models: Path) -> Path | None:
    """Return the folder of the converted model, made first if need be; None where OpenVINO cannot serve it.

    Raises ModelUnavailable if the weights are absent or not the expected ones.
    """
    try:
        engine = version("openvino")
    except PackageNotFoundError:
        return None
    name = f"{NAME}-{SHA256[:12]}-openvino-{engine}-{FORMAT}"
    failed = models / f"{name}.failed"
    if failed.exists():
        return None
    try:
        return converted(models, name, "ingest.embed.openvino_export", MODEL)
    except ModelUnavailable as error:
        packaged_weights()
        failed.write_text(f"{error}\n", encoding="utf-8")
        return None


def export(source: Path, target: Path) -> None:
    """Write graph and tokenizer into `target`. Raises ModelUnavailable if the graph's vectors are other ones."""
    plain = target / "plain"
    target.mkdir(parents=True)
    convert(source, plain)
    model = _torch_model(plain)
    _save(model, target / MODEL)
    shutil.copyfile(plain / TOKENIZER, target / TOKENIZER)
    least = _least_cosine(model, target)
    if least < LEAST_COSINE:
        raise ModelUnavailable(f"OpenVINO gives other vectors here: a cosine of {least:.4f} to the model's own.")
    (target / "compared.json").write_text(json.dumps({"texts": len(COMPARED), "least_cosine": least}), encoding="utf-8")
    shutil.rmtree(plain)


def _torch_model(folder: Path) -> Any:
    """Return the encoder with pooling and normalisation as its last layers."""
    import torch
    from transformers import BertModel

    class Pooled(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = BertModel.from_pretrained(str(folder), attn_implementation="eager")

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            hidden = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            weights = attention_mask.unsqueeze(-1).to(hidden.dtype)
            mean = (hidden * weights).sum(1) / weights.sum(1).clamp(min=1e-9)
            unit = torch.nn.functional.normalize
            return {"sentence": unit(mean, dim=-1), "tokens": unit(hidden, dim=-1)}

    return Pooled().eval()


def _save(model: Any, path: Path) -> None:
    import torch

    openvino = engine()
    example = {"input_ids": torch.tensor([[0, 5, 6, 2]]), "attention_mask": torch.ones(1, 4, dtype=torch.int64)}
    with torch.no_grad():
        graph = openvino.convert_model(model, example_input=example)
    for port, name in zip(graph.outputs, ("sentence", "tokens"), strict=True):
        port.get_tensor().set_names({name})
    openvino.save_model(graph, str(path), compress_to_fp16=True)


def _least_cosine(model: Any, folder: Path) -> float:
    import torch

    tokenizer, graph = load_tokenizer(folder / TOKENIZER), compiled(folder / MODEL)
    least = 1.0
    for text in COMPARED:
        ids = np.array([tokenizer.encode(text).ids], np.int64)
        mask = np.ones_like(ids)
        with torch.no_grad():
            wanted = model(torch.from_numpy(ids), torch.from_numpy(mask))["sentence"][0].numpy()
        least = min(least, float(graph({"input_ids": ids, "attention_mask": mask})["sentence"][0] @ wanted))
    return least


if __name__ == "__main__":
    try:
        export(Path(sys.argv[1]), Path(sys.argv[2]))
    except ModelUnavailable as unavailable:  # its message is the reason; a traceback would hide it
        sys.exit(str(unavailable))
