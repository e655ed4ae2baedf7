"""OpenAI's Responses API through the real `openai` client, as coding agents use it: items in, items out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from engine.chat_format.parts import Content, Reasoning, ToolArguments, ToolEnd, ToolStart
from engine.server.errors import ApiError, context_overflow
from engine.server.request import Delta, Finished, Timings, Usage
from engine.server.responses_answers import ResponseAnswer
from engine.server.responses_models import ResponsesBody
from engine.server.responses_request import responses_prompt, responses_request
from engine.settings import EngineSettings
from tests.engine.server.server_process import ServerProcess

CAPITAL = "What is the capital of France?"
WEATHER = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather in a city",
    "parameters": {"type": "object", "properties": {"city": {"enum": ["Paris", "Rome"]}}, "required": ["city"]},
}
PATCH = {"type": "custom", "name": "apply_patch", "description": "Change files", "format": {"type": "text"}}


@pytest.fixture(scope="module")
def client(server: ServerProcess) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key=server.key, max_retries=0, timeout=60) as made:
        yield made


def test_an_answer_with_usage(client: openai.OpenAI) -> None:
    answer = client.responses.create(model="demo-moe", input=CAPITAL, temperature=0, max_output_tokens=30)
    assert answer.output_text == "The capital of France is Paris."
    assert answer.status == "completed" and answer.output[0].status == "completed"
    assert answer.usage is not None and answer.usage.output_tokens == 7
    assert answer.usage.total_tokens == answer.usage.input_tokens + 7


def test_a_cut_answer_says_so(client: openai.OpenAI) -> None:
    answer = client.responses.create(model="demo-moe", input=CAPITAL, temperature=0, max_output_tokens=3)
    assert answer.status == "incomplete" and answer.output[0].status == "incomplete"
    assert answer.incomplete_details is not None and answer.incomplete_details.reason == "max_output_tokens"


def test_a_stream_has_the_events_of_the_api_in_their_order(client: openai.OpenAI) -> None:
    fields: dict[str, Any] = {"model": "demo-moe", "input": CAPITAL, "temperature": 0, "max_output_tokens": 30}
    whole = client.responses.create(**fields)
    events = list(client.responses.create(**fields, stream=True))
    deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert "".join(deltas) == whole.output_text and len(deltas) > 3
    assert [event.sequence_number for event in events] == list(range(len(events)))
    several = ("response.output_text.delta", "response.in_progress")  # the latter: signs of life, one per prompt batch
    assert events[1].type == "response.in_progress"
    assert [event.type for event in events if event.type not in several] == [
        "response.created", "response.output_item.added", "response.content_part.added",
        "response.output_text.done", "response.content_part.done", "response.output_item.done", "response.completed",
    ]  # fmt: skip
    last = events[-1]
    assert last.type == "response.completed" and last.response.output_text == whole.output_text


def test_the_clients_own_stream_reader_understands_it(client: openai.OpenAI) -> None:
    with client.responses.stream(model="demo-moe", input=CAPITAL, temperature=0, tools=[WEATHER]) as stream:  # type: ignore[list-item]
        for _ in stream:
            pass
        assert stream.get_final_response().output_text == "The capital of France is Paris."


def test_a_forced_call_arrives_and_its_result_is_taken(client: openai.OpenAI) -> None:
    conversation: list[Any] = [
        {"role": "developer", "content": "Be short."},
        {"role": "user", "content": [{"type": "input_text", "text": CAPITAL}]},
    ]
    forced = {"type": "function", "name": "get_weather"}
    fields: dict[str, Any] = {"model": "demo-moe", "instructions": "You help.", "tools": [WEATHER], "temperature": 0}
    answer = client.responses.create(input=conversation, tool_choice=forced, max_output_tokens=120, **fields)
    call = answer.output[-1]
    assert call.type == "function_call" and call.name == "get_weather" and call.status == "completed"
    assert json.loads(call.arguments)["city"] in ("Paris", "Rome")
    conversation += [item.model_dump(exclude_none=True) for item in answer.output]
    conversation.append({"type": "function_call_output", "call_id": call.call_id, "output": "sunny"})
    again = client.responses.create(input=conversation, max_output_tokens=8, **fields)
    assert again.status in ("completed", "incomplete") and again.usage is not None
    assert again.usage.input_tokens_details.cached_tokens > 0


def test_structured_output_fits_the_schema(client: openai.OpenAI) -> None:
    schema = {"type": "object", "properties": {"kind": {"const": "fox"}}, "required": ["kind"]}
    wanted = {"format": {"type": "json_schema", "name": "animal", "schema": schema | {"additionalProperties": False}}}
    answer = client.responses.create(model="demo-moe", input=CAPITAL, text=wanted, max_output_tokens=60)  # type: ignore[arg-type]
    assert json.loads(answer.output_text) == {"kind": "fox"}


def test_logprobs_come_with_the_text(client: openai.OpenAI) -> None:
    answer = client.responses.create(
        model="demo-moe",
        input=CAPITAL,
        temperature=0,
        max_output_tokens=4,
        top_logprobs=2,
        include=["message.output_text.logprobs"],
    )
    logprobs = answer.output[0].content[0].logprobs  # type: ignore[union-attr]
    assert "".join(entry.token for entry in logprobs) == answer.output_text  # type: ignore[union-attr]
    assert all(len(entry.top_logprobs) == 2 for entry in logprobs)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"input": "Hi", "previous_response_id": "resp_1"}, "previous_response_id"),
        ({"input": "Hi", "background": True}, "background"),
        ({"input": [{"type": "item_reference", "id": "msg_1"}]}, "input"),
        ({"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]}, "input"),
        ({"input": [{"role": "system", "content": "Be short."}]}, "input"),
        ({"input": "Hi", "tools": [{"type": "function"}]}, "tools"),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(client: openai.OpenAI, fields: Any, param: str) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        client.responses.create(model="demo-moe", **fields)
    assert caught.value.param == param


def test_items_become_the_messages_that_templates_know() -> None:
    body = ResponsesBody.model_validate(
        {
            "instructions": "You help.",
            "input": [
                {"type": "message", "role": "developer", "content": "Be short."},
                {"role": "user", "content": "List the files."},
                {"type": "reasoning", "summary": [{"type": "summary_text", "text": "ls will do"}]},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
                {"type": "function_call", "call_id": "c1", "name": "shell", "arguments": '{"cmd":"ls"}'},
                {"type": "custom_tool_call", "call_id": "c2", "name": "apply_patch", "input": "*** Begin"},
                {"type": "function_call_output", "call_id": "c1", "output": "a.txt"},
                {"type": "custom_tool_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "ok"}]},
                {"type": "message", "role": "assistant", "content": "One file."},
            ],
            "tools": [WEATHER, PATCH, {"type": "web_search"}],
        }
    )
    prompt = responses_prompt(body)
    system, user, calls, first, second, last = prompt.messages
    assert system == {"role": "system", "content": "You help.\n\nBe short."} and user["role"] == "user"
    assert calls["reasoning_content"] == "ls will do" and calls["content"] == "I look."
    assert [call["id"] for call in calls["tool_calls"]] == ["c1", "c2"]
    assert json.loads(calls["tool_calls"][1]["function"]["arguments"]) == {"input": "*** Begin"}
    assert (first["tool_call_id"], first["content"]) == ("c1", "a.txt") and second["content"] == "ok"
    assert last == {"role": "assistant", "content": "One file."}
    assert [tool.name for tool in prompt.tools] == ["get_weather", "apply_patch"]


@pytest.mark.parametrize(("effort", "thinking"), [("none", False), ("high", True), (None, None)])
def test_effort_switches_thinking(effort: str | None, thinking: bool | None) -> None:
    body = ResponsesBody.model_validate({"input": "Hi", "reasoning": {"effort": effort}})
    assert responses_request(body, EngineSettings(), "me", 60).prompt.thinking is thinking  # type: ignore[union-attr]


def answered(*parts: Any, reason: Any = "stop") -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Events of a stream of `parts`, a token each, and the whole response."""
    body = ResponsesBody.model_validate({"input": "Hi", "tools": [WEATHER, PATCH]})
    answer = ResponseAnswer("demo", body)
    events = list(answer.first_events())
    for part in parts:
        events += answer.events(Delta((part,)))
    finished = Finished(reason, Usage(9, 4, len(parts)), Timings(9, 1.0, len(parts), 1.0, None, 0.0, 0))
    events += answer.last_events(finished)
    return events, answer.whole(finished)


