"""How does the packaged model become an OpenVINO graph? Once, in a child process that has torch, compared, renamed.

The precision is measured, not taken from the processor's flags: with AVX512-BF16 but without AMX, bfloat16 costs 1.6
times what float32 does (matrix products of torch: 82 against 145 GFLOPS), with AMX a fraction of it.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import warnings
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from ingest.embed.cpu import has_bf16
from ingest.embed.export import NAME, SHA256, configs, converted, save_tokenizer, unpacked
from ingest.embed.openvino import MODEL, PASSAGE, TOKENIZER, VERDICT, OpenVinoEmbedder, encode, engine, load_tokenizer
from ingest.embed.packed import Packed
from ingest.embed.port import Vectors
from ingest.errors import ModelUnavailable

logger = logging.getLogger(__name__)

FORMAT = 2
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


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the comparison found: `precision` is None where the graph cannot serve, and `reason` then says why."""

    precision: str | None
    least_cosine: float | None = None
    reason: str = ""


def ensure_openvino_model(models: Path) -> Path | None:
    """Return the folder of the converted model, made first if need be; None where torch must serve instead.

    A graph that gives other vectors is refused once and for all (for this version of OpenVINO); a conversion that was
    killed or found no room on the disk is tried again the next time.
    """
    try:
        release = version("openvino")
    except PackageNotFoundError:
        return None
    try:
        folder = converted(models, f"{NAME}-{SHA256[:12]}-openvino-{release}-{FORMAT}", __name__, VERDICT)
    except ModelUnavailable as error:  # if the weights are the reason, the way over torch says so
        logger.warning("%s", error)
        return None
    verdict = json.loads((folder / VERDICT).read_text(encoding="utf-8"))
    return None if verdict["precision"] is None else folder


def export(source: Path, target: Path) -> None:
    """Write graph, tokenizer and verdict into `target`; without a graph where it cannot serve.

    Raises ModelUnavailable if the weights are not the expected ones.
    """
    packed = unpacked(source)
    target.mkdir(parents=True)
    save_tokenizer(packed, target)
    try:
        model = _torch_model(packed)
        _save(model, target / MODEL)
        verdict = _judged(target, model)
    except (ImportError, RuntimeError, ModelUnavailable) as error:
        verdict = Verdict(None, reason=str(error)[-300:])
    if verdict.precision is None:
        for file in target.iterdir():
            file.unlink()
    (target / VERDICT).write_text(json.dumps(asdict(verdict)), encoding="utf-8")


def _torch_model(packed: Packed) -> Any:
    """Return the encoder with pooling and normalisation as its last layers."""
    import torch
    from transformers import BertConfig, BertModel

    class Pooled(torch.nn.Module):
        def __init__(self, encoder: Any) -> None:
            super().__init__()
            self.encoder = encoder

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            hidden = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            weights = attention_mask.unsqueeze(-1).to(hidden.dtype)
            mean = (hidden * weights).sum(1) / weights.sum(1).clamp(min=1e-9)
            unit = torch.nn.functional.normalize
            return {"sentence": unit(mean, dim=-1), "tokens": unit(hidden, dim=-1)}

    config = BertConfig(**configs(packed)["config.json"])
    config._attn_implementation = "eager"
    encoder = BertModel(config, add_pooling_layer=False)
    weights = {name: torch.from_numpy(values) for name, values in packed.weights.items()}
    found = encoder.load_state_dict(weights, strict=False, assign=True)
    if found.missing_keys:
        raise RuntimeError(f"the weights lack {found.missing_keys}")
    return Pooled(encoder).eval()


def _save(model: Any, path: Path) -> None:
    import torch

    openvino = engine()
    example = {"input_ids": torch.tensor([[0, 5, 6, 2]]), "attention_mask": torch.ones(1, 4, dtype=torch.int64)}
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tracing warns of constants; under -W error it would fail for that
        graph = openvino.convert_model(model, example_input=example)
    for port, name in zip(graph.outputs, ("sentence", "tokens"), strict=True):
        port.get_tensor().set_names({name})
    openvino.save_model(graph, str(path), compress_to_fp16=True)


def _judged(folder: Path, model: Any) -> Verdict:
    """Return the fastest precision in which the graph gives the model's own vectors."""
    wanted = _own_vectors(model, folder)
    found = []
    for precision in ("f32", "bf16") if has_bf16() else ("f32",):
        (folder / VERDICT).write_text(json.dumps({"precision": precision}), encoding="utf-8")
        embedder = OpenVinoEmbedder(folder, NAME)
        found.append((_least_cosine(embedder, wanted), _cost(embedder), precision))
    fit = [one for one in found if one[0] >= LEAST_COSINE]
    if not fit:
        return Verdict(None, max(found)[0], "OpenVINO gives other vectors than the model's own")
    cosine, _, precision = min(fit, key=lambda one: one[1])
    return Verdict(precision, cosine)


def _own_vectors(model: Any, folder: Path) -> list[tuple[Vectors, Vectors]]:
    """Return for each compared text what torch gives for it alone: its vector, and those of its own tokens."""
    import torch

    made = []
    for one in encode(load_tokenizer(folder / TOKENIZER), COMPARED, PASSAGE):
        ids = torch.tensor([one.ids])
        with torch.no_grad():
            given = model(ids, torch.ones_like(ids))
        made.append((given["sentence"][0].numpy(), given["tokens"][0].numpy()[list(one.own)]))
    return made


def _least_cosine(embedder: OpenVinoEmbedder, wanted: list[tuple[Vectors, Vectors]]) -> float:
    """Return the least cosine over the texts, in the batches that serving makes, and over their tokens."""
    least = 1.0
    sentences, tokens = embedder.embed_passages(COMPARED), embedder.passage_tokens(COMPARED)
    for (sentence, rows), ours, our_rows in zip(wanted, sentences, tokens, strict=True):
        least = min(least, float(ours @ sentence), float(np.min(np.sum(our_rows * rows, axis=1), initial=1.0)))
    return least


def _cost(embedder: OpenVinoEmbedder) -> float:
    """Return the least processor time, in seconds, of three runs: unlike the clock it does not count other work."""
    taken = []
    for _ in range(3):
        start = time.process_time()
        embedder.embed_passages(COMPARED)
        taken.append(time.process_time() - start)
    return min(taken)


if __name__ == "__main__":
    try:
        export(Path(sys.argv[1]), Path(sys.argv[2]))
    except ModelUnavailable as unavailable:  # its message is the reason; a traceback would hide it
        sys.exit(str(unavailable))
