// The engine itself: the past of all pages, its health, and what can be asked of it.
import { html, useState } from "./lib.js";
import { asOf, useAsk } from "./graph.js";
import { refine } from "./route.js";
import { By, Facts, Failing, isFailing, Page, ScheduleName, SessionName, Stretch, Table, tone } from "./parts.js";
import { Foreign, visible, word } from "./text.js";
import { At, HERE, now, relative, span, When, zoneName } from "./time.js";
import * as Q from "./queries.js";

const WEEK_MIN = 7 * 24 * 60;

export function Past() {
  const there = asOf.value ? Date.parse(asOf.value) : now.value;
  const ago = Math.max(0, Math.min(WEEK_MIN, Math.round((now.value - there) / 60_000)));
  const look = (minutes) => refine({ asof: minutes ? new Date(Math.floor((now.value - minutes * 60_000) / 1_000) * 1_000).toISOString() : null });
  return html`<${Page} title="Past" lead="All pages can show how things stood at an instant. The address says which, so it can be sent.">
    <section><h2>As of</h2><div class="fields">
      <label>instant (${zoneName(HERE)})<${At} ms=${there} take=${(asof) => refine({ asof })} /></label>
      <label class="full">${ago ? `${span(ago * 60_000)} ago` : "now"}<input type="range" min="0" max=${WEEK_MIN} value=${WEEK_MIN - ago} aria-valuetext=${relative(there, now.value)}
        onChange=${(event) => look(WEEK_MIN - Number(event.target.value))} /></label></div>
      <div class="actions">${[[0, "now"], [10, "10 min"], [60, "1 h"], [360, "6 h"], [1_440, "24 h"]].map(([minutes, name]) => html`<button onClick=${() => look(minutes)}>${name}${minutes ? " ago" : ""}</button>`)}</div></section>
    <section><h2>What it shows</h2><p>Schedules, sessions, runs and the hold, as the log tells them. History that was dropped since is not there, and the daemon says how much.</p></section><//>`;
}

