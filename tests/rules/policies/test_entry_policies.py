"""The policies of an entry over a run that executes, as rows: one verdict each."""

from tests.support.door import Door


def test_each_policy_has_one_verdict_that_is_an_outcome(db: Door) -> None:
    rows = db.rows(
        "select policy, verdict, verdict::lockgate.entry_outcome from lockgate.entry_policies"
    )

    assert {row.policy: row.verdict for row in rows} == {
        "reject": "already_running",
        "interrupt_previous": "interrupting",
    }
    assert len(rows) == 2


def test_the_border_takes_the_policies_of_the_table_and_no_other(db: Door) -> None:
    policies = {row.policy for row in db.rows("select policy from lockgate.entry_policies")}
    for policy in (*policies, "queue", ""):
        taken = db.plan_start(concurrent_entry=policy).outcome == "started"
        assert taken is (policy in policies)
