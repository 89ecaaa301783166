"""Streamed responses. Under ASGI, Django reads a synchronous iterator completely into memory; these are
asynchronous.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse
from rest_framework.request import Request

PARQUET = "application/vnd.apache.parquet"


def file_chunks(path: Path) -> Iterator[bytes]:
    """The chunks of a file."""
    with path.open("rb") as file:
        while chunk := file.read(1 << 18):
            yield chunk


async def _pieces(iterator: Iterator[bytes]) -> AsyncIterator[bytes]:
    step = sync_to_async(lambda: next(iterator, None), thread_sensitive=False)
    while (piece := await step()) is not None:
        yield piece


def download(
    request: Request | HttpRequest, pieces: Iterator[bytes], name: str, content_type: str
) -> StreamingHttpResponse:
    """A download under ``name``."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    if content_type == PARQUET:
        headers["Content-Encoding"] = "identity"  # already compressed
    content = _pieces(pieces) if isinstance(getattr(request, "_request", request), ASGIRequest) else pieces
    return StreamingHttpResponse(content, content_type=content_type, headers=headers)
