"""Words, dates, money and the names of countries in the language of whoever reads them.

Mails and the pages of recipients say every word through `Words`; the catalogues are theirs together, and
`make translations` keeps them complete.
"""
