"""The application's style sheet, made from the tokens (pure text, no Qt).

Widgets opt in by object name or by the dynamic properties `kind` ("primary", "quiet", "danger", "soft") and `role`
("title", "soft", "figure", "notice").
"""

from __future__ import annotations

from pathlib import Path
from string import Template

from app.theme.tokens import TOKENS, Mode

_PIXELS = {"title_size": 18, "figure_size": 22, "box_size": 15}
_TICK = Path(__file__).parent / "icons" / "tick.svg"
_SHEET = Template("""
QToolTip { color: $text; background: $raised; border: 1px solid $line; padding: 4px 6px; }
QMainWindow, QDialog { background: $window; }
QMenu { background: $raised; color: $text; border: 1px solid $line; padding: 4px; }
QMenu::item { padding: 5px 24px 5px 12px; border-radius: 4px; }
QMenu::icon { padding-left: 8px; }
QMenu::item:selected { background: $selected; color: $text; }
QMenu::item:disabled { color: $text_soft; }
QMenu::separator { height: 1px; background: $line; margin: 4px 8px; }
QMenuBar { background: $window; color: $text; }
QMenuBar::item { padding: 4px 8px; background: transparent; }
QMenuBar::item:selected { background: $hover; }

QPushButton, QToolButton { border-radius: 6px; padding: 5px 12px; border: 1px solid $line; background: $raised; color: $text; }
QToolButton { padding: 5px; }
QPushButton:hover, QToolButton:hover { background: $hover; }
QPushButton:pressed, QToolButton:pressed { background: $pressed; }
QPushButton:focus, QToolButton:focus { border: 1px solid $focus; }
QPushButton:disabled, QToolButton:disabled { color: $line_strong; background: $panel; }
QPushButton[kind="primary"], QToolButton[kind="primary"] { background: $accent; color: $accent_text; border: 1px solid $accent; font-weight: 600; }
QPushButton[kind="primary"]:hover, QToolButton[kind="primary"]:hover { border: 1px solid $focus; }
QPushButton[kind="primary"]:focus, QToolButton[kind="primary"]:focus { border: 2px solid $text; }
QPushButton[kind="primary"]:disabled, QToolButton[kind="primary"]:disabled { background: $pressed; color: $text_soft; border-color: $line; }
QPushButton[kind="quiet"], QToolButton[kind="quiet"] { background: transparent; border: 1px solid transparent; }
QPushButton[kind="quiet"]:hover, QToolButton[kind="quiet"]:hover { background: $hover; }
QPushButton[kind="quiet"]:focus, QToolButton[kind="quiet"]:focus { border: 1px solid $focus; }
QPushButton[kind="quiet"]:checked, QToolButton[kind="quiet"]:checked { background: $selected; }
QPushButton[kind="fold"] { background: transparent; border: 1px solid transparent; text-align: left; color: $text_soft; padding: 3px 8px 3px 2px; }
QPushButton[kind="fold"]:hover { background: $hover; color: $text; }
QPushButton[kind="fold"]:focus { border: 1px solid $focus; }
QPushButton[kind="danger"] { color: $bad; }
QPushButton::menu-indicator, QToolButton::menu-indicator { image: none; width: 0; }

QLineEdit, QPlainTextEdit, QTextEdit, QSpinBox, QDoubleSpinBox, QComboBox {
  background: $field; color: $text; border: 1px solid $line; border-radius: 6px; padding: 4px 8px;
  selection-background-color: $accent; selection-color: $accent_text; }
QLineEdit:focus, QPlainTextEdit:focus, QTextEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus { border: 1px solid $focus; }
QAbstractSpinBox QLineEdit { background: transparent; border: none; padding: 0 6px; }
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button { width: 0; border: none; }
QCheckBox { spacing: 6px; }
QCheckBox::indicator { width: $box_size; height: $box_size; border: 1px solid $line_strong; border-radius: 4px; background: $field; }
QCheckBox::indicator:hover, QCheckBox::indicator:focus { border: 1px solid $focus; }
QCheckBox::indicator:checked { background: $accent; border: 1px solid $accent; image: url("$tick"); }
QCheckBox::indicator:disabled { background: $panel; border: 1px solid $line; }
QCheckBox:focus { color: $text; }
QComboBox::drop-down { border: none; width: 22px; }
QComboBox::down-arrow { width: 0; height: 0; border-left: 4px solid $field; border-right: 4px solid $field; border-top: 5px solid $text_soft; }
QComboBox QAbstractItemView { background: $raised; color: $text; border: 1px solid $line; selection-background-color: $selected; selection-color: $text; }

QScrollBar:vertical { background: transparent; width: 10px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 0; }
QScrollBar::handle { background: $pressed; border-radius: 4px; min-height: 32px; min-width: 32px; margin: 1px; }
QScrollBar::handle:hover { background: $line_strong; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QScrollArea { border: none; background: transparent; }
QProgressBar { border: none; background: $pressed; border-radius: 3px; max-height: 6px; min-height: 6px; }
QProgressBar::chunk { background: $accent; border-radius: 3px; }
QTableView, QListView, QTreeView { background: $window; alternate-background-color: $panel; border: 1px solid $line; border-radius: 6px;
  selection-background-color: $selected; selection-color: $text; gridline-color: $line; }
QHeaderView::section { background: $panel; color: $text_soft; border: none; border-bottom: 1px solid $line; padding: 5px 8px; }
QTabBar::tab { padding: 6px 12px; color: $text_soft; border: none; border-bottom: 2px solid transparent; background: transparent; }
QTabBar::tab:selected { color: $text; border-bottom: 2px solid $accent; }
QTabWidget::pane { border: none; border-top: 1px solid $line; }
QSplitter::handle { background: $line; }
QGroupBox { border: 1px solid $line; border-radius: 8px; margin-top: 20px; padding: 12px; }
QGroupBox::title { subcontrol-origin: margin; left: 4px; top: 2px; color: $text_soft; }

QLabel { background: transparent; color: $text; }
QLabel[role="title"] { font-size: $title_size; font-weight: 600; }
QLabel[role="heading"] { font-weight: 600; }
QLabel[role="soft"] { color: $text_soft; }
QLabel[role="figure"] { font-size: $figure_size; font-weight: 600; }
QLabel[role="good"] { color: $good; }
QLabel[role="warn"] { color: $warn; }
QLabel[role="bad"] { color: $bad; }
QFrame[role="card"] { background: $raised; border: 1px solid $line; border-radius: 8px; }
QFrame[role="notice"] { background: $panel; border: 1px solid $line; border-radius: 8px; }
QFrame[role="notice-good"] { background: $good_soft; border: 1px solid $good; border-radius: 8px; }
QFrame[role="notice-warn"] { background: $warn_soft; border: 1px solid $warn; border-radius: 8px; }
QFrame[role="notice-bad"] { background: $bad_soft; border: 1px solid $bad; border-radius: 8px; }
QFrame[role="rule"] { background: $line; border: none; max-height: 1px; min-height: 1px; }

QWidget#sidebar { background: $sidebar; border-right: 1px solid $line; }
QWidget#sidebar QPushButton { text-align: left; padding: 7px 10px; }
QListView#conversations { background: transparent; border: none; outline: none; }
QWidget#header { background: $window; border-bottom: 1px solid $line; }
QWidget#engine-panel { background: $panel; border-left: 1px solid $line; }
QFrame#composer { background: $field; border: 1px solid $line_strong; border-radius: 12px; }
QFrame#composer[focused="true"] { border: 1px solid $focus; }
QFrame#composer QPlainTextEdit { background: transparent; border: none; padding: 2px; }
QFrame#bubble { background: $bubble; border-radius: 12px; border: none; }
QFrame#code-block { background: $code; border: 1px solid $line; border-radius: 8px; }
QFrame#code-block QPlainTextEdit { background: transparent; border: none; padding: 4px 8px; }
QTextEdit#prose { background: transparent; border: none; padding: 0; }
QFrame#toast { background: $deep; border-radius: 8px; border: none; }
QFrame#toast QLabel { color: $deep_text; }
QFrame#toast QPushButton { background: transparent; color: $accent; border: none; font-weight: 600; }
QFrame#toast QPushButton:focus { border: 1px solid $accent; }
""")


def stylesheet(mode: Mode, scale: float = 1.0) -> str:
    """The style sheet of `mode`, its sizes `scale` times those for the desktop's own font.

    Raises KeyError when the sheet names a token that is not declared.
    """
    sizes = {name: f"{round(pixels * scale)}px" for name, pixels in _PIXELS.items()}
    colours = {name: token.in_mode(mode) for name, token in TOKENS.items()}
    return _SHEET.substitute(colours, **sizes, tick=_TICK.as_posix())
