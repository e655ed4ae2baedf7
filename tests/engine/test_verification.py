"""The comparison that every identity test trusts sees the smallest difference."""

from __future__ import annotations

import numpy as np

from engine.verification import Recording, first_difference


def recording(logits: np.ndarray) -> Recording:
    return Recording(np.zeros(len(logits) + 1, np.int32), logits)


def test_equal_bits_are_no_difference() -> None:
    logits = np.random.default_rng(0).standard_normal((5, 30), np.float32)
    assert first_difference(recording(logits), recording(logits.copy())) is None


def test_one_bit_of_one_logit_is_a_difference_at_its_position() -> None:
    logits = np.random.default_rng(0).standard_normal((5, 30), np.float32)
    changed = logits.copy()
    changed[3, 7] = np.nextafter(changed[3, 7], np.float32(10))
    changed[4] = 0
    found = first_difference(recording(logits), recording(changed))
    assert found is not None
    assert (found.position, found.differing) == (3, 1)
    assert 0 < found.largest < 1e-6


def test_the_sign_of_zero_counts_and_equal_nans_do_not() -> None:
    logits = np.zeros((1, 3), np.float32)
    assert first_difference(recording(logits), recording(-logits)) is not None
    logits[0, 1] = np.nan
    assert first_difference(recording(logits), recording(logits.copy())) is None


def test_a_recording_that_ends_early_differs_there() -> None:
    logits = np.zeros((4, 3), np.float32)
    found = first_difference(recording(logits), recording(logits[:2]))
    assert found is not None
    assert found.position == 2
