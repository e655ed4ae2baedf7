"""The real `anthropic` client against the demo model: what breaks here breaks in coding agents."""

from __future__ import annotations

from collections.abc import Iterator

import anthropic
import pytest

from tests.engine.server.server_process import ServerProcess, wait_until

CAPITAL = [{"role": "user", "content": "What is the capital of France?"}]
FOX = [{"role": "user", "content": "Tell me a story about a fox."}]
GREEDY = {"temperature": 0}  # the client has no such argument any more, servers do
WEATHER = {
    "name": "get_weather",
    "description": "The weather in a city",
    "input_schema": {"type": "object", "properties": {"city": {"enum": ["Paris", "Rome"]}}, "required": ["city"]},
}


@pytest.fixture(scope="module")
def client(server: ServerProcess) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=server.url, api_key=server.key, max_retries=0, timeout=60) as made:
        yield made


def test_message(client: anthropic.Anthropic) -> None:
    message = client.messages.create(model="demo-moe", messages=CAPITAL, max_tokens=30, extra_body=GREEDY)
    assert message.content[0].text == "The capital of France is Paris."
    assert message.stop_reason == "end_turn" and message.role == "assistant"
    usage = message.usage
    assert usage.input_tokens + (usage.cache_read_input_tokens or 0) == 15 and usage.output_tokens == 7


def test_stream_is_the_same_text(client: anthropic.Anthropic) -> None:
    with client.messages.stream(model="demo-moe", messages=CAPITAL, max_tokens=30, extra_body=GREEDY) as stream:
        text = "".join(stream.text_stream)
        final = stream.get_final_message()
    assert text == "The capital of France is Paris." == final.content[0].text
    assert final.stop_reason == "end_turn" and final.usage.output_tokens == 7


def test_max_tokens_and_stop_sequences_are_told_apart(client: anthropic.Anthropic) -> None:
    cut = client.messages.create(model="demo-moe", messages=CAPITAL, max_tokens=3, extra_body=GREEDY)
    assert cut.stop_reason == "max_tokens"
    stopped = client.messages.create(
        model="demo-moe", messages=CAPITAL, max_tokens=30, extra_body=GREEDY, stop_sequences=["France"]
    )
    assert (stopped.stop_reason, stopped.stop_sequence) == ("stop_sequence", "France")
    assert stopped.content[0].text == "The capital of "


@pytest.mark.parametrize("choice", [{"type": "any"}, {"type": "tool", "name": "get_weather"}])
def test_forced_tool_use(client: anthropic.Anthropic, choice: dict[str, str]) -> None:
    with client.messages.stream(
        model="demo-moe", messages=CAPITAL, tools=[WEATHER], tool_choice=choice, max_tokens=120, extra_body=GREEDY
    ) as stream:
        message = stream.get_final_message()
    assert message.stop_reason == "tool_use"
    assert message.content[-1].type == "tool_use" and message.content[-1].name == "get_weather"
    assert message.content[-1].input["city"] in ("Paris", "Rome")


def test_a_conversation_with_system_tool_results_and_thinking(client: anthropic.Anthropic) -> None:
    messages = [
        *CAPITAL,
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Look it up.", "signature": ""},
                {"type": "text", "text": "Let me look."},
                {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Paris"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "sunny"}]},
                {"type": "text", "text": "So?", "cache_control": {"type": "ephemeral"}},
            ],
        },
    ]
    system = [{"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}]
    message = client.messages.create(
        model="demo-moe", system=system, messages=messages, tools=[WEATHER], max_tokens=8, metadata={"user_id": "me"}
    )
    assert message.usage.output_tokens > 0


def test_counting_agrees_with_answering(client: anthropic.Anthropic) -> None:
    counted = client.messages.count_tokens(model="demo-moe", messages=CAPITAL, system="Be kind.", tools=[WEATHER])
    answered = client.messages.create(
        model="demo-moe", messages=CAPITAL, system="Be kind.", tools=[WEATHER], max_tokens=1
    )
    assert counted.input_tokens == answered.usage.input_tokens + (answered.usage.cache_read_input_tokens or 0)


def test_models_are_listed(client: anthropic.Anthropic) -> None:
    assert [model.id for model in client.models.list()] == ["demo-moe"]


def test_errors_have_anthropics_shape(client: anthropic.Anthropic, server: ServerProcess) -> None:
    with pytest.raises(anthropic.NotFoundError) as unknown:
        client.messages.create(model="claude-99", messages=CAPITAL, max_tokens=5)
    assert unknown.value.body["type"] == "error" and unknown.value.body["error"]["type"] == "not_found_error"
    with pytest.raises(anthropic.BadRequestError) as wrong:
        client.messages.create(model="demo-moe", messages=CAPITAL, max_tokens=0)
    assert wrong.value.body["error"]["type"] == "invalid_request_error"
    with pytest.raises(anthropic.BadRequestError) as overflow:
        client.messages.create(model="demo-moe", messages=[{"role": "user", "content": "fox " * 3000}], max_tokens=5)
    assert "1023 fit" in overflow.value.body["error"]["message"]
    with pytest.raises(anthropic.AuthenticationError):
        anthropic.Anthropic(base_url=server.url, api_key="wrong", max_retries=0).models.list()


def test_cancelling_a_stream_frees_the_engine(client: anthropic.Anthropic, server: ServerProcess) -> None:
    with client.messages.stream(model="demo-moe", messages=FOX, max_tokens=900) as stream:
        for at, _ in enumerate(stream.text_stream):
            if at == 3:
                break
    wait_until(lambda: server.health()["state"] == "ready", "freeing the engine", 5)
