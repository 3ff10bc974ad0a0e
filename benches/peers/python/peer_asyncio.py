"""asyncio: a dictionary and a task for each watch, and `gather` for calls at once, as SEED-001's code has them."""

import asyncio
import os
import sys
import time
import uuid

from sizes import measure, quick, show

WATCHES = 500 if quick else 20_000
SECONDS = 1 if quick else 5
CALLS = 50
REPEATS = 50 if quick else 2_000


async def tool(params):
    return "ok"


def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE")


class Watchers:
    def __init__(self):
        self.all = {}
        self.checks = 0
        self.told = []

    def start(self, session, name, params, interval, first):
        id = uuid.uuid4().hex[:12]
        watch = {
            "id": id, "session": session, "tool": name, "params": params, "interval": interval, "status": "running",
            "notify_when": "on_change", "notify_config": {}, "checks": 0, "told": 0, "errors": 0, "last": None,
            "history": [], "created_at": time.time(), "max_checks": 0,
        }
        self.all[id] = watch
        watch["task"] = asyncio.create_task(self.look(watch, first))

    async def look(self, watch, first):
        await asyncio.sleep(first)
        while watch["status"] == "running":
            begun = time.time()
            try:
                result, error = await asyncio.wait_for(tool(watch["params"]), 60), None
            except Exception as raised:
                result, error = None, str(raised)
            watch["checks"] += 1
            self.checks += 1
            watch["history"].append({"at": begun, "result": result, "error": error, "took": time.time() - begun})
            del watch["history"][:-100]
            if watch["checks"] > 1 and result != watch["last"]:
                watch["told"] += 1
                self.told.append((watch["id"], result))
            watch["last"] = result
            await asyncio.sleep(watch["interval"])


async def watches():
    made = Watchers()
    before = resident()
    for number in range(WATCHES):
        made.start(f"session-{number // 100}", "bench.nothing", {}, 3_600, 3_600)
    await asyncio.sleep(0)
    memory = (resident() - before) / WATCHES
    await asyncio.sleep(1)
    start, used = time.perf_counter(), time.process_time()
    await asyncio.sleep(SECONDS)
    return {"watch-memory": memory, "watch-idle": (time.process_time() - used) * 100 / (time.perf_counter() - start)}


async def checks():
    made = Watchers()
    for number in range(WATCHES * 2):
        made.start(f"session-{number // 100}", "bench.nothing", {}, 1, 1 + number / WATCHES / 2)
    await asyncio.sleep(3)
    start, used, begun = time.perf_counter(), time.process_time(), made.checks
    await asyncio.sleep(SECONDS)
    count = made.checks - begun
    return {
        "check-rate": count / (time.perf_counter() - start) / 1_000,
        "check-cpu": (time.process_time() - used) / count * 1e6,
    }


async def parallel():
    times = []
    for _ in range(REPEATS):
        begun = time.perf_counter()
        results = await asyncio.gather(*(asyncio.wait_for(tool({}), 60) for _ in range(CALLS)))
        times.append((time.perf_counter() - begun) * 1e6)
        assert len(results) == CALLS
    times.sort()
    return {"parallel-p50": times[len(times) // 2], "parallel-p99": times[len(times) * 99 // 100]}


# Its watches would keep the loop from ending.
show(asyncio.new_event_loop().run_until_complete({"watches": watches, "checks": checks, "parallel": parallel}[measure]()))
sys.stdout.flush()
os._exit(0)
