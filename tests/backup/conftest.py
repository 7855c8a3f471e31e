"""What the tests of backups share: shops with orders, and an S3 server."""

from tests.files.conftest import s3_endpoint, s3_environ
from tests.worker.conftest import a_shop, logged, processor, shop

__all__ = ["a_shop", "logged", "processor", "s3_endpoint", "s3_environ", "shop"]
