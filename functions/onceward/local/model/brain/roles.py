"""The vocabulary of parties: legal forms, role words, and defined terms that are no party."""

import re

from onceward.local.model.brain.vocabulary import any_of

LEGAL_FORM = (
    "(?:"
    + any_of(
        r"Inc/Incorporated/Ltd/Limited/LLC/L\.L\.C/LLP/L\.L\.P/LP/PLC/plc/Corp/Corporation/Co/Company/Pty Ltd/Pte Ltd"
        r"/GmbH/GmbH & Co\.? KG/gGmbH/mbH/AG/KG/OHG/UG/SE/e\.V/eG/S\.?A/S\.?A\.?S/S\.?A\.?R\.?L/S\.à\.? ?r\.l/SNC/SCI"
        r"/S\.?L/S\.?L\.?U/S\.?R\.?L/S\.?p\.?A/B\.?V/N\.?V/Oy/Oyj/AB/ApS/ASA/Lda/Ltda/Sp\. z o\.o/K\.?K/Stiftung"
        "/Foundation/University"
    )
    + r")\b(?:(?<=Inc)\.|(?<=Ltd)\.|(?<=Co)\.|(?<=Corp)\.|(?<=[A-Za-z]\.[A-Za-z])\.)?"
)

ROLE_WORDS = any_of(
    "Supplier/Service Supplier/Customer/Client/Provider/Service Provider/Vendor/Buyer/Seller/Purchaser/Contractor"
    "/Subcontractor/Consultant/Advisor/Licensor/Licensee/Landlord/Tenant/Lessor/Lessee/Employer/Employee/Lender/Borrower"
    "/Guarantor/Distributor/Manufacturer/Principal/Agent/Company/Owner/Operator/Publisher/Author/Sponsor/Franchisor"
    "/Franchisee/Carrier/Shipper/Insurer/Insured/Grantor/Grantee/Recipient/Discloser/Auftraggeber/Auftragnehmer/Kunde"
    "/Anbieter/Lieferant/Verkäufer/Käufer/Vermieter/Mieter/Arbeitgeber/Arbeitnehmer/Darlehensgeber/Darlehensnehmer"
    "/Lizenzgeber/Lizenznehmer/Prestataire/Fournisseur/Acheteur/Vendeur/Bailleur/Locataire/Preneur/Employeur/Salarié"
    "/Cliente/Proveedor/Comprador/Vendedor/Arrendador/Arrendatario/Prestador/Fornitore/Committente/Opdrachtgever"
    "/Opdrachtnemer/Klant/Leverancier"
)

NO_ROLE = re.compile(
    any_of(
        r"agreement/contract(?!or)/vertrag/contrat\b/contrato/lease\b/date/datum/services?\b(?! (?:provider|supplier))"
        r"/leistung/fees?\b/term\b/part(?:y|ies)\b/partei/information/territory/deliverable/products?\b/goods/price/preis"
        r"/precio/prix/vergütung/software/works?\b/property/premises/business/schedule/purpose/program/project/loan\b"
        r"/amount/deposit/invoice/confidential/cap\b/system/platform/laufzeit/honorarios/servicios/prestations/annex"
        r"/exhibit/law\b/act\b/vat\b/gdpr"
    ),
    re.IGNORECASE,
)

# What may stand before a name at the start of a stretch without being a part of it.
CONNECTIVE = re.compile(
    r"(?:[\s,;:.)–—-]|(?:"
    + any_of(
        "and/und/et/y/e/en/the/of/whereas/between/among/by and between/this/parties/party/sowie/als auch/as well as/der"
        "/die/das/le/la/les/el/los/on the one hand/on the other hand/einerseits/andererseits/d['’]une part"
        r"/d['’]autre part/de una parte/de otra parte/with/to/from/for/zwischen/entre/\([1-9a-d]\)/\(i{1,3}\)/[1-9][.)]"
        r"/[A-D]\./counterparty/its/namely"
    )
    + r")(?!\w))+",
    re.IGNORECASE,
)

# What follows a name and describes its bearer.
DESCRIPTION = re.compile(
    r"(?:,|\s[–—-]|\s\()?\s(?:"
    + any_of(
        "a/an/ein/eine/une?/una?/société/sociedad/with/having/whose/mit Sitz/mit/dont/con/ayant/incorporated"
        "/organi[sz]ed/registered/located/residing/represented/vertreten/représentée?/representada/acting/immatriculée?/domiciliada"
        "/eingetragen/wohnhaft/geschäftsansässig/au capital/under/of/aus/at"
    )
    + r")\s"
)
