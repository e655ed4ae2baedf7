"""Where downloaded files go. Pure, and free of the hub's library, because window and worker both need it."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.models.downloads.listing import RemoteFile
    from app.models.downloads.state import Download


def target_folder(folder: Path, repository: str) -> Path:
    """Where a repository's files go below the library folder: owner/name, as other programs lay them out too."""
    owner, _, name = repository.rpartition("/")
    return folder / _safe(owner) / _safe(name) if owner else folder / _safe(name)


def target_file(folder: Path, repository: str, file: RemoteFile) -> Path:
    """The final name of one file; folders inside the repository are dropped, so that parts of a split lie together."""
    return target_folder(folder, repository) / PurePosixPath(file.path).name


def part_path(target: Path, identity: str) -> Path:
    """The unfinished file. Another content has another name, so an old part is never continued with new bytes."""
    return target.with_name(f"{target.name}.{identity[:8]}.part")


def part_files(download: Download) -> tuple[Path, ...]:
    """Unfinished files that a download may have left."""
    folder = Path(download.folder)
    return tuple(
        part_path(target_file(folder, download.repository, file), file.sha256 or download.commit)
        for file in download.files
    )


def _safe(part: str) -> str:
    cleaned = "".join(letter if letter.isalnum() or letter in "-_. " else "_" for letter in part)
    return cleaned.strip(". ") or "_"
