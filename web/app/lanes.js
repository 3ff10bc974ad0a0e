// Lanes: each session, what runs in it, what waits in its order, and what nobody took.
import { html } from "./lib.js";
import { change, useAsk } from "./graph.js";
import { refine, to } from "./route.js";
import { A, confirm, Do, Facts, Page, ScheduleName, SessionName, Status, Table, TurnOf } from "./parts.js";
import { Box, count, Foreign, word } from "./text.js";
import { When } from "./time.js";
import { subscribe } from "./actions.js";
import * as Q from "./queries.js";

/** The slot that waits or is handed over, and not the one after it. */
const slotOf = (schedule) => schedule.openRun?.slot ?? schedule.fireAt;
/** Whether a turn is under way, and who began it. */
const Turn = ({ of }) => html`<${Status} of=${of.busy ? "running" : "pending"} say=${of.busy ? "turn under way" : "idle"} />${of.turnRun && html` <span class="soft">· <${TurnOf} run=${of.turnRun} /></span>`}`;
const RECEPTION = { HOST: "a host", HOST_GONE: "its host is gone", LISTENER: "a listener", NOBODY: "nobody" };

export function Lanes({ session = null, after = null }) {
  return session ? html`<${Lane} id=${session} />` : html`<${All} after=${after} />`;
}

function All({ after }) {
  const answer = useAsk(Q.LANES, { first: 50, after });
  const page = answer.data?.sessions;
  const rows = (page?.nodes ?? []).map((one) => ({
    key: one.sessionId,
    cells: [html`<${SessionName} id=${one.sessionId} name=${one.sessionName ?? one.sessionId} />`,
      html`<${Turn} of=${one} />`,
      html`<span class=${one.reception === "HOST_GONE" ? "bad" : ""}>${RECEPTION[one.reception] ?? word(one.reception)}</span>`,
      html`${one.deliveryInFlight && html`<span class="chip live">in flight: <${ScheduleName} of=${one.deliveryInFlight} /></span> `}
        ${one.waiting.slice(0, 4).map((of) => html`<span class="chip"><${ScheduleName} of=${of} />${of.reason && html` <span class="soft">${word(of.reason)}</span>`}</span> `)}
        ${one.waiting.length > 4 && html`<span class="soft">and ${one.waiting.length - 4} more</span>`}${!one.waiting.length && !one.deliveryInFlight && html`<span class="soft">–</span>`}`,
      html`<a href=${to("schedules", { session: one.sessionId, status: "PENDING,QUEUED,PAUSED" })}>${one.pendingCount}</a>`,
      one.inboxCount ? html`<strong class="warn">${one.inboxCount}</strong>` : "0"],
  }));
  return html`<${Page} title="Lanes" answer=${answer} lead=${page && count(page.totalCount, "open session")}>
    <${Table} caption="Sessions" columns=${["Session", "Turn", "Taken by", "In line", "Schedules", "Inbox"]} rows=${rows} empty="No session is open." />
    ${page?.pageInfo.hasNextPage && html`<p><button onClick=${() => refine({ after: page.pageInfo.endCursor })}>Next page</button></p>`}<//>`;
}

