// What the pages are made of: marks, links, tables, dialogs, and what is said to the reader.
import { html, signal, useEffect, useRef, useState } from "./lib.js";
import { asOf, login } from "./graph.js";
import { route, to } from "./route.js";
import { count, Foreign, visible, word } from "./text.js";
import { now, span, When } from "./time.js";

// A mark is told apart by its shape; its colour only helps. Each is drawn by what is filled, by lines, and by thick ones.
const DISC = "M3 8a5 5 0 1 0 10 0a5 5 0 1 0-10 0";
const RING = "M1.5 8a6.5 6.5 0 1 0 13 0a6.5 6.5 0 1 0-13 0";
const CROSS = "M4 4l8 8M12 4l-8 8";
const SHAPES = {
  delivered: [DISC], late: ["M5 8a3 3 0 1 0 6 0a3 3 0 1 0-6 0", RING], fires: ["", DISC], pending: ["", DISC],
  queued: ["M8 3a5 5 0 0 1 0 10z", DISC], running: ["M5 3l8 5-8 5z"], failed: ["", "", CROSS], lost: ["", CROSS + RING],
  skipped: ["", "M3.5 4l4.5 4-4.5 4M8.5 4l4.5 4-4.5 4"],
  cancelled: ["", `${DISC}M4.5 11.5l7-7`], paused: ["", "", "M5.5 3.5v9M10.5 3.5v9"], held: ["M8 2.5l5.5 5.5-5.5 5.5-5.5-5.5z"],
  left: ["", "M3 4h10v8H3zM3 5l5 4 5-4"], finished: ["", "M3.5 8.5l3 3 6-7"],
};
const SHAPE_OF = {
  waits: "queued", needs_approval: "held", awaiting_approval: "held", gone: "cancelled", refused: "failed", fails: "failed",
  in_flight: "running", will_fire: "fires", will_wait: "queued", will_be_skipped: "skipped", will_be_refused: "failed",
  will_fail: "failed", will_need_approval: "held", waiting: "queued", under_way: "running", stopped: "paused", will_be_left: "left",
};
const TONE = {
  failed: "bad", lost: "bad", held: "warn", left: "warn", paused: "warn", late: "warn", delivered: "good", finished: "good",
  running: "live", queued: "live", skipped: "soft", cancelled: "soft",
};

export function shape(/** @type {string} */ name) {
  const known = String(name ?? "").toLowerCase();
  return SHAPES[known] ? known : SHAPE_OF[known] ?? "pending";
}
export const tone = (name) => TONE[shape(name)] ?? "ink";

/** The shapes, once in the page. */
export const Shapes = () => html`<svg class="away" aria-hidden="true">
  ${Object.entries(SHAPES).map(([name, drawn]) => html`<symbol id=${`m-${name}`} viewBox="0 0 16 16">${drawn.map((d, at) => html`<path d=${d} class=${["full", "line", "thick"][at]} />`)}</symbol>`)}
  <pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
    <line x1="0" y1="0" x2="0" y2="6" class="hatch" /></pattern>
</svg>`;

export const Mark = ({ of }) => html`<svg class=${`mark ${tone(of)}`} aria-hidden="true"><use href=${`#m-${shape(of)}`} /></svg>`;
/** A state, the words of an error if there is one, and the reason. */
export const Status = ({ of, say = of, reason = null, error = /** @type {any} */ (null) }) => html`<span class="status"><${Mark} of=${of} />
  <span>${word(say)}${error && of !== "DELIVERED" && html`<span class="soft"> · <${Foreign} text=${error.message} max=${120} /></span>`}${reason && reason !== of && html`<span class="soft"> · ${word(reason)}</span>`}</span></span>`;

