"""The live theme: follows the system or stays where the user fixed it, and paints the application from the tokens."""

from __future__ import annotations

from typing import Literal
from weakref import WeakKeyDictionary

import shiboken6
from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QIcon, QPalette
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel

from app.theme import icons
from app.theme.stylesheet import stylesheet
from app.theme.tokens import TOKENS, Mode

Choice = Literal["system", "light", "dark", "contrast"]
BUTTON_ICON, LABEL_ICON = 16, 20


class Theme(QObject):
    """Which mode is on, and its colours.

    Attributes: `mode` ("light", "dark" or "contrast"), `reduce_motion` (no animation at all).
    Signals: `changed` after every colour, icon and font of the application has been replaced.
    """

    changed = Signal()

    def __init__(self, application: QApplication, choice: Choice = "system", font_points: float = 0.0) -> None:
        super().__init__(application)
        self._application = application
        self._choice: Choice = choice
        self._system_font = QFont(application.font())
        self._tinted: WeakKeyDictionary[QAbstractButton | QLabel, tuple[str, str, int]] = WeakKeyDictionary()
        self._scale = 1.0
        self.reduce_motion = False
        application.setStyle("Fusion")
        self.mode: Mode = self._resolve()
        self.set_font_points(font_points)
        application.styleHints().colorSchemeChanged.connect(self._system_changed)
        application.styleHints().accessibility().contrastPreferenceChanged.connect(self._system_changed)

    def choose(self, choice: Choice) -> None:
        """Follow the system (its wish for high contrast first), or fix a mode."""
        self._choice = choice
        self._switch(self._resolve())

    def set_font_points(self, points: float) -> None:
        """Size of the interface font in points; 0 is the system's own size."""
        font = QFont(self._system_font)
        if points > 0:
            font.setPointSizeF(points)
        self._scale = QFontMetricsF(font).height() / QFontMetricsF(self._system_font).height()
        self._application.setFont(font)
        self._apply()

    def scaled(self, pixels: float) -> int:
        """A length that is `pixels` long with the desktop's own font, with the font that is on now."""
        return round(pixels * self._scale)

    def color(self, name: str) -> QColor:
        """The colour of token `name` now. Raises KeyError for a name that is not declared."""
        return QColor(TOKENS[name].in_mode(self.mode))

    def icon(self, name: str, token: str = "text_soft") -> QIcon:
        """Own icon `name` in the colour of `token` (greyed when disabled)."""
        return icons.icon(name, self.color(token), self.color("line_strong"))

    def tint(self, target: QAbstractButton | QLabel, name: str, token: str = "text_soft", size: int = 0) -> None:
        """Put own icon `name` on a button or label, in the theme's colours and as large as its font from now on.

        `size` is its height in pixels with the desktop's own font, 0 for what is usual.
        """
        self._tinted[target] = (name, token, size or (LABEL_ICON if isinstance(target, QLabel) else BUTTON_ICON))
        self._tint(target)

    def _tint(self, target: QAbstractButton | QLabel) -> None:
        name, token, size = self._tinted[target]
        icon, size = self.icon(name, token), self.scaled(size)
        if isinstance(target, QLabel):
            target.setPixmap(icon.pixmap(QSize(size, size), target.devicePixelRatio()))
        else:
            target.setIcon(icon)
            target.setIconSize(QSize(size, size))

    def _resolve(self) -> Mode:
        if self._choice != "system":
            return self._choice
        hints = self._application.styleHints()
        if hints.accessibility().contrastPreference() == Qt.ContrastPreference.HighContrast:
            return "contrast"
        scheme = hints.colorScheme()
        return "dark" if scheme == Qt.ColorScheme.Dark else "light"

    def _system_changed(self) -> None:
        if self._choice == "system":
            self._switch(self._resolve())

    def _switch(self, mode: Mode) -> None:
        if mode != self.mode:
            self.mode = mode
            self._apply()

    def _apply(self) -> None:
        self._application.setPalette(self._palette())
        self._application.setStyleSheet(stylesheet(self.mode, self._scale))
        for target in list(self._tinted):
            if shiboken6.isValid(target):
                self._tint(target)
        self.changed.emit()

    def _palette(self) -> QPalette:
        palette = QPalette()
        role, group = QPalette.ColorRole, QPalette.ColorGroup
        for target, token in (
            (role.Window, "window"), (role.Base, "field"), (role.AlternateBase, "panel"), (role.Button, "raised"),
            (role.ToolTipBase, "raised"), (role.WindowText, "text"), (role.Text, "text"), (role.ButtonText, "text"),
            (role.ToolTipText, "text"), (role.BrightText, "bad"), (role.PlaceholderText, "text_soft"),
            (role.Highlight, "accent"), (role.HighlightedText, "accent_text"), (role.Link, "link"),
            (role.LinkVisited, "link"), (role.Mid, "line"), (role.Dark, "line_strong"), (role.Light, "raised"),
            (role.Midlight, "hover"), (role.Shadow, "line_strong"), (role.Accent, "accent"),
        ):  # fmt: skip
            palette.setColor(target, self.color(token))
        for target in (role.WindowText, role.Text, role.ButtonText):
            palette.setColor(group.Disabled, target, self.color("line_strong"))
        return palette
