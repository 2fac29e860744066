"""The rules on every major version that is promised, where a container engine answers."""

import shutil
import subprocess

import psycopg
import pytest

from lockgate_ops.install import install


@pytest.fixture(scope="session")
def engine() -> None:
    """Skip, loudly, where no container engine answers."""
    command = shutil.which("docker")
    if command is None or subprocess.run([command, "info"], capture_output=True).returncode:
        pytest.skip("no container engine answers `docker info`: start one to run this")


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("major", [15, 16, 17, 18])
def test_a_keyed_start_is_taken_once(major: int) -> None:
    from testcontainers.community.postgres import PostgresContainer

    call = (
        "select outcome::text from lockgate.start(p_session_id => 's1', p_agent_type => 'a', "
        """p_input => '{"message": "hi"}', p_request_key => 'k1')"""
    )
    with PostgresContainer(f"postgres:{major}", driver=None) as server:
        install(server.get_connection_url())
        with psycopg.connect(server.get_connection_url(), autocommit=True) as conn:
            answers = [conn.execute(call).fetchone() for _ in range(2)]

    assert answers == [("started",), ("attached",)]
