"""Congestion settings in the formats of real devices, read back as those devices read them."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gingham import InputError, Scenario, qos
from gingham.qos._settings import number
from tests.conftest import require_programs

HEAD = """
topology.generate.star.hosts = 3
stop = { time = "1 ms" }
"""
TRAFFIC = """
[[traffic]]
name = "one"
arrivals = "backlogged"
length = { fixed = "4096 B" }
"""
ROCE = '[network]\npreset = "roce-400"\n'
ANNEX = '[network]\npreset = "infiniband-ndr"\nmarking = { fecn = { threshold = 12 } }\n'
DCQCN = 'window = { acknowledged = { marked = "50 us" }, response = "dcqcn" }\n'


def parsed(*parts: str) -> Scenario:
    return Scenario.parse("".join([HEAD, *parts]))


def conf(text: str) -> dict[str, list[str]]:
    """Return the values of each key of an opensm.conf, as OpenSM reads them: by words."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            key, _, value = line.partition(" ")
            found.setdefault(key, []).append(value)
    return found


def annexed(*, becn: str = "", fecn: str = "", rest: str = "") -> Scenario:
    network = ANNEX.replace("threshold = 12", fecn) if fecn else ANNEX
    return parsed(network, TRAFFIC, f"window.response.becn = {{ {becn} }}\n", rest)


def test_annex_a10_in_the_words_of_opensm() -> None:
    marking = "threshold = 12, packet_size = 9, marking_rate = 3, victim_mask = true"
    scenario = annexed(
        becn='increase = 2, timer = 40, min = 1, limit = 3, table = ["0:0", "1:5"]',
        fecn=marking,
        rest="service_level = 2\n",
    )
    found = conf(qos.congestion_conf(scenario))
    assert found["congestion_control"] == ["TRUE"]
    assert int(found["cc_sw_cong_setting_threshold"][0], 16) == 12
    assert found["cc_sw_cong_setting_packet_size"] == ["9"]
    assert found["cc_sw_cong_setting_marking_rate"] == ["3"]
    # Victim mask, threshold with packet size, marking rate.
    assert int(found["cc_sw_cong_setting_control_map"][0], 16) == 0b10101
    mask = int(found["cc_sw_cong_setting_victim_mask"][0], 16)
    assert [mask >> port & 1 for port in (0, 1, 254, 255)] == [0, 1, 1, 0]
    assert int(found["cc_ca_cong_setting_control_map"][0], 16) == 1 << 2
    assert found["cc_ca_cong_setting_ccti_timer"] == ["2 40"]
    assert found["cc_ca_cong_setting_ccti_increase"] == ["2 2"]
    assert found["cc_ca_cong_setting_ccti_min"] == ["2 1"]
    # Entries that are missing in the table are linear, up to the limit.
    assert found["cc_cct"] == ["0:0,1:5,0:2,0:3"]


def test_opensm_reads_what_is_written(tmp_path: Path) -> None:
    """OpenSM writes its settings back; each must have the given value."""
    require_programs("opensm")
    written = qos.congestion_conf(annexed(becn="limit = 3, timer = 77", fecn="threshold = 7"))
    (tmp_path / "in.conf").write_text(written)
    subprocess.run(
        ["opensm", "-F", "in.conf", "-c", "out.conf"],
        cwd=tmp_path,
        env={"PATH": "/usr/sbin:/usr/bin:/bin", "OSM_TMP_DIR": str(tmp_path)},
        capture_output=True,
        timeout=30,
        check=False,
    )
    read, meant = conf((tmp_path / "out.conf").read_text()), conf(written)
    assert set(meant) <= set(read)
    for key, values in meant.items():
        assert values[0] in read[key] or numbers(values[0]) in map(numbers, read[key]), key


def numbers(text: str) -> list[int]:
    """Return the numbers in a value, whatever their base."""
    return [int(word, 0) for word in re.findall(r"0x[0-9a-fA-F]+|\d+", text)]


