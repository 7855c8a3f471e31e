"""A cluster on real servers: PostgreSQL, and files in S3."""

from tests.files.conftest import s3_endpoint, s3_environ

__all__ = ["s3_endpoint", "s3_environ"]
