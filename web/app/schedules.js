// Schedules: search, filters, and a list that draws only the rows that are seen.
import { html, useEffect, useLayoutEffect, useRef, useState } from "./lib.js";
import { ask, asOf, pulse } from "./graph.js";
import { go, refine, to } from "./route.js";
import { Do, mayChange, Page, rowKeys, Status } from "./parts.js";
import { count, Foreign, rhythm, visible, word } from "./text.js";
import { When } from "./time.js";
import { cancel, each, isOpen, many, pause, runNow } from "./actions.js";
import * as Q from "./queries.js";

const STATUSES = ["PENDING", "QUEUED", "PAUSED", "FAILED", "LEFT", "DELIVERED", "FINISHED", "SKIPPED", "CANCELLED"];
const KINDS = ["MESSAGE", "SESSION", "NOTICE", "CALL"];
const CHUNK = 100;

/** The filter that the address says, as the graph takes it. */
function filterOf({ status, kind, session, channel, label, q, failing, due }) {
  const filter = /** @type {any} */ ({});
  const wanted = status?.split(",").filter((one) => STATUSES.includes(one));
  if (wanted?.length) filter.status = wanted;
  if (KINDS.includes(kind)) filter.kind = kind;
  if (session) filter.sessionId = session;
  if (channel) filter.channel = channel;
  if (q) filter.text = q;
  if (due) filter.dueBefore = due;
  if (failing) filter.failing = failing === "yes";
  if (label) filter.label = label;
  return Object.keys(filter).length ? filter : null;
}

export function Schedules(params) {
  const order = params.order ?? "FIRE_AT";
  const key = JSON.stringify([filterOf(params), order, asOf.value]);
  const [list, setList] = useState(/** @type {any} */ ({ key: "", rows: [], total: 0, next: null, more: true, error: null }));
  const [picked, setPicked] = useState(/** @type {Set<string>} */ (new Set()));
  const busy = useRef("");

  const question = (first, after) => ({
    document: Q.SCHEDULES, variables: { first, after, filter: filterOf(params), orderBy: order },
  });
  const load = async (from, keep) => {
    const asking = `${key} ${from}`;
    if (busy.current === asking) return;
    busy.current = asking;
    try {
      const first = keep ? Math.min(CHUNK * Math.ceil(Math.max(keep, 1) / CHUNK), 300) : CHUNK;
      const { schedules } = await ask(Q.SCHEDULES, question(first, from).variables);
      if (busy.current !== asking) return;
      setList((before) => ({
        key, error: null, total: schedules.totalCount, next: schedules.pageInfo.endCursor, more: schedules.pageInfo.hasNextPage,
        rows: from ? [...before.rows, ...schedules.nodes] : schedules.nodes,
      }));
    } catch (error) {
      // What is refused would be refused again at once.
      setList((before) => ({ ...before, error, more: false }));
    } finally {
      if (busy.current === asking) busy.current = "";
    }
  };
  // A change anywhere renews what is loaded, unless the reader is far down.
  useEffect(() => { load(null, list.key === key ? list.rows.length : 0); }, [key, pulse.value]);
  useEffect(() => setPicked(new Set()), [key]);

  const toggle = (name, value) => {
    const known = (params[name]?.split(",") ?? []).filter(Boolean);
    refine({ [name]: name === "status" ? (known.includes(value) ? known.filter((one) => one !== value) : [...known, value]).join(",") : params[name] === value ? null : value });
  };
  const chosen = list.rows.filter((row) => picked.has(row.scheduleId));
  const pick = (id) => setPicked((before) => {
    const after = new Set(before);
    if (!after.delete(id)) after.add(id);
    return after;
  });
  return html`<${Page} title="Schedules" answer=${{ data: true, error: list.error, again: () => load(null, 0), question: question(CHUNK, null) }}
      lead=${list.key && html`<span class="num">${count(list.total, "schedule")}</span>${filterOf(params) ? " match" : ""}`}>
    <form class="filters" role="search" onSubmit=${(event) => event.preventDefault()}>
      <label class="grow"><span class="away">Search</span><input type="search" placeholder="label, message or id" value=${params.q ?? ""}
        onChange=${(event) => refine({ q: event.target.value.trim() })} /></label>
      <label><span class="away">Order</span><select value=${order} onChange=${(event) => refine({ order: event.target.value })}>
        <option value="FIRE_AT">next first</option><option value="FIRE_AT_DESC">latest slot first</option>
        <option value="CREATED_AT_DESC">newest first</option><option value="CREATED_AT">oldest first</option></select></label></form>
    <div class="chips" role="group" aria-label="Filters">${STATUSES.map((one) => html`<button aria-pressed=${params.status?.split(",").includes(one) ?? false}
        onClick=${() => toggle("status", one)}><${Status} of=${one} /></button>`)}
      <button aria-pressed=${params.failing === "yes"} onClick=${() => toggle("failing", "yes")}>failed last</button>
      ${KINDS.map((one) => html`<button aria-pressed=${params.kind === one} onClick=${() => toggle("kind", one)}>${word(one)}</button>`)}
      ${["session", "channel", "due"].filter((name) => params[name]).map((name) => html`<button aria-pressed="true" onClick=${() => refine({ [name]: null })}>${name === "due" ? "overdue" : `${name} ${visible(params[name])}`} ×</button>`)}</div>
    ${chosen.length > 0 && html`<div class="bulk" role="group" aria-label="Selected"><strong>${chosen.length} selected</strong>
      <${Do} does=${() => each(chosen.filter((row) => isOpen(row) && !row.paused), "Pause", Q.PAUSE)}>Pause…<//>
      <${Do} does=${() => each(chosen.filter((row) => isOpen(row) && row.paused), "Resume", Q.RESUME)}>Resume…<//>
      <${Do} does=${() => each(chosen.filter(isOpen), "Cancel", Q.CANCEL, true)}>Cancel…<//>
      <button class="quiet" onClick=${() => setPicked(new Set())}>None</button></div>`}
    ${list.key === key && filterOf(params) && list.total > 1 && html`<div class="bulk" role="group" aria-label="All that match"><strong>All ${count(list.total, "match", "matches")}</strong>
      ${[["PAUSE", "Pause"], ["RESUME", "Resume"], ["CANCEL", "Cancel"]].map(([action, name]) => html`<${Do} does=${() => many(action, filterOf(params))}>${name}…<//>`)}</div>`}
    ${list.key === key && !list.rows.length ? html`<p class="empty">No schedule${filterOf(params) ? " matches" : " yet"}.
      ${!filterOf(params) && mayChange() && html` <a href=${to("new")}>Make one</a>`}</p>`
    : html`<${Rows} list=${list} picked=${picked} pick=${pick} more=${() => list.more && load(list.next, 0)} />`}<//>`;
}

