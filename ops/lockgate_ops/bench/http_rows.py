"""HTTP: POST start on one server process, by keep-alive clients that do nothing else."""

from __future__ import annotations

import asyncio
import json
import time
from urllib.parse import urlsplit

CLIENTS = 8


async def rate(base_url: str, seconds: float) -> float:
    """Send keyed starts to new sessions as fast as they are answered; returns answers a second."""
    deadline = time.perf_counter() + seconds
    before = time.perf_counter()
    counts = await asyncio.gather(
        *(_client(base_url, number, deadline) for number in range(CLIENTS))
    )
    return sum(counts) / (time.perf_counter() - before)


async def _client(base_url: str, number: int, deadline: float) -> int:
    address = urlsplit(base_url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    body = json.dumps(
        {
            "agentType": "assistant",
            "input": {"message": "Please tell me what the weather is like in Ghent today."},
        }
    ).encode()
    count = 0
    while time.perf_counter() < deadline:
        writer.write(
            b"POST /sessions/h-%d-%d/start HTTP/1.1\r\nHost: bench\r\n"
            b"Content-Type: application/json\r\nX-Helix-Request-Key: k%d\r\n"
            b"Content-Length: %d\r\n\r\n%b" % (number, count, count, len(body), body)
        )
        status = await _answer(reader)
        if status != 200:
            raise RuntimeError(f"the server answered {status}")
        count += 1
    writer.close()
    return count


async def _answer(reader: asyncio.StreamReader) -> int:
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    length = next(int(line[15:]) for line in lines if line.lower().startswith(b"content-length:"))
    await reader.readexactly(length)
    return int(lines[0].split()[1])
