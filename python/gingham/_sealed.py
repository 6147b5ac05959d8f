"""Files verified against the digests taken when they were written.

::

    manifest   { ..., "files": { "links.parquet": { "bytes": 4711, "sha256": "9f86..." } },
                 "digest": "60303..." }        of the manifest's own bytes, this digest being zeros

Readers verify each file of a folder before use: a byte changed on disk or in transit makes a wrong
number as easily as a broken file.

Invariant: a manifest has `digest` and `files`, or neither. One with neither is of a version without
digests, and its files are read unchecked.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

from gingham._files import reason
from gingham.errors import DamageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

DIGEST, FILES = "digest", "files"
NOTHING = "0" * 64
NOT_TABLE = "is damaged: it is no Parquet file"
# Matches the end of a manifest with a digest.
SEAL = re.compile(rb'"digest": "([0-9a-f]{64})"\n}\n\Z')
# Entry of a file in a manifest: `bytes`, and `sha256` in hexadecimal.
Entry = dict[str, Any]


def entry_of(path: Path) -> Entry:
    """Return the manifest entry of a file."""
    with path.open("rb") as handle:
        digest = hashlib.file_digest(handle, "sha256").hexdigest()
        return {"bytes": handle.tell(), "sha256": digest}


def sealed(manifest: Mapping[str, object], files: Mapping[str, Entry]) -> bytes:
    """Return a manifest as the bytes of its file, with the digests of its files and its own."""
    values = {name: value for name, value in manifest.items() if name not in (FILES, DIGEST)}
    whole = {**values, FILES: dict(sorted(files.items())), DIGEST: NOTHING}
    text = (json.dumps(whole, indent=2, ensure_ascii=False) + "\n").encode()
    end = len(text) - len(f'{NOTHING}"\n}}\n')
    return text[:end] + hashlib.sha256(text).hexdigest().encode() + text[end + len(NOTHING) :]


def unsealed(path: Path, cure: str) -> dict[str, Any]:
    """Return the manifest in a file; raise `DamageError`, which ends in `cure`, if it has changed.

    A manifest of an older version has no digest, and is returned unchecked.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise damaged(path, "is missing", cure) from error
    except OSError as error:
        raise damaged(path, f"cannot be read: {reason(error)}", cure) from error
    seal = SEAL.search(data)
    if seal:
        zeroed = data[: seal.start(1)] + NOTHING.encode() + data[seal.end(1) :]
        if hashlib.sha256(zeroed).hexdigest().encode() != seal[1]:
            raise changed(path, data, cure)
    try:
        values = json.loads(data)
    except ValueError as error:
        why = f"the manifest is damaged: {error}" if data else "the manifest is empty"
        raise damaged(path, why, cure) from error
    if not isinstance(values, dict):
        raise damaged(path, "the manifest is damaged: it is no JSON object", cure)
    if not seal and (DIGEST in values or FILES in values):
        raise changed(path, data, cure)
    if not isinstance(values.get(FILES, {}), dict):
        raise damaged(path, f"the manifest is damaged: its `{FILES}` are no object", cure)
    return values


def changed(path: Path, data: bytes, cure: str) -> DamageError:
    """Return the error for a manifest whose content has changed."""
    try:
        json.loads(data)
    except ValueError:
        return damaged(path, "the manifest is damaged: it differs from its own digest", cure)
    why = "the manifest has changed since it was written: by damage, or by hand"
    return damaged(path, why, f"other values take a run of their own; {cure}")


def require_whole(path: Path, entry: Entry | None, cure: str) -> None:
    """Raise `DamageError`, which ends in `cure`, if a file differs from its manifest entry.

    Without an entry, only the file's existence is checked.
    """
    if why := damage_of(path, entry):
        raise damaged(path, why, cure)


def damage_of(path: Path, entry: Entry | None) -> str | None:
    """Return a description of the damage if a file is missing or differs from its entry."""
    try:
        found = entry_of(path) if entry else {"bytes": path.stat().st_size}
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        return f"cannot be read: {reason(error)}"
    if not entry or found == entry:
        return None
    if found["bytes"] != entry["bytes"]:
        return f"is damaged: it holds {found['bytes']:,} bytes, and {entry['bytes']:,} were written"
    return "is damaged: its SHA-256 is not that of what was written"


def damaged(path: Path, why: str, cure: str) -> DamageError:
    """Return the error for a damaged file."""
    return DamageError(f"{path}: {why}\n  {cure}", file=str(path))
