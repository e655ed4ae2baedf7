"""How idle compute threads wait: a user loses a usable machine, or an own choice, when these fail."""

from engine.openmp import SPIN_COUNT, settle_waiting


def test_idle_threads_soon_let_other_programs_run() -> None:
    environment: dict[str, str] = {}
    settle_waiting(environment)
    assert environment == {"GOMP_SPINCOUNT": SPIN_COUNT}


def test_what_the_user_chose_stays() -> None:
    for chosen in ({"GOMP_SPINCOUNT": "7"}, {"OMP_WAIT_POLICY": "active"}):
        environment = dict(chosen)
        settle_waiting(environment)
        assert environment == chosen
