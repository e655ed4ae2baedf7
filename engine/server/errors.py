"""Errors of the service: what a client did or met, with the HTTP status; each API's JSON shape is made from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from engine.errors import GannetError

Dialect = Literal["openai", "anthropic", "engine"]

# status -> (OpenAI's type, Anthropic's type)
_TYPES: dict[int, tuple[str, str]] = {
    400: ("invalid_request_error", "invalid_request_error"),
    401: ("authentication_error", "authentication_error"),
    403: ("permission_error", "permission_error"),
    404: ("not_found_error", "not_found_error"),
    405: ("invalid_request_error", "invalid_request_error"),
    408: ("timeout_error", "timeout_error"),
    409: ("conflict_error", "invalid_request_error"),
    413: ("invalid_request_error", "request_too_large"),
    429: ("rate_limit_error", "rate_limit_error"),
    431: ("invalid_request_error", "invalid_request_error"),
    503: ("unavailable_error", "overloaded_error"),
    504: ("timeout_error", "timeout_error"),
}


class ApiError(GannetError):
    """An error that a client is told about.

    Attributes:
        status: HTTP status.
        code: short stable name for programs, such as `context_length_exceeded`.
        param: the request's field that is wrong, where there is one.
        details: more facts for programs (numbers of tokens, names).
    """

    def __init__(
        self, status: int, message: str, code: str, *, param: str | None = None, details: dict[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.param = param
        self.details = details or {}


def bad_request(message: str, code: str = "invalid_request", param: str | None = None) -> ApiError:
    """A 400: the request itself is wrong."""
    return ApiError(400, message, code, param=param)


def context_overflow(prompt_tokens: int, context_length: int) -> ApiError:
    """The typed 400 of a prompt that does not fit; says how many tokens do."""
    fits = context_length - 1
    return ApiError(
        400,
        f"the prompt has {prompt_tokens} tokens and at most {fits} fit into the context of {context_length}; "
        "shorten the conversation or load the model with a larger context",
        "context_length_exceeded",
        param="messages",
        details={"prompt_tokens": prompt_tokens, "fits": fits, "context_length": context_length},
    )


def from_exception(error: BaseException) -> ApiError:
    """Any exception as an `ApiError`: a `GannetError` keeps its line, a defect of ours becomes a plain 500."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, GannetError):
        return ApiError(500, str(error), "engine_error")
    return ApiError(500, f"internal error ({type(error).__name__}); the log has the details", "internal_error")


@dataclass(frozen=True, slots=True)
class ErrorBody:
    """An error's JSON in one dialect."""

    status: int
    content: dict[str, Any]


def error_body(error: ApiError, dialect: Dialect) -> ErrorBody:
    """The error as the API named by `dialect` writes it."""
    openai_type, anthropic_type = _TYPES.get(error.status, ("api_error", "api_error"))
    if dialect == "anthropic":
        return ErrorBody(
            error.status, {"type": "error", "error": {"type": anthropic_type, "message": str(error)} | error.details}
        )
    if dialect == "openai":
        fields = {"message": str(error), "type": openai_type, "param": error.param, "code": error.code}
        return ErrorBody(error.status, {"error": fields | error.details})
    return ErrorBody(error.status, {"error": {"message": str(error), "code": error.code} | error.details})
