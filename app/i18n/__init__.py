"""Languages. `tr("Text")` in the code, Qt Linguist's `.ts` files in `app/i18n/LANGUAGE/`, read without lrelease.

English is the source text. A language is a folder of `.ts` files (one per area of the program), so people who work on
different areas do not edit the same file; `python -m app.i18n.extract` brings them up to date.
"""

from app.i18n.translator import available_languages, choose_language, number, tr, trn

__all__ = ["available_languages", "choose_language", "number", "tr", "trn"]
