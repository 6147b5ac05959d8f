"""The striping laboratory: several channels as one pipe, in virtual time.

>>> from gingham import stripe
>>> scenario = stripe.StripeScenario.parse('''
... stop.time = "5 s"
... [[channel]]
... rate = "10 Mbit/s"
... [[channel]]
... rate = "20 Mbit/s"
... ''')
>>> result = stripe.run(scenario)
>>> round(result.summary["goodput_bits_per_s"] / 1e6)
30

A scenario describes the channels, the traffic, the striping and the reordering of packets; `gingham
stripe` does the same on the command line.
"""

from gingham.stripe._result import StripeResult
from gingham.stripe._running import (
    StripeProgress,
    StripeSimulation,
    alone,
    load_result,
    run,
    simulate,
)
from gingham.stripe._scenario import StripeScenario

__all__ = [
    "StripeProgress",
    "StripeResult",
    "StripeScenario",
    "StripeSimulation",
    "alone",
    "load_result",
    "run",
    "simulate",
]
