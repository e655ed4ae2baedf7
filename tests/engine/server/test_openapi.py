"""The OpenAPI document tells the truth, and neither a request that follows it nor one that breaks it gets a 5xx."""

from __future__ import annotations

from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

from tests.engine.server.server_process import ServerProcess

# What ends, unloads or reconfigures the server that all tests share has tests of its own, as has the endless stream.
LEFT_OUT = r"/engine/(shutdown|unload|load|events|tune|load/cancel|tune/cancel|settings|cache|door)$"
EXAMPLES = 8
CHECKS = [not_a_server_error, status_code_conformance, response_schema_conformance]


def bounded(case: Case) -> Case:
    """The case, with an answer of few tokens: how long answers are is not what is tested here."""
    if (
        isinstance(case.body, dict)
        and "/embeddings" not in case.path
        and {"messages", "prompt", "input"} & set(case.body)
        and "/count" not in case.path
    ):
        for name in ("max_tokens", "max_completion_tokens", "max_output_tokens"):
            if isinstance(case.body.get(name), int) and case.body[name] > 4:
                case.body[name] = 4
        case.body.setdefault("max_output_tokens" if "input" in case.body else "max_tokens", 4)
    return case


def exercise(server: ServerProcess, operation: Any, mode: GenerationMode) -> None:
    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def check(case: Case) -> None:
        response = bounded(case).call(base_url=server.url, headers={"Authorization": f"Bearer {server.key}"})
        case.validate_response(response, checks=CHECKS)

    check()


def test_no_request_gets_a_server_error(server: ServerProcess) -> None:
    schema = schemathesis.openapi.from_dict(server.http.get("/openapi.json").json()).exclude(path_regex=LEFT_OUT)
    labels = []
    for result in schema.get_all_operations():
        operation = result.ok()
        labels.append(operation.label)
        exercise(server, operation, GenerationMode.POSITIVE)
        if operation.body or operation.query:
            exercise(server, operation, GenerationMode.NEGATIVE)
    assert len(labels) >= 15, labels
    server.http.post("/engine/trace", json={"on": False})
    assert server.health()["state"] in ("ready", "busy")


def test_the_document_has_every_route_with_its_errors(server: ServerProcess) -> None:
    document = server.http.get("/openapi.json").json()
    expected = {
        "/health", "/engine/load", "/engine/load/cancel", "/engine/unload", "/engine/shutdown", "/engine/settings",
        "/engine/cache", "/engine/telemetry", "/engine/experts", "/engine/events", "/engine/log", "/engine/tokenize",
        "/engine/inspect", "/engine/trace", "/engine/tune", "/engine/tune/cancel", "/engine/door", "/v1/models",
        "/v1/embeddings", "/v1/chat/completions", "/v1/completions", "/v1/responses", "/v1/messages",
        "/v1/messages/count_tokens",
    }  # fmt: skip
    assert expected <= set(document["paths"])
    for path, item in document["paths"].items():
        for method, operation in item.items():
            assert operation.get("summary"), (method, path)
            assert {"200", "202"} & set(operation["responses"]), (method, path)
            assert path == "/health" or "401" in operation["responses"], (method, path)
