"""Queries a subnet administrator for path records; a script, run under `ibsim-run`.

::

    python sa_queries.py QUESTIONS ANSWERS

    QUESTIONS: source,destination    LIDs, one pair per line
    ANSWERS:   source,destination,SL in the same order; "-" for the SL without a path,
               "?" if no response arrived

Queries and responses use the forwarding tables of the subnet. If the tables have no route to the
administrator or back, no response arrives: if the first query times out, the others are abandoned.

It sends management datagrams through `libibumad`, which `ibsim-run` connects to the simulator; on a
machine with an adapter it would query the administrator of the real subnet. Only one query is
outstanding at any time, because the simulator identifies the receiver of a response by the latest
query.

Layouts: InfiniBand Architecture Specification, Volume 1, sections 13.4.3 (header), 15.2.1.1
(administration), 15.2.5.16 (path record). It imports nothing of the package, because it is run by
path.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from pathlib import Path

LIBRARY = "libibumad.so.3"
CLASS_ADMINISTRATION, CLASS_VERSION, RMPP_VERSION = 0x03, 2, 1
METHOD_GET, METHOD_RESPONSE = 0x01, 0x81
ATTRIBUTE_PATH_RECORD = 0x0035
QUEUE_PAIR, QUEUE_KEY = 1, 0x80010000

DATAGRAM_BYTES = 256
# Base version, class, class version, method, status, directed-route field, transaction, attribute.
HEADER = struct.Struct(">BBBBHHQHHI")
# RMPP (unused in a Get), SM key, offset, reserved, component mask.
ADMINISTRATION = struct.Struct(">12sQHHQ")
RECORD_OFFSET = HEADER.size + ADMINISTRATION.size
# In the record: destination and source LID; reversible bit with number of paths; SL in the low bits
# of two bytes.
LIDS_OFFSET, PATHS_OFFSET, SL_OFFSET = 40, 49, 52
ASKS_DESTINATION, ASKS_SOURCE, ASKS_PATHS = 1 << 4, 1 << 5, 1 << 12

TIMEOUT_MS = 1000
TRIES_MAX = 5
# Responses without an SL.
NO_PATH, NO_ANSWER = "-", "?"


class UmadPort(ctypes.Structure):
    """The beginning of `umad_port_t`, libibumad's description of the local port."""

    _fields_ = (
        ("ca_name", ctypes.c_char * 20),
        ("portnum", ctypes.c_int),
        ("base_lid", ctypes.c_uint),
        ("lmc", ctypes.c_uint),
        ("sm_lid", ctypes.c_uint),
        ("sm_sl", ctypes.c_uint),
        ("rest", ctypes.c_char * 4096),
    )


class Administrator:
    """The subnet administrator, as seen from the first port of this machine."""

    def __init__(self) -> None:
        """Open the port; raise `OSError` if there is none."""
        self.library = ctypes.CDLL(LIBRARY, use_errno=True)
        self.library.umad_get_mad.restype = ctypes.c_void_p
        if self.library.umad_init() < 0:
            raise OSError("libibumad cannot be initialised")
        port = UmadPort()
        if self.library.umad_get_port(None, 0, ctypes.byref(port)) < 0:
            raise OSError("no InfiniBand port")
        self.port = self.library.umad_open_port(None, 0)
        self.agent = self.library.umad_register(
            self.port, CLASS_ADMINISTRATION, CLASS_VERSION, RMPP_VERSION, None
        )
        if self.port < 0 or self.agent < 0:
            raise OSError("the InfiniBand port cannot be opened")
        size = self.library.umad_size() + DATAGRAM_BYTES
        self.packet = ctypes.create_string_buffer(size)
        self.datagram = self.library.umad_get_mad(self.packet)
        self.lid, self.service_level = port.sm_lid, port.sm_sl
        self.transaction = 0

    def word_of(self, source: int, destination: int) -> str:
        """Return the SL of the path between two LIDs, `NO_PATH` or `NO_ANSWER`."""
        for _ in range(TRIES_MAX):
            self.transaction += 1
            self.send(question(self.transaction, source, destination))
            answer = self.receive()
            if answer is not None:
                level = read_answer(answer, source, destination)
                return NO_PATH if level is None else str(level)
        return NO_ANSWER

    def send(self, datagram: bytes) -> None:
        """Send a datagram to the administrator."""
        ctypes.memset(self.packet, 0, len(self.packet))
        ctypes.memmove(self.datagram, datagram, DATAGRAM_BYTES)
        self.library.umad_set_addr(
            self.packet, self.lid, QUEUE_PAIR, self.service_level, ctypes.c_uint(QUEUE_KEY)
        )
        sent = self.library.umad_send(
            self.port, self.agent, self.packet, DATAGRAM_BYTES, TIMEOUT_MS, 0
        )
        if sent < 0:
            raise OSError("the question cannot be sent")

    def receive(self) -> bytes | None:
        """Return the response to the latest query, or `None` after a timeout."""
        while True:
            length = ctypes.c_int(DATAGRAM_BYTES)
            agent = self.library.umad_recv(self.port, self.packet, ctypes.byref(length), TIMEOUT_MS)
            if agent < 0 or self.library.umad_status(self.packet) != 0:
                return None
            datagram = ctypes.string_at(self.datagram, DATAGRAM_BYTES)
            # The upper half belongs to the library. Late responses to earlier queries are skipped.
            if HEADER.unpack_from(datagram)[6] & 0xFFFFFFFF == self.transaction:
                return datagram


def question(transaction: int, source: int, destination: int) -> bytes:
    """Return the query datagram for one path between two LIDs."""
    datagram = bytearray(DATAGRAM_BYTES)
    HEADER.pack_into(
        datagram, 0, 1, CLASS_ADMINISTRATION, CLASS_VERSION, METHOD_GET, 0, 0, transaction,
        ATTRIBUTE_PATH_RECORD, 0, 0,
    )  # fmt: skip
    mask = ASKS_DESTINATION | ASKS_SOURCE | ASKS_PATHS
    ADMINISTRATION.pack_into(datagram, HEADER.size, bytes(12), 0, 0, 0, mask)
    struct.pack_into(">HH", datagram, RECORD_OFFSET + LIDS_OFFSET, destination, source)
    datagram[RECORD_OFFSET + PATHS_OFFSET] = 1
    return bytes(datagram)


def read_answer(datagram: bytes, source: int, destination: int) -> int | None:
    """Return the SL in a response, or `None` if it reports no path."""
    _, _, _, method, status, _, _, _, _, _ = HEADER.unpack_from(datagram)
    if method != METHOD_RESPONSE or status != 0:
        return None
    lids = struct.unpack_from(">HH", datagram, RECORD_OFFSET + LIDS_OFFSET)
    if lids != (destination, source):
        raise OSError(f"asked for LIDs {(destination, source)}, got an answer for {lids}")
    (service,) = struct.unpack_from(">H", datagram, RECORD_OFFSET + SL_OFFSET)
    return int(service & 0xF)


def answer(questions: Path, answers: Path) -> None:
    """Query each pair of `questions`."""
    administrator = Administrator()
    reached = True
    with questions.open() as asked, answers.open("w") as said:
        for line in asked:
            source, destination = map(int, line.split(","))
            word = administrator.word_of(source, destination) if reached else NO_ANSWER
            reached = reached and (word != NO_ANSWER or said.tell() > 0)
            said.write(f"{source},{destination},{word}\n")


if __name__ == "__main__":
    answer(Path(sys.argv[1]), Path(sys.argv[2]))
