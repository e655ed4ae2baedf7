"""From a request to what the engine thread needs: the prompt as tokens, the parser of the answer, the grammar."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import llama_cpp

from engine.chat_format.families import parameter_types
from engine.chat_format.template import TemplateError
from engine.chat_format.template_process import SchemaError, TemplateProcess
from engine.chat_format.tool_grammar import forced_call_grammar
from engine.errors import GannetError
from engine.loader import LoadedModel
from engine.server.errors import bad_request, context_overflow
from engine.server.job import PreparedAnswer
from engine.server.prompting import ModelTexts, Prompter
from engine.server.request import AnswerRequest, ChatPrompt, TextPrompt
from engine.server.service import Service
from engine.server.token_choice import check_grammar
from engine.sessions.model_memory import needs_checkpoints

_log = logging.getLogger(__name__)
Result = TypeVar("Result")
# Messages at the end of a conversation whose ends become checkpoints.
_CHECKPOINTS = 3
# A prompt of more characters per token of context than this cannot fit: it is refused before it is tokenized.
_LONGEST_TOKEN = 256


class Preparer:
    """Prepares requests on threads of its own, so that neither the loop nor the engine waits for templates."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._templates = TemplateProcess(service.settings.limits.template_seconds)
        self._threads = ThreadPoolExecutor(2, "prepare")

    def start(self) -> None:
        """Begin to start the template process, so that the first question need not wait for it."""
        self._threads.submit(self._start_templates)

    async def close(self) -> None:
        """End the threads and the template process."""
        await asyncio.to_thread(self._templates.close)
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def prepare(self, request: AnswerRequest) -> PreparedAnswer:
        """The request with its prompt as tokens. Raises `GannetError`, among them the typed context overflow."""
        return await self._in_thread(lambda: self._prepare(request))

    async def count(self, prompt: ChatPrompt | TextPrompt) -> tuple[int, int]:
        """Number of a prompt's tokens, and how many the context holds."""
        return await self._in_thread(lambda: self._count(prompt))

    async def _in_thread(self, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    # On a thread of ours

    def _start_templates(self) -> None:
        try:
            self._templates.start()
        except (GannetError, OSError) as error:  # the first request tries again, and says so
            _log.warning("%s", error)

    def _count(self, prompt: ChatPrompt | TextPrompt) -> tuple[int, int]:
        with self._service.host.borrow() as loaded:
            if isinstance(prompt, ChatPrompt):
                tokens = _tokens(loaded, self._chat_text(self._prompter(loaded), prompt), chat=True)
            else:
                tokens = loaded.llama.tokenize(prompt.text.encode("utf-8", "replace"), add_bos=False)
            return len(tokens), loaded.llama.n_ctx()

    def _prepare(self, request: AnswerRequest) -> PreparedAnswer:
        generation = self._service.host.generation
        with self._service.host.borrow() as loaded:
            if isinstance(request.prompt, ChatPrompt):
                prepared = self._prepare_chat(loaded, request, request.prompt, generation)
            else:
                prepared = self._prepare_text(loaded, request, request.prompt, generation)
            if prepared.grammar is not None:
                check_grammar(loaded.llama, prepared.grammar)
            if len(prepared.tokens) >= loaded.llama.n_ctx():
                raise context_overflow(len(prepared.tokens), loaded.llama.n_ctx())
        if not prepared.tokens:
            raise bad_request("the prompt is empty", param="prompt")
        return prepared

    def _prepare_text(
        self, loaded: LoadedModel, request: AnswerRequest, prompt: TextPrompt, generation: int
    ) -> PreparedAnswer:
        if prompt.tokens is not None:
            tokens = list(prompt.tokens)
            if any(not 0 <= token < loaded.llama.n_vocab() for token in tokens):
                raise bad_request("the prompt has token ids that the model does not have", param="prompt")
        else:
            tokens = _tokens(loaded, prompt.text, chat=False)
        grammar = self._schema_grammar(request.json_schema)
        return PreparedAnswer(request, generation, tuple(tokens), grammar=grammar)

    def _prepare_chat(
        self, loaded: LoadedModel, request: AnswerRequest, prompt: ChatPrompt, generation: int
    ) -> PreparedAnswer:
        prompter = self._prompter(loaded)
        text = self._chat_text(prompter, prompt)
        tokens = _tokens(loaded, text, chat=True)
        offered = [{"name": tool.name, "parameters": tool.parameters} for tool in prompt.tools]
        types = parameter_types(offered) if offered and prompt.tool_choice.mode != "none" else None
        return PreparedAnswer(
            request,
            generation,
            tuple(tokens),
            boundaries=self._boundaries(loaded, prompter, prompt, text, tokens),
            stream=prompter.format.stream(text, types),
            grammar=self._chat_grammar(prompter, request, prompt, offered),
        )

    def _prompter(self, loaded: LoadedModel) -> Prompter:
        llama = loaded.llama
        template = llama.metadata.get("tokenizer.chat_template")
        texts = ModelTexts(template, _token_text(llama, llama.token_bos()), _token_text(llama, llama.token_eos()))
        return Prompter(texts, self._templates.render)

    @staticmethod
    def _chat_text(prompter: Prompter, prompt: ChatPrompt) -> str:
        try:
            return prompter.text(prompt)
        except TemplateError as error:
            raise bad_request(str(error), "template_error", "messages") from error

    @staticmethod
    def _boundaries(
        loaded: LoadedModel, prompter: Prompter, prompt: ChatPrompt, text: str, tokens: Sequence[int]
    ) -> tuple[int, ...]:
        """Where messages end, in tokens; only for models that need checkpoints."""
        if not needs_checkpoints(loaded.llama):
            return ()
        found = []
        for beginning in prompter.beginnings(prompt, text, _CHECKPOINTS):
            begun = _tokens(loaded, beginning, chat=True)
            if list(tokens[: len(begun)]) == begun:
                found.append(len(begun))
        return tuple(sorted(set(found)))

    def _chat_grammar(
        self, prompter: Prompter, request: AnswerRequest, prompt: ChatPrompt, offered: list[dict[str, Any]]
    ) -> str | None:
        choice = prompt.tool_choice
        if choice.mode != "required":
            return self._schema_grammar(request.json_schema)
        wanted = [tool for tool in offered if choice.name is None or tool["name"] == choice.name]
        if not wanted:
            raise bad_request(f"tool_choice names {choice.name!r}, which is not among the tools", param="tool_choice")
        return forced_call_grammar(prompter.format.family, wanted, self._grammar_of)

    def _schema_grammar(self, schema: Mapping[str, Any] | None) -> str | None:
        return None if schema is None else self._grammar_of(schema)

    def _grammar_of(self, schema: Mapping[str, Any]) -> str:
        try:
            return self._templates.schema_grammar(schema)
        except SchemaError as error:
            message = f"the JSON schema cannot be used: {error}"
            raise bad_request(message, "invalid_schema", "response_format") from error


def _tokens(loaded: LoadedModel, text: str, chat: bool) -> list[int]:
    """The tokens of a prompt; in a chat special tokens are what they say, and the template begins the text itself."""
    llama = loaded.llama
    context = llama.n_ctx()
    if len(text) > _LONGEST_TOKEN * context:
        raise context_overflow(len(text) // _LONGEST_TOKEN, context)
    bos = _token_text(llama, llama.token_bos())
    begun = chat and bool(bos) and text.startswith(bos)
    tokens: list[int] = llama.tokenize(text.encode("utf-8", "replace"), add_bos=not begun, special=chat)
    return tokens


def _token_text(llama: llama_cpp.Llama, token: int) -> str:
    if token == -1:
        return ""
    text: bytes = llama_cpp.llama_vocab_get_text(llama_cpp.llama_model_get_vocab(llama.model), token)
    return text.decode("utf-8", "replace")
