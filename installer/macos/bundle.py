"""What the macOS application says about itself: read by the PyInstaller spec for its BUNDLE.

app = BUNDLE(collected, name=bundle.APP, icon=..., bundle_identifier=bundle.IDENTIFIER, version=version,
             info_plist=bundle.info_plist(version))
"""

from __future__ import annotations

import re
from typing import Any

NAME = "Gannet"
APP = f"{NAME}.app"
IDENTIFIER = "gannet.Gannet"  # no domain stands behind it, so none is claimed
MINIMUM_SYSTEM = "13.0"  # what PySide6's wheels are built for
MODEL_TYPE = "gannet.gguf"
LANGUAGES = ("en", "de")


def numbers(version: str) -> str:
    """A version as macOS wants it, up to three numbers: `1.2rc1` is `1.2`."""
    found = re.match(r"\d+(\.\d+){0,2}", version)
    if found is None:
        raise ValueError(f"{version!r} is not a version")
    return found.group()


def info_plist(version: str) -> dict[str, Any]:
    """Entries of Info.plist besides those that PyInstaller writes itself."""
    return {
        "CFBundleDisplayName": NAME,
        "CFBundleName": NAME,
        "CFBundleIdentifier": IDENTIFIER,
        "CFBundleShortVersionString": numbers(version),
        "CFBundleVersion": numbers(version),
        "CFBundleDevelopmentRegion": LANGUAGES[0],
        "CFBundleLocalizations": list(LANGUAGES),
        "LSMinimumSystemVersion": MINIMUM_SYSTEM,
        "LSApplicationCategoryType": "public.app-category.productivity",
        "NSHighResolutionCapable": True,
        "NSRequiresAquaSystemAppearance": False,  # the dark appearance is followed
        "NSHumanReadableCopyright": "Apache-2.0",
        "CFBundleDocumentTypes": [
            {
                "CFBundleTypeName": "GGUF model",
                "CFBundleTypeRole": "Viewer",  # models are only ever read
                "LSHandlerRank": "Alternate",  # other programs may be the user's choice for them
                "LSItemContentTypes": [MODEL_TYPE],
            }
        ],
        # Imported, not exported: the format is not ours.
        "UTImportedTypeDeclarations": [
            {
                "UTTypeIdentifier": MODEL_TYPE,
                "UTTypeDescription": "GGUF model",
                "UTTypeConformsTo": ["public.data"],
                "UTTypeTagSpecification": {"public.filename-extension": ["gguf"]},
            }
        ],
    }
