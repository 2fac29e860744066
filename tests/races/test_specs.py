"""Each spec of this folder, run by PostgreSQL's isolationtester, gives the transcript in git.

A transcript shows who waits and for what answer. To make one anew after a change that was meant:
    pytest tests/races/test_specs.py --write-transcripts
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.cluster import Database

HERE = Path(__file__).parent
INSTALL = "apt-get install postgresql-client-15"
SPECS = sorted(HERE.glob("*.spec"))


def isolationtester() -> str | None:
    """Return the newest isolationtester of this machine."""
    debian = sorted(
        Path("/usr/lib/postgresql").glob("*/lib/pgxs/src/test/isolation/isolationtester"),
        key=lambda path: int(path.parts[4]),
    )
    return str(debian[-1]) if debian else shutil.which("isolationtester")


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.stem)
def test_the_transcript_is_the_one_in_git(
    clean_database: Database, pytestconfig: pytest.Config, spec: Path
) -> None:
    tester = isolationtester()
    if tester is None:
        pytest.skip(f"no isolationtester here: {INSTALL}")
    said = subprocess.run(
        [tester, clean_database.url],
        input=spec.read_text(),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout
    transcript = spec.with_suffix(".out")
    if pytestconfig.getoption("--write-transcripts"):
        transcript.write_text(said)

    assert said == transcript.read_text()


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.stem)
def test_a_spec_says_where_its_transcript_is_and_what_it_holds(spec: Path) -> None:
    head = spec.read_text().partition("\n\n")[0]

    assert f"Transcript: {spec.stem}.out" in head
    (rule,) = re.findall(r"Held by (rules/\S+\.sql)\.", head)
    assert (HERE.parents[1] / "sql" / "lockgate_sql" / rule).exists()
