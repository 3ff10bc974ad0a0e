// What if: only what would differ, if the daemon were down or a schedule had another time. Nothing is changed.
import { html, useEffect, useState } from "./lib.js";
import { ask, useAsk } from "./graph.js";
import { refine, to } from "./route.js";
import { Page, Problem, ScheduleName, Slot, Status, Table } from "./parts.js";
import { fromLocal, HERE, now, toLocal, When, zoneName } from "./time.js";
import * as Q from "./queries.js";

export function WhatIf({ from = null, until = null, id = null, when = null }) {
  const [begun] = useState(now.peek());
  const show = (event) => {
    event.preventDefault();
    const { from: since = null, until: end = null, ...of } = /** @type {any} */ (Object.fromEntries(new FormData(event.target)));
    refine({ id: null, when: null, ...of, from: since && fromLocal(since), until: end && fromLocal(end) });
  };
  const question = from && until ? { document: Q.OUTAGE, variables: outage(from, until) }
    : id && when && { document: Q.EDIT_PREVIEW, variables: edited(id, when) };
  return html`<${Page} title="What if" answer=${{ data: true, question }} lead="Only the differences are shown, and nothing is changed.">
    <div class="columns"><section><h2>The daemon were down</h2><form class="fields" onSubmit=${show}>
        ${/** @type {any[]} */ ([["from", `from (${zoneName(HERE)})`, from, 0], ["until", "until", until, 7_200_000]]).map(([name, label, at, later]) => html`<label>${label}<input type="datetime-local" required name=${name} defaultValue=${toLocal(Date.parse(at) || begun + later)} /></label>`)}
        <button class="main">Show</button></form></section>
    <section><h2>A schedule had another time</h2><form class="fields" onSubmit=${show}>
        <label>schedule<input required name="id" defaultValue=${id} placeholder="sch-…" /></label>
        <label>when<input required name="when" defaultValue=${when} placeholder="weekdays at 8:30" /></label>
        <button class="main">Show</button></form></section></div>
    ${from && until && html`<${Outage} from=${from} until=${until} />`}
    ${id && when && html`<section><h2><a href=${to("schedule", { id })}>It</a> with that time</h2><${Preview} id=${id} when=${when} zone="" /></section>`}<//>`;
}

const outage = (from, until) => ({
  downFrom: from, downUntil: until, to: new Date(Date.parse(until) + 86_400_000).toISOString(),
});
// Far enough for what comes once a month.
const edited = (id, when, zone = "") => ({
  id, when, zone: zone || null, to: new Date(now.peek() + 35 * 86_400_000).toISOString(),
});

function Outage({ from, until }) {
  const answer = useAsk(Q.OUTAGE, outage(from, until));
  if (answer.error) return html`<p class="problem" role="alert">${answer.error.message} ${answer.error.hint}</p>`;
  if (!answer.data) return html`<p class="empty">Asking…</p>`;
  return html`<section aria-live="polite"><h2>What would differ</h2><${Differences} slots=${answer.data.whatIf} /></section>`;
}

/** What a change of the time would do. */
export function Preview({ id, when, zone }) {
  const [answer, setAnswer] = useState(/** @type {any} */ (null));
  useEffect(() => {
    const timer = setTimeout(() => {
      ask(Q.EDIT_PREVIEW, edited(id, when, zone)).then((data) => setAnswer({ data }), (error) => setAnswer({ error }));
    }, 350);
    return () => clearTimeout(timer);
  }, [id, when, zone]);
  if (!answer) return html`<p class="empty">Asking…</p>`;
  return html`<div aria-live="polite">${answer.error ? html`<${Problem} error=${answer.error} />` : html`<${Differences} slots=${answer.data.whatIf} />`}</div>`;
}

export function Differences({ slots }) {
  const rows = slots.map((slot) => ({
    key: `${slot.scheduleId} ${slot.slot}`,
    cells: [html`<${Slot} of=${slot.schedule} id=${slot.scheduleId} at=${slot.slot} />`,
      html`<${ScheduleName} of=${slot.schedule} id=${slot.scheduleId} />`,
      slot.asIs ? html`<${Status} of=${slot.asIs.will} reason=${slot.asIs.reason} /> <${When} at=${slot.asIs.at} />` : html`<span class="soft">no such slot</span>`,
      html`<${Status} of=${slot.will} reason=${slot.reason} /> <${When} at=${slot.at} />`],
  }));
  return html`<${Table} caption="Slots with another outcome" columns=${["Slot", "Schedule", "As it is", "Then"]} rows=${rows} empty="Nothing would differ, as far as the daemon looked ahead." />`;
}
