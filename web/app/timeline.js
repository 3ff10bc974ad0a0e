// The timeline: what happened and what will, on one axis with now in its middle. The table below it says the same.
import { html, useMemo } from "./lib.js";
import { asOf, useAsk } from "./graph.js";
import { go, refine } from "./route.js";
import { A, Do, InPlace, Lacking, Mark, Page, ScheduleName, Slot, Status, Stretch, Table, tone, shape } from "./parts.js";
import { count, LISTED, visible, word } from "./text.js";
import { clock, day, HERE, isGood, lateness, now, When, which, zoneName } from "./time.js";
import { subscribe } from "./actions.js";
import * as Q from "./queries.js";

const HOUR = 3_600_000;
const ZOOMS = { "1h": HOUR, "6h": 6 * HOUR, "24h": 24 * HOUR, "7d": 168 * HOUR };
const STEPS = [300_000, 900_000, HOUR, 3 * HOUR, 6 * HOUR, 24 * HOUR, 48 * HOUR];
// As many as one question may name: each row is a root field of it.
const ROWS = 20;
const ROW = 26;
/** Into how many stretches the range is cut. */
const PARTS = 96;

export function Timeline({ zoom = "6h", by = "schedule", at = "" }) {
  const half = ZOOMS[zoom] ?? ZOOMS["6h"];
  const present = Math.floor((asOf.value ? Date.parse(asOf.value) : now.value) / 15_000) * 15_000;
  const middle = Date.parse(at) || present;
  const [from, to] = [middle - half, middle + half];
  const bucket = Math.ceil((to - from) / PARTS);
  const iso = (ms) => new Date(ms).toISOString();
  const begins = Math.max(present, from);
  const answer = useAsk(Q.TIMELINE, { from: iso(from), middle: iso(middle), to: iso(to), now: iso(begins), until: iso(Math.max(to, begins + 1_000)), bucketMs: bucket, by: by.toUpperCase(), rows: ROWS, each: LISTED });
  const rows = useMemo(() => (answer.data ? gather(answer.data.timeline, bucket) : []), [answer.data, bucket]);
  const ids = by === "schedule" ? rows.flatMap(([row]) => row ?? []) : [];
  const known = useAsk(ids.length ? Q.names(ids) : Q.SHELL, {}, { still: true });
  const named = [...(answer.data?.forecast ?? []).map((one) => one.schedule), ...runsOf(answer.data).map((one) => one.schedule), ...Object.values(known.data ?? {})];
  const label = new Map(named.filter((one) => one?.scheduleId).map((one) => [one.scheduleId, one.label ?? one.scheduleId]));
  // A cell says that a run is under way, and its run for what it waits.
  const states = new Map(runsOf(answer.data).filter((run) => !run.finishedAt && run.reason).map((run) => [
    `${run.schedule.scheduleId} ${Date.parse(run.slot)}`, run.reason === "AWAITING_APPROVAL" ? run.reason : "WAITS",
  ]));
  const cut = answer.data?.timeline.at(-1)?.more;
  const shift = (share) => refine({ at: new Date(middle + share * half).toISOString() });
  return html`<${Page} title="Timeline" answer=${answer} actions=${html`
      <div class="segments" role="group" aria-label="Range">${Object.keys(ZOOMS).map((name) => html`
        <button aria-pressed=${name === zoom} onClick=${() => refine({ zoom: name })}>± ${name}</button>`)}</div>
      <div class="segments" role="group" aria-label="Rows">${["schedule", "session"].map((name) => html`
        <button aria-pressed=${name === by} onClick=${() => refine({ by: name })}>${name}s</button>`)}</div>
      <div class="segments" role="group" aria-label="Move"><button onClick=${() => shift(-1)} aria-label="Earlier">←</button>
        <button onClick=${() => refine({ at: null })}>now</button><button onClick=${() => shift(1)} aria-label="Later">→</button></div>
      <${Do} rules does=${() => subscribe({})}>Calendar link…<//>`}>
    <p class="legend" aria-hidden="true">${["delivered", "failed", "skipped", "cancelled", "left", "under_way", "fires", "waits", "paused", "awaiting_approval"].map((name) => html`
      <span><${Mark} of=${name} /> ${word(name)}</span>`)}<span><svg class="mark"><rect class="cell" y="3" width="16" height="10" /></svg> several</span><span class="soft">clock: ${zoneName(HERE)}</span></p>
    ${cut && html`<p class="problem">Truncated: there is more in this range than one picture holds. Zoom in, or look at the schedules one by one.</p>`}
    ${answer.data && html`<${Picture} bands=${bandsOf(answer.data.engine, present)} rows=${rows} label=${label} states=${states} by=${by} from=${from} to=${to} now=${present} bucket=${bucket} />
    <${Twin} data=${answer.data} bands=${bandsOf(answer.data.engine, present)} from=${from} to=${to} middle=${middle} />`}<//>`;
}
/** The runs that were asked for: those nearest to the middle, and those that went otherwise. */
const runsOf = (data) => (data ? [...new Map([data.before, data.after, data.bad, data.late].flatMap((page) => page.nodes).map((run) => [run.id, run])).values()] : []);

