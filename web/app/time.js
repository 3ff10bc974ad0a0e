// Instants, on two clocks: the schedule's and the reader's. No instant is shown without the name of its clock.
import { html, signal, useState } from "./lib.js";
import { asOf } from "./graph.js";
import { Foreign } from "./text.js";

/** The daemon's clock less the browser's, in milliseconds. */
let ahead = 0;
/** The daemon's time, as of a few seconds ago. */
export const now = signal(Date.now());
export const HERE = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

/** Takes the daemon's clock. */
export function tell(instant) {
  ahead = Date.parse(instant) - Date.now();
  now.value = Date.now() + ahead;
}
setInterval(() => { now.value = Date.now() + ahead; }, 5_000);

const formats = new Map();
function format(zone, options) {
  const key = `${zone} ${JSON.stringify(options)}`;
  if (!formats.has(key)) {
    let made = /** @type {Intl.DateTimeFormat | null} */ (null);
    // A zone that the daemon knows and the browser does not.
    try { made = new Intl.DateTimeFormat("en-GB", { ...options, timeZone: zone, hourCycle: "h23" }); } catch { made = null; }
    formats.set(key, made);
  }
  return formats.get(key);
}

const CLOCK = { hour: "2-digit", minute: "2-digit", second: "2-digit" };
const DAY = { weekday: "short", day: "numeric", month: "short" };
const YEAR = { ...DAY, year: "numeric" };

export const clock = (ms, zone = HERE, seconds = true) => {
  const text = format(zone, seconds ? CLOCK : { hour: "2-digit", minute: "2-digit" })?.format(ms);
  return text && seconds && text.endsWith(":00") ? text.slice(0, -3) : text;
};
export const day = (ms, zone = HERE) => {
  const far = Math.abs(ms - now.peek()) > 300 * 86_400_000;
  return format(zone, far ? YEAR : DAY)?.format(ms).replace(",", "");
};
/** What a clock there says: the day only if it is not today. */
export const said = (ms, zone = HERE) => {
  const today = day(ms, zone) === day(now.peek(), zone);
  const time = clock(ms, zone);
  return time === undefined ? undefined : today ? time : `${day(ms, zone)} ${time}`;
};
export const zoneName = (zone) => zone.split("/").pop().replaceAll("_", " ");
const HOUR = 3_600_000;
/** Which of the two it is, in an hour that comes twice. */
export function which(ms, zone = HERE) {
  const time = clock(ms, zone);
  if (time !== clock(ms - HOUR, zone) && time !== clock(ms + HOUR, zone)) return "";
  const parts = format(zone, { timeZoneName: "shortOffset" })?.formatToParts(ms) ?? [];
  return `, ${parts.find((part) => part.type === "timeZoneName")?.value.replace("GMT", "UTC")}`;
}
const zoneAt = (ms, zone) => zoneName(zone) + which(ms, zone);

/** A span of time in its two largest units. */
export function span(ms) {
  const units = /** @type {[number, string][]} */ ([[86_400_000, "d"], [3_600_000, "h"], [60_000, "min"], [1_000, "s"]]);
  let rest = Math.abs(ms);
  if (rest < 1_000) return `${Math.round(rest)} ms`;
  const said = [];
  for (const [size, unit] of units) {
    if (said.length === 2 || (said.length === 1 && rest < size)) break;
    if (rest >= size) said.push(`${Math.floor(rest / size)} ${unit}`);
    rest %= size;
  }
  return said.join(" ");
}
/** The instant that the page shows. */
export const present = () => (asOf.value ? Date.parse(asOf.value) : now.value);
/** How late a run was handed over; of one that was tried again, when it was taken. One that nobody has taken yet is later each time. */
export function lateness({ slot, state, attempt, finishedAt, deliveredAt, latenessMs }) {
  if (attempt < 2 && latenessMs !== null) return span(Number(latenessMs));
  if (/LEFT|CANCELLED/.test(state)) return "";
  const late = span((Date.parse(deliveredAt ?? finishedAt) || present()) - Date.parse(slot));
  return state === "FAILED" ? `given up after ${late}` : finishedAt ? late : `${late} so far`;
}
/** Whether a run was delivered as planned: not much later than its slot, and for that slot alone. */
export const isGood = ({ state, cause, attempt, latenessMs, folded }) => state === "DELIVERED" && cause !== "MISSED" && attempt < 2 && Number(latenessMs) < 300_000 && !Number(folded);
/** From the instant that the page shows, or from another. */
export const relative = (ms, base = present()) => {
  const gap = ms - base;
  return Math.abs(gap) < 1_500 ? "now" : gap > 0 ? `in ${span(gap)}` : `${span(gap)} ago`;
};

/** An instant: on the reader's clock, on the schedule's if that differs, and where there is room, relative. */
export function When({ at, zone, full = false, base = present() }) {
  if (!at) return html`<span class="soft">–</span>`;
  const ms = Date.parse(at);
  // Both clocks say the day only where one would be mistaken about it.
  const there = zone && zone !== HERE && (day(ms, zone) === day(ms) ? clock(ms, zone) : said(ms, zone));
  const differs = there && (there !== clock(ms) || full);
  return html`<time datetime=${at} title=${at}>
    <span class="num">${said(ms)}</span> <span class="zone">${zoneAt(ms, HERE)}</span>
    ${differs && html`<span class="there"> · <span class="num">${there}</span> <span class="zone">${zoneAt(ms, zone)}</span></span>`}
    ${full && html`<span class="soft"> · ${relative(ms, base)}</span>`}
  </time>`;
}

/** A sentence of the daemon, with its instants on the reader's clock. */
export const Sentence = ({ text, zone, max = 800 }) => String(text ?? "").slice(0, max).split(/(\d{4}-\d\d-\d\dT[\d:.]+Z)/)
  .map((part, at) => (at % 2 ? html`<${When} at=${part} zone=${zone} />` : part && html`<${Foreign} text=${part} max=${max} />`));

/** For an input of type datetime-local, and back. */
export function toLocal(ms) {
  const date = new Date(ms);
  return new Date(ms - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
export const fromLocal = (text) => (text ? new Date(text).toISOString() : null);

/** An instant to choose. It is taken with Enter or when the focus leaves, and not while it is typed. */
export function At({ ms, take, ...rest }) {
  const [draft, setDraft] = useState(/** @type {string | null} */ (null));
  const commit = () => {
    setDraft(null);
    if (draft) take(fromLocal(draft));
  };
  return html`<input type="datetime-local" ...${rest} value=${draft ?? (ms ? toLocal(ms) : "")} onInput=${(event) => setDraft(event.target.value)} onBlur=${commit}
    onKeyDown=${(event) => event.key === "Enter" && commit()} />`;
}