def test_two_classes_of_one_level_or_two_tables_are_refused_at_their_key() -> None:
    second = f"{TRAFFIC.replace('one', 'two')}window.response.becn = "
    one_level = annexed(becn="timer = 40", rest=f"{second}{{ timer = 50 }}\n")
    with pytest.raises(InputError) as caught:
        qos.congestion_conf(one_level)
    assert caught.value.key == "traffic[1].window.response.becn"
    two_tables = annexed(becn="limit = 3", rest=f"{second}{{ limit = 4 }}\nservice_level = 1\n")
    with pytest.raises(InputError):
        qos.congestion_conf(two_tables)
    levels = annexed(becn="timer = 40", rest=f"{second}{{ timer = 50 }}\nservice_level = 1\n")
    assert conf(qos.congestion_conf(levels))["cc_ca_cong_setting_ccti_timer"] == ["0 40", "1 50"]


def test_marks_of_a_sonic_switch_in_bytes_and_per_cent() -> None:
    red = '{ red = { k_min = "40 kB", k_max = "1 MiB", p_max = 0.2 } }'
    found = profile(qos.sonic_commands(parsed(ROCE, f"marking = {red}\n", TRAFFIC), profile="CNP"))
    assert found == {
        "WRED_PROFILE|CNP": {
            "ecn": "ecn_all",
            "wred_green_enable": "true",
            "green_min_threshold": "40000",
            "green_max_threshold": str(1 << 20),
            "green_drop_probability": "20",
        }
    }


@pytest.mark.parametrize(
    ("network", "k_min", "k_max"),
    [
        (ROCE, 50_000, 2_000_000),
        (ROCE.replace("400", "100"), 12_500, 500_000),
        (f'{ROCE}link_rate = "40 Gbit/s"\n', 5_000, 200_000),
    ],
)
def test_thresholds_that_are_not_given_are_those_of_the_rate(
    network: str, k_min: int, k_max: int
) -> None:
    """Bytes in 1 us and 40 us at the link rate, as in docs/concepts/congestion.md."""
    [found] = profile(qos.sonic_commands(parsed(network, 'marking = "red"\n', TRAFFIC))).values()
    assert (found["green_min_threshold"], found["green_max_threshold"]) == (str(k_min), str(k_max))


def profile(text: str) -> dict[str, dict[str, str]]:
    """Return the tables written by commands of `sonic-db-cli`, by their keys."""
    found = {}
    for line in text.splitlines():
        words = shlex.split(line, comments=True)
        if words:
            assert words[:3] == ["sonic-db-cli", "CONFIG_DB", "HSET"]
            key, *fields = words[3:]
            found[key] = dict(zip(fields[::2], fields[1::2], strict=True))
    return found


def files_written(script: str, folder: Path, *, newer: bool = False) -> dict[str, str]:
    """Run commands for an adapter on files in place of sysfs; return their contents."""
    for point in ("roce_rp", "roce_np"):
        (folder / point / "enable").mkdir(parents=True)
        if newer:
            (folder / point / "params").mkdir()
    moved = script.replace("/sys/class/net/eth0/ecn", str(folder))
    subprocess.run(["sh", "-c", moved], check=True, timeout=30)
    return {
        str(path.relative_to(folder)): path.read_text().strip()
        for path in folder.rglob("*")
        if path.is_file()
    }


def reaction(folder: Path, window: str = DCQCN, **options: Any) -> dict[str, int]:
    scenario = parsed(ROCE, 'marking = "red"\n', TRAFFIC, window)
    found = files_written(qos.mlx5_commands(scenario, **options), folder)
    return {name.rpartition("/")[2]: int(value) for name, value in found.items()}


def test_dcqcn_of_an_mlx5_adapter_in_its_units(tmp_path: Path) -> None:
    response = (
        '{ g = 0.0078125, alpha_timer = "30 us", timer = "0.3 ms", byte_counter = "32 kB", '
        'fast_recovery = 1, additive = "5 Mbit/s", hyper = "50 MB/s", lowest = 0.0001 }'
    )
    window = f'window = {{ acknowledged = {{ marked = "4 us" }}, response.dcqcn = {response} }}\n'
    found = reaction(tmp_path, window)
    expected = {
        # 1024 x (1 - 1/128).
        "dce_tcp_g": 1016,
        "dce_tcp_rtt": 30,
        "rpg_time_reset": 300,
        "rpg_byte_reset": 32_000,
        "rpg_threshold": 1,
        "rpg_ai_rate": 5,
        "rpg_hai_rate": 400,
        # A ten-thousandth of 400 Gbit/s.
        "rpg_min_rate": 40,
        "rpg_max_rate": 0,
        "min_time_between_cnps": 4,
    }
    assert {name: found[name] for name in expected} == expected
    # A cut is by alpha / 2, and alpha is at 1 first: 10 fractional bits.
    assert (found["rpg_gd"], found["initial_alpha_value"]) == (11, 1023)


