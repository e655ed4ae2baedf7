"""The only code that talks to the engine process: supervision, HTTP and server-sent events, as Qt signals."""

from app.engine_client.chat_stream import ChatResult, ChatStream
from app.engine_client.client import EngineClient, State
from app.engine_client.http import Call
from app.engine_client.problem import Crash, EngineProblem

__all__ = ["Call", "ChatResult", "ChatStream", "Crash", "EngineClient", "EngineProblem", "State"]
