"""An S3 server of its own, so that what it remembers is not in the memory of the tests."""

import sys
from threading import Thread

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server


def main() -> None:
    """Serve on a free port, say which, and end with the standard input."""
    application = DomainDispatcherApplication(create_backend_app)
    # One request at a time: moto throws an object away while another thread still reads it.
    server = make_server("127.0.0.1", 0, application, threaded=False)
    Thread(target=server.serve_forever).start()
    sys.stdout.write(f"{server.port}\n")
    sys.stdout.flush()
    sys.stdin.read()
    server.shutdown()


if __name__ == "__main__":
    main()
