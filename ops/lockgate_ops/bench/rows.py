"""One measured line of the bench, and how lines are shown."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """One figure: what was measured, the bar it is held to, and whether it meets it.

    ratio  value over what it is compared with, both from this run; None where there is no rival
    bar    the bar in words; None for a figure that is only reported
    met    None where there is no bar
    """

    name: str
    value: float
    unit: str
    ratio: float | None = None
    bar: str | None = None
    met: bool | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the row as a JSON object."""
        return asdict(self)

    def as_line(self) -> str:
        """Return the row as a line of the table."""
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}"
        verdict = {None: "", True: "met", False: "MISSED"}[self.met]
        value = f"{self.value:,.0f}" if self.value >= 100 else f"{self.value:.2f}"
        return (
            f"{self.name:<46} {value:>9} {self.unit:<10} {ratio:>6}  {verdict:<7} {self.bar or ''}"
        )


HEAD = f"{'what':<46} {'value':>9} {'unit':<10} {'ratio':>6}  {'':<7} bar"
