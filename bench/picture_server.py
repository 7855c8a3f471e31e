"""Serve one JPEG at every address, with the address in it: each is another content.

Run `python -m bench.picture_server FILE`; prints its port.
"""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from bench.servers import HOST


class PictureHandler(BaseHTTPRequestHandler):
    """Answers with the picture."""

    protocol_version = "HTTP/1.1"
    picture = b""

    def do_GET(self) -> None:
        """Send the picture with a comment that nobody else gets."""
        comment = self.path.encode()
        mark = b"\xff\xfe" + (len(comment) + 2).to_bytes(2, "big") + comment
        self.send_response(200)
        self.send_header("Content-Type", "image/jpeg")
        self.send_header("Content-Length", str(len(self.picture) + len(mark)))
        self.end_headers()
        # After the first two bytes, with which every JPEG begins.
        self.wfile.write(self.picture[:2] + mark)
        self.wfile.write(self.picture[2:])

    def log_message(self, *_: object) -> None:
        """Say nothing."""


if __name__ == "__main__":
    PictureHandler.picture = Path(sys.argv[1]).read_bytes()
    server = ThreadingHTTPServer((HOST, 0), PictureHandler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
