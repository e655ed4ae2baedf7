"""The real `openai` client against the demo model: what breaks here breaks in people's programs and agents."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

import openai
import pytest

from tests.engine.server.server_process import ServerProcess, wait_until

FOX = [{"role": "user", "content": "Tell me a story about a fox."}]
CAPITAL = [{"role": "user", "content": "What is the capital of France?"}]
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather in a city",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"enum": ["Paris", "Rome"]},
                "days": {"type": "integer", "minimum": 1, "maximum": 9},
            },
            "required": ["city", "days"],
        },
    },
}


@pytest.fixture(scope="module")
def client(server: ServerProcess) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key=server.key, max_retries=0, timeout=60) as made:
        yield made


def test_chat_with_usage_and_timings(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(model="demo-moe", messages=CAPITAL, temperature=0, max_tokens=30)
    assert answer.choices[0].message.content == "The capital of France is Paris."
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage is not None and answer.usage.completion_tokens == 7
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + 7
    timings = answer.model_extra["timings"]
    assert set(timings) == {
        "prompt_n", "prompt_ms", "predicted_n", "predicted_ms", "hit_rate", "stall_ms", "bytes_read",
    }  # fmt: skip


def test_a_stream_is_the_same_text_in_pieces_and_ends_with_usage(client: openai.OpenAI) -> None:
    fields = {"model": "demo-moe", "messages": FOX, "temperature": 0, "max_tokens": 24}
    whole = client.chat.completions.create(**fields)
    chunks = list(client.chat.completions.create(**fields, stream=True, stream_options={"include_usage": True}))
    pieces = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    assert "".join(pieces) == whole.choices[0].message.content
    assert len([piece for piece in pieces if piece]) > 10
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "length"
    assert chunks[-1].usage is not None and chunks[-1].usage.completion_tokens == 24
    assert chunks[-1].model_extra["timings"]["predicted_n"] == 24


def test_seeds_repeat_and_temperatures_vary(client: openai.OpenAI) -> None:
    def text(seed: int) -> str | None:
        answer = client.chat.completions.create(
            model="demo-moe",
            messages=FOX,
            temperature=1.5,
            seed=seed,
            max_tokens=16,
            extra_body={"cache_prompt": False},
        )
        return answer.choices[0].message.content

    assert text(7) == text(7)
    assert len({text(seed) for seed in range(8, 12)}) > 1


def test_stop_ends_the_answer_before_the_text(client: openai.OpenAI) -> None:
    full = client.chat.completions.create(model="demo-moe", messages=CAPITAL, temperature=0).choices[0].message.content
    assert full is not None and " is " in full
    answer = client.chat.completions.create(model="demo-moe", messages=CAPITAL, temperature=0, stop=[" is ", "never"])
    assert answer.choices[0].message.content == full.split(" is ")[0]
    assert answer.choices[0].finish_reason == "stop"


def test_logprobs_are_those_of_the_answer(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(
        model="demo-moe", messages=CAPITAL, temperature=0, logprobs=True, top_logprobs=3, max_tokens=4
    )
    logprobs = answer.choices[0].logprobs
    assert logprobs is not None and logprobs.content is not None and len(logprobs.content) == 4
    assert "".join(entry.token for entry in logprobs.content) == answer.choices[0].message.content
    for entry in logprobs.content:
        assert entry.top_logprobs[0].token == entry.token  # greedy takes the likeliest
        values = [top.logprob for top in entry.top_logprobs]
        assert values == sorted(values, reverse=True) and sum(math.exp(value) for value in values) <= 1.0001


def test_structured_output_fits_the_schema(client: openai.OpenAI) -> None:
    schema = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 12},
            "age": {"type": "integer"},
            "born": {"type": "integer", "minimum": 1850, "exclusiveMaximum": 11902},
            "kind": {"const": "fox"},
        },
        "required": ["name", "age", "born", "kind"],
        "additionalProperties": False,
    }
    answer = client.chat.completions.create(
        model="demo-moe",
        messages=FOX,
        temperature=0.7,
        seed=1,
        max_tokens=200,
        response_format={"type": "json_schema", "json_schema": {"name": "animal", "schema": schema}},
    )
    value = json.loads(answer.choices[0].message.content or "")
    assert set(value) == {"name", "age", "born", "kind"} and isinstance(value["age"], int) and value["kind"] == "fox"
    assert 1850 <= value["born"] < 11902


def test_a_schema_that_makes_no_grammar_is_a_bad_request(client: openai.OpenAI) -> None:
    endless = {"type": "array", "items": {"type": "string"}, "minItems": 10**9}
    for schema in ({"$ref": "https://example.org/schema.json"}, {"type": "no such type"}, endless):
        with pytest.raises(openai.BadRequestError) as caught:
            client.chat.completions.create(
                model="demo-moe",
                messages=FOX,
                stream=True,
                response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": schema}},
            )
        assert caught.value.code == "invalid_schema"


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "get_weather"}}])
def test_a_forced_tool_call_arrives_with_valid_arguments(client: openai.OpenAI, choice: object) -> None:
    answer = client.chat.completions.create(
        model="demo-moe", messages=CAPITAL, tools=[WEATHER], tool_choice=choice, temperature=0, max_tokens=120
    )
    message = answer.choices[0].message
    assert answer.choices[0].finish_reason == "tool_calls"
    assert message.tool_calls is not None and message.tool_calls[0].function.name == "get_weather"
    arguments = json.loads(message.tool_calls[0].function.arguments)
    assert arguments["city"] in ("Paris", "Rome") and 1 <= arguments["days"] <= 9
    assert not message.content


def test_a_tool_call_streams_in_pieces_that_join_to_json(client: openai.OpenAI) -> None:
    chunks = client.chat.completions.create(
        model="demo-moe",
        messages=CAPITAL,
        tools=[WEATHER],
        tool_choice="required",
        temperature=0,
        max_tokens=120,
        stream=True,
    )
    calls = [call for chunk in chunks for choice in chunk.choices for call in choice.delta.tool_calls or ()]
    assert calls[0].id and calls[0].function is not None and calls[0].function.name == "get_weather"
    assert json.loads("".join((call.function.arguments or "") for call in calls if call.function))["days"] >= 1
    assert len(calls) > 3


def test_a_conversation_with_tool_results_is_answered(client: openai.OpenAI) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
    messages = [
        {"role": "system", "content": "You are helpful."},
        *CAPITAL,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "sunny"},
    ]
    answer = client.chat.completions.create(model="demo-moe", messages=messages, tools=[WEATHER], max_tokens=8)
    assert answer.usage is not None and answer.usage.completion_tokens > 0


def test_completions_and_their_echo(client: openai.OpenAI) -> None:
    answer = client.completions.create(
        model="demo-moe",
        prompt="The capital of",
        max_tokens=6,
        temperature=0,
        echo=True,
    )
    assert answer.choices[0].text.startswith("The capital of")
    parts = client.completions.create(
        model="demo-moe",
        prompt="The capital of",
        max_tokens=6,
        temperature=0,
        stream=True,
    )
    streamed = "".join(part.choices[0].text for part in parts if part.choices)
    assert "The capital of" + streamed == answer.choices[0].text


def test_models_are_listed(client: openai.OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["demo-moe"]
    assert client.models.retrieve("demo-moe").id == "demo-moe"


def test_embeddings_are_refused_by_a_model_that_gives_none(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        client.embeddings.create(model="demo-moe", input="hello")
    assert caught.value.code == "no_embeddings"


def test_errors_have_openais_shape(client: openai.OpenAI, server: ServerProcess) -> None:
    with pytest.raises(openai.NotFoundError) as unknown:
        client.chat.completions.create(model="gpt-99", messages=CAPITAL)
    assert unknown.value.code == "model_not_found" and "gpt-99" in str(unknown.value)
    with pytest.raises(openai.BadRequestError) as wrong:
        client.chat.completions.create(model="demo-moe", messages=CAPITAL, temperature=99)
    assert wrong.value.param == "temperature"
    with pytest.raises(openai.BadRequestError):
        client.chat.completions.create(model="demo-moe", messages=CAPITAL, n=2)
    with pytest.raises(openai.AuthenticationError):
        openai.OpenAI(base_url=f"{server.url}/v1", api_key="wrong", max_retries=0).models.list()


def test_context_overflow_is_typed_and_says_what_fits(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model="demo-moe", messages=[{"role": "user", "content": "fox " * 3000}])
    assert caught.value.code == "context_length_exceeded"
    assert isinstance(caught.value.body, dict) and caught.value.body["fits"] == 1023
    assert caught.value.body["prompt_tokens"] > 1023


def test_unknown_fields_are_accepted(client: openai.OpenAI) -> None:
    extra = {"some_new_field": {"deep": [1]}, "metadata": {"a": "b"}, "store": False}
    answer = client.chat.completions.create(model="demo-moe", messages=CAPITAL, max_tokens=2, extra_body=extra)
    assert answer.choices[0].message.content


def test_cancelling_a_stream_frees_the_engine_at_once(client: openai.OpenAI, server: ServerProcess) -> None:
    stream = client.chat.completions.create(model="demo-moe", messages=FOX, max_tokens=900, stream=True)
    for at, _ in enumerate(stream):
        if at == 3:
            break
    stream.close()
    wait_until(lambda: server.health()["state"] == "ready", "freeing the engine", 5)
    after = client.chat.completions.create(model="demo-moe", messages=CAPITAL, temperature=0)
    assert after.choices[0].message.content == "The capital of France is Paris."


def test_a_second_turn_reads_only_what_is_new(client: openai.OpenAI) -> None:
    first = client.chat.completions.create(
        model="demo-moe", messages=FOX, temperature=0, max_tokens=16, extra_body={"cache_prompt": False}
    )
    assert first.model_extra["timings"]["prompt_n"] == first.usage.prompt_tokens
    more = [*FOX, {"role": "assistant", "content": first.choices[0].message.content}, *CAPITAL]
    second = client.chat.completions.create(model="demo-moe", messages=more, temperature=0, max_tokens=4)
    cached = second.usage.prompt_tokens_details.cached_tokens
    assert cached >= first.usage.prompt_tokens + 14
    assert second.model_extra["timings"]["prompt_n"] == second.usage.prompt_tokens - cached
