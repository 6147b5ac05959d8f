"""Policies of the daemon: those that can do nothing are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.system.bundles import config, refusal, written

REDUNDANT = '[[policy]]\nprotocol = "udp"\nsend = "redundant"\n'


@pytest.mark.parametrize(
    ("channels", "added", "key", "message"),
    [
        (2, "quota = 50", "channel[1].quota", "with its unit"),
        (2, 'quota-day = 3\nquota-period = "week"', "channel[1].quota-period", "no `quota`"),
        (2, 'quota = "50 GB"\nquota-day = 31', "channel[1].quota-day", "1 to 28"),
        (2, 'rate = "20 Mb"', "channel[1].rate", "with its unit"),
        (1, REDUNDANT, "policy[0].send", "add a [[channel]]"),
        (2, f"{REDUNDANT}ports = []", "policy[0].ports", "matches nothing"),
        (2, f'{REDUNDANT}to = ["10.91.0.0/24"]', "policy[0].to", "outside of all"),
        (2, REDUNDANT + REDUNDANT, "policy[1].send", "put it first"),
    ],
)
def test_what_can_do_nothing_is_refused(
    program: Path,
    names: dict[str, str],
    tmp_path: Path,
    channels: int,
    added: str,
    key: str,
    message: str,
) -> None:
    path = written(tmp_path, channels)["left"]
    path.write_text(config("left", channels) + added + "\n")
    said = refusal(program, names["left"], path)
    assert f"{path}:" in said, said
    assert key in said, said
    assert message in said, said
