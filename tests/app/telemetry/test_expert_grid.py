"""The heat map's content: hovering must name the expert that is really under the pointer."""

from __future__ import annotations

import numpy as np
import pytest

from app.telemetry.expert_grid import make_grid

MAP = {
    "uses": [[1, 9, 4], [0, 0, 16]],
    "resident": [[False, True, True], [False, False, True]],
    "last_use": [[3, 90, 40], [-1, -1, 88]],
}


def test_by_id_the_columns_are_the_experts() -> None:
    grid = make_grid(MAP, by_popularity=False)
    assert grid is not None
    cell = grid.cell(0, 1)
    assert (cell.layer, cell.expert, cell.uses, cell.resident, cell.last_use) == (0, 1, 9, True, 90)
    assert cell.share == pytest.approx(9 / 14)
    assert grid.shown_resident().tolist() == MAP["resident"]


def test_by_popularity_each_layer_is_sorted_and_cells_still_name_the_expert() -> None:
    grid = make_grid(MAP, by_popularity=True)
    assert grid is not None
    assert [grid.cell(0, column).expert for column in range(3)] == [1, 2, 0]
    assert grid.cell(1, 0).expert == 2 and grid.shown_resident()[1].tolist() == [True, False, False]
    assert np.all(np.diff(grid.brightness(), axis=1) <= 0)
    assert grid.brightness()[0, 0] == 1.0 and grid.brightness()[0, 1] == pytest.approx(2 / 3)


def test_no_experts_is_no_map() -> None:
    assert make_grid({}, True) is None and make_grid({"uses": [[]]}, True) is None


def test_layers_of_different_width_are_filled_up_and_missing_parts_are_unknown() -> None:
    grid = make_grid({"uses": [[1], [2, 3]]}, by_popularity=False)
    assert grid is not None and grid.experts == 2
    assert grid.cell(0, 1).uses == 0 and grid.cell(1, 1).last_use == -1
    with pytest.raises(IndexError):
        grid.cell(2, 0)
