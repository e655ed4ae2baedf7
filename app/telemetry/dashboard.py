"""The dashboard: tiles, a token's time, memory, the heat map. Shows what it is given; asks nobody."""

from __future__ import annotations

import math

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QGridLayout, QVBoxLayout, QWidget

from app.i18n import tr
from app.models.estimate import hit_rate_at
from app.models.shape import ModelShape
from app.page_parts.figures_as_words import number_text, percent_text, size_text
from app.page_parts.labels import card, label, row
from app.telemetry.expert_grid import ExpertGrid
from app.telemetry.figures import FIGURES, PARTS, Figure, Snapshot, memory_parts, number
from app.telemetry.heat_map import HeatMap
from app.telemetry.live import LiveFigures
from app.telemetry.memory_bar import MemoryBar
from app.telemetry.stacked_bar import StackedBar, Stretch
from app.telemetry.tiles import Tile, TinyPlot
from app.theme import Theme
from app.theme.tokens import GRID

FIGURE = {figure.name: figure for figure in FIGURES}
FIRST_TOKEN = Figure("first_token_s", "First token after", "s", "Time from the last question to its first token.")
PART_TOKENS = {"dense": "plot_2", "experts": "plot_1", "stall": "plot_5", "predict": "plot_4", "sample": "plot_3"}
MEMORY_NAMES: dict[str, tuple[str, str, str]] = {
    "others": ("line_strong", "Other programs", "Memory that other programs and the system use."),
    "model": ("plot_2", "Model", "Weights that work for every token."),
    "kv": ("plot_4", "Conversation", "What the model remembers of the conversation (KV cache)."),
    "cache": ("plot_1", "Expert cache", "Experts kept in memory. Drag its end to change its size."),
    "free": ("pressed", "Free", "Not used by anybody."),
}
# By the engine's words for why the expert cache has its size; {most}: what it may be at most.
REASONS: dict[str, str] = {
    "start": "Unchanged since the model was loaded.",
    "asked for": "This size was asked for.",
    "memory is short": "Made smaller because other programs need memory; up to {most} when they no longer do.",
    "memory is free": "Made larger because memory is free.",
}
TILE_WIDTH = 150
BARS_EVERY = 5
"""Bars and their words follow every fifth snapshot: faster nobody can read them, and each change lays text out anew."""