def test_defaults_of_dcqcn_are_those_of_the_rate(tmp_path: Path) -> None:
    found = reaction(tmp_path)
    assert (found["rpg_ai_rate"], found["rpg_hai_rate"], found["rpg_min_rate"]) == (
        400,
        4_000,
        1_000,
    )
    assert found["dce_tcp_g"] == 1020
    # 100 MB do not fit into 15 bits, so the counter is off, and a comment reports it.
    assert found["rpg_byte_reset"] == 0
    said = qos.mlx5_commands(parsed(ROCE, 'marking = "red"\n', TRAFFIC, DCQCN))
    assert "100000000 B" in said


def test_priority_interface_and_newer_drivers(tmp_path: Path) -> None:
    scenario = parsed(ROCE, 'marking = "red"\n', TRAFFIC, DCQCN)
    assert "/sys/class/net/eth7/ecn" in qos.mlx5_commands(scenario, interface="eth7")
    written = files_written(qos.mlx5_commands(scenario, priority=5), tmp_path, newer=True)
    assert (written["roce_rp/enable/5"], written["roce_np/enable/5"]) == ("1", "1")
    assert written["roce_rp/params/rpg_time_reset"] == "55"
    assert written["roce_np/params/min_time_between_cnps"] == "50"


def test_what_a_scenario_does_not_have_is_refused_at_its_key() -> None:
    plain = parsed(ROCE, TRAFFIC)
    for export, key in [
        (qos.congestion_conf, "network"),
        (qos.sonic_commands, "network"),
        (qos.mlx5_commands, "traffic"),
    ]:
        with pytest.raises(InputError) as caught:
            export(plain)
        assert (caught.value.key or "").startswith(key)


def test_a_rate_that_nothing_says_is_asked_for() -> None:
    network = '[network]\npreset = "infiniband-ndr"\nmarking = "red"\n'
    with pytest.raises(InputError) as caught:
        qos.sonic_commands(parsed(network, TRAFFIC))
    assert (caught.value.key or "").startswith("network")
    rated = f'{network}link_rate = "25 GB/s"\n'
    [found] = profile(qos.sonic_commands(parsed(rated, TRAFFIC))).values()
    assert found["green_min_threshold"] == "25000"


def test_quantities_are_in_bytes_microseconds_and_bits_a_second() -> None:
    assert [number(text) for text in ("1 KiB", "1.5 ms", "10 MB/s")] == [1024, 1500, 80_000_000]
    with pytest.raises(InputError):
        number("12 parsec")


def test_public_modules_need_no_second_import() -> None:
    page = (Path(__file__).parent.parent / "docs" / "reference" / "python.md").read_text()
    named = set(re.findall(r":: gingham\.([a-z_0-9]+)", page)) - {"load_result", "run"}
    named |= {"opensm", "pairs"}
    assert {"qos", "comparison", "sweeps", "studies", "loads"} <= named
    program = "import gingham\n" + "".join(f"gingham.{name}\n" for name in sorted(named))
    run_alone(program)


def test_start_up_loads_none_of_them() -> None:
    program = (
        "import sys, gingham\n"
        "late = {'qos', 'comparison', 'opensm', 'sweeps', 'studies', 'loads', 'pairs'}\n"
        "assert not late & {name.partition('.')[2] for name in sys.modules if 'gingham.' in name}\n"
    )
    run_alone(program)


def run_alone(program: str) -> None:
    """Run a program in a new interpreter, without imports of the tests."""
    command = [sys.executable, "-c", program]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
