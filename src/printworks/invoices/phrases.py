"""What is printed on a document, in each language.

The languages are side by side and not in the catalogues of mails: legal words are compared with each
other, and must not change because a mail does.
"""

from collections.abc import Mapping
from typing import Final

from printworks.rules.languages import Language
from printworks.rules.taxes import TaxCategory

# By language, in the order of the enumeration: English, German, French, Spanish.
_PHRASES: Final[Mapping[str, tuple[str, str, str, str]]] = {
    "invoice": ("Invoice", "Rechnung", "Facture", "Factura"),
    "credit-note": ("Credit note", "Rechnungskorrektur", "Avoir", "Factura rectificativa"),
    "number": ("Number", "Nummer", "Numéro", "Número"),
    "date": ("Date", "Datum", "Date", "Fecha"),
    "supplied": ("Date of supply", "Leistungsdatum", "Date de livraison", "Fecha de operación"),
    "period": ("Period", "Zeitraum", "Période", "Periodo"),
    "merchant": ("Your account", "Ihr Konto", "Votre compte", "Su cuenta"),
    "your-vat-id": ("Your VAT ID", "Ihre USt-IdNr.", "Votre n° TVA", "Su NIF-IVA"),
    "vat-id": ("VAT ID", "USt-IdNr.", "N° TVA", "NIF-IVA"),
    "registration": ("Registered", "Register", "Immatriculation", "Registro"),
    "corrects": ("Corrects invoice", "Zu Rechnung", "Rectifie", "Rectifica"),
    "takes-back": ("Reverses", "Storniert", "Annule", "Anula"),
    "of-date": ("{number} of {date}", "{number} vom {date}", "{number} du {date}", "{number} de {date}"),
    "description": ("Description", "Bezeichnung", "Désignation", "Descripción"),
    "order": ("Order", "Auftrag", "Commande", "Pedido"),
    "quantity": ("Qty", "Menge", "Qté", "Cant."),
    "unit-price": ("Unit price", "Einzelpreis", "Prix unitaire", "Precio unit."),
    "tax-rate": ("VAT", "USt", "TVA", "IVA"),
    "net-amount": ("Net amount", "Nettobetrag", "Montant HT", "Importe neto"),
    "net-total": ("Net total", "Summe netto", "Total HT", "Total neto"),
    "tax-on": ("VAT {rate} on {net}", "USt {rate} auf {net}", "TVA {rate} sur {net}", "IVA {rate} sobre {net}"),
    "total": ("Total", "Gesamtbetrag", "Total TTC", "Total"),
    "total-credited": ("Total credited", "Gutschriftsbetrag", "Total de l'avoir", "Total abonado"),
    "paid": ("Paid", "Bezahlt", "Déjà payé", "Pagado"),
    "amount-due": ("Amount due", "Zu zahlen", "Net à payer", "Importe a pagar"),
    "pay-by": (
        "Please pay {amount} by {date}, with the number {number}.",
        "Bitte zahlen Sie {amount} bis zum {date} mit Angabe der Nummer {number}.",
        "Merci de régler {amount} avant le {date}, en indiquant le numéro {number}.",
        "Rogamos el pago de {amount} antes del {date}, indicando el número {number}.",
    ),
    "on-account": (
        "This amount is charged to your account.",
        "Dieser Betrag wird Ihrem Konto belastet.",
        "Ce montant est porté au débit de votre compte.",
        "Este importe se carga en su cuenta.",
    ),
    "is-paid": (
        "Paid in full. Thank you.",
        "Vollständig bezahlt. Vielen Dank.",
        "Entièrement réglée. Merci.",
        "Pagado en su totalidad. Gracias.",
    ),
    "is-credited": (
        "This amount is credited to your account.",
        "Dieser Betrag wird Ihrem Konto gutgeschrieben.",
        "Ce montant est porté au crédit de votre compte.",
        "Este importe se abona en su cuenta.",
    ),
    "bank": ("Bank details", "Bankverbindung", "Coordonnées bancaires", "Datos bancarios"),
    "contact": ("Contact", "Kontakt", "Contact", "Contacto"),
    "page": ("Page {page} of {pages}", "Seite {page} von {pages}", "Page {page} sur {pages}", "Página {page} de {pages}"),
    "shipping": ("Shipping", "Versand", "Livraison", "Envío"),
    "order-to": (
        "Order {order}, to {country}",
        "Auftrag {order}, nach {country}",
        "Commande {order}, vers {country}",
        "Pedido {order}, a {country}",
    ),
    "credit": (
        "Credit for order {order}",
        "Gutschrift zu Auftrag {order}",
        "Remboursement de la commande {order}",
        "Abono del pedido {order}",
    ),
    "credit-reversed": (
        "Credit for order {order}, reversed",
        "Gutschrift zu Auftrag {order}, zurückgenommen",
        "Remboursement de la commande {order}, annulé",
        "Abono del pedido {order}, anulado",
    ),
}  # fmt: skip
# Why there is no tax, as the law wants it said.
_REASONS: Final[Mapping[TaxCategory, tuple[str, str, str, str]]] = {
    TaxCategory.EXEMPT: (
        "Exempt from VAT.",
        "Steuerfreie Leistung.",
        "Exonéré de TVA.",
        "Operación exenta de IVA.",
    ),
    TaxCategory.REVERSE_CHARGE: (
        "Reverse charge: the customer accounts for the VAT.",
        "Steuerschuldnerschaft des Leistungsempfängers.",
        "Autoliquidation : TVA due par le preneur.",
        "Inversión del sujeto pasivo.",
    ),
    TaxCategory.INTRA_COMMUNITY: (
        "Exempt intra-Community supply.",
        "Steuerfreie innergemeinschaftliche Lieferung.",
        "Livraison intracommunautaire exonérée de TVA.",
        "Entrega intracomunitaria exenta de IVA.",
    ),
    TaxCategory.EXPORT: (
        "Export, exempt from VAT.",
        "Steuerfreie Ausfuhrlieferung.",
        "Exportation exonérée de TVA.",
        "Exportación exenta de IVA.",
    ),
    TaxCategory.OUTSIDE_SCOPE: (
        "Not subject to VAT.",
        "Nicht steuerbare Leistung.",
        "Non soumis à la TVA.",
        "Operación no sujeta a IVA.",
    ),
}
_PLACES: Final = {language: place for place, language in enumerate(Language)}


def say(language: Language, phrase: str, /, **values: object) -> str:
    """Return a phrase in a language, filled in."""
    return _PHRASES[phrase][_PLACES[language]].format(**values)


def explain(language: Language, category: TaxCategory) -> str | None:
    """Return why a line has no tax; None where that needs no explanation."""
    reasons = _REASONS.get(category)
    return None if reasons is None else reasons[_PLACES[language]]
