// Now: what needs somebody, what comes next, and what happens.
import { html } from "./lib.js";
import { asOf, useAsk } from "./graph.js";
import { A, By, Failing, isFailing, Left, Page, ScheduleName, SessionName, Slot, Status, Stretch, Table, TurnOf, Waits } from "./parts.js";
import { Foreign, LISTED } from "./text.js";
import { present, said, span, When } from "./time.js";
import { Feed, PastFeed } from "./feed.js";
import * as Q from "./queries.js";

const minute = (ms) => new Date(Math.floor(ms / 60_000) * 60_000).toISOString();

export function Now() {
  const base = Math.floor(present() / 60_000) * 60_000;
  const answer = useAsk(Q.NOW, { from: minute(base), until: minute(base + 3_660_000), each: LISTED });
  const { data } = answer;
  return html`<${Page} title="Now" answer=${answer}>${data && html`
    <${Totals} data=${data} from=${minute(base)} />
    <div class="columns"><div><${Attention} data=${data} /><${Over} engine=${data.engine} /><${Next} slots=${data.next} failing=${data.engine.channels.filter(isFailing).map((one) => one.name)} /></div>${asOf.value ? html`<${PastFeed} />` : html`<${Feed} />`}</div>`}<//>`;
}

function Totals({ data, from }) {
  const { accounting: all, countedSince } = data.engine;
  const figures = [
    ["next hour", `${data.next.length}${data.next.some((one) => one.more) ? "+" : ""}`, "timeline", { zoom: "1h" }],
    ["overdue", data.overdue.totalCount, "schedules", { status: "PENDING,QUEUED", due: from }],
    ["to approve", data.engine.heldRuns.length + data.engine.openQuestions.length, "approvals", {}],
    ["failed last", data.failed.totalCount, "schedules", { failing: "yes" }],
    ["in inboxes", data.left.totalCount, "schedules", { status: "LEFT" }],
    ["paused", data.paused.totalCount, "schedules", { status: "PAUSED" }],
    ...(all ? [[`delivered${countedSince ? ` since ${said(Date.parse(countedSince))}` : ""}`, Number(all.delivered), "timeline", {}]] : []),
  ];
  return html`<ul class="figures">${figures.map(([name, figure, page, params]) => html`<li>
    <${A} page=${page} params=${params}><b class="num">${figure.toLocaleString()}</b> <span>${name}</span><//></li>`)}</ul>`;
}

function Attention({ data }) {
  const { engine } = data;
  const lost = engine.lostSchedules.filter((one) => isRecent(one.lostAt));
  const items = [
    Number(engine.imbalance ?? 0) !== 0 && ["imbalance", "failed", html`<${A} page="doctor">The accounts do not balance<//>: off by ${engine.imbalance} slots. This is a defect.`],
    ...engine.heldRuns.map((run) => [run.id, "held", html`<${A} page="approvals" params=${{ id: run.id }}>Approve<//> <${ScheduleName} of=${run.schedule} /> <span class="soft">by rule <${Foreign} text=${run.approval?.rule} /></span>`,
      html`<${Left} until=${run.approval?.until} />`]),
    ...engine.openQuestions.map((one) => [one.digest, "held", html`<${A} page="approvals">Answer<//> an agent that asks: <${Foreign} text=${one.title} max=${120} />`, html`<${Left} until=${one.until} />`]),
    ...data.overdue.nodes.filter((one) => one.reason !== "AWAITING_APPROVAL").map((one) => [one.scheduleId, one.status, html`<${ScheduleName} of=${one} /> is waiting<${Waits} of=${one} />`,
      html`<${Slot} of=${one} at=${one.fireAt}>due <//>`]),
    ...data.failed.nodes.map((one) => {
      const run = one.runs.findLast((run) => run.state === "FAILED");
      return [one.scheduleId, "failed", html`<${ScheduleName} of=${one} /> failed${one.failuresInRow > 1 ? ` ${one.failuresInRow} times in a row` : ""}${run?.error && html`: <${Foreign} text=${run.error.message} max=${120} />`}`,
        html`due <${Slot} of=${one} at=${run?.slot ?? one.fireAt} />`];
    }),
    ...engine.channels.filter(isFailing).map((one) => [`channel ${one.name}`, "failed", html`<${A} page="doctor">Channel <${Foreign} text=${one.name} /><//> fails: <${Foreign} text=${one.lastError} max=${120} />, <${Failing} of=${one} />`,
      html`last tried <${When} at=${one.lastFailureAt} />`]),
    ...lost.slice(0, 5).map((one) => [`lost ${one.scheduleId}`, "lost", html`<${ScheduleName} of=${one} /> of <${SessionName} id=${one.sessionId} /> was lost when the daemon ended: it was volatile`,
      one.fireAt && html`due <${When} at=${one.fireAt} />`]),
    lost.length > 5 && ["lost", "lost", html`<${A} page="doctor">${lost.length - 5} more<//> were lost`],
    ...data.left.nodes.map((one) => [one.scheduleId, "left", html`<${ScheduleName} of=${one} /> is in the inbox of <${SessionName} id=${one.originSessionId} />: nobody took it`,
      html`<${Slot} of=${one} at=${one.fireAt} />`]),
  ].filter(Boolean);
  return html`<section aria-labelledby="attention"><h2 id="attention">Needs attention</h2>
    ${items.length ? html`<ul class="list">${items.map(([key, of, what, when]) => html`<li key=${key}><${Status} of=${of} say="" />
      <span class="what">${what}</span> <span class="when">${when}</span></li>`)}</ul>` : html`<p class="empty good">Nothing. All quiet.</p>`}</section>`;
}