export function Doctor() {
  const answer = useAsk(Q.DOCTOR);
  const of = answer.data?.engine;
  // A session is not told of all accounts, and not of the guard.
  const sum = of?.accounting && Object.entries(of.accounting).filter(([name]) => name !== "expected");
  // These slots have a run after all: that of a later slot, or one that waited.
  const made = Number(of?.undelivered?.skipped.coalesced ?? 0);
  return html`<${Page} title="Doctor" answer=${answer} lead="How the daemon is. The command reveille doctor checks its store.">${of && html`
    ${sum && html`<p class=${`sentence ${Number(of.imbalance) === 0 && of.mode === "RUNNING" ? "" : "bad"}`}>${Number(of.imbalance) === 0 ? "The accounts balance: every slot so far has exactly one outcome." : `The accounts are off by ${of.imbalance}: a defect.`}
      ${of.mode !== "RUNNING" && ` It is ${word(of.mode)}.`}</p>`}
    <div class="columns">${sum && html`<div><section><h2>Accounts</h2><p class="soft">Slots since ${of.countedSince ? html`<${When} at=${of.countedSince} />, when the daemon started` : "the daemon started"}, and those that waited or were left then.</p>
      <div class="bar" aria-hidden="true">${sum.map(([name, value]) => Number(value) > 0 && html`<i class=${tone(name)} style=${{ flexGrow: Number(value) }}></i>`)}</div>
      <${Facts} rows=${[["expected", html`<b class="num">${Number(of.accounting.expected).toLocaleString()}</b>`], ...sum.map(([name, value]) => [name, html`<span class="num">${(Number(value) - (name === "skipped" ? made : 0)).toLocaleString()}</span>`]), made > 0 && ["part of another run", html`<span class="num">${made.toLocaleString()}</span>`]]} /></section>
      <section><h2>Not delivered, by reason</h2>${of.countedSince && html`<p class="soft">Since <${When} at=${of.countedSince} />.</p>`}${of.undelivered ? html`<${Facts} rows=${Object.entries(of.undelivered).flatMap(([what, reasons]) => Object.entries(reasons).filter(([reason, value]) => Number(value) > 0 && reason !== "coalesced")
      .map(([reason, value]) => [`${what}: ${word(reason).replaceAll("-", " ")}`, html`<span class="num">${value}</span>`]))} />` : html`<p class="empty">Not known of the past.</p>`}</section></div>`}
    <div><section><h2>Daemon</h2><${Facts} rows=${[["version", of.version], ["mode", word(of.mode)], ["its clock", html`<${When} at=${of.now} zone=${of.zone} />`],
      ["zone of schedules", visible(of.zone)], of.localZone !== of.zone && ["zone of the machine", visible(of.localZone)],
      ["zone database", of.tzdbVersion], sum && ["next deadline", of.nextWakeMs === null ? "none" : `in ${span(Number(of.nextWakeMs))}`], ["last decision", of.cursor]]} /></section>
      ${sum && html`<section><h2>Guard</h2>${of.guard ? html`<${Facts} rows=${[of.guard.approvalMs !== null && ["time to approve", span(Number(of.guard.approvalMs))], of.guard.asksMs !== null && ["external guard has", span(Number(of.guard.asksMs))],
      ...of.guard.rules.map((rule) => [html`<${Foreign} text=${rule.name} />`, html`${word(rule.then)}${rule.why && html`: <${Foreign} text=${rule.why} />`}`])]} />` : html`<p class="empty">Runs are not checked.</p>`}</section>`}
      <section><h2>Channels</h2>${of.channels.length ? html`<${Facts} rows=${of.channels.map((one) => [html`<${Foreign} text=${one.name} />`, html`${word(one.kind)} to <${Foreign} text=${one.goesTo} />
        ${one.disabledAt && html` <strong class="bad">disabled</strong> <${When} at=${one.disabledAt} />`}
        ${one.lastFailureAt && html`<br /><span class=${isFailing(one) ? "bad" : "soft"}>failed last <${When} at=${one.lastFailureAt} />: <${Foreign} text=${one.lastError} max=${200} />${one.lastCode !== null && `, code ${one.lastCode}`}</span>`}
        ${isFailing(one) ? html`<br /><${Failing} of=${one} />` : one.lastDeliveryAt && html`<br /><span class="soft">last delivery <${When} at=${one.lastDeliveryAt} /></span>`}`])} />` : html`<p class="empty">${asOf.value ? "Not known of the past." : "None."}</p>`}</section>
      <section><h2>Down and held</h2>${of.downtimes.length + of.pastHolds.length ? html`<${Facts} rows=${[
      ...of.downtimes.map((one) => ["down", html`<${Stretch} from=${one.from} until=${one.until} /> <span class="soft">${span(Date.parse(one.until) - Date.parse(one.from))}</span>`]),
      ...of.pastHolds.map((one) => ["held", html`<${Stretch} from=${one.since} until=${one.until} /><${By} of=${one.by} />${one.reason && html`: <${Foreign} text=${one.reason} />`}`])]} />`
      : html`<p class="empty">Neither is known.</p>`}</section>
      <section><h2>Lost</h2>${of.lostSchedules.length ? html`<p class="soft">Volatile schedules that were there when the daemon last ended.</p><${Facts} rows=${of.lostSchedules.map((one) => [
      html`<${ScheduleName} of=${one} />`, html`of <${SessionName} id=${one.sessionId} />${one.fireAt && html`, next due <${When} at=${one.fireAt} />`}${one.leftAt && html`, left in the inbox <${When} at=${one.leftAt} />`}`])} />` : html`<p class="empty">Nothing.</p>`}</section></div></div>
    <details><summary>Limits (${of.limits.length})</summary><${Table} caption="Limits" columns=${["Limit", "Value", "What it protects"]} rows=${of.limits.map((one) => ({ key: one.name, cells: [html`<code>${one.name}</code>`,
      html`<span class="num">${Number(one.value).toLocaleString()} ${one.unit}</span>`, one.doc] }))} /></details>`}<//>`;
}

export function Attributes({ q = "" }) {
  const answer = useAsk(Q.ATTRIBUTES, {}, { still: true });
  const [text, setText] = useState(q);
  const all = answer.data?.attributes ?? [];
  const found = all.filter((one) => `${one.ident} ${one.entity} ${one.doc}`.toLowerCase().includes(text.toLowerCase()));
  return html`<${Page} title="Attributes" answer=${answer} lead=${answer.data && `${found.length} of ${all.length}: what can be asked, in EQL, GraphQL and tools alike`}>
    <form class="filters" role="search" onSubmit=${(event) => event.preventDefault()}><label class="grow"><span class="away">Search</span>
      <input type="search" placeholder="attribute, entity or word" value=${text} onInput=${(event) => setText(event.target.value)} onChange=${() => refine({ q: text })} /></label></form>
    <${Table} caption="Attributes" columns=${["Attribute", "Type", "What it is"]} empty="No attribute matches." rows=${found.slice(0, 120).map((one) => ({ key: `${one.entity} ${one.ident}`,
      cells: [html`<code>${one.ident}</code>`, html`${word(one.type)}${one.many ? " list" : ""}${one.nullable ? "?" : ""}${one.refersTo ? ` of ${one.refersTo}` : ""}${one.unit ? ` in ${one.unit}` : ""}
        ${one.stability !== "STABLE" ? html` <span class="warn">${word(one.stability)}</span>` : ""}`, html`${one.doc}${one.values.length > 0 && html` <span class="soft">${one.values.map(word).join(", ")}</span>`}`] }))} />
    ${found.length > 120 && html`<p class="soft">and ${found.length - 120} more: search narrower.</p>`}<//>`;
}