export const A = ({ page, params = {}, children, ...rest }) => html`<a href=${to(page, params)} ...${rest}>${children}</a>`;
/** An instant of a schedule, with the explanation of the slot there. */
export const Slot = ({ of, id = of?.scheduleId, at, shown = at, full = false, children = null }) => html`<${A} page="explain" params=${{ id, at }}>${children}<${When} at=${shown} zone=${of?.zone} full=${full} /><//>`;
/** A schedule by its label, or its id. */
export const ScheduleName = ({ of, id = of?.scheduleId }) => (id
  ? html`<a href=${to("schedule", { id })} title=${visible(id)}><${Foreign} text=${of?.label ?? id} max=${80} /></a>`
  : html`<span class="soft">–</span>`);
export const SessionName = ({ id, name = id }) => (id
  ? html`<a href=${to("lanes", { session: id })}><${Foreign} text=${name} max=${60} /></a>` : html`<span class="soft">–</span>`);

/** Whether a channel's last attempt failed. */
export const isFailing = (channel) => !channel.disabledAt && channel.failingSince;
/** Since when a channel fails, what that has kept, and when it last took something. */
export const Failing = ({ of }) => html`since <${When} at=${of.failingSince} />: <a href=${to("schedules", { channel: of.name })}>${count(of.failedCount, "run")} failed, ${of.waitingCount} ${of.waitingCount === 1 ? "waits" : "wait"}</a>;
  ${of.lastDeliveryAt ? html` it last took something <${When} at=${of.lastDeliveryAt} />` : " no delivery by it is retained"}`;

/** The run that began a turn, if one did. */
export const TurnOf = ({ run }) => (run ? html`<${ScheduleName} of=${run.schedule} />, since <${When} at=${run.deliveredAt ?? run.startedAt} />` : null);
/** What a schedule waits for: its next attempt and what became of the last, or whose turn it is. */
export function Waits({ of }) {
  const { openRun: run, reason, target } = of;
  if (reason === "RETRYING" && run) {
    return html`: ${count(run.attempt - 1, "attempt")}${target.channel && html` by <${Foreign} text=${target.channel} />`} failed${run.error && html`, <${Foreign} text=${run.error.message} max=${120} />`}; the next is due <${When} at=${run.retryAt} />`;
  }
  const turn = reason === "SESSION_BUSY" && run?.session?.turnRun;
  return turn ? html` behind <${TurnOf} run=${turn} />` : reason && html`: ${word(reason)}`;
}
/** How many slots a run stands for, and behind which slot they begin, if that is known. */
export function Slots({ of }) {
  const before = of.schedule.runs?.findLast((one) => /SLOT|MISSED/.test(one.cause) && Date.parse(one.slot) < Date.parse(of.slot));
  return html`${Number(of.folded) + 1} slots${before && html`, those after <${When} at=${before.slot} />`}`;
}
export const InPlace = ({ of }) => (Number(of.folded) ? html` <span class="warn">in place of <${Slots} of=${of} /></span>` : null);
/** Whose runs are not all retained any more. */
export function Lacking({ of }) {
  if (!of?.totalCount) return null;
  return html`<p class="soft">Some runs of ${count(of.totalCount, "schedule")} may no longer be retained: ${of.nodes.map((one, at) => html`${at > 0 && ", "}<${ScheduleName} of=${one} />${one.kind !== "CALL" && html` from <${When} at=${one.runs[0]?.slot} /> on`}`)}${of.totalCount > 2 ? ", …" : "."}</p>`;
}
/** A stretch of time in which nothing was started, with a page of what it cost. */
export const Stretch = ({ from, until, children }) => html`<${A} page="over" params=${{ from, until }}>${children}<${When} at=${from} /> – <${When} at=${until} /><//>`;

/** Who did it, with the name of the token. */
export const By = ({ of }) => (of ? html` by <${Foreign} text=${of} />` : null);
/** What a part was, and what it is. It is shown whole: somebody decides by it. */
export const Changed = ({ was, is }) => html`<del><${Foreign} text=${was ?? "–"} max=${Infinity} /></del> → <ins><${Foreign} text=${is ?? "–"} max=${Infinity} /></ins>`;

