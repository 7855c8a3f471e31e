"""Invoices as files: a PDF with the structured invoice inside, and CSV.

All of them are written from the stored document alone, and the same document gives the same bytes.
"""
