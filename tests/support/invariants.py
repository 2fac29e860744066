"""The sentences of `invariants.sql`, as tests ask for them."""

from lockgate_ops.invariants import violations as violations
from tests.support.connections import Connection


def broken_sentences(connection: Connection) -> set[str]:
    """Return the sentences that do not hold."""
    return {sentence for sentence, _ in violations(connection)}
