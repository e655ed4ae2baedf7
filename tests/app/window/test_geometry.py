"""Where the window opens."""

from __future__ import annotations

from typing import Any

import pytest

from app.window.geometry import Box, placed

FULL, SECOND = Box(0, 0, 1920, 1040), Box(1920, 0, 1280, 1024)
DEFAULT, LEAST = (1100, 750), (640, 480)


@pytest.mark.parametrize(
    ("saved", "screens", "expected"),
    [
        ({}, [FULL], Box(410, 145, 1100, 750)),
        ({"x": 100, "y": 50, "width": 800, "height": 600}, [FULL], Box(100, 50, 800, 600)),
        ({"x": 2000, "y": 50, "width": 800, "height": 600}, [FULL, SECOND], Box(2000, 50, 800, 600)),
        ({"x": 2000, "y": 50, "width": 800, "height": 600}, [FULL], Box(1120, 50, 800, 600)),
        ({"x": -5000, "y": -5000, "width": 800, "height": 600}, [FULL], Box(0, 0, 800, 600)),
        ({"x": 0, "y": 0, "width": 9000, "height": 9000}, [FULL], Box(0, 0, 1920, 1040)),
        ({"x": 0, "y": 0, "width": 10, "height": 10}, [FULL], Box(0, 0, 640, 480)),
        ({"x": 0, "y": 0, "width": 0, "height": 600}, [FULL], Box(410, 145, 1100, 750)),
        ({"x": "a", "y": 0, "width": True, "height": 600}, [FULL], Box(410, 145, 1100, 750)),
        ({}, [Box(0, 0, 640, 480)], Box(0, 0, 640, 480)),
    ],
)
def test_the_window_is_always_on_a_screen(saved: dict[str, Any], screens: list[Box], expected: Box) -> None:
    """Else a window that was on a screen that is gone can never be reached again."""
    assert placed(saved, screens, DEFAULT, LEAST) == expected
