"""`gingham.stripe`: scenarios, results, run folders, refusals."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import gingham
from gingham import examples, plots, stripe
from gingham.errors import InputError
from tests.refusals import raises

TWO = """
stop.time = "200 ms"
measure = { events = 100, packets = 50 }
[[channel]]
rate = "10 Mbit/s"
[[channel]]
rate = "20 Mbit/s"
delay = "5 ms"
"""


@pytest.fixture(scope="module")
def result() -> stripe.StripeResult:
    return stripe.run(stripe.StripeScenario.parse(TWO))


def test_a_run_has_the_tables_that_the_schema_promises(result: stripe.StripeResult) -> None:
    from gingham._native import stripe_result_schema

    schema = stripe_result_schema()
    assert [table["name"] for table in schema["tables"]] == result.tables
    for table in schema["tables"]:
        found = result.table(table["name"])
        assert found.column_names == [column["name"] for column in table["columns"]]
        assert all(field.metadata[b"meaning"] for field in found.schema)
    assert set(schema["summary"]["properties"]) == set(result.summary)
    assert result.table("packets").num_rows == 50


def test_a_count_that_is_missing_is_null_in_a_column_of_whole_numbers(tmp_path: Path) -> None:
    transport = '[[source]]\nname = "one"\nkind.reno.window = "300 kB"\n'
    plain = '[[source]]\nname = "other"\nkind.poisson.rate = "1 Mbit/s"\n'
    scenario = stripe.StripeScenario.parse(f"{TWO}{transport}{plain}")
    found = stripe.run(scenario)
    found.save(tmp_path / "run")
    for table in (found.table("sources"), stripe.load_result(tmp_path / "run").table("sources")):
        for name in ("retransmissions", "timeouts", "window_bytes"):
            assert table.schema.field(name).type == pa.int64()
            assert table[name].to_pylist() == [one[name] for one in found.sources]
            assert [one is None for one in table[name].to_pylist()] == [False, True]


def test_a_run_folder_gives_back_what_was_written(
    result: stripe.StripeResult, tmp_path: Path
) -> None:
    result.save(tmp_path / "run", pictures=True)
    loaded = stripe.load_result(tmp_path / "run")
    assert loaded.summary == result.summary
    assert loaded.scenario.resolved() == result.scenario.resolved()
    for name in result.tables:
        one, other = result.table(name), loaded.table(name)
        assert isinstance(one, pa.Table)
        # As texts, because NaN equals nothing.
        assert str(one.to_pydict()) == str(other.to_pydict())
        assert one.schema.equals(other.schema, check_metadata=True)
    assert (tmp_path / "run" / "channels.png").stat().st_size > 0
    again = stripe.run(loaded.scenario)
    assert again.summary == result.summary


def test_a_folder_of_another_laboratory_is_refused(
    result: stripe.StripeResult, tmp_path: Path
) -> None:
    result.save(tmp_path / "run")
    with raises(InputError, "other-kind", key="kind"):
        gingham.load_result(tmp_path / "run")


def test_each_channel_by_itself_is_a_scenario(result: stripe.StripeResult) -> None:
    one, other = stripe.alone(result.scenario)
    assert [len(part.resolved()["channel"]) for part in (one, other)] == [1, 1]
    goodputs = [stripe.run(part).summary["goodput_bits_per_s"] for part in (one, other)]
    # Each channel carries its rate, less a hundredth for markers.
    for goodput, rate in zip(goodputs, (10e6, 20e6), strict=True):
        assert 0.97 * rate < goodput <= rate


@pytest.mark.parametrize("name", examples.stripes())
def test_every_example_runs(name: str) -> None:
    scenario = stripe.StripeScenario.example(name)
    verdict = stripe.run(scenario).verdict
    assert verdict in {"ok", "not-converged"}
    assert scenario.title


def test_a_seed_decides(result: stripe.StripeResult) -> None:
    lossy = result.scenario.with_({"channel.0.loss": 0.1})
    one, again = (stripe.run(lossy, seed=3).summary for _ in range(2))
    assert one == again
    assert one != stripe.run(lossy, seed=4).summary


def test_every_key_of_the_examples_is_explained() -> None:
    from gingham.catalogue import reference
    from tests.test_reference import flat

    known = {key.path for key in reference.every_stripe_key()}
    assert all(key.meaning for key in reference.every_stripe_key())
    for name in examples.stripes():
        assert set(flat(stripe.StripeScenario.example(name).resolved())) <= known


def test_pictures_of_a_stripe(result: stripe.StripeResult) -> None:
    channels = plots.picture(plots.channels(result), "svg").decode()
    assert "channel 1" in channels
    assert "delivered" in channels
    rounds = plots.picture(plots.rounds(result), "svg").decode()
    assert "channel 2" in rounds
    quiet = stripe.run(result.scenario.with_({"measure.events": 0}))
    assert "no event was recorded" in plots.picture(plots.rounds(quiet), "svg").decode()


def test_the_drawing_pairs_what_was_sent_with_what_arrived() -> None:
    from gingham.plots import _rounds

    result = stripe.run(stripe.StripeScenario.example("stripe-rounds"))
    ways = _rounds.pair(result.table("events").to_pylist())
    packets = {way.packet: way for way in ways if way.packet}
    assert set(packets) == set(range(1, 17))
    # Packet 2 is the first of channel 2, which the scenario loses.
    assert [number for number, way in packets.items() if way.arrived_ns is None] == [2]
    markers = [way for way in ways if not way.packet]
    assert all(way.arrived_ns and way.arrived_ns > way.sent_ns for way in markers)


REFUSED = {
    'channel.0.quantum="100 B"': ("channel[0].quantum", "refused"),
    "channel.0.loss=1.5": ("channel[0].loss", "refused"),
    'channel.0.queue="100 B"': ("channel[0].queue", "refused"),
    "channel=[]": ("channel", "refused"),
    "stripe.reception=logcal": ("stripe.reception", "unknown-name"),  # typos: on purpose
    "stripe.scheduler=randomised": ("stripe.reception", "refused"),
    "stripe.markers.every_rounds=0": ("stripe.markers.every_rounds", "refused"),
    "stripe.markers.before_channel=3": ("stripe.markers.before_channel", "refused"),
    'stripe={ order = "strict", repair = {} }': ("stripe.repair", "refused"),
    'stripe={ order = "strict", backpressure = false }': ("source[0]", "refused"),
    'stripe={ order = "free", scheduler = "round-robin" }': ("stripe.scheduler", "refused"),
    'stop.warm_up="1 s"': ("stop.warm_up", "refused"),
    'source=[{ packets = { fixed = "9 kB" } }]': ("source[0].packets.fixed", "refused"),
    "source=[{ kind.frames = { interval = '40 ms', packet = '1 kB', file = 'no.txt' } }]": (
        "source[0].kind.frames.file",
        "refused",
    ),
    "channel.0.rat=3": ("channel[0].rat", "unknown-key"),
}


@pytest.mark.parametrize("setting", REFUSED)
def test_what_makes_no_sense_is_refused_with_its_key(setting: str) -> None:
    key, code = REFUSED[setting]
    with pytest.raises(InputError) as refused:
        stripe.run(stripe.StripeScenario.parse(TWO).with_(settings=[setting]))
    assert (refused.value.code, refused.value.key) == (code, key)


def test_a_channel_is_named_by_its_place_from_0_or_by_its_name() -> None:
    named = stripe.StripeScenario.parse(TWO).with_({"channel.1.name": "radio"})
    assert named.with_({"channel.radio.loss": 0.5}).resolved()["channel"][1]["loss"] == 0.5
    with raises(InputError, "unknown-name", key="channel.2.rate"):
        named.with_(settings=['channel.2.rate="20 Mbit/s"'])
    whole = named.with_(settings=['channel.2={ rate = "20 Mbit/s" }'])
    assert len(whole.resolved()["channel"]) == 3


def test_a_seed_is_a_whole_number_of_64_bits(result: stripe.StripeResult) -> None:
    for seed in (-1, 2**64):
        with raises(InputError, "wrong-type", key="seed"):
            stripe.run(result.scenario, seed=seed)


def test_what_is_under_way_where_the_events_end_is_not_lost() -> None:
    from gingham.plots import _rounds

    cut = stripe.run(stripe.StripeScenario.parse(TWO).with_({"measure.events": 40}))
    ways = _rounds.pair(cut.table("events").to_pylist())
    assert any(way.arrived_ns is None for way in ways)
    assert not any(way.lost for way in ways)


def test_a_row_of_the_picture_has_what_is_known_of_the_channel() -> None:
    scenario = stripe.StripeScenario.parse(TWO)
    known = ["window", "in flight", "estimated rate", "round trip", "least"]

    def drawn(window: bool) -> list[str]:
        keys = {"stripe.order": "strict", "stripe.window": window}
        result = stripe.run(scenario.with_(keys))
        picture = plots.picture(plots.channels(result), "svg").decode()
        assert all(f">{always}</text>" in picture for always in ("queue", "arrived"))
        return [label for label in known if f">{label}</text>" in picture]

    assert drawn(window=True) == known
    assert drawn(window=False) == []


def test_many_channels_have_a_picture_without_a_legend() -> None:
    channels = [{"rate": "1 Mbit/s"}] * 20
    many = stripe.run(stripe.StripeScenario.parse(TWO).with_({"channel": channels}))
    drawn = plots.picture(plots.channels(many), "svg").decode()
    assert "20 channels" in drawn
    # The names of the first eight channels are printed beside their rows, and nowhere else.
    assert [drawn.count(f">channel {number}</text>") for number in (1, 8, 9)] == [1, 1, 0]
    assert "the first 8 channels" in drawn


def test_the_picture_of_a_run_that_was_ended_early_ends_with_it() -> None:
    scenario = stripe.StripeScenario.parse(TWO).with_({"stop.time": "1000 s"})
    simulation = stripe.StripeSimulation(scenario)
    simulation.advance(60_000)
    ended = simulation.result()
    assert ended.verdict == "interrupted"
    unit_ns = 1e6 if ended.summary["end_ns"] < 1e9 else 1e9
    for panel in plots.channels(ended).axes:
        assert panel.get_xlim()[1] <= ended.summary["end_ns"] / unit_ns


def test_a_drawing_without_rounds_speaks_of_none() -> None:
    free = {"stripe.scheduler": "shortest-queue", "stripe.reception": "none"}
    drawn = stripe.run(stripe.StripeScenario.example("stripe-rounds").with_(free))
    picture = plots.picture(plots.rounds(drawn), "svg").decode()
    assert "with their number" in picture
    assert "r0 0 B" not in picture


def test_a_transport_is_compared_with_the_best_channel_alone() -> None:
    scenario = stripe.StripeScenario.parse(f"{TWO}[[source]]\nkind.cubic = {{}}\n")
    found = stripe.run(scenario).summary
    assert found["best_channel_alone"] == "2"
    alone = stripe.run(stripe.alone(scenario)[1]).sources[0]["goodput_bits_per_s"]
    assert found["best_channel_alone_bits_per_s"] == alone
    together = found["sources"][0]["goodput_bits_per_s"]
    assert found["best_channel_multiple"] == together / alone


def test_a_packet_longer_than_the_base_waits_for_the_probes() -> None:
    long = {"stripe.sizes": {}, "source": [{"packets": {"fixed": "1400 B"}}]}
    found = stripe.run(stripe.StripeScenario.parse(TWO).with_(long)).summary
    assert found["packets_dropped_before"] == 0
    assert found["packets_delivered"] > 50