class Dashboard(QWidget):
    """Everything below the title row.

    Signals: `cache_chosen(bytes)`; `order_changed()` when the heat map is to be sorted differently.
    """

    cache_chosen = Signal(object)
    order_changed = Signal()

    def __init__(self, theme: Theme, live: LiveFigures) -> None:
        super().__init__()
        self._theme, self._live = theme, live
        self._total = 0
        self._snapshot: Snapshot = {}
        self.shape: ModelShape | None = None
        self._tiles = self._make_tiles()
        self._tile_grid = QGridLayout()
        self._columns = 0
        self._until_bars = 0
        self.time_bar = StackedBar(theme)
        self._time_text = label("", "soft", wrap=True)
        self.memory_bar = MemoryBar(theme)
        self._memory = StackedBar(theme, self.memory_bar)
        self._memory_text = label("", "soft", wrap=True)
        self._prefetch_text = label("", "soft", wrap=True)
        self.heat_map = HeatMap(theme)
        self._heat_text = label("", "soft", wrap=True)
        self.order = QComboBox()
        self._build()
        self.memory_bar.previewed.connect(self._previewed)
        self.memory_bar.chosen.connect(self.cache_chosen)

    def by_popularity(self) -> bool:
        """Whether the heat map is sorted by use."""
        return self.order.currentIndex() == 0

    def refresh(self, snapshot: Snapshot, total_memory: int) -> None:
        """Show the figures as they are now. Called ten times a second: nothing is laid out anew."""
        self._snapshot, self._total = snapshot, total_memory
        for tile in self._tiles:
            tile.refresh()
        self._until_bars -= 1
        if self._until_bars > 0:
            return
        self._until_bars = BARS_EVERY
        self._refresh_time()
        if not self.memory_bar.dragging:
            self._refresh_memory()
        self._refresh_prefetch()

    def show_experts(self, grid: ExpertGrid | None) -> None:
        """Show this map of the experts."""
        self.heat_map.setVisible(grid is not None)
        self.order.setEnabled(grid is not None)
        self.heat_map.show_grid(grid)
        if grid is None:
            self._heat_text.setText(tr("This model has no experts to show: all of it works for every token."))
            return
        share = grid.resident.mean()
        mark = tr("outlined") if self.heat_map.outlines else tr("golden")
        self._heat_text.setText(
            tr(
                "{layers} layers down, {experts} experts across. A stronger colour is used more; "
                "{share} % are in memory, {mark}."
            ).format(layers=grid.layers, experts=grid.experts, share=number_text(100 * share, 0), mark=mark)
        )

    def _make_tiles(self) -> tuple[Tile, ...]:
        series, now = self._live.series, self._live.now
        stacked = (("hit_rate", "plot_1"), ("late_rate", "plot_2"), ("miss_rate", "plot_5"))

        def tile(name: str, token: str) -> Tile:
            return Tile(
                self._theme,
                FIGURE[name],
                TinyPlot(self._theme, series, ((name, token),)),
                lambda: now.get(name, math.nan),
            )

        hits = Tile(
            self._theme,
            FIGURE["hit_rate"],
            TinyPlot(self._theme, series, stacked, 100.0),
            lambda: now.get("hit_rate", math.nan),
        )
        first = Tile(self._theme, FIRST_TOKEN, None, lambda: self._live.first_token_s)
        hits.setToolTip(
            tr(
                "Gold: found in memory. Blue: arrived late, read ahead but not in time. "
                "Red: missed, read while the answer waited."
            )
        )
        return (
            tile("tokens_per_s", "plot_1"), first, hits, tile("stall_ms", "plot_5"), tile("read_rate", "plot_2"),
            tile("queue", "plot_4"),
        )  # fmt: skip

    def _refresh_time(self) -> None:
        names = {key: (title, text) for key, title, _, text in PARTS}
        stretches = tuple(
            Stretch(
                part.key, part.share, PART_TOKENS[part.key], tr(names[part.key][0]),
                tr("{ms} ms, {share} %").format(
                    ms=number_text(part.milliseconds, 0 if part.milliseconds >= 10 else 1),
                    share=number_text(100 * part.share, 0),
                ),
                tr(names[part.key][1]),
            )
            for part in self._live.parts
        )  # fmt: skip
        self.time_bar.show_stretches(stretches)
        total = sum(part.milliseconds for part in self._live.parts)
        text = tr("{ms} ms for a token, over the last seconds").format(ms=number_text(total, 0)) if stretches else ""
        _set(self._time_text, text or tr("Ask something, and this bar shows where the time goes."))

    def _refresh_memory(self) -> None:
        parts = memory_parts(self._snapshot, self._total)
        stretches = tuple(
            Stretch(
                part.key, part.nbytes / self._total, MEMORY_NAMES[part.key][0], tr(MEMORY_NAMES[part.key][1]),
                size_text(part.nbytes), tr(MEMORY_NAMES[part.key][2]),
            )
            for part in parts
        )  # fmt: skip
        self._memory.show_stretches(stretches)
        cache = int(number(self._snapshot, "cache_bytes"))
        self.memory_bar.set_sizes(self._total, cache, adjustable=cache > 0)
        _set(self._memory_text, f"{self._cache_text(cache)} {self._cache_reason()}".rstrip() if cache else "")

    def _refresh_prefetch(self) -> None:
        useful, late, wasted = (number(self._snapshot, f"prefetch_{name}") for name in ("useful", "late", "wasted"))
        all_reads = useful + late + wasted
        text = ""
        if all_reads:
            text = tr("Read ahead: {useful} % in time, {late} % late, {wasted} % not needed.").format(
                useful=round(100 * useful / all_reads), late=round(100 * late / all_reads),
                wasted=round(100 * wasted / all_reads),
            )  # fmt: skip
        _set(self._prefetch_text, text)

    def _previewed(self, nbytes: int) -> None:
        self._memory_text.setText(self._cache_text(nbytes))

    def _cache_text(self, nbytes: int) -> str:
        size = size_text(nbytes)
        if self.shape is None or not self.shape.is_moe:
            return tr("Expert cache {size}.").format(size=size)
        expected = percent_text(hit_rate_at(self.shape, nbytes))
        return tr("Expert cache {size}: about {range} of the experts found in memory.").format(
            size=size, range=expected
        )

    def _cache_reason(self) -> str:
        """Why the cache has its size; nothing where the engine gives no reason, or one of a newer version."""
        reason = REASONS.get(str(self._snapshot.get("cache_reason", "")), "")
        return tr(reason).format(most=size_text(int(number(self._snapshot, "cache_most_bytes")))) if reason else ""

    def resizeEvent(self, event: object) -> None:
        """As many tiles side by side as fit."""
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._arrange()

    def _arrange(self) -> None:
        columns = max(2, min(len(self._tiles), self.width() // self._theme.scaled(TILE_WIDTH)))
        if columns == 5:
            columns = 3  # two rows of three rather than five and one
        if columns == self._columns:
            return
        self._columns = columns
        for at, tile in enumerate(self._tiles):
            self._tile_grid.addWidget(tile, at // columns, at % columns)
        for column in range(len(self._tiles)):
            self._tile_grid.setColumnStretch(column, 1 if column < columns else 0)

    def _build(self) -> None:
        self.order.addItems([tr("By popularity"), tr("By number")])
        self.order.setAccessibleName(tr("Order of the experts"))
        self.order.activated.connect(lambda _: self.order_changed.emit())
        self._tile_grid.setSpacing(GRID)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID + 4)
        column.addLayout(self._tile_grid)
        for title, extra, contents in (
            (tr("Where a token's time goes"), None, (self.time_bar, self._time_text)),
            (tr("Memory of this computer"), None, (self._memory, self._memory_text)),
            (tr("Experts"), self.order, (self._heat_text, self.heat_map, self._prefetch_text)),
        ):
            frame, body = card()
            body.setSpacing(GRID)
            body.addLayout(row(label(title, "heading"), 1, *([extra] if extra is not None else [])))
            for content in contents:
                body.addWidget(content)
            column.addWidget(frame)
        self._arrange()


def _set(target: object, text: str) -> None:
    """Set a label's text when it differs: setting the same text would lay the page out again."""
    if target.text() != text:  # type: ignore[attr-defined]
        target.setText(text)  # type: ignore[attr-defined]
