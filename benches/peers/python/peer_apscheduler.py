"""APScheduler 3: one-shot jobs in memory, and in SQLite by way of SQLAlchemy, each write flushed before it is answered.

Its store in memory keeps a sorted list: a create moves half of it, so that a hundred thousand are all it is asked to bear.
"""

import logging
import os
import random
import shutil
import tempfile
import threading
import time
from datetime import datetime, timedelta, timezone

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.jobstores.memory import MemoryJobStore
from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore
from apscheduler.schedulers.background import BackgroundScheduler
from sqlalchemy import create_engine, event

from sizes import LEAD, far_delay, lateness, measure, message, quick, show

PENDING = 500 if quick else 10_000
FIRES = 100 if quick else 2_000
RATE, RATE_SECONDS = (50, 1) if quick else (200, 5)
IDLE_SECONDS = 1 if quick else 10
DURABLE_SECONDS = 0.2 if quick else 2.0
STORED = 200 if quick else 10_000

received = []
all_there = threading.Event()
awaited = 0


def wake(text):
    received.append((text, time.time()))
    if len(received) == awaited:
        all_there.set()


def at(seconds):
    return datetime.fromtimestamp(seconds, timezone.utc)


def scheduler(store, paused=False):
    # Ten threads are its default. A job that is late must run all the same, as ours do.
    made = BackgroundScheduler(
        jobstores={"default": store},
        executors={"default": ThreadPoolExecutor(10)},
        job_defaults={"misfire_grace_time": None, "coalesce": False},
        timezone=timezone.utc,
    )
    made.start(paused)
    return made


def create(made, number, seconds):
    return made.add_job(wake, "date", run_date=at(seconds), args=[message(number)])


def fill_up(made, count):
    now = time.time()
    return [create(made, number, now + far_delay(number)).id for number in range(count)]


def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def fill():
    made = scheduler(MemoryJobStore())
    fill_up(made, 1)
    before, start = resident(), time.perf_counter()
    ids = fill_up(made, PENDING)
    figures = {"create": PENDING / (time.perf_counter() - start) / 1e6}
    figures["memory"] = (resident() - before) / PENDING
    random.Random(1).shuffle(ids)
    start = time.perf_counter()
    for each in ids:
        made.remove_job(each)
    figures["cancel"] = PENDING / (time.perf_counter() - start) / 1e6
    return figures


def burst():
    global awaited
    awaited = FIRES
    made = scheduler(MemoryJobStore(), paused=True)
    fill_up(made, PENDING - FIRES)
    due = time.time() + LEAD + FIRES / 1_000
    for number in range(FIRES):
        create(made, number, due)
    made.resume()
    assert time.time() < due, "creating took longer than the lead: the burst was cut"
    all_there.wait()
    return {"burst-rate": FIRES / (received[-1][1] - due) / 1_000}


def rate():
    global awaited
    awaited = RATE * RATE_SECONDS
    made = scheduler(MemoryJobStore(), paused=True)
    fill_up(made, PENDING - awaited)
    first = time.time() + LEAD
    dues = [first + number * 7.919777 % RATE_SECONDS for number in range(awaited)]
    for number, due in enumerate(dues):
        create(made, number, due)
    made.resume()
    assert time.time() < first, "creating took longer than the lead: the load was cut"
    all_there.wait()
    return lateness([seen - dues[int(text[:10])] for text, seen in received])


def idle():
    made = scheduler(MemoryJobStore())
    fill_up(made, PENDING)
    time.sleep(1)
    start, used = time.perf_counter(), time.process_time()
    time.sleep(IDLE_SECONDS)
    return {"idle": (time.process_time() - used) * 100 / (time.perf_counter() - start)}


def on_disk(directory):
    # A caller waits for the lock as long as it takes.
    engine = create_engine(f"sqlite:///{directory}/jobs.db", connect_args={"timeout": 60})

    @event.listens_for(engine, "connect")
    def flush_each(connection, _):
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")

    return SQLAlchemyJobStore(engine=engine)


def durable():
    figures = {}
    for callers in (1, 64, 256):
        directory = tempfile.mkdtemp(prefix="reveille-bench-", dir=os.environ.get("STORE_BENCH_DIR"))
        made = scheduler(on_disk(directory))
        begin, counts = time.perf_counter(), [0] * callers

        def caller(place):
            while time.perf_counter() - begin < DURABLE_SECONDS:
                create(made, place, time.time() + far_delay(counts[place]))
                counts[place] += 1

        threads = [threading.Thread(target=caller, args=[place]) for place in range(callers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        figures[f"durable-{callers}"] = sum(counts) / (time.perf_counter() - begin)
        made.shutdown(wait=False)
        shutil.rmtree(directory)
    return figures


def restart():
    directory = tempfile.mkdtemp(prefix="reveille-bench-", dir=os.environ.get("STORE_BENCH_DIR"))
    store = on_disk(directory)
    made = scheduler(store)
    with store.engine.connect() as connection:
        # Filling it is not what is measured.
        connection.exec_driver_sql("PRAGMA synchronous = OFF")
    fill_up(made, STORED)
    made.shutdown()
    start = time.perf_counter()
    found = scheduler(on_disk(directory)).get_jobs()
    taken = time.perf_counter() - start
    assert len(found) == STORED, f"{len(found)} of {STORED} came back"
    shutil.rmtree(directory)
    return {"restart": STORED / taken / 1_000}


logging.disable()
show({"fill": fill, "burst": burst, "rate": rate, "idle": idle, "durable": durable, "restart": restart}[measure]())
# Its threads would keep the process until all jobs have run.
os._exit(0)
