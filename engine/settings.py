"""Every setting of the engine, declared once: command-line options, the server's schema and the window's form follow.

Each field carries a title, a help sentence (`description`), bounds, and in `json_schema_extra`:

* `unit`: what the number counts (`bytes`, `tokens`, `threads`, `layers`), or an empty string;
* `live`: True if it takes effect on a loaded model, False if the model has to be loaded again;
* `option`: its name on the command line;
* `group`: where a form shows it (`memory`, `speed`, `answer`, `compute`).
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from engine.errors import SettingsError


def _extra(option: str, group: str, *, unit: str = "", live: bool = False) -> dict[str, Any]:
    return {"option": option, "group": group, "unit": unit, "live": live}


class EngineSettings(BaseModel):
    """What a model is loaded and answered with. Immutable; `model_copy(update=...)` gives a changed one."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, use_attribute_docstrings=False)

    cache_bytes: int | None = Field(
        None,
        title="Expert cache",
        description="Memory for experts read from the SSD. Automatic: what is free on this machine, less a reserve.",
        ge=0,
        json_schema_extra=_extra("--cache", "memory", unit="bytes", live=True),
    )
    headroom_bytes: int = Field(
        512 << 20,
        title="Memory left free",
        description="What an automatic expert cache leaves for other programs.",
        ge=0,
        json_schema_extra=_extra("--headroom", "memory", unit="bytes", live=True),
    )
    elastic: bool = Field(
        True,
        title="Elastic cache",
        description="Make the expert cache smaller while other programs need memory, and larger again afterwards.",
        json_schema_extra=_extra("--elastic", "memory", live=True),
    )
    context_length: int = Field(
        4096,
        title="Context length",
        description="How much conversation the model sees at once; never more than the model was made for.",
        ge=16,
        le=1 << 24,
        json_schema_extra=_extra("--context", "memory", unit="tokens"),
    )
    ubatch: int = Field(
        2048,
        title="Prompt batch",
        description="Prompt tokens that pass through the layers together; larger reads each expert less often.",
        ge=1,
        le=16384,
        json_schema_extra=_extra("--ubatch", "speed", unit="tokens"),
    )
    threads: int | None = Field(
        None,
        title="Compute threads",
        description="Threads that compute. Automatic: one for each fast core this program may use.",
        ge=1,
        le=1024,
        json_schema_extra=_extra("--threads", "compute", unit="threads", live=True),
    )
    save_battery: bool = Field(
        True,
        title="Save the battery",
        description="On battery compute on half of the cores, unless a number of threads is set.",
        json_schema_extra=_extra("--save-battery", "compute", live=True),
    )
    io_threads: int = Field(
        8,
        title="Read threads",
        description="Threads that read experts from the SSD at the same time.",
        ge=1,
        le=64,
        json_schema_extra=_extra("--io-threads", "speed", unit="threads", live=True),
    )
    lookahead: int = Field(
        3,
        title="Lookahead",
        description="How many layers ahead experts are predicted and read early; 0 reads only what is needed now.",
        ge=0,
        le=4,
        json_schema_extra=_extra("--lookahead", "speed", unit="layers", live=True),
    )
    lookahead_width: int | None = Field(
        None,
        title="Lookahead width",
        description="How many experts of a layer are predicted. Automatic: as many as a token uses.",
        ge=1,
        le=512,
        json_schema_extra=_extra("--lookahead-width", "speed", live=True),
    )
    prefetch_depth: int = Field(
        2,
        title="Early reads at a time",
        description="Experts are read early only while fewer reads than this are going on.",
        ge=1,
        le=64,
        json_schema_extra=_extra("--prefetch-depth", "speed", live=True),
    )
    prefetch_bar: float | None = Field(
        None,
        title="Read-ahead bar",
        description="How likely a predicted expert must be to be read early, from 0 to 1. Automatic: the less likely "
        "the idler the drive is.",
        ge=0,
        le=1,
        json_schema_extra=_extra("--prefetch-bar", "speed", live=True),
    )
    lookahead_trial: bool = Field(
        True,
        title="Check that lookahead pays",
        description="Compute a few tokens without lookahead now and then, and leave it off where they are faster.",
        json_schema_extra=_extra("--lookahead-trial", "speed", live=True),
    )
    lookahead_correction: bool = Field(
        True,
        title="Trained lookahead",
        description="Use what `gannet fit-lookahead` has learnt about a model to predict its experts better.",
        json_schema_extra=_extra("--lookahead-correction", "speed", live=True),
    )
    census: bool = Field(
        True,
        title="Remember popular experts",
        description="Count which experts a model uses and read the most used ones in idle time after the next start.",
        json_schema_extra=_extra("--census", "memory"),
    )
    flash_attention: bool = Field(
        True,
        title="Flash attention",
        description="The faster attention computation, with a smaller work buffer.",
        # Never "auto": llama.cpp's automatic choice differs once another backend is registered, and so would answers.
        json_schema_extra=_extra("--flash-attention", "compute"),
    )
    plain: bool = Field(
        False,
        title="Plain llama.cpp",
        description="Stock llama.cpp with nothing of Gannet's switched on; the model is mapped into memory.",
        json_schema_extra=_extra("--plain", "compute"),
    )
    temperature: float = Field(
        0.8,
        title="Temperature",
        description="How freely the next word is chosen; 0 always takes the likeliest.",
        ge=0,
        le=10,
        json_schema_extra=_extra("--temperature", "answer", live=True),
    )
    top_k: int = Field(
        40,
        title="Top-k",
        description="Choose among this many likeliest tokens; 0 looks at all.",
        ge=0,
        json_schema_extra=_extra("--top-k", "answer", unit="tokens", live=True),
    )
    top_p: float = Field(
        0.95,
        title="Top-p",
        description="Choose among the likeliest tokens that together have this probability.",
        ge=0,
        le=1,
        json_schema_extra=_extra("--top-p", "answer", live=True),
    )
    min_p: float = Field(
        0.05,
        title="Min-p",
        description="Leave out tokens less likely than this share of the likeliest one.",
        ge=0,
        le=1,
        json_schema_extra=_extra("--min-p", "answer", live=True),
    )
    repeat_penalty: float = Field(
        1.0,
        title="Repeat penalty",
        description="Above 1 makes words of the last 64 tokens less likely.",
        gt=0,
        le=10,
        json_schema_extra=_extra("--repeat-penalty", "answer", live=True),
    )
    seed: int | None = Field(
        None,
        title="Seed",
        description="Start of the random numbers of sampling; the same seed gives the same answer. Empty: a new one.",
        ge=0,
        lt=(1 << 32) - 1,
        json_schema_extra=_extra("--seed", "answer", live=True),
    )


def make_settings(values: dict[str, Any]) -> EngineSettings:
    """Validate `values` (field name -> value); raises `SettingsError` with one line that names the setting."""
    try:
        return EngineSettings.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise SettingsError(f"setting {name}: {first['msg'][:1].lower()}{first['msg'][1:]}") from None


def setting_extra(name: str) -> dict[str, Any]:
    """The `json_schema_extra` of the setting `name`: option, group, unit, live."""
    extra = EngineSettings.model_fields[name].json_schema_extra
    assert isinstance(extra, dict), f"{name} is declared without _extra()"
    return dict(extra)


def live_settings() -> frozenset[str]:
    """Names of the settings that take effect without loading the model again."""
    return frozenset(name for name in EngineSettings.model_fields if setting_extra(name)["live"])
