"""`gingham explain` answers the words that network engineers type, never with a related word."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from gingham.catalogue import glossary, lookup
from gingham.cli import _main

# A word in use here; a foreign term with a counterpart; one without a counterpart; a mechanism.
WORD, HERE, ABSENT, MECHANISM = "word", "here", "absent", "mechanism"
# Typed words, each with the kind of the entry and the word or mechanism in its heading.
TYPED = {
    # Collectives and jobs.
    "all-reduce": (HERE, "all-reduce"),
    "AllReduce": (HERE, "all-reduce"),
    "all-gather": (HERE, "all-gather, reduce-scatter"),
    "reduce_scatter": (HERE, "all-gather, reduce-scatter"),
    "alltoall": (HERE, "all-to-all"),
    "all-to-all": (HERE, "all-to-all"),
    "broadcast": (ABSENT, "multicast"),
    "nccl-tests": (HERE, "nccl-tests"),
    "busbw": (HERE, "busbw"),
    "algbw": (ABSENT, "algbw"),
    "NCCL": (ABSENT, "NCCL"),
    "NCCL_IB_SL": (ABSENT, "NCCL"),
    "NCCL_IB_QPS_PER_CONNECTION": (ABSENT, "NCCL"),
    "UCX": (ABSENT, "UCX"),
    "UCX_TLS": (ABSENT, "UCX"),
    "MPI": (ABSENT, "MPI"),
    "NVLink": (ABSENT, "NVLink, NVSwitch, PCIe"),
    "rail": (HERE, "rail"),
    "rail-optimized": (HERE, "rail"),
    "GPU": (ABSENT, "GPU"),
    "Slurm": (HERE, "Slurm"),
    "checkpoint": (HERE, "checkpoint"),
    "job completion time": (HERE, "job completion time"),
    # Routing.
    "d-mod-k": (ABSENT, "d-mod-k"),
    "s-mod-k": (ABSENT, "s-mod-k"),
    "minhop": (HERE, "minhop"),
    "updn": (HERE, "updn"),
    "ftree": (WORD, "ftree"),
    "west-first": (ABSENT, "west-first"),
    "UGAL": (ABSENT, "UGAL"),
    "Valiant": (ABSENT, "Valiant"),
    "ROMM": (ABSENT, "ROMM"),
    "ECMP": (ABSENT, "ECMP"),
    "packet spraying": (HERE, "packet spraying"),
    "adaptive routing": (WORD, "adaptive routing"),
    "AR": (HERE, "AR"),
    "ar_updn": (HERE, "AR"),
    "credit loop": (WORD, "cycle"),
    "LFT": (WORD, "LFT"),
    "load balancing": (HERE, "load balancing"),
    "store-and-forward": (ABSENT, "store-and-forward"),
    # InfiniBand and its counters.
    "SHARP": (ABSENT, "SHARP"),
    "XmitWait": (HERE, "PortXmitWait"),
    "PortXmitWait": (HERE, "PortXmitWait"),
    "port_xmit_wait": (HERE, "PortXmitWait"),
    "PortXmitData": (ABSENT, "PortXmitData, PortRcvData"),
    "PortXmitDiscards": (ABSENT, "PortXmitDiscards"),
    "BER": (ABSENT, "bit error rate"),
    "VL15": (ABSENT, "VL15"),
    "HOQ lifetime": (ABSENT, "HOQ lifetime"),
    "head_of_queue_lifetime": (ABSENT, "HOQ lifetime"),
    "path MTU": (HERE, "path MTU"),
    "MTU": (WORD, "longest payload"),
    "LMC": (HERE, "LMC"),
    "LID": (WORD, "LID"),
    "GUID": (WORD, "GUID"),
    "SM": (WORD, "subnet manager"),
    "OpenSM": (WORD, "subnet manager"),
    "SL": (WORD, "SL"),
    "SL2VL": (HERE, "SL-to-VL table"),
    "VL": (WORD, "lane"),
    "VLArb": (WORD, "arbitration table"),
    "P_Key": (ABSENT, "partition"),
    "QP": (WORD, "queue pair, work request, completion"),
    "HCA": (WORD, "adapter"),
    "ibsim": (HERE, "ibsim"),
    "ibnetdiscover": (HERE, "ibnetdiscover"),
    "NDR": (HERE, "NDR"),
    "4xHDR": (HERE, "NDR"),
    # Ethernet and congestion.
    "RoCEv2": (HERE, "RoCEv2"),
    "RDMA": (HERE, "RDMA"),
    "PFC": (WORD, "pause"),
    "ECN": (WORD, "mark of a packet"),
    "CNP": (WORD, "notification"),
    "DCQCN": (MECHANISM, "dcqcn"),
    "DCTCP": (ABSENT, "HPCC, DCTCP"),
    "HPCC": (ABSENT, "HPCC, DCTCP"),
    "TIMELY": (MECHANISM, "timely"),
    "Swift": (MECHANISM, "swift"),
    "PFC storm": (ABSENT, "PFC storm"),
    "UEC": (ABSENT, "UEC"),
    "LAG": (HERE, "link aggregation"),
    "QoS": (HERE, "QoS"),
    "incast": (HERE, "incast"),
    "lossless": (HERE, "lossless"),
    "headroom": (WORD, "headroom"),
    "VOQ": (ABSENT, "VOQ"),
    "HOL blocking": (WORD, "head-of-line blocking"),
    # Shapes.
    "oversubscription": (HERE, "oversubscription"),
    "taper": (HERE, "oversubscription"),
    "bisection": (WORD, "bisection"),
    "bisection bandwidth": (ABSENT, "bisection bandwidth"),
    "full bisection": (ABSENT, "bisection bandwidth"),
    "radix": (HERE, "radix"),
    "fat tree": (WORD, "fat tree"),
    "Clos": (HERE, "Clos network"),
    "dragonfly": (MECHANISM, "dragonfly"),
    "dragonfly+": (ABSENT, "Dragonfly+"),
    "slimfly": (ABSENT, "Slim Fly"),
    "Slim Fly": (ABSENT, "Slim Fly"),
    "HyperX": (ABSENT, "HyperX"),
    "flattened butterfly": (ABSENT, "HyperX"),
    "butterfly": (ABSENT, "butterfly"),
    "jellyfish": (HERE, "Jellyfish"),
    "torus": (MECHANISM, "torus"),
    "spine": (HERE, "spine"),
    "ToR": (WORD, "leaf"),
    "plane": (HERE, "plane"),
    "multi-plane": (MECHANISM, "multi-plane"),
    "rail-optimised": (MECHANISM, "rail-optimised"),
    "scalable unit": (HERE, "scalable unit"),
    "SU": (HERE, "scalable unit"),
    "SuperPOD": (HERE, "DGX SuperPOD"),
    "link failure": (HERE, "link failure"),
    # Measurement.
    "goodput": (WORD, "goodput"),
    "throughput": (WORD, "accepted load"),
    "bandwidth": (HERE, "bandwidth"),
    "latency": (WORD, "message latency"),
    "saturation": (WORD, "saturation load"),
    "tail latency": (WORD, "percentile"),
    "p99": (WORD, "percentile"),
    "warm-up": (WORD, "warm-up"),
    "MSER": (WORD, "MSER"),
    "flow completion time": (HERE, "flow completion time"),
    "FCT": (HERE, "flow completion time"),
    # Programs and protocols.
    "netem": (HERE, "netem"),
    "MPTCP": (HERE, "MPTCP, minRTT, ECF, BLEST"),
    "RSVP": (HERE, "RSVP"),
    "LogGOPSim": (ABSENT, "LogGOPSim"),
    "GOAL": (ABSENT, "GOAL"),
    "Chakra": (ABSENT, "Chakra"),
    "ASTRA-sim": (ABSENT, "ASTRA-sim"),
    "SimAI": (ABSENT, "SimAI"),
    "ns-3": (ABSENT, "ns-3, htsim, OMNeT++"),
    "ns3": (ABSENT, "ns-3, htsim, OMNeT++"),
    "htsim": (ABSENT, "ns-3, htsim, OMNeT++"),
    "OMNeT++": (ABSENT, "ns-3, htsim, OMNeT++"),
    "SST": (ABSENT, "SST, CODES, SimGrid, gem5, SuperSim"),
    "BookSim": (HERE, "BookSim"),
    "BookSim2": (HERE, "BookSim"),
    "CAMINOS": (HERE, "CAMINOS"),
}


def kind(word: glossary.Word) -> str:
    """Return the kind of a glossary entry."""
    return ABSENT if word.not_here else HERE if word.here else WORD


@pytest.mark.parametrize("typed", TYPED)
def test_what_people_type_is_answered_by_its_own_meaning(typed: str) -> None:
    answer = lookup.asked(typed, stripe=False)
    assert not answer.is_within
    found = [(kind(one), one.word) for one in answer.found["words"]]
    found = found or [(MECHANISM, one.name) for one in answer.found["mechanisms"]]
    assert found == [TYPED[typed]]
    shown = CliRunner().invoke(_main.gingham, ["explain", typed])
    assert shown.exit_code == 0
    assert ("not here " in shown.output) == (TYPED[typed][0] == ABSENT)


def test_dimension_order_is_also_the_name_of_an_engine_of_opensm() -> None:
    found = lookup.find("DOR")["words"]
    assert {(kind(one), one.word) for one in found} == {(WORD, "dimension order"), (HERE, "dor")}


def others() -> list[glossary.Word]:
    """Return the words of others."""
    return glossary.sections()[glossary.OTHERS]


def test_words_of_others_alone_say_whether_they_are_here_and_what_is_nearest() -> None:
    for one in glossary.every_word():
        assert bool(one.here) + bool(one.not_here) == (one in others()), one.word
        assert bool(one.near) == (one in others()), one.word
    assert len(others()) >= 60


def test_what_is_nearest_can_be_asked_for() -> None:
    for one in others():
        for near in one.near:
            program, *command = near.split()
            if program == "gingham":
                shown = CliRunner().invoke(_main.gingham, [*command, "--help"])
                assert shown.exit_code == 0, (one.word, near)
            else:
                assert not lookup.asked(near, stripe=False).is_within, (one.word, near)


def test_no_two_words_of_the_fabric_share_a_name_with_a_word_of_others() -> None:
    """A name has one entry; only DOR has two meanings."""
    own = {
        glossary.plain(name): one.word
        for one in glossary.every_word()
        if one not in others()
        for name in one.names()
    }
    shared = {
        (one.word, own[glossary.plain(name)])
        for one in others()
        for name in one.names()
        if glossary.plain(name) in own
    }
    assert shared == {("dor", "dimension order")}
