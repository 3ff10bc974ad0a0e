// What happened in the night of bad_night.mjs, as the graph tells it; that each part of the story is there; and the ten
// questions that an operator is asked about it, with what is true: only the words around what was found are written by hand.
import assert from "node:assert/strict";

const SUMMER = "2026-10-25T01:00:00Z";
/** An instant on the clocks of Berlin, with the summer's or the winter's offset: a quarter past two comes twice. */
export function berlin(at) {
  const instant = new Date(at);
  const [hours, zone] = instant < new Date(SUMMER) ? [2, "CEST"] : [1, "CET"];
  return `${new Date(instant.getTime() + hours * 3_600_000).toISOString().slice(5, 19).replace("T", " ")} ${zone}`;
}
const list = (all, one = (it) => it) => all.map(one).join("; ");

const RUN = `id slot state reason cause attempt folded claimedAt startedAt deliveredAt finishedAt retryAt latenessMs
  host sessionId schedule { label scheduleId } error { message reason phase }`;
const RUNS = `query($filter: RunFilter) { runs(first: 300, filter: $filter, orderBy: SLOT) { totalCount nodes { ${RUN} } } }`;
const DECISIONS = `query($filter: DecisionFilter) { engine { decisionPage(first: 500, filter: $filter) { nodes {
  at kind reason by detail scheduleId schedule { label } run { id slot } } } } }`;
const EXPLAIN = `query($id: ID!, $at: DateTime) { explain(scheduleId: $id, at: $at) {
  slot sentence verdict reason by lateMs slots down { from until } obstacles { at reason detail } } }`;
const NOW = `{ engine { now imbalance accounting { expected delivered left skipped cancelled failed lost pending }
    heldRuns { id slot schedule { label } approval { rule why until message owner } }
    lostSchedules { label sessionId fireAt lostAt leftAt } held { since } pastHolds { by reason since until } downtimes { from until }
    channels { name kind goesTo disabledAt lastDeliveryAt lastFailureAt lastError failingSince failedCount waitingCount } }
  notes: session(sessionId: "notes") { reception inbox { label text timestamp } }
  research: session(sessionId: "research") { busy turnRun { deliveredAt schedule { label } } deliveryInFlight { label } waiting { label reason fireAt } }
  paused: schedules(first: 9, filter: { status: [PAUSED] }) { nodes { label pause { by reason since } } }
  schedules(first: 1) { totalCount } sessions(first: 99) { totalCount } }`;
const LACKING = `query($since: DateTime!) { schedules(first: 9, filter: { runsDroppedSince: $since }) { nodes { label } }
  late: runs(first: 99, filter: { from: $since, lateMs: 300000 }) { nodes { schedule { label } } } }`;
const NEXT = `query($from: DateTime!, $to: DateTime!) {
  forecast(from: $from, to: $to, first: 500) { slot at count will reason schedule { label failuresInRow } } }`;

/** Asks for all of it. */
async function gather(daemon, ids) {
  const runsOf = async (filter) => (await daemon.ask(RUNS, { filter })).runs.nodes;
  const decisions = async (filter) => (await daemon.ask(DECISIONS, { filter })).engine.decisionPage.nodes;
  const of = (label) => runsOf({ scheduleId: ids.get(label) });
  const explain = async (label, at) => (await daemon.ask(EXPLAIN, { id: ids.get(label), at })).explain;
  const now = await daemon.ask(NOW);
  const skipped = await explain("ledger snapshot", "2026-10-25T02:15:00Z");
  const { from, until } = skipped.down ?? { from: "2026-10-25T02:05:40Z", until: "2026-10-25T03:40:00Z" };
  const soon = { from: "2026-10-25T07:00:00Z", to: "2026-10-25T07:30:00Z" };
  return {
    ...now, skipped, down: { from, until },
    awoke: (await decisions({ kind: ["ENGINE_AWOKE"] })).at(-1),
    hold: await decisions({ kind: ["ENGINE_HELD", "ENGINE_RELEASED"] }),
    missed: (await runsOf({ cause: "MISSED", from, to: until })),
    overHold: await runsOf({ cause: "MISSED", from: "2026-10-24T22:45:00Z", to: "2026-10-24T23:40:05Z" }),
    gone: (await decisions({ kind: ["SLOTS_SKIPPED"], from, reason: ["MISSED"] })),
    pages: await of("on-call heartbeat"), report: await of("shift report"),
    rotation: await of("key rotation"), reading: await of("meter reading"),
    tables: await of("drop the old tables"), approved: await of("promote build 4711"),
    lacking: await daemon.ask(LACKING, { since: "2026-10-24T18:00:00Z" }),
    approval: await decisions({ kind: ["RUN_APPROVED"] }), tests: await of("integration tests"), checks: await of("link check"),
    next: (await daemon.ask(NEXT, soon)).forecast,
    noise: (await daemon.ask("{ runs(first: 1, filter: { state: [DELIVERED] }) { totalCount } }")).runs.totalCount,
    testsWaited: await explain("integration tests", "2026-10-25T04:45:00Z"),
  };
}

