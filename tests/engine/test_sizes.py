"""Sizes on the command line mean what people expect, and a slip of the pen is explained."""

from __future__ import annotations

import pytest

from engine.errors import SettingsError
from engine.sizes import Size, format_bytes, parse_size


@pytest.mark.parametrize(
    ("text", "nbytes"),
    [
        ("4000MiB", 4000 << 20),
        ("4G", 4 << 30),
        ("4g", 4 << 30),
        ("1.5 GiB", 3 << 29),
        ("4GB", 4_000_000_000),
        ("512k", 512 << 10),
        ("123", 123),
        ("0", 0),
        (".5M", 1 << 19),
    ],
)
def test_a_size_with_a_unit_is_that_many_bytes(text: str, nbytes: int) -> None:
    assert parse_size(text).resolve(expert_bytes=10) == nbytes


def test_a_percentage_is_a_share_of_the_models_expert_bytes() -> None:
    assert parse_size("25%") == Size(share=0.25)
    assert parse_size("25%").resolve(expert_bytes=1000) == 250


@pytest.mark.parametrize("text", ["", "G", "4 Q", "-4G", "101%", "4GiBs", "1e5", "99999999999T", "4,5G", "٤G%"])
def test_what_is_not_a_size_is_refused_in_one_line_that_quotes_it(text: str) -> None:
    with pytest.raises(SettingsError) as refused:
        parse_size(text)
    assert f"'{text}'" in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("nbytes", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "0.977 KiB"), (4000 << 20, "3.91 GiB"), (17.1e12, "15.6 TiB")],
)
def test_sizes_are_shown_with_three_digits(nbytes: float, text: str) -> None:
    assert format_bytes(nbytes) == text
