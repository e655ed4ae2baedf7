"""A model whose memory cannot be cut back (recurrent) must not read the whole conversation anew in each turn either."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from tests.engine.server.server_process import wait_until
from tests.engine.server.server_thread import KEY, serving
from tests.models import ARCHITECTURES, Recipe, build
from tests.models.architectures import Architecture

MAMBA = Architecture(
    "mamba",
    {
        "ssm.conv_kernel": 4,
        "ssm.inner_size": 512,
        "ssm.state_size": 16,
        "ssm.time_step_rank": 16,
        "expert_count": 0,
        "expert_used_count": 0,
        "context_length": 4096,
        "attention.head_count": 0,
        "feed_forward_length": 0,
    },
    leave_out=r"scale$",
)


def test_turns_of_a_recurrent_model_go_on_from_checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ARCHITECTURES, "mamba", MAMBA)
    (tmp_path / "models").mkdir()
    model = build(tmp_path / "models", Recipe("mamba", "Q8_0"))
    with (
        serving(tmp_path, model_folders=(model.parent,), session_disk_bytes=0) as server,
        httpx.Client(base_url=server.url, headers={"x-api-key": KEY}, timeout=60) as http,
    ):
        settings = {"plain": True, "threads": 1, "context_length": 2048}
        http.post("/engine/load", json={"model": model.stem, "settings": settings})
        wait_until(lambda: http.get("/health").json()["state"] == "ready", "the load")

        def ask(messages: list[dict[str, Any]], **fields: Any) -> tuple[str, int, int]:
            body = {"messages": messages, "temperature": 0, "max_tokens": 12} | fields
            answer = http.post("/v1/chat/completions", json=body).json()
            usage = answer["usage"]
            cached = usage["prompt_tokens_details"]["cached_tokens"]
            return answer["choices"][0]["message"]["content"], usage["prompt_tokens"], cached

        messages = [{"role": "system", "content": "be brief " * 30}, {"role": "user", "content": "first question"}]
        _, prompt, cached = ask(messages)
        assert cached == 0 and prompt > 150
        ask([{"role": "user", "content": "something else entirely"}])
        # The answer that comes back is worded anew, so the state after it is of no use: the message before it counts.
        messages += [{"role": "assistant", "content": "reworded"}, {"role": "user", "content": "second question"}]
        text, prompt, cached = ask(messages)
        assert cached > 150 and prompt - cached < 60
        assert ask(messages, cache_prompt=False)[0] == text
