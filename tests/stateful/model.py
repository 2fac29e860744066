"""All that is so and may be done, with the consumers of settlements."""

from tests.stateful.facts import Delivery
from tests.stateful.waits import Waits

DELIVERY_LEASE_S = 60.0


class Model(Waits):
    """All of it, with the consumers of settlements."""

    def register(self, consumer: str) -> None:
        """Make all that was settled before due to a new consumer."""
        if consumer in self.consumers:
            return
        self.consumers.append(consumer)
        for session in self.sessions.values():
            for (run_id, status), settled_at in session.settled.items():
                session.deliveries[run_id, status, consumer] = Delivery(settled_at)

    def due(self, consumer: str) -> dict[str, Delivery]:
        """Return what may be offered to a consumer now, by delivery id."""
        return {
            f"{run_id}:{status}": delivery
            for session in self.sessions.values()
            for (run_id, status, whose), delivery in session.deliveries.items()
            if whose == consumer and not delivery.is_marked
            if delivery.claimed_until is None or delivery.claimed_until < self.now
        }

    def lease(self, delivery: Delivery) -> None:
        delivery.claimed_until = self.now + DELIVERY_LEASE_S
        delivery.tries += 1

    def mark(self, delivery_id: str, consumer: str) -> str:
        for session in self.sessions.values():
            for (run_id, status, whose), delivery in session.deliveries.items():
                if (f"{run_id}:{status}", whose) == (delivery_id, consumer):
                    before, delivery.is_marked = delivery.is_marked, True
                    return "unchanged" if before else "marked"
        return "not_found"
