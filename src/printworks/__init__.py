"""Printworks: the print-fulfilment service that anyone can run."""

__version__ = "0.1.0"