/** The rows that are in view, between two blank ones as high as all the others. */
function Rows({ list, picked, pick, more }) {
  const box = useRef(/** @type {any} */ (null));
  const [view, setView] = useState({ first: 0, last: 40, high: 44 });
  const look = () => {
    const element = box.current;
    if (!element) return;
    const high = matchMedia("(max-width: 44rem)").matches ? 114 : 40;
    const first = Math.max(0, Math.floor(element.scrollTop / high) - 8);
    const last = Math.ceil((element.scrollTop + element.clientHeight) / high) + 8;
    setView((before) => (before.first === first && before.last === last && before.high === high ? before : { first, last, high }));
    if (last > list.rows.length - 20) more();
  };
  useLayoutEffect(look, [list]);
  useEffect(() => {
    addEventListener("resize", look);
    return () => removeEventListener("resize", look);
  });
  const rows = list.rows.slice(view.first, view.last);
  const find = (id) => list.rows.find((row) => row.scheduleId === id);
  const keys = {
    x: pick, e: (id) => go("explain", { id }), p: (id) => mayChange() && pause(find(id)), c: (id) => mayChange() && cancel(find(id)),
    r: (id) => mayChange() && runNow(find(id)),
  };
  const blank = (number) => html`<tr aria-hidden="true" class="blank"><td colspan="6" style=${{ height: `${Math.max(0, number) * view.high}px` }}></td></tr>`;
  return html`<div class="virtual" ref=${box} onScroll=${look} tabindex="-1"><table class="cards" aria-rowcount=${list.total + 1}>
    <caption class="away">Schedules. On a row: x selects, Enter opens, e explains, p pauses, r runs, c cancels.</caption>
    <thead><tr><th scope="col"><span class="away">Select</span></th><th scope="col">Schedule</th><th scope="col">Status</th><th scope="col">Next</th>
      <th scope="col">Session</th><th scope="col">Runs</th></tr></thead>
    <tbody onKeyDown=${(event) => rowKeys(event, keys)}>${blank(view.first)}${rows.map((row, at) => html`
      <tr key=${row.scheduleId} data-row=${row.scheduleId} tabindex=${at === 0 ? 0 : -1} aria-rowindex=${view.first + at + 2} class=${picked.has(row.scheduleId) ? "picked" : ""}>
        <td class="pick"><input type="checkbox" tabindex="-1" checked=${picked.has(row.scheduleId)} onChange=${() => pick(row.scheduleId)} aria-label=${`Select ${visible(row.label ?? row.scheduleId)}`} /></td>
        <td data-column="Schedule"><a tabindex="-1" href=${to("schedule", { id: row.scheduleId })}><${Foreign} text=${row.label ?? row.scheduleId} max=${80} /></a>
          <span class="soft"><${Foreign} text=${rhythm(row.when)} max=${60} /></span></td>
        <td data-column="Status" title=${word(row.reason)}><${Status} of=${row.status} reason=${row.reason} /></td>
        <td data-column="Next"><a tabindex="-1" href=${to("explain", { id: row.scheduleId, at: row.nextFireAt ?? row.fireAt })}><${When} at=${row.nextFireAt ?? row.fireAt} zone=${row.zone} /></a></td>
        <td data-column="Session"><a tabindex="-1" href=${to("lanes", { session: row.originSessionId })}><${Foreign} text=${row.originSessionId} max=${60} /></a></td>
        <td data-column="Runs" class="num">${row.runCount}${row.failedCount > 0 && html` <span class="bad">${row.failedCount} failed</span>`}</td></tr>`)}
      ${blank(list.rows.length - view.last)}</tbody></table>
    ${list.more && html`<p class="soft empty">${count(list.total - list.rows.length, "more row")} as you scroll</p>`}</div>`;
}
