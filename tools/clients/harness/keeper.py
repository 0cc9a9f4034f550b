"""A server between a client and a model that keeps what was sent."""

from __future__ import annotations

import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# What holds for one connection alone, or is made again here.
_OWN = ("host", "content-length", "connection", "accept-encoding", "transfer-encoding")


class Keeper:
    """Passes requests on and keeps their bodies, for as long as its `with` lasts."""

    def __init__(self, upstream: str):
        self.bodies: list[str] = []
        keeper = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                keeper.bodies.append(body.decode(errors="replace"))
                kept = {k: v for k, v in self.headers.items() if k.lower() not in _OWN}
                request = urllib.request.Request(
                    upstream + self.path, data=body or None, headers=kept, method=self.command
                )
                try:
                    reply = urllib.request.urlopen(request)
                except urllib.error.HTTPError as error:
                    reply = error
                with reply:
                    text = reply.read()
                    self.send_response(reply.status)
                    for name, value in reply.headers.items():
                        if name.lower() not in _OWN:
                            self.send_header(name, value)
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def do_GET(self) -> None:
                self.do_POST()

            def do_HEAD(self) -> None:
                self.do_POST()

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Keeper:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)