/** The cells by row: first those with trouble, then those that come first, then all others as one, whose name is null. One slot
 * alone stands at its instant, several in the middle. */
function gather(cells, bucket) {
  const rows = new Map();
  let together = 0;
  for (const { start, state, count: number, at, of, others } of cells) {
    const row = others ? null : of ?? "";
    together = others ?? together;
    const places = rows.get(row) ?? new Map();
    const middle = Date.parse(start) + bucket / 2;
    add(places, middle, { ms: at ? Date.parse(at) : middle, total: number, states: [[state, number]] });
    rows.set(row, places);
  }
  const trouble = (places) => [...places.values()].filter((cell) => isBad(cell)).length;
  return [...rows.entries()].map(([row, places]) => [row, [...places.entries()], trouble(places), row === null ? together : 0])
    .sort((one, two) => one[3] - two[3] || two[2] - one[2] || one[1][0][0] - two[1][0][0]);
}
function add(places, middle, { ms, total, states }) {
  const known = places.get(middle);
  if (!known) return void places.set(middle, { ms, total, states });
  const sum = new Map(known.states);
  for (const [state, number] of states) sum.set(state, (sum.get(state) ?? 0) + number);
  places.set(middle, { ms: middle, total: known.total + total, states: [...sum] });
}
const isBad = (cell) => cell.states.some(([state]) => ["bad", "warn"].includes(tone(state)));
const isAhead = (cell) => cell.states.every(([state]) => state.startsWith("WILL"));

/** When the daemon was down, and when all was held. */
const bandsOf = ({ downtimes, pastHolds, held }, present) => [
  ...downtimes.map((one) => ({ what: "down", from: Date.parse(one.from), until: Date.parse(one.until), of: one })),
  ...pastHolds.map((one) => ({ what: "held", from: Date.parse(one.since), until: Date.parse(one.until), of: { from: one.since, until: one.until } })),
  ...(held ? [{ what: "held", from: Date.parse(held.since), until: present }] : []),
];

function Picture({ bands, rows, label, states, by, from, to, now: present, bucket }) {
  if (!rows.length) return html`<p class="empty">Nothing in this range.</p>`;
  const x = (ms) => `${(((ms - from) / (to - from)) * 100).toFixed(3)}%`;
  const step = STEPS.find((size) => (to - from) / size <= 14) ?? STEPS.at(-1) ?? HOUR;
  const offset = new Date(from).getTimezoneOffset() * 60_000;
  const ticks = [];
  for (let ms = Math.ceil((from - offset) / step) * step + offset; ms < to; ms += step) ticks.push(ms);
  const height = rows.length * ROW;
  const open = (event) => {
    const place = event.target.closest("[data-at]");
    if (!place) return;
    if (by === "schedule") go("explain", { id: place.dataset.row, at: place.dataset.at });
    else go("lanes", { session: place.dataset.row });
  };
  const title = (cell, middle) => `${cell.states.map(([state, number]) => `${number} ${word(state)}`).join(", ")} ${cell.total === 1 ? `at ${clock(cell.ms)}` : `from ${clock(middle - bucket / 2)} to ${clock(middle + bucket / 2)}`}`;
  return html`<div class="timeline" aria-hidden="true"><div class="rows">${rows.map(([row, , , together]) => html`<div class="row">
      ${row === null ? html`<span class="soft">${count(together, "more row")}</span>` : html`<span title=${visible(row)}>${visible(label.get(row) ?? row)}</span>`}</div>`)}</div>
    <div class="picture"><svg width="100%" height=${height + 22} onClick=${open}>
      <rect class="past" x="0" y="0" width=${x(Math.max(from, Math.min(to, present)))} height=${height} />
      ${bands.filter((band) => band.until > from && band.from < to).map((band) => html`<rect class="band" x=${x(Math.max(from, band.from))} y="0" width=${x(from + Math.min(to, band.until) - Math.max(from, band.from))} height=${height} />
        <text x=${x((Math.max(from, band.from) + Math.min(to, band.until)) / 2)} y="22">${band.what}</text>`)}
      ${rows.map((_, at) => html`<line class="rule" x1="0" x2="100%" y1=${at * ROW + ROW / 2} y2=${at * ROW + ROW / 2} />`)}
      ${ticks.map((ms, at) => html`<line class="tick" x1=${x(ms)} x2=${x(ms)} y1="0" y2=${height} />
        <text x=${x(ms)} y=${height + 15} class=${`num ${at % 2 ? "odd" : ""}`}>${step >= 24 * HOUR || clock(ms, HERE, false) === "00:00" ? day(ms) : clock(ms, HERE, false) + which(ms)}</text>`)}
      ${seams(from, to).map((ms) => html`<line class="seam" x1=${x(ms)} x2=${x(ms)} y1="0" y2=${height} /><text x=${x(ms)} y="10">clock changes</text>`)}
      ${rows.map(([row, cells], at) => {
    const most = Math.max(...cells.map(([, cell]) => cell.total));
    return cells.map(([middle, cell]) => {
      const place = row === null ? {} : { "data-row": row, "data-at": new Date(Math.min(cell.ms, to)).toISOString() };
      const state = states.get(`${row} ${cell.ms}`) ?? cell.states[0][0];
      if (cell.total === 1) {
        return html`<svg class=${`mark ${tone(state)}`} x=${x(cell.ms)} y=${at * ROW + ROW / 2 - 8} width="16" height="16" overflow="visible" ...${place}><title>${title({ ...cell, states: [[state, 1]] }, middle)}</title>
          <g transform="translate(-8 0)"><rect class="touch" width="16" height="16" /><use href=${`#m-${shape(state)}`} width="16" height="16" /></g></svg>`;
      }
      const high = 6 + (14 * cell.total) / most;
      return html`<rect class=${`cell ${isBad(cell) ? "bad" : ""} ${isAhead(cell) ? "ahead" : ""}`} x=${x(middle - bucket * 0.46)} y=${at * ROW + ROW / 2 - high / 2}
        width=${`${(92 / PARTS).toFixed(2)}%`} height=${high} ...${place}><title>${title(cell, middle)}</title></rect>`;
    });
  })}
      ${present >= from && present <= to && html`<line class="now" x1=${x(present)} x2=${x(present)} y1="0" y2=${height + 4} />`}
    </svg></div></div>`;
}

