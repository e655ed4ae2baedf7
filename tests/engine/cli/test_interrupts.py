"""Ctrl-C reaches native code at once, and nothing of the arrangement stays behind."""

from __future__ import annotations

import os
import signal
import threading

from engine.cli.interrupts import on_interrupt


def test_the_action_runs_although_the_main_thread_is_busy() -> None:
    acted = threading.Event()
    with on_interrupt(acted.set):
        os.kill(os.getpid(), signal.SIGINT)
        assert acted.wait(10)


def test_afterwards_ctrl_c_means_what_it_meant_before() -> None:
    handler, threads = signal.getsignal(signal.SIGINT), threading.active_count()
    with on_interrupt(lambda: None):
        assert signal.getsignal(signal.SIGINT) != handler
    assert signal.getsignal(signal.SIGINT) == handler
    assert signal.set_wakeup_fd(-1) == -1
    assert threading.active_count() == threads


def test_off_the_main_thread_it_leaves_signals_alone() -> None:
    done: list[bool] = []

    def work() -> None:
        with on_interrupt(lambda: None):
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]