function Lane({ id }) {
  const answer = useAsk(Q.LANE, { id });
  const of = answer.data?.session;
  if (answer.data && !of) return html`<${Page} title="No such session"><p>It is closed, or not yours to see.</p><//>`;
  const take = () => confirm({
    title: "Take the messages out?", yes: "Take them",
    body: html`<p>They count as delivered from then on: do it if you have read them, not to tidy up.</p>`,
    does: () => change(Q.TAKE, { id }), done: (data) => `${count(data.takeMessages.taken.length, "message")} taken.`,
  });
  // A run that waits for an approval has no place in the session's line yet.
  const isUnlisted = (one) => one.reason === "AWAITING_APPROVAL" && of.waiting.every((known) => known.scheduleId !== one.scheduleId);
  const line = of && [...of.waiting, ...of.schedulePage.nodes.filter(isUnlisted)];
  return html`<${Page} title=${of ? html`<${Foreign} text=${of.sessionName ?? of.sessionId} max=${100} />` : "Session"} about=${id} answer=${answer}
      lead=${of && html`<${Turn} of=${of} /> <span class="soft">messages are taken by ${RECEPTION[of.reception]}</span>`}>
    ${of && html`<div class="columns"><div>
      <section><h2>In line</h2><ol class="steps">${of.deliveryInFlight && html`<li><b>in flight</b> <${ScheduleName} of=${of.deliveryInFlight} /> <${When} at=${slotOf(of.deliveryInFlight)} /></li>`}
        ${line.map((one) => html`<li><${ScheduleName} of=${one} /> ${one.reason && html`<b>${word(one.reason)}</b>`} <${When} at=${slotOf(one)} /></li>`)}</ol>
        ${!of.deliveryInFlight && !line.length && html`<p class="empty">Nobody waits.</p>`}</section>
      ${of.inbox.length > 0 && html`<section><h2>Inbox <${Do} does=${take}>Take…<//></h2>${of.inbox.map((one) => html`<${Message} key=${one.id} of=${one} />`)}</section>`}
      <section><h2>Ahead <${Do} rules does=${() => subscribe({ "session-id": id })}>Calendar link…<//></h2><${Table} caption="Schedules" columns=${["Schedule", "Status", "Next"]} empty="No schedule is open." rows=${of.schedulePage.nodes.map((one) => ({ key: one.scheduleId,
      cells: [html`<${ScheduleName} of=${one} />`, html`<${Status} of=${one.status} reason=${one.reason} />`, html`<${When} at=${one.nextFireAt ?? one.fireAt} zone=${one.zone} />`] }))} />
        ${of.schedulePage.totalCount > 50 && html`<p><a href=${to("schedules", { session: id })}>All ${of.schedulePage.totalCount}</a></p>`}</section>
      <section><h2>Last messages</h2>${of.messages.length ? of.messages.map((one) => html`<${Message} key=${one.id} of=${one} />`) : html`<p class="empty">None.</p>`}</section></div>
      <section><h2>Session</h2><${Facts} rows=${[
      ["id", html`<code><${Foreign} text=${of.sessionId} /></code>`], ["host", html`<${Foreign} text=${of.host} />${!of.hosted && html` <strong class="bad">not connected</strong>`}`],
      ["opened", html`<${When} at=${of.openedAt} full />`], ["a person wrote", html`<${When} at=${of.lastUserActivity} full />`],
      of.model && ["model", html`<${Foreign} text=${`${of.model.provider}/${of.model.id}`} />`], of.thinkingLevel && ["thinking", word(of.thinkingLevel)],
      of.scheduledFromScheduleId && ["opened by", html`<${ScheduleName} of=${{ label: of.scheduledFromLabel }} id=${of.scheduledFromScheduleId} />`],
      of.agentSchedules && ["its agent's own", html`${count(of.agentScheduleCount, "schedule")}, as it said <${When} at=${of.agentSchedulesSeenAt} />${of.agentSchedules.map((one) => html`<br /><code><${Foreign} text=${one.cron} /></code> <${Foreign} text=${one.prompt} max=${60} />`)}`],
      ["may", of.grant.right ? word(of.grant.right) : html`<strong class="bad">nothing</strong>`], ["dialects", of.grant.dialects?.map(word).join(", ") ?? "all"],
      ["chain at most", of.grant.depth], ["others' cron jobs", of.grant.cronOthers ? "yes" : "no"]]} /></section></div>`}<//>`;
}

const Message = ({ of }) => html`<article class="message"><header><strong>${word(of.role ?? "user")}</strong> ${of.label && html`<${Foreign} text=${of.label} max=${60} />`}
  ${of.scheduleId && html` <${A} page="schedule" params=${{ id: of.scheduleId }}>schedule<//>`} <${When} at=${of.timestamp} />${of.taken === false && html` <span class="warn">not taken</span>`}</header>
  <${Box} text=${of.text} label="Message" /></article>`;