/** Where the reader's clock is put forward or back. */
function seams(from, to) {
  const found = [];
  // Clocks change at full hours.
  for (let ms = Math.floor(from / HOUR) * HOUR; ms < to; ms += HOUR) {
    if (new Date(ms).getTimezoneOffset() !== new Date(ms + HOUR).getTimezoneOffset()) found.push(ms + HOUR);
  }
  return found;
}

function Twin({ data, bands, from, to, middle }) {
  const { engine, before, after, lacking, forecast } = data;
  const skipped = engine.decisionPage.nodes.map((one) => ({
    ms: Date.parse(one.slots.until), at: one.slots.until, of: one.schedule, id: one.scheduleId, kind: "SKIPPED", reason: one.reason, run: null, count: one.slots.count,
  }));
  const past = runsOf(data).map((one) => ({
    ms: Date.parse(one.slot), at: one.slot, of: one.schedule, id: one.schedule.scheduleId, kind: one.state, reason: one.reason, run: one,
  }));
  const ahead = forecast.map((one) => ({ ms: Date.parse(one.at), at: one.slot, of: one.schedule, id: one.scheduleId, kind: one.will, reason: one.reason, run: null, isAhead: true }));
  // A run that waits is in both.
  const begun = new Set(past.map((one) => `${one.id} ${one.at}`));
  const all = [...past, ...skipped, ...ahead.filter((one) => !begun.has(`${one.id} ${one.at}`))].filter((one) => one.ms >= from && one.ms <= to);
  const isCut = forecast.some((one) => one.more);
  // What went otherwise, and the nearest to the middle: a reader of screens starts where the picture does.
  const isUsual = (one) => Number(one.run ? isGood(one.run) : one.isAhead === true);
  const near = all.sort((one, two) => isUsual(one) - isUsual(two) || Math.abs(one.ms - middle) - Math.abs(two.ms - middle)).slice(0, 120).sort((one, two) => one.ms - two.ms);
  const rows = near.map((one) => ({
    key: `${one.id} ${one.at} ${one.kind}`,
    cells: [html`<${Slot} of=${one.of} id=${one.id} at=${one.at} shown=${new Date(one.ms).toISOString()} />`,
      html`<${ScheduleName} of=${one.of} id=${one.id} />`, html`<${Status} of=${one.kind} reason=${one.reason} error=${one.run?.error} />`,
      one.run ? html`<${A} page="run" params=${{ schedule: one.id, id: one.run.id }}>run<//>${(one.run.latenessMs > 1_000 || one.run.attempt > 1) && html` <span class="warn">late: ${lateness(one.run)}</span>`}<${InPlace} of=${one.run} />` : one.isAhead ? "ahead" : one.count > 1 ? `the last of ${one.count}` : ""],
  }));
  return html`<section aria-labelledby="twin"><h2 id="twin">The same as a table ${all.length >= 120 && html`<span class="soft">what went otherwise, and the nearest to the middle: ${near.length} of ${(before.totalCount + after.totalCount + skipped.length + ahead.length).toLocaleString()}${isCut ? " and more" : ""}</span>`}</h2>
    ${isCut && html`<p class="soft">At most ${LISTED} slots of each schedule are listed ahead.</p>`}
    ${bands.filter((band) => band.until > from && band.from < to).map((band) => html`<p>${band.of ? html`<${Stretch} ...${band.of}>${band.what === "down" ? "The daemon was down" : "All was held"}, <//>` : html`All is held, since <${When} at=${new Date(band.from).toISOString()} />`}.</p>`)}
    <${Lacking} of=${lacking} />
    <${Table} caption="Slots, past and ahead" columns=${["When", "Schedule", "Outcome", ""]} rows=${rows} empty="Nothing in this range." /></section>`;
}
