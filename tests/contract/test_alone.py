"""The turns of a process and the charge of a death are two halves of one rule, in two languages."""

import lockgate_sql
from lockgate import alone


def test_a_death_is_judged_by_the_turn_that_the_process_gives() -> None:
    body = lockgate_sql.text("rules/recovery/spend_attempt.sql")

    assert f"c.deaths >= {alone.ALONE_AFTER} then" in body
    assert f"interval '{alone.ALONE_S / 2:g} seconds'" in body
