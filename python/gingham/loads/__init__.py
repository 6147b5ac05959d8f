"""Load studies of a fabric: latency against load, and the saturation load.

Both are sweeps: their folders hold every run, can be resumed and queried, and grow when points are
added.
"""

from gingham.loads._axis import key_values, load_axis, load_values
from gingham.loads._beside import beside, besides
from gingham.loads._capacity import Accepted
from gingham.loads._curve import CONDITIONS, curve, curve_sweep, curve_table
from gingham.loads._saturation import Saturation, SaturationLoad, saturation

__all__ = [
    "CONDITIONS",
    "Accepted",
    "Saturation",
    "SaturationLoad",
    "beside",
    "besides",
    "curve",
    "curve_sweep",
    "curve_table",
    "key_values",
    "load_axis",
    "load_values",
    "saturation",
]
