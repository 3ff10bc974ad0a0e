"""What the Python peers share: sizes, delays and messages as `benches/table/workload.rs` has them, and how to print figures."""

import math
import sys

measure = sys.argv[1]
quick = "--quick" in sys.argv

# How long before something is due it is created.
LEAD = 2.0
HOUR = 3_600


def far_delay(number):
    """The same delays in every run, in seconds: from one hour to 24."""
    return HOUR + number * 7_919.777 % (23 * HOUR)


def message(number):
    """A message of 64 bytes that begins with its number."""
    return f"{number:010}: look at the build that began an hour ago, and report"


def show(figures):
    for name, value in figures.items():
        assert math.isfinite(value), f"{name} is {value}"
        print(name, value)


def lateness(late):
    """Percentiles of latenesses in seconds, as milliseconds; whoever is early is off by as much."""
    off = sorted(map(abs, late))
    at = lambda permille: off[min(len(off) * permille // 1_000, len(off) - 1)] * 1_000
    return {"late-p50": at(500), "late-p99": at(990), "early": sum(time < 0 for time in late)}
