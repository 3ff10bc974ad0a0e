// What if: only what would differ, if the daemon were down or a schedule had another time. Nothing is changed.
import { html, useEffect, useState } from "./lib.js";
import { ask, useAsk } from "./graph.js";
import { refine, to } from "./route.js";
import { Page, Problem, ScheduleName, Slot, Status, Table } from "./parts.js";
import { fromLocal, HERE, now, toLocal, When, zoneName } from "./time.js";
import * as Q from "./queries.js";

export function WhatIf({ from = null, until = null, id = null, when = null }) {
  const [draft, setDraft] = useState({ from: toLocal(from ? Date.parse(from) : now.peek()), until: toLocal(until ? Date.parse(until) : now.peek() + 7_200_000) });
  const [edit, setEdit] = useState({ id: id ?? "", when: when ?? "" });
  return html`<${Page} title="What if" lead="Only the differences are shown, and nothing is changed.">
    <div class="columns"><section><h2>The daemon were down</h2>
      <form class="fields" onSubmit=${(event) => { event.preventDefault(); refine({ from: fromLocal(draft.from), until: fromLocal(draft.until), id: null, when: null }); }}>
        <label>from (${zoneName(HERE)})<input type="datetime-local" required value=${draft.from} onInput=${(event) => setDraft({ ...draft, from: event.target.value })} /></label>
        <label>until<input type="datetime-local" required value=${draft.until} onInput=${(event) => setDraft({ ...draft, until: event.target.value })} /></label>
        <button class="main">Show</button></form></section>
    <section><h2>A schedule had another time</h2>
      <form class="fields" onSubmit=${(event) => { event.preventDefault(); refine({ id: edit.id.trim(), when: edit.when.trim(), from: null, until: null }); }}>
        <label>schedule<input required value=${edit.id} placeholder="sch-…" onInput=${(event) => setEdit({ ...edit, id: event.target.value })} /></label>
        <label>when<input required value=${edit.when} placeholder="weekdays at 8:30" onInput=${(event) => setEdit({ ...edit, when: event.target.value })} /></label>
        <button class="main">Show</button></form></section></div>
    ${from && until && html`<${Outage} from=${from} until=${until} />`}
    ${id && when && html`<section><h2><a href=${to("schedule", { id })}>It</a> with that time</h2><${Preview} id=${id} when=${when} zone="" /></section>`}<//>`;
}

function Outage({ from, until }) {
  const answer = useAsk(Q.OUTAGE, { downFrom: from, downUntil: until, to: new Date(Date.parse(until) + 86_400_000).toISOString() });
  if (answer.error) return html`<p class="problem" role="alert">${answer.error.message} ${answer.error.hint}</p>`;
  if (!answer.data) return html`<p class="empty">Asking…</p>`;
  return html`<section aria-live="polite"><h2>What would differ</h2><${Differences} slots=${answer.data.whatIf} /></section>`;
}

/** What a change of the time would do. */
export function Preview({ id, when, zone }) {
  const [answer, setAnswer] = useState(/** @type {any} */ (null));
  useEffect(() => {
    const timer = setTimeout(() => {
      // Far enough for what comes once a month.
      const until = new Date(now.value + 35 * 86_400_000).toISOString();
      ask(Q.EDIT_PREVIEW, { id, when, zone: zone || null, to: until }).then((data) => setAnswer({ data }), (error) => setAnswer({ error }));
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
      slot.asIs ? html`<${Status} of=${slot.asIs.will} reason=${slot.asIs.reason} /> <${When} at=${slot.asIs.at} brief />` : html`<span class="soft">no such slot</span>`,
      html`<${Status} of=${slot.will} reason=${slot.reason} /> <${When} at=${slot.at} brief />`],
  }));
  return html`<${Table} caption="Slots with another outcome" columns=${["Slot", "Schedule", "As it is", "Then"]} rows=${rows} empty="Nothing would differ, as far as the daemon looked ahead." />`;
}