/** Asks for the facts, and holds the story to them. */
export async function check(daemon, ids) {
  const of = await gather(daemon, ids);
  const [said, wrong] = [[], []];
  const is = (what, isSo, shown = "") => {
    if (!isSo) wrong.push(what);
    said.push(`${isSo ? "  " : "NO "}${what}${shown === "" ? "" : `: ${shown}`}`);
  };
  const at = (runs, slot) => runs.find((run) => Date.parse(run.slot) === Date.parse(slot));
  is("schedules, sessions, deliveries", of.schedules.totalCount >= 215 && of.sessions.totalCount === 12 && of.noise > 300,
    `${of.schedules.totalCount}, ${of.sessions.totalCount}, ${of.noise}`);
  is("the accounts balance", Number(of.engine.imbalance) === 0);
  is("a crash", of.skipped.down !== null && of.down.from.startsWith("2026-10-25T02:05:"),
    `down from ${berlin(of.down.from)} until ${berlin(of.down.until)}`);
  const named = (run) => `${run.schedule.label} of ${berlin(run.slot)}`;
  is("slots that were caught up", of.missed.length >= 4, list(of.missed, named));
  is("a slot that was skipped", of.skipped.verdict === "SKIPPED" && of.skipped.reason === "MISSED", of.skipped.sentence);
  is("what was lost", of.engine.lostSchedules.length === 1, of.engine.lostSchedules[0]?.label);
  is("the time in which it was down is listed", of.engine.downtimes.some((one) => one.from === of.down.from && one.until === of.down.until));
  is("the hold is listed", of.engine.pastHolds.length === 1 && of.engine.pastHolds[0].since === of.hold[0]?.at);
  is("a hold, and its release", of.hold.length === 2 && of.hold[0].kind === "ENGINE_HELD" && of.engine.held === null,
    list(of.hold, (one) => `${berlin(one.at)} ${one.by} ${one.detail ?? ""}`));
  is("slots that waited for the release", of.overHold.length > 0, String(of.overHold.length));
  const failed = of.pages.filter((run) => run.state === "FAILED");
  is("a dead channel", failed.length >= 3 && of.pages.some((run) => run.state === "DELIVERED"),
    `${list(failed, (run) => `${berlin(run.slot)} (${run.attempt})`)}: ${failed.at(-1)?.error.message}`);
  const [pager] = of.engine.channels;
  const taken = of.pages.filter((run) => run.state === "DELIVERED").at(-1);
  is("the channel says how it is", pager.lastDeliveryAt === taken.deliveredAt && pager.lastFailureAt > pager.lastDeliveryAt, pager.lastError);
  is("since when it fails, and what that cost", pager.failingSince > pager.lastDeliveryAt && pager.failingSince < failed[0].finishedAt
    && Number(pager.failedCount) === failed.length && Number(pager.waitingCount) === 1, berlin(pager.failingSince));
  const labels = (nodes) => nodes.map((one) => one.label ?? one.schedule.label);
  is("whose runs are not all retained", labels(of.lacking.schedules.nodes).includes("feed poll") && !labels(of.lacking.schedules.nodes).includes("ledger backup"),
    labels(of.lacking.schedules.nodes).join(", "));
  is("what ran much later than its slot", ["integration tests", "ledger backup"].every((label) => labels(of.lacking.late.nodes).includes(label)));
  const [report, approved] = [of.report[0], of.approval[0]];
  is("a delivery that is still tried", report.reason === "RETRYING",
    `attempt ${report.attempt}, next ${berlin(report.retryAt ?? 0)}`);
  is("a run that waits for an approval", of.engine.heldRuns.length === 1, of.engine.heldRuns[0]?.schedule.label);
  is("one that was approved", of.approved[0].state === "DELIVERED" && of.approval.length === 1,
    `${approved?.by}, ${berlin(approved?.at ?? 0)}`);
  is("one that expired", of.tables[0].reason === "APPROVAL_EXPIRED", berlin(of.tables[0].finishedAt ?? 0));
  const { inbox, reception } = of.notes;
  is("prompts that nobody took", inbox.length === 2 && reception === "NOBODY", list(inbox, (one) => one.text));
  const tests = at(of.tests, "2026-10-25T04:45:00Z");
  is("a run that waited for its session", Number(tests.latenessMs) > 1_800_000, `${Number(tests.latenessMs) / 60_000} min`);
  is("one that still does", of.research.waiting[0]?.reason === "SESSION_BUSY", of.research.waiting[0]?.label);
  is("behind whose turn", of.research.turnRun?.schedule.label === "paper digest", berlin(of.research.turnRun?.deliveredAt ?? 0));
  const refused = of.checks.filter((run) => run.state === "FAILED");
  is("an agent that failed", refused.length === 3, refused[0]?.error.message);
  is("a paused schedule", of.paused.nodes.length === 1, of.paused.nodes[0]?.label);
  const night = (runs) => runs.filter((run) => run.slot >= "2026-10-25T00:00:00Z" && run.slot < "2026-10-25T02:00:00Z");
  of.rotation = night(of.rotation);
  of.reading = night(of.reading);
  is("half past two, once", of.rotation.length === 1, list(of.rotation, (run) => berlin(run.slot)));
  is("the repeated hour, in both passes", of.reading.length === 4, list(of.reading, (run) => berlin(run.slot)));
  is("something is due from eight on", of.next.length > 3, String(of.next.length));
  console.log(said.join("\n"));
  assert.deepEqual(wrong, [], "what is not as it should be");
  return { ...of, failed, refused, at };
}