/** How long there is until an instant, such as that at which nobody can approve any more. */
export function Left({ until, warn = 0 }) {
  const left = Date.parse(until) - now.value;
  return html`<strong class=${left < warn ? "bad" : "warn"}>${left > 0 ? `${span(left)} left` : "time is up"}</strong>`;
}
/** Names and values. */
export const Facts = ({ rows }) => html`<dl class="facts">${rows.filter(Boolean).map(([name, value]) => html`
  <div><dt>${name}</dt><dd>${value ?? html`<span class="soft">–</span>`}</dd></div>`)}</dl>`;

/** A table whose cells say the names of their columns where it is narrow. */
export function Table({ caption, columns, rows, empty = "Nothing." }) {
  if (!rows.length) return html`<p class="empty">${empty}</p>`;
  return html`<div class="scroll"><table class="cards"><caption class="away">${caption}</caption>
    <thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr class=${row.class ?? ""} key=${row.key}>
      ${row.cells.map((cell, at) => html`<td data-column=${columns[at]}>${cell}</td>`)}</tr>`)}</tbody></table></div>`;
}

export function Problem({ error, again = null }) {
  if (!error) return null;
  return html`<p class="problem" role="alert"><strong>${visible(error.message)}</strong>
    ${error.hint && html` <span>${visible(error.hint)}</span>`}
    ${again && html` <button onClick=${again}>Ask again</button>`}</p>`;
}

/** A page: its heading, what it shows, and how to ask for the same elsewhere. */
export function Page({ title, lead = null, actions = null, answer = /** @type {any} */ ({ data: true }), about = "", children }) {
  const name = `${route.value.page} ${route.value.params.id ?? ""}`;
  useEffect(() => {
    document.title = `${typeof title === "string" ? title : about} · Reveille`;
    // A new page is read from its heading; the first one leaves the focus where it is.
    if (moved) /** @type {any} */ (document.querySelector(onto.first))?.focus();
    moved = true;
    onto.first = "h1";
  }, [name]);
  return html`<div class="head"><h1 tabindex="-1">${title}</h1>${lead && html`<p class="lead">${lead}</p>`}
      ${actions && html`<div class="actions">${actions}</div>`}</div>
    <${Problem} error=${answer.error} again=${answer.again} />
    ${answer.data ? children : !answer.error && html`<p class="empty" aria-busy="true">Asking…</p>`}
    <footer>${answer.question && html`<button class="quiet" onClick=${() => copy(answer.question)}>Copy as GraphQL</button>`} <a href="graphql">Query page</a></footer>`;
}
let moved = false;
/** What gets the focus on the next page. */
export const onto = { first: "h1" };

async function copy({ document: text, variables }) {
  text = `${text.trim()}\n\n# variables\n${JSON.stringify(variables, null, 2)}\n`;
  try {
    await navigator.clipboard.writeText(text);
    say("The question is in the clipboard.");
  } catch {
    say("The browser does not give access to the clipboard.");
  }
}

/** What was done, for eyes and for readers of screens. */
export const note = signal({ text: "", bad: false, undo: /** @type {any} */ (null), at: 0 });
export function say(text, { bad = false, undo = null } = {}) {
  note.value = { text, bad, undo, at: Date.now() };
}
export function Note() {
  const { text, bad, undo, at } = note.value;
  useEffect(() => {
    if (!text) return undefined;
    const timer = setTimeout(() => { if (note.peek().at === at) note.value = { ...note.peek(), text: "" }; }, bad ? 20_000 : 9_000);
    return () => clearTimeout(timer);
  }, [at]);
  return html`<div class=${`note ${bad ? "bad" : ""} ${text ? "" : "gone"}`} role="status">
    <span>${text}</span> ${text && undo && html`<button onClick=${() => { note.value = { ...note.peek(), text: "" }; undo(); }}>Undo</button>`}</div>`;
}

/** Does something, and says how it went. Returns what was answered, or nothing. */
export async function act(doing, done, undo = /** @type {any} */ (null)) {
  try {
    const answer = await doing();
    say(typeof done === "function" ? done(answer) : done, { undo: undo && (() => undo(answer)) });
    return answer;
  } catch (error) {
    say(`Not done: ${visible(error.message)}${error.hint ? ` (${visible(error.hint)})` : ""}`, { bad: true });
    return undefined;
  }
}

