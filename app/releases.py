"""Whether there is a newer release: where to ask, and what the answer means. No network in here.

The address stands in one file, `assets/release.json`, which is empty in a checkout; whoever builds packages writes it
there. It answers with a JSON object that has the release's version and its page, `{"version", "page"}`, or under the
names that code forges use for their latest release, `{"tag_name", "html_url"}`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from packaging.version import InvalidVersion, Version

FEED_FILE = Path(__file__).resolve().parents[1] / "assets" / "release.json"
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True)
class Release:
    """A release: its version, and the page where a person gets it ("" when the answer named none that is safe)."""

    version: str
    page: str


def feed_address(path: Path = FEED_FILE) -> str:
    """Where to ask; "" when this build has no address or one that is not safe to ask."""
    try:
        address = json.loads(path.read_text(encoding="utf-8")).get("feed")
    except (OSError, ValueError, AttributeError):
        return ""
    return address if isinstance(address, str) and is_safe(address) else ""


def is_safe(address: str) -> bool:
    """Whether an address is https, or of this computer."""
    try:
        parts = urlsplit(address)
        return bool(parts.hostname) and (
            parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
        )
    except ValueError:
        return False


def read_release(body: bytes) -> Release:
    """The release that an answer names. Raises ValueError."""
    content: Any = json.loads(body)
    if not isinstance(content, dict):
        raise ValueError("not a release")
    name = content.get("version") or content.get("tag_name")
    page = content.get("page") or content.get("html_url") or ""
    try:
        version = Version(str(name))
    except InvalidVersion as problem:
        raise ValueError(str(problem)) from None
    return Release(str(version), page if isinstance(page, str) and is_safe(page) else "")


def is_newer(release: Release, ours: str) -> bool:
    """Whether `release` is later than version `ours`; False while this program has no version."""
    try:
        return Version(release.version) > Version(ours)
    except InvalidVersion:
        return False
