"""HTTP and JSON for clients without UDP, as in the paper. Counterpart: ``gateway`` has the clients, and pushes to them.

::

    POST   /radiator/v1/clients       {id, port, instance, attributes}    201 {epoch, key}, 409
    DELETE /radiator/v1/clients/ID?instance=                              204, 404
    POST   /radiator/v1/contexts      {client, instance, req, context}    202, 404, 413, 429 with Retry-After

Requests may have ``Content-Encoding: gzip``.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import BoundedSemaphore
from typing import Any, ClassVar
from urllib.parse import parse_qs, unquote, urlsplit

from overlay.core.addresses import Address
from overlay.core.binary import canonical
from overlay.core.errors import WaxwingError, WireError
from overlay.programs.radiator.gateway import Gateway, Wrong
from overlay.systems.radiator.context import MAX_BYTES
from overlay.systems.radiator.wire.compression import GZIP, NONE, TooLarge, inflate

MOST_BYTES = MAX_BYTES + 1_024
"""Of a request, inflated: a context and what is around it."""
MOST_CONNECTIONS = 128
RETRY_S = 1
BASE = "/radiator/v1"
log = logging.getLogger(__name__)


class Handler(BaseHTTPRequestHandler):
    """Of one connection. A subclass has the ``gateway``."""

    gateway: ClassVar[Gateway]
    timeout = 10
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self._respond({f"{BASE}/clients": self._register, f"{BASE}/contexts": self._call}.get(self.path))

    def do_DELETE(self) -> None:
        is_client = urlsplit(self.path).path.startswith(f"{BASE}/clients/")
        self._respond(self._unregister if is_client else None)

    def _register(self) -> tuple[HTTPStatus, Any]:
        return HTTPStatus.CREATED, self.gateway.register(self._document(), self.client_address[0])

    def _call(self) -> tuple[HTTPStatus, Any]:
        status, sentence = self.gateway.call(self._document())
        return status, {"result": sentence}

    def _unregister(self) -> tuple[HTTPStatus, Any]:
        parts = urlsplit(self.path)
        instance = parse_qs(parts.query).get("instance", [""])[0]
        if not instance.isdecimal():
            raise Wrong(HTTPStatus.BAD_REQUEST, "instance must be a whole number")
        self.gateway.unregister(unquote(parts.path.removeprefix(f"{BASE}/clients/")), int(instance))
        return HTTPStatus.NO_CONTENT, None

    def _document(self) -> Mapping[str, Any]:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            raise Wrong(HTTPStatus.LENGTH_REQUIRED, "Content-Length is required")
        if int(length) > MOST_BYTES:
            raise Wrong(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a request has at most {MOST_BYTES:,} bytes")
        codec = {"": NONE, "identity": NONE, "gzip": GZIP}.get(self.headers.get("Content-Encoding", ""))
        if codec is None:
            raise Wrong(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "Content-Encoding must be gzip")
        try:
            value = json.loads(inflate(self.rfile.read(int(length)), codec, MOST_BYTES))
        except TooLarge:
            raise Wrong(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"inflated, it has more than {MOST_BYTES:,} bytes"
            ) from None
        except (WireError, ValueError, RecursionError) as error:
            raise Wrong(HTTPStatus.BAD_REQUEST, f"the body is no JSON: {error}") from None
        if not isinstance(value, dict):
            raise Wrong(HTTPStatus.BAD_REQUEST, "the body must be an object")
        return value

    def _respond(self, handle: Any) -> None:
        try:
            if handle is None:
                raise Wrong(HTTPStatus.NOT_FOUND, f"the addresses are {BASE}/clients and {BASE}/contexts")
            status, value = handle()
        except Wrong as error:
            status, value = error.status, {"error": str(error)}
        except WaxwingError as error:
            status, value = HTTPStatus.BAD_REQUEST, {"error": str(error)}
        data = b"" if value is None else canonical(value)
        self.send_response(status)
        if status >= HTTPStatus.BAD_REQUEST:  # the body may not have been read
            self.send_header("Connection", "close")
            self.close_connection = True
        if status is HTTPStatus.TOO_MANY_REQUESTS:
            self.send_header("Retry-After", str(RETRY_S))
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *arguments: Any) -> None:
        log.debug(format, *arguments)


class Front(ThreadingHTTPServer):
    """Bound to an address; ``serve_forever`` serves. Further connections than ``MOST_CONNECTIONS`` are closed."""

    def __init__(self, gateway: Gateway, listen: Address) -> None:
        super().__init__(listen, type("GatewayHandler", (Handler,), {"gateway": gateway}))
        self._free = BoundedSemaphore(MOST_CONNECTIONS)

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()
