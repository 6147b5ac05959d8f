"""The relay between two ends certifies the same numbers, whatever it reads first."""

from __future__ import annotations

import socket
import threading

from gingham_studies.adiseshu1996.real.relay import (
    NUMBER_AT,
    NUMBER_END,
    PACKETS,
    PORT,
    PORT_AT,
    Relay,
)


def _frame(number: int) -> bytes:
    frame = bytearray(NUMBER_END)
    frame[12:14] = PACKETS.to_bytes(2, "big")
    frame[PORT_AT : PORT_AT + 2] = PORT.to_bytes(2, "big")
    frame[NUMBER_AT:NUMBER_END] = number.to_bytes(8, "big")
    return bytes(frame)


def test_numbers_that_overtook_others_are_not_vouched_for() -> None:
    """Channel 1 is read ahead: its 1, 3 and 5 have come while 2 and 4 still wait on channel 0."""
    inner, outer = [], []
    for _ in range(4):
        one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        inner.append(one)
        outer.append(other)
    left, right = (outer[0], outer[2]), (outer[1], outer[3])
    relay = Relay([(inner[0], inner[1]), (inner[2], inner[3])])
    thread = threading.Thread(target=relay.run)
    thread.start()
    try:
        for one in right:
            one.settimeout(10)
        for channel, number in ((0, 0), (1, 1), (1, 3), (1, 5)):
            left[channel].send(_frame(number))
            assert right[channel].recv(1 << 16) == _frame(number)
        assert relay.begins() == 6, "5 has come: it may have been lost"
        assert relay.lose(1) == 0, "2 will be lost, and is not vouched for"
    finally:
        relay.end()
        thread.join()
        for one in (*inner, *outer):
            one.close()