def test_thinking_text_and_calls_are_items_in_their_order() -> None:
    call = (ToolStart(0, "a", "get_weather"), ToolArguments(0, '{"city":'), ToolArguments(0, '"Paris"}'), ToolEnd(0))
    patch = (
        ToolStart(1, "b", "apply_patch"),
        ToolArguments(1, '{"input":"*** '),
        ToolArguments(1, 'End"}'),
        ToolEnd(1),
    )
    events, whole = answered(Reasoning("Hm"), Reasoning("m."), Content("Look."), *call, *patch, reason="tool_calls")
    thinking, text, weather, changed = whole["output"]
    assert thinking["content"] == [{"type": "reasoning_text", "text": "Hmm."}] and thinking["summary"] == []
    assert text["content"][0]["text"] == "Look."
    assert (weather["call_id"], weather["arguments"]) == ("call_a", '{"city":"Paris"}')
    assert (changed["type"], changed["input"]) == ("custom_tool_call", "*** End")
    assert whole["usage"]["output_tokens_details"]["reasoning_tokens"] == 2
    assert {item["status"] for item in whole["output"]} == {"completed"}
    done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    assert done == whole["output"] == events[-1]["response"]["output"]
    added = [event for event in events if event["type"] == "response.output_item.added"]
    assert [event["output_index"] for event in added] == [0, 1, 2, 3]
    assert all(event["item"]["status"] == "in_progress" for event in added)


def test_a_failure_in_the_stream_is_the_apis_own_event() -> None:
    answer = ResponseAnswer("demo", ResponsesBody.model_validate({"input": "Hi"}))
    error: ApiError = context_overflow(90, 64)
    failed = answer.failed_event(error)
    assert failed["type"] == "response.failed" and failed["response"]["status"] == "failed"
    assert failed["response"]["error"] == {"code": "context_length_exceeded", "message": str(error)}
