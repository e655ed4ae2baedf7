"""The process that renders chat templates is there before the first question, and gone with the server."""

from __future__ import annotations

import contextlib
from pathlib import Path

import psutil

from tests.engine.server.server_process import wait_until
from tests.engine.server.server_thread import serving


def workers() -> list[psutil.Process]:
    """Template processes of this test process."""
    found = []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.Error):  # ended meanwhile
            if any("template_worker" in word for word in child.cmdline()):
                found.append(child)
    return found


def test_the_first_question_need_not_wait_for_it(tmp_path: Path) -> None:
    """It takes half a second to start from a checkout, two seconds packaged."""
    before = {process.pid for process in workers()}
    with serving(tmp_path):
        [started] = wait_until(
            lambda: [one for one in workers() if one.pid not in before], "the start of the template process"
        )
    assert not started.is_running()