/** What is over, and may have left traces: when the daemon was down, and when all was held. Nothing, if it was long ago. */
function Over({ engine }) {
  const downs = engine.downtimes.map((one) => ({ at: one.from, until: one.until, of: "lost", what: "The daemon was down" }));
  const holds = engine.pastHolds.map((one) => ({
    at: one.since, until: one.until, of: "held", what: html`All was held<${By} of=${one.by} />${one.reason && html`: <${Foreign} text=${one.reason} max=${200} />`}`,
  }));
  const all = [...downs, ...holds].filter((one) => isRecent(one.until)).sort((one, two) => Date.parse(two.at) - Date.parse(one.at));
  if (!all.length) return null;
  return html`<section aria-labelledby="over"><h2 id="over">Over, in the last day</h2><ul class="list">${all.slice(0, 8).map((one) => html`<li key=${`${one.of} ${one.at}`}><${Status} of=${one.of} say="" />
    <span class="what"><${Stretch} from=${one.at} until=${one.until}>${one.what} for ${span(Date.parse(one.until) - Date.parse(one.at))}, <//></span></li>`)}</ul></section>`;
}

const isRecent = (at) => at && Date.parse(at) > present() - 86_400_000 && Date.parse(at) <= present();

/** Why a slot may go otherwise than the forecast says, which knows of no errors and of no turn's length. */
function Doubts({ of, failing }) {
  const { failuresInRow, target, originSession } = of ?? {};
  const turn = target?.kind === "OWNER" && originSession?.turnRun;
  const isLong = turn && Date.parse(turn.deliveredAt ?? turn.startedAt) < present() - 60_000;
  return html`${failuresInRow > 0 && html`, <span class="bad">but it failed ${failuresInRow > 1 ? `${failuresInRow} times in a row` : "last time"}</span>`}${failing.includes(target?.channel) && html`, <span class="bad">but its channel fails</span>`}
    ${isLong && html`, <span class="warn">but its session is in the turn of <${TurnOf} run=${turn} /></span>`}`;
}

function Next({ slots, failing }) {
  const first = new Map();
  for (const slot of slots) {
    const key = `${slot.scheduleId} ${slot.will}`;
    const known = first.get(key);
    // What is paused or held has its slot behind it, and comes to nothing at any instant.
    const at = /^(PAUSED|ALL_HELD)$/.test(slot.will) ? slot.slot : slot.at;
    if (known) {
      known.rest.push({ ...slot, at });
      known.more = slot.more;
    }
    else first.set(key, { ...slot, at, rest: [] });
  }
  const rows = [...first.values()].map((slot) => ({
    key: `${slot.scheduleId} ${slot.will}`,
    cells: [
      html`<${Slot} of=${slot.schedule} at=${slot.slot} shown=${slot.at} full />`,
      html`<${ScheduleName} of=${slot.schedule} id=${slot.scheduleId} />${slot.count > 1 && html` <span class="soft">${slot.count} slots in one run</span>`}
        ${slot.rest.length > 0 && html`<details><summary>and ${slot.rest.length} more of it${slot.more && ", and later ones"}</summary>${slot.rest.map((one) => html`<${Slot} of=${one.schedule} at=${one.slot} shown=${one.at} />`)}</details>`}`,
      html`<${Status} of=${slot.will} reason=${slot.reason} /><${Doubts} of=${slot.schedule} failing=${failing} />`,
    ],
  }));
  return html`<section aria-labelledby="next"><h2 id="next">Next hour</h2>
    ${slots.some((one) => one.more) && html`<p class="soft">At most ${LISTED} slots of each schedule are listed${slots.length >= 200 && html`, and none after <${When} at=${slots.at(-1).at} />`}.</p>`}
    <${Table} caption="Slots of the next hour" columns=${["When", "Schedule", "Will"]} rows=${rows} empty="Nothing is due within the hour." /></section>`;
}
