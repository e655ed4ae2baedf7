"""Questions to the model hub. Only the worker process imports this: huggingface_hub takes long to import and blocks."""

from __future__ import annotations

import httpx2
from huggingface_hub import HfApi
from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, HFValidationError, RepositoryNotFoundError

from app.models.downloads.errors import DownloadError, Reason
from app.models.downloads.listing import Listing, RemoteFile, group_variants

ANSWER_TIMEOUT_S = 15.0


def list_repository(repository: str) -> Listing:
    """The GGUF variants that `repository` ("owner/name") offers now; raises DownloadError."""
    try:
        info = HfApi().model_info(repository, files_metadata=True, timeout=ANSWER_TIMEOUT_S)
    except GatedRepoError as error:
        raise DownloadError(Reason.NEEDS_LOGIN, repository) from error
    except (RepositoryNotFoundError, HFValidationError) as error:
        raise DownloadError(Reason.NOT_FOUND, repository) from error
    except HfHubHTTPError as error:
        raise DownloadError(Reason.SERVER, f"HTTP {error.response.status_code}") from error
    except httpx2.TransportError as error:
        raise DownloadError(Reason.OFFLINE, str(error)) from error
    files = [
        RemoteFile(item.rfilename, item.size or 0, item.lfs.sha256 if item.lfs else None)
        for item in info.siblings or ()
    ]
    variants = group_variants(files)
    if not variants:
        raise DownloadError(Reason.NO_MODEL, repository)
    licence = str(getattr(info.card_data, "license", None) or "")
    return Listing(info.id, info.sha or "main", licence, variants)
