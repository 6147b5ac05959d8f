"""Names of OpenSM's settings, to detect misspelled ones.

OpenSM silently ignores unknown lines of `opensm.conf`.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from gingham.errors import InputError, meant, nearest
from gingham.opensm.programs import program

if TYPE_CHECKING:
    from collections.abc import Iterable

TEMPLATE_TIMEOUT_S = 10.0
COMMENT = "#"


def require_settings(names: Iterable[str]) -> None:
    """Raise `InputError` for a setting that OpenSM does not have."""
    wanted = list(names)
    known = known_settings() if wanted else []
    unknown = [name for name in wanted if known and name not in known]
    if unknown:
        near = nearest(unknown[0], known)
        raise InputError(
            f'OpenSM has no setting "{unknown[0]}"{meant(near)}\n'
            "  `opensm -c FILE` writes all settings with their defaults",
            key="--set",
            nearest=near,
        )


def known_settings() -> list[str]:
    """Return the names of all settings of the installed OpenSM; empty if it is not installed."""
    path = program("opensm")
    if path is None:
        return []
    with tempfile.TemporaryDirectory(prefix="gingham-") as folder:
        template = Path(folder) / "opensm.conf"
        try:
            subprocess.run(
                [path, "-f", str(Path(folder) / "log"), "-c", str(template)],
                cwd=folder,
                capture_output=True,
                timeout=TEMPLATE_TIMEOUT_S,
                check=False,
            )
            lines = template.read_text(errors="replace").splitlines()
        except (OSError, subprocess.TimeoutExpired):
            return []
    words = (line.split() for line in lines if not line.startswith(COMMENT))
    return [line[0] for line in words if line]
