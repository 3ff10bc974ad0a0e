// One schedule: when, why, what it delivers, and how it went.
import { html } from "./lib.js";
import { useAsk } from "./graph.js";
import { to } from "./route.js";
import { A, By, Do, Facts, InPlace, mayChange, Page, ScheduleName, SessionName, Slot, Status, Table, Waits } from "./parts.js";
import { Box, count, Foreign, rhythm, word } from "./text.js";
import { isGood, lateness, Sentence, span, When } from "./time.js";
import { cancel, isOpen, pause, retry, runNow, skip, subscribe } from "./actions.js";
import { Line } from "./feed.js";
import * as Q from "./queries.js";

export function Schedule({ id }) {
  const answer = useAsk(Q.SCHEDULE, { id });
  const log = useAsk(Q.DECISIONS, { filter: { scheduleId: id }, last: 50 });
  const of = answer.data?.schedule;
  if (answer.data && !of) {
    return html`<${Gone} id=${id} log=${log} />`;
  }
  const last = of?.runs.at(-1);
  const otherwise = of && wentOtherwise(of);
  return html`<${Page} title=${of ? html`<${Foreign} text=${of.label ?? of.scheduleId} max=${120} />` : "Schedule"} about=${of?.label ?? id} answer=${answer}
      lead=${of && html`<${Status} of=${of.status} reason=${of.openRun ? null : of.reason ?? of.endedReason} error=${last?.state === "FAILED" && last.error} />${of.openRun && html`<${Waits} of=${of} />`} <span class="soft"><${Foreign} text=${rhythm(of.when)} /></span>`}
      actions=${of && html`${(of.failuresInRow > 0 || of.status === "FAILED") && html`<${Do} does=${() => retry(of)}>Try again<//>`}${isOpen(of) && html`${mayChange() && html`<a class="button" href=${to("edit", { id })}>Change…</a>`}
        <${Do} does=${() => pause(of)}>${of.paused ? "Resume" : "Pause…"}<//><${Do} does=${() => runNow(of)}>Run now…<//>
        <${Do} does=${() => skip(of)}>Skip next…<//><${Do} rules does=${() => subscribe({ "schedule-id": id })}>Calendar link…<//><${Do} kind="bad" does=${() => cancel(of)}>Cancel…<//>`}`}>
    ${of && html`<p class="sentence"><${Sentence} text=${of.explain.sentence} zone=${of.zone} /> <a href=${to("explain", { id, at: otherwise ?? of.explain.slot })}>Explain${otherwise && html` the slot of <${When} at=${otherwise} zone=${of.zone} />, which went otherwise`}</a></p>
      ${of.pause && html`<p class="problem">Paused<${By} of=${of.pause.by} />${of.pause.reason && html`: <${Foreign} text=${of.pause.reason} />`}, since <${When} at=${of.pause.since} full />.</p>`}
      <div class="columns"><div>
        <${Runs} of=${of} />
        <section><h2>Delivers a ${word(of.kind)}</h2><${Box} text=${of.message} label="The message" />
          ${of.description && html`<p><${Foreign} text=${of.description} max=${1000} /></p>`}</section>
        <section><h2>Next slots</h2>${of.upcoming.length ? html`<ol class="slots">${of.upcoming.map((at) => html`<li><${Slot} of=${of} at=${at} full /></li>`)}</ol>`
      : html`<p class="empty">None${of.paused ? " while it is paused" : ""}.</p>`}</section></div><div>
        <section><h2>Account</h2><${Facts} rows=${[
      ["runs", of.runCount], ["delivered", of.deliveredCount], ["failed", html`${of.failedCount}${of.failuresInRow > 0 && html` <span class="bad">${of.failuresInRow} in a row</span>`}`],
      ["skipped", html`${of.skippedCount}${of.lastSkip && html` <${Slot} of=${of} at=${of.lastSkip.at}>last: ${word(of.lastSkip.reason)}, <//>`}`]]} /></section>
        <section><h2>Definition</h2><${Facts} rows=${[
      ["id", html`<code><${Foreign} text=${of.scheduleId} /></code>`], ["session", html`<${SessionName} id=${of.originSessionId} />`],
      ["goes to", html`${word(of.target.kind)} <${Foreign} text=${of.target.sessionId ?? of.target.channel ?? ""} />`],
      ["clock", of.zone ?? "none: it does not depend on a zone"], ["survives a restart", { DURABLE: "yes", BOUND: "yes, with its session" }[of.durability] ?? "no"],
      ["made by", html`<${Foreign} text=${of.madeBy} />, <${When} at=${of.createdAt} />`],
      of.editedBy && ["changed by", html`<${Foreign} text=${of.editedBy} />, <${When} at=${of.updatedAt} />`], ["revision", of.revision],
      of.lineage && ["chain", html`${of.lineage.depth} deep, from <${ScheduleName} id=${of.lineage.rootScheduleId} />`],
      of.idempotencyKey && ["key", html`<${Foreign} text=${of.idempotencyKey} />`],
      of.createdSessionId && ["its session", html`<${SessionName} id=${of.createdSessionId} />`]]} /></section>
        <section><h2>Policy</h2><${Facts} rows=${[
      ["session busy", word(of.policy.whenBusy)], ["missed slots", word(of.policy.missed)], ["overlap", word(of.policy.overlap)],
      ["host lost", word(of.policy.recovery)], ["a run ends with the", word(of.policy.endsWith)],
      ["retries after", of.retryWaits.length ? of.retryWaits.map((ms) => span(Number(ms))).join(", ") : "none"],
      of.policy.maxLateMs && ["late at most", span(Number(of.policy.maxLateMs))], of.policy.timeoutMs && ["takes at most", span(Number(of.policy.timeoutMs))],
      of.lifetime.maxRuns && ["runs at most", of.lifetime.maxRuns], of.lifetime.expiresAt && ["ends", html`<${When} at=${of.lifetime.expiresAt} zone=${of.zone} full />`],
      ["dies with its session", of.lifetime.diesWithSession ? "yes" : "no"], of.lifetime.cancelOnUserActivity && ["a person's message", "cancels it"]]} /></section></div></div>
      <${Log} log=${log} />`}<//>`;
}

function Runs({ of }) {
  const rows = of.runs.slice().reverse().map((run) => ({
    key: run.id,
    cells: [html`<${A} page="run" params=${{ schedule: of.scheduleId, id: run.id }}><${When} at=${run.slot} zone=${of.zone} /><//>`,
      html`<${Status} of=${run.state} reason=${run.reason} error=${run.error} />`, lateness(run), html`${word(run.cause)}<${InPlace} of=${{ ...run, schedule: of }} />`, run.attempt],
  }));
  return html`<section><h2>Runs</h2><${Table} caption="Runs" columns=${["Slot", "State", "Late", "Cause", "Attempt"]} rows=${rows} empty="No run yet." />
    ${of.runCount > of.runs.length && html`<p class="soft">The last ${of.runs.length} of ${of.runCount.toLocaleString()}: older ones are no longer retained.</p>`}</section>`;
}

/** The last slot that went otherwise than planned, if no run went as planned since. */
function wentOtherwise({ runs, lastSkip }) {
  const slots = runs.filter((run) => run.finishedAt && !isGood(run)).map((run) => run.slot);
  if (lastSkip && lastSkip.reason !== "COALESCED") slots.push(lastSkip.at);
  const good = Date.parse(runs.findLast(isGood)?.slot ?? 0);
  return slots.filter((at) => Date.parse(at) > good).sort((one, two) => Date.parse(one) - Date.parse(two)).pop();
}

/** What is known of a schedule that is not there. */
function Gone({ id, log }) {
  const { data } = useAsk(Q.GONE, { id });
  const lost = data?.engine.lostSchedules.find((one) => one.scheduleId === id);
  return html`<${Page} title=${lost ? html`<${Foreign} text=${lost.label ?? id} max=${120} />` : "No such schedule"} about="No such schedule">
    ${data && html`<p class="sentence"><${Sentence} text=${data.explain.sentence} /></p>`}
    ${lost ? html`<p>Its text was in memory only, and is gone with the process.</p><${Facts} rows=${[
    ["session", html`<${SessionName} id=${lost.sessionId} />`], ["next due", html`<${When} at=${lost.fireAt} full />`],
    ["left in the inbox", html`<${When} at=${lost.leftAt} full />`], ["lost at", html`<${When} at=${lost.lostAt} full />`]]} />`
  : html`<p>It does not exist, or is not yours to see. Its records may have been dropped: <code>reveille log --schedule</code> and <code>reveille export</code> keep them longer.</p>`}
    <${Log} log=${log} /><//>`;
}

const Log = ({ log }) => html`<section><h2>Decisions</h2>${log.data && html`<ol class="log">${log.data.engine.decisionPage.nodes.slice().reverse().map((one) => html`<li key=${one.cursor}>
  <${When} at=${one.at} /> <${Line} of=${{ ...one, scheduleId: null, sessionId: null }} /></li>`)}</ol>
  ${log.data.engine.decisionPage.totalCount > 50 && html`<p class="soft">The last 50 of ${count(log.data.engine.decisionPage.totalCount, "decision")}.</p>`}`}</section>`;
