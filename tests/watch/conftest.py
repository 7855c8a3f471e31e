"""What these tests share with those of the worker."""

from tests.worker.conftest import a_shop, processor, shop

__all__ = ["a_shop", "processor", "shop"]
