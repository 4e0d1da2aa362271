"""Languages that share their letters' bytes: whose code page is whose, and which accented letters a language writes.

Several code pages read the same Latin text equally well, ``à`` in one being ``ŕ`` in the next. What tells them apart is
the language: its own code page is taken, if what it reads are that language's own letters.
"""

from __future__ import annotations

HOME = {
    **dict.fromkeys(
        (
            *("English", "German", "French", "Spanish", "Portuguese", "Italian", "Dutch"),
            *("Swedish", "Danish", "Norwegian", "Finnish"),
        ),
        "cp1252",
    ),
    **dict.fromkeys(("Polish", "Czech", "Hungarian", "Slovak", "Slovene", "Croatian", "Romanian"), "cp1250"),
    **dict.fromkeys(("Lithuanian", "Latvian", "Estonian"), "cp1257"),
    "Turkish": "cp1254",
}
LETTERS = {
    "English": "àâäçéèêëïîñóôöœæü",
    "German": "äöüßé",
    "French": "àâæçéèêëîïôœùûüÿ",
    "Spanish": "áéíñóúüªº",
    "Portuguese": "ãáàâçéêíõóôúüªº",
    "Italian": "àèéìîíòóùú",
    "Dutch": "áéèêëïóöüúí",
    "Swedish": "åäöéü",
    "Danish": "æøåé",
    "Norwegian": "æøåéòôó",
    "Finnish": "äöåšž",
    "Polish": "ąćęłńóśźż",
    "Czech": "áčďéěíňóřšťúůýž",
    "Hungarian": "áéíóöőúüű",
    "Slovak": "áäčďéíĺľňóôŕšťúýž",
    "Slovene": "čšž",
    "Croatian": "čćđšž",
    "Romanian": "ăâîşţ",
    "Lithuanian": "ąčęėįšųūž",
    "Latvian": "āčēģīķļņšūž",
    "Estonian": "äõöüšž",
    "Turkish": "çğıöşüâîû",
}
MOST_STRANGERS = 0.1  # of the accented letters: a foreign name or two


def is_written_in(text: str, language: str) -> bool:
    """Whether a text's accented letters are the language's own, but for a name or two."""
    own = LETTERS[language]
    accented = [character for character in text.casefold() if character.isalpha() and not character.isascii()]
    strangers = sum(character not in own and character != "\u0307" for character in accented)
    return strangers <= len(accented) * MOST_STRANGERS
