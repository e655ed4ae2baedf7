"""Embeddings come from models that were made for them, and cost nobody the conversation that is in the context."""

from __future__ import annotations

import base64
import math
import struct
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from tests.engine.server.server_process import wait_until
from tests.engine.server.server_thread import KEY, serving
from tests.models import ARCHITECTURES, Recipe, build
from tests.models.architectures import Architecture

LAST_TOKEN = 3


def test_embeddings_beside_a_conversation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = ARCHITECTURES["qwen3moe"]
    metadata = plain.metadata | {"pooling_type": LAST_TOKEN}
    monkeypatch.setitem(ARCHITECTURES, "qwen3moe", Architecture("qwen3moe", metadata))
    (tmp_path / "models").mkdir()
    model = build(tmp_path / "models", Recipe("qwen3moe", "Q8_0"))
    with (
        serving(tmp_path, model_folders=(model.parent,), session_disk_bytes=0) as server,
        httpx.Client(base_url=server.url, headers={"x-api-key": KEY}, timeout=60) as http,
    ):
        http.post("/engine/load", json={"model": model.stem, "settings": {"plain": True, "threads": 1}})
        wait_until(lambda: http.get("/health").json()["state"] == "ready", "the load")

        def embed(texts: list[str] | str, **fields: Any) -> list[Any]:
            answer = http.post("/v1/embeddings", json={"input": texts} | fields)
            assert answer.status_code == 200, answer.text
            return [item["embedding"] for item in answer.json()["data"]]

        def chat() -> dict[str, Any]:
            body = {"messages": [{"role": "user", "content": "word " * 40}], "max_tokens": 6, "temperature": 0}
            answer: dict[str, Any] = http.post("/v1/chat/completions", json=body).json()
            return answer

        before = chat()
        first, second, again = embed(["one text", "another text", "one text"])
        assert len(first) == 256 and math.isclose(sum(value * value for value in first), 1, rel_tol=1e-5)
        assert first == again and first != second
        (encoded,) = embed("one text", encoding_format="base64")
        assert list(struct.unpack("<256f", base64.b64decode(encoded))) == pytest.approx(first, abs=1e-6)
        after = chat()
        assert after["choices"] == before["choices"]
        assert after["usage"]["prompt_tokens_details"]["cached_tokens"] > 40
        too_long = http.post("/v1/embeddings", json={"input": "word " * 5000})
        assert too_long.status_code == 400 and too_long.json()["error"]["code"] == "context_length_exceeded"
