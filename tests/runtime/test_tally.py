"""What a worker counts for itself: totals, and how long ago it swept."""

import pytest

from lockgate import tally
from lockgate.tally import Tally


def test_before_the_first_sweep_no_age_is_told() -> None:
    assert Tally().swept_ago_ms() is None


def test_a_sweeps_age_grows_until_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([100.0, 100.25, 107.5, 108.0, 108.0])
    monkeypatch.setattr(tally, "now_s", lambda: next(times))
    counted = Tally()
    counted.swept()
    assert [counted.swept_ago_ms(), counted.swept_ago_ms()] == [250, 7500]
    counted.swept()
    assert counted.swept_ago_ms() == 0
