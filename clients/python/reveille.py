"""A client of Reveille in one file, without dependencies: it is the host of sessions, calls tools, and asks in EQL and GraphQL.

It speaks the stream protocol in JSON, one line for each message (docs/HARNESS.md), over the Unix socket or over HTTP.
"""

import asyncio
import json
import os
import random
import ssl
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

# The daemon waits 30 seconds for a receipt. One is given before, for a delivery that is still at work or waits its turn.
RECEIPT_S = 20.0
# How long a session is asked for that another connection still has, such as that of the former process.
TAKE_OVER_S = 5.0
FIRST_WAIT_S = 0.1
LONGEST_WAIT_S = 5.0
# So many receipts are remembered, for deliveries that come again after a lost connection.
RECEIPTS_KEPT = 1_000
# A longer line is not the daemon's.
LINE_BYTES_MAX = 64 << 20


class ReveilleError(Exception):
    """A refusal of the daemon, with its data, or the loss of the connection (`is_lost`)."""

    def __init__(self, said, is_lost=False):
        # Tools have errors of their own shapes.
        error = said.get("error") or said.get("psi-tool/error") or said
        error = error if isinstance(error, dict) else {"message": str(error)}
        super().__init__(error.get("message") or json.dumps(said))
        self.kind, self.phase = error.get("class"), error.get("phase")
        self.data = error.get("data") or error
        # A tool's error has its code as its class.
        self.code = self.data.get("code") or self.kind
        self.is_lost = is_lost


def _lost(why):
    return ReveilleError({"message": f"the connection to the daemon is lost: {why}"}, is_lost=True)


class Reveille:
    """A daemon, at `socket`, or at `url` with a `token`. Without either: at the socket of the data directory."""

    def __init__(self, socket=None, url=None, token=None):
        if url and not token:
            raise ValueError("a url needs the token that it is for")
        self._where = {"url": url, "token": token} if url else {"socket": str(socket or _data_directory() / "reveille.sock")}
        self._line = None
        self._opening = None

    async def host(self, session, *, config=None, zone=None, on_lost=None):
        """Yields the deliveries of a session, one at a time: `async for delivery in reveille.host("main")`.

        The session is opened, or taken over with what waits for it. The body is the turn: the session is busy meanwhile, and its
        end acknowledges the delivery if nothing else has. A lost connection is made again. `break`, or an exception, leaves the
        delivery to the next host, unless it has a receipt.
        """
        asked = {"session-id": session, "session-config": config, "zone": zone, "or-attach?": True}
        host = _Host(self._where, asked, on_lost or (lambda why, wait: None))
        try:
            await host.start()
            while True:
                delivery = await host.next()
                if delivery is None:
                    return
                yield delivery
                await host.turn_ended(delivery)
        finally:
            host.close()

    async def call(self, tool, args=None, *, session=None):
        """Calls a tool by its name, on behalf of a session. Returns its result, or raises its error."""
        return await self.request("call", {"tool": tool, "args": args or {}, "session-id": session})

    async def eql(self, query, *, entity=None, lenient=None):
        """Asks in EQL, which is written as EDN: `await reveille.eql("[:psi.scheduler/pending-count]")`."""
        return await self.request("eql", {"query": query, "entity": entity, "lenient?": lenient})

    async def request(self, op, fields=None):
        """Any operation of the stream. Fields that are None are left out."""
        # Nothing is sent a second time: what was under way when a connection was lost may have been done.
        # Made within the event loop, as older versions of Python want it.
        self._opening = self._opening or asyncio.Lock()
        async with self._opening:
            if self._line is None or self._line.is_over:
                self._line = await _Line.open(self._where)
        return await self._line.ask(op, fields or {})

    async def graphql(self, query, variables=None, *, session=None):
        """Asks in GraphQL, over HTTP. Returns the data, or raises the first error, which has all of them in `data`."""
        if "url" not in self._where:
            raise ValueError("GraphQL is asked over HTTP: make the client with a url and a token")
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._where['token']}"}
        if session:
            headers["Reveille-Session"] = session
        body = json.dumps({"query": query, "variables": variables or {}}).encode()
        request = urllib.request.Request(self._where["url"].rstrip("/") + "/graphql", body, headers)
        answer = await asyncio.to_thread(_post, request)
        failure = (answer.get("errors") or [answer.get("error")])[0]
        if failure:
            raise ReveilleError({"message": failure["message"], "class": "graphql", "data": {"errors": answer.get("errors")}})
        return answer["data"]

    async def close(self):
        """Ends the connection of calls and queries. Hosts have their own, which end with their loops."""
        if self._line is not None:
            self._line.close()


