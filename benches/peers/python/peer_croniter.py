"""croniter: the next slot of a rule in a zone, from moments all over a year, the same as every other competitor is asked."""

import time
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from croniter import croniter

from sizes import measure, quick, show

assert measure == "cron"
RULES = {"cron-workdays": ("30 9 * * MON-FRI", "Europe/Berlin"), "cron-leap-day": ("0 0 29 2 *", "America/New_York")}
COUNT = 100 if quick else 2_000
# A year in seconds, and a step without a common factor.
YEAR, STEP = 31_536_000, 7_919_777

figures = {}
for name, (rule, zone) in RULES.items():
    start = datetime(2026, 1, 1, tzinfo=ZoneInfo("UTC"))
    moments = [(start + timedelta(seconds=place * STEP % YEAR)).astimezone(ZoneInfo(zone)) for place in range(COUNT)]
    begin = time.perf_counter()
    for moment in moments:
        assert croniter(rule, moment).get_next(datetime) > moment
    figures[name] = (time.perf_counter() - begin) * 1e6 / COUNT
show(figures)
