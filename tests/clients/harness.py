"""The client of clients/python against a daemon that is killed: as harness.mjs.

Usage: python3 harness.py MORE TOTAL SOCKET, or python3 harness.py MORE TOTAL URL TOKEN. tests/clients/harness.rs reads it.
"""

import asyncio
import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "clients" / "python"))
from reveille import Reveille, ReveilleError  # noqa: E402


def say(*words):
    print(*[str(word).lower() if isinstance(word, bool) else word for word in words], flush=True)


async def until_answered(ask):
    """What asks may meet the daemon while it is away."""
    while True:
        try:
            return await ask()
        except ReveilleError as error:
            if not error.is_lost:
                raise
            await asyncio.sleep(0.05)


async def host(reveille):
    is_first = True
    async for delivery in reveille.host("main", on_lost=lambda why, wait: say("lost", why)):
        if delivery.text == "refuse me":
            await delivery.nack(Exception("the model is gone"))
            say("refused")
            continue
        say("handled", delivery.text)
        if is_first:
            say("twice", await delivery.ack(), await delivery.ack())
        is_first = False
        # A turn, which a kill may cut.
        await asyncio.sleep(0.06)


def create(message, delay):
    text = json.dumps(message)
    return (
        f'(psi.scheduler/create {{:session-id "main" :kind :message :message {text} :delay-ms {delay} :durability :durable}})'
    )


async def main(more, total, where, token=None):
    reveille = Reveille(url=where, token=token) if token else Reveille(where)
    hosting = asyncio.ensure_future(host(reveille))
    is_hosted = '[{[:psi.agent-session/session-id "main"] [:psi.agent-session/hosted?]}]'
    while "True" not in str(await until_answered(lambda: reveille.eql(is_hosted, lenient=True))):
        await asyncio.sleep(0.02)
    wanted = [create(f"m{number}", 1_000 + 150 * number) for number in range(more)]
    if wanted:
        await reveille.eql(f"[{' '.join([*wanted, create('refuse me', 1_000)])}]")
    try:
        await reveille.call("create", {"message": "x", "when": "soon"}, session="main")
    except ReveilleError as error:
        say("created", True, len(str(error)) > 0)
    statuses = "[{:psi.scheduler/schedules [:psi.scheduler/message :psi.scheduler/status :psi.scheduler/error-summary]}]"
    while True:
        schedules = (await until_answered(lambda: reveille.eql(statuses)))["psi.scheduler/schedules"]
        by = {status: [it for it in schedules if it["psi.scheduler/status"] == status] for status in ("delivered", "failed")}
        if len(by["delivered"]) == total and len(by["failed"]) == 1:
            say("failed", "the model is gone" in json.dumps(by["failed"]))
            break
        await asyncio.sleep(0.05)
    if token:
        say("graphql", (await reveille.graphql("{ schedules { totalCount } }"))["schedules"]["totalCount"])
    hosting.cancel()
    await asyncio.gather(hosting, return_exceptions=True)
    await reveille.close()
    say("done")


asyncio.run(main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]))