class Delivery:
    """What came due, and the ways to answer it."""

    def __init__(self, push, host):
        self._host = host
        self.id, self.session, self.message = push["delivery-id"], push["session-id"], push["message"]
        self.text = "\n".join(part["text"] for part in self.message["content"])
        self.schedule, self.label = self.message.get("schedule-id"), self.message.get("label")

    async def ack(self):
        """It has arrived. The body may go on for as long as it wants."""
        return await self._host.receipt(self, "delivery/ack", {})

    async def nack(self, error, *, phase="prompt-submit"):
        """It could not be handed to the agent; `phase` is "create-session" if there is no session for it."""
        return await self._host.receipt(self, "delivery/nack", {"phase": phase, "error": str(error)})


class _Host:
    """The host of one session, over however many connections it takes."""

    def __init__(self, where, asked, on_lost):
        self._where, self._asked, self._on_lost = where, asked, on_lost
        self._line, self._failure, self._is_closed = None, None, False
        self._waiting, self._turn, self._timers = [], None, {}
        # The receipts that were given, by delivery: what comes again has been handled, or waits here.
        self._receipts = {}
        self._woken = asyncio.Event()
        self._tasks = set()

    async def start(self):
        """Becomes the host. The first connection has to succeed; later ones are tried until they do."""
        await self._connect()

    async def next(self):
        while not (self._waiting or self._is_closed or self._failure):
            self._woken.clear()
            await self._woken.wait()
        if self._failure:
            raise self._failure
        if self._is_closed:
            return None
        self._turn = self._waiting.pop(0)
        # Before the receipt: the next delivery comes when the turn ends.
        self._begin(self._tell("session/busy", {"session-id": self._turn.session, "busy?": True}))
        return self._turn

    async def turn_ended(self, delivery):
        await delivery.ack()
        self._turn = None
        await self._tell("session/busy", {"session-id": delivery.session, "busy?": False})

    async def receipt(self, delivery, op, fields):
        """Answers a delivery once. False if it had an answer already, or if the daemon did not take this one."""
        if delivery.id in self._receipts:
            return False
        self._forget_timer(delivery.id)
        # Remembered first: if the daemon does not hear it, the delivery comes again and is answered then.
        self._receipts[delivery.id] = (op, fields)
        if len(self._receipts) > RECEIPTS_KEPT:
            del self._receipts[next(iter(self._receipts))]
        return await self._answer(delivery.id)

    def close(self):
        self._is_closed = True
        for delivery_id in list(self._timers):
            self._forget_timer(delivery_id)
        if self._line is not None:
            self._line.close()
        self._woken.set()

    async def _connect(self):
        # Known at once: what waited is pushed with the answer, and may need its receipt again.
        line = self._line = await _Line.open(self._where, self._pushed)
        loop = asyncio.get_running_loop()
        until, wait = loop.time() + TAKE_OVER_S, FIRST_WAIT_S
        while True:
            is_busy = self._turn is not None and self._turn.session == self._asked["session-id"]
            try:
                await line.ask("session/open", {**self._asked, "busy?": is_busy or None})
                break
            except ReveilleError as error:
                if error.code != "CONFLICT" or loop.time() > until:
                    line.close()
                    raise
            await asyncio.sleep(wait)
            wait *= 2
        line.on_over = lambda why: self._begin(self._reconnect(why))
        if line.is_over and not self._is_closed:
            self._begin(self._reconnect(_lost("it was closed")))

    async def _reconnect(self, why):
        # What waits without a receipt comes again, from a daemon that knows who is to have it.
        for delivery in self._waiting:
            self._forget_timer(delivery.id)
        self._waiting = [delivery for delivery in self._waiting if delivery.id in self._receipts]
        wait = FIRST_WAIT_S
        while not self._is_closed:
            self._on_lost(why, wait)
            await asyncio.sleep(wait * (0.5 + random.random() / 2))
            wait = min(2 * wait, LONGEST_WAIT_S)
            try:
                if not self._is_closed:
                    await self._connect()
                return
            except ReveilleError as error:
                why = error
                # A lost connection, and a session that another one has, may change. Any other refusal does not.
                if not error.is_lost and error.code not in ("CONFLICT", "UNAVAILABLE"):
                    self._failure = error
                    self._woken.set()
                    return

    def _pushed(self, push):
        if push["push"] == "session/closed" and push["session-id"] == self._asked["session-id"]:
            self.close()
        if push["push"] != "delivery":
            return
        delivery_id = push["delivery-id"]
        known = [self._turn, *self._waiting]
        if delivery_id in self._receipts:
            self._begin(self._answer(delivery_id))
        elif not any(other is not None and other.id == delivery_id for other in known):
            delivery = Delivery(push, self)
            later = asyncio.get_running_loop().call_later
            self._timers[delivery_id] = later(RECEIPT_S, lambda: self._begin(delivery.ack()))
            self._waiting.append(delivery)
            self._woken.set()

    async def _answer(self, delivery_id):
        op, fields = self._receipts[delivery_id]
        return await self._tell(op, {"delivery-id": delivery_id, **fields})

    async def _tell(self, op, fields):
        """Tells the daemon something, and whether it heard it. After a loss, the next connection tells what still matters."""
        try:
            await self._line.ask(op, fields)
            return True
        except ReveilleError:
            return False

    def _forget_timer(self, delivery_id):
        timer = self._timers.pop(delivery_id, None)
        if timer is not None:
            timer.cancel()

    def _begin(self, work):
        # The loop holds tasks weakly.
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class _Line:
    """One connection: requests with their answers, and pushes."""

    @classmethod
    async def open(cls, where, on_push=lambda push: None):
        try:
            if "socket" in where:
                reader, writer = await asyncio.open_unix_connection(where["socket"], limit=LINE_BYTES_MAX)
            else:
                reader, writer = await _upgraded(where["url"], where["token"])
        except (OSError, EOFError, asyncio.LimitOverrunError) as error:
            raise _lost(error) from error
        return cls(reader, writer, on_push)

    def __init__(self, reader, writer, on_push):
        self._reader, self._writer, self._on_push = reader, writer, on_push
        self._asked, self._last = {}, 0
        self.is_over, self.on_over = False, None
        self._listening = asyncio.ensure_future(self._listen())

    async def ask(self, op, fields):
        if self.is_over:
            raise _lost("it was closed")
        self._last += 1
        answer = self._asked[self._last] = asyncio.get_running_loop().create_future()
        given = {key: value for key, value in fields.items() if value is not None}
        self._writer.write(json.dumps({"id": self._last, "op": op, **given}).encode() + b"\n")
        return await answer

    def close(self):
        self._writer.close()
        self._end("it was closed")
        self._listening.cancel()

    async def _listen(self):
        why = "it was closed"
        try:
            while True:
                line = await self._reader.readline()
                if not line.endswith(b"\n"):
                    break
                said = json.loads(line)
                answer = self._asked.pop(said.get("id"), None)
                if "push" in said:
                    self._on_push(said)
                elif answer is not None and not answer.done():
                    if "error" in said:
                        answer.set_exception(ReveilleError(said["error"]))
                    else:
                        answer.set_result(said.get("ok"))
                elif answer is None and "error" in said:
                    why = said["error"].get("message", why)
                    break
        except (OSError, ValueError, LookupError) as error:
            why = error
        self._writer.close()
        self._end(why)

    def _end(self, why):
        if self.is_over:
            return
        self.is_over, error = True, _lost(why)
        for answer in self._asked.values():
            if not answer.done():
                answer.set_exception(error)
        self._asked.clear()
        if self.on_over is not None:
            self.on_over(error)


async def _upgraded(url, token):
    to = urlsplit(url)
    secure = ssl.create_default_context() if to.scheme == "https" else None
    port = to.port or (443 if secure else 80)
    reader, writer = await asyncio.open_connection(to.hostname, port, limit=LINE_BYTES_MAX, ssl=secure)
    head = f"GET /stream HTTP/1.1\r\nHost: {to.netloc}\r\nAuthorization: Bearer {token}\r\n"
    writer.write(f"{head}Connection: Upgrade\r\nUpgrade: reveille-json\r\n\r\n".encode())
    answer = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    status = int(answer.split(" ", 2)[1])
    if status != 101:
        writer.close()
        message = f"the daemon answers {status} to a request for its stream"
        raise ReveilleError({"message": message, "class": "http", "data": {"status": status}}, status == 429 or status >= 500)
    return reader, writer


def _post(request):
    try:
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        return json.load(error)


def _data_directory():
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return Path(os.environ.get("REVEILLE_DATA_DIR") or state / "reveille")