const dialog = signal(/** @type {any} */ (null));
/** Asks before something is done, and does it with the reason that was typed. It stays with what was typed until that is done. */
export const confirm = (/** @type {any} */ asking) => { dialog.value = asking; };
export function Dialog() {
  const asking = dialog.value;
  const element = useRef(/** @type {any} */ (null));
  const [reason, setReason] = useState("");
  const [error, setError] = useState(null);
  useEffect(() => {
    setReason("");
    setError(null);
    if (asking) element.current?.showModal();
  }, [asking]);
  if (!asking) return null;
  const end = (event) => {
    event.preventDefault();
    dialog.value = null;
  };
  const submit = async (event) => {
    event.preventDefault();
    if (asking.isBusy) return;
    asking.isBusy = true;
    const isDone = asking.does && await act(() => asking.does(reason || null).catch((refused) => {
      setError(refused);
      throw refused;
    }), asking.done, asking.undo);
    asking.isBusy = false;
    if (dialog.peek() === asking && (isDone || !asking.does)) end(event);
  };
  return html`<dialog ref=${element} aria-labelledby="asking" onCancel=${end}>
    <form onSubmit=${submit}>
      <h2 id="asking">${asking.title}</h2>${asking.body}
      ${asking.reason && html`<label>${asking.reason}<input value=${reason} maxlength="500" autofocus
        onInput=${(event) => setReason(event.target.value)} /></label>`}
      <${Problem} error=${error} />
      <div class="actions">${asking.does && html`<button type="button" onClick=${end}>Leave it</button>`}
        <button class=${asking.bad ? "bad" : "main"}>${asking.yes}</button></div></form></dialog>`;
}

// The focus does not end when what has it goes: it comes back to what had it before a dialog, or goes to the row that took its
// place.
let had = /** @type {any} */ ({});
const rowsIn = (all) => [...all?.querySelectorAll(":scope > [data-row]") ?? []];
const isAside = (element) => element.closest?.("dialog, .note");
addEventListener("focusin", ({ target: element }) => {
  const row = /** @type {any} */ (element).closest("[data-row]");
  if (!isAside(element)) had = { element, all: row?.parentElement, place: rowsIn(row?.parentElement).indexOf(row) };
});
addEventListener("pointerdown", ({ target }) => { if (!isAside(target)) had = {}; });
new MutationObserver(() => {
  if (!had.element || document.activeElement !== document.body || document.querySelector("dialog")) return;
  const rows = rowsIn(had.all);
  (had.element.isConnected ? had.element : rows[Math.min(had.place, rows.length - 1)] ?? document.querySelector("h1"))?.focus();
}).observe(document, { childList: true, subtree: true });

/** Whether the reader may change anything here: not with a read-only login, and not in the past. */
export const mayChange = () => !login.value?.readOnly && !asOf.value;
/** Whether the reader may decide for all, as an operator does. */
export const mayRule = () => mayChange() && !login.value?.session;
/** A button that changes something. `rules` says that it is for operators. */
export const Do = ({ does, children, kind = "", rules = false, ...rest }) => html`<button class=${kind} disabled=${!(rules ? mayRule : mayChange)()} onClick=${does} ...${rest}>${children}</button>`;

/** Moves the focus along rows by keys, and calls what a key does on the row that has it. */
export function rowKeys(event, keys) {
  const row = event.target.closest("[data-row]");
  if (!row || event.ctrlKey || event.metaKey || event.altKey || /INPUT|TEXTAREA|SELECT/.test(event.target.tagName)) return;
  const rows = rowsIn(row.parentElement);
  const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
  if (step) {
    rows[rows.indexOf(row) + step]?.focus();
    event.preventDefault();
  } else if (event.key === "Enter" && event.target === row) {
    row.querySelector("a")?.click();
  } else if (keys[event.key]) {
    event.preventDefault();
    keys[event.key](row.dataset.row);
  }
}