/** The questions, and what is true. */
export function questions(of) {
  const { down, engine } = of;
  const [held, released] = of.hold;
  const waits = engine.heldRuns[0];
  const tests = of.at(of.tests, "2026-10-25T04:45:00Z");
  const last = of.pages.filter((run) => run.state === "DELIVERED").at(-1);
  const coming = of.next.filter((slot) => slot.will === "FIRES");
  const unsure = coming.filter((slot) => slot.schedule.failuresInRow > 0);
  const expired = of.tables[0].finishedAt;
  const times = (runs) => list(runs, (run) => berlin(run.slot));
  const late = (run) => `${run.schedule.label} of ${berlin(run.slot)}, run at ${berlin(run.startedAt ?? run.claimedAt)}` +
    `${run.folded > 0 ? `, in place of ${run.folded + 1} slots` : ""}, ${run.state.toLowerCase()}`;
  const all = [
    ["Was the daemon down in the night, and from when to when?", `yes: from ${berlin(down.from)} until ${berlin(down.until)}`],
    ["What did that cost: which slots were made up for afterwards, which were skipped, and what was lost for good?",
      `made up for: ${list(of.missed, late)}. Skipped: ${list(of.gone, (one) => `${one.schedule?.label} (${one.reason})`)}. ` +
      `Lost: ${list(engine.lostSchedules, (one) => `${one.label}, next due ${berlin(one.fireAt)}`)}`],
    ["Who held everything in the night, from when to when, and why?",
      `${held.by}: from ${berlin(held.at)} until ${berlin(released.at)}, because: ${held.detail}`],
    ["Which channel is dead, since when, when did it last take something, and what does it answer?",
      `pager (${engine.channels[0].goesTo}): since ${berlin(engine.channels[0].failingSince)}; the first heartbeat that failed is ` +
      `that of ${berlin(of.failed[0].slot)}, ${engine.channels[0].failedCount} failed and ${engine.channels[0].waitingCount} waits; the last ` +
      `that was taken that of ${berlin(last.slot)}; ${of.failed.at(-1).error.message}`],
    ["Why did \"ledger snapshot\" not run at 03:15?", of.skipped.sentence],
    ["\"key rotation\" is set for 02:30, \"meter reading\" for the hour from 02:00, and that hour came twice. When did each run?",
      `key rotation: ${times(of.rotation)}. meter reading: ${times(of.reading)}`],
    ["Which run waits for an approval now, what will be done if you approve it, and until when can you?",
      `${waits.schedule.label}: "${waits.approval.message}", into ${waits.approval.owner}, ` +
      `until ${berlin(waits.approval.until)}`],
    ["Who approved \"promote build 4711\", and when? What became of \"drop the old tables\"?",
      `${of.approval[0].by}, ${berlin(of.approval[0].at)}. It was not approved in time, and failed at ${berlin(expired)}`],
    ["Which session has prompts that nobody took, and what do they say?",
      `notes: ${list(of.notes.inbox, (one) => `"${one.text}"`)}`],
    ["What is due from 08:00 until before 08:30 this morning, and which of it is likely to fail, after what you have seen?",
      `${coming.length}: ${list(coming, (slot) => `${slot.schedule.label} at ${berlin(slot.at).slice(6, 11)}`)}. ` +
      `Likely to fail: ${list(unsure, (slot) => slot.schedule.label)}`],
  ];
  const spare = [
    ["Why did \"integration tests\" of 05:45 run late, and how late?",
      `${of.testsWaited.sentence} (${Math.round(tests.latenessMs / 60_000)} min)`],
    ["Which schedule has failed several times in a row, and what did its agent say?",
      `${of.refused[0].schedule.label}, ${of.refused.length} times: ${of.refused[0].error.message}; and on-call heartbeat`],
  ];
  const numbered = (these, from) => these.map(([question, answer], place) => ({ number: from + place, question, answer }));
  return { asOf: engine.now, zone: "Europe/Berlin", questions: numbered(all, 1), spare: numbered(spare, all.length + 1) };
}
