// The live feed: every decision as it is made. It keeps the last ones only, and goes on from its cursor when it was cut.
import { html, signal, useState } from "./lib.js";
import { asOf, ask, follow, pulse, useAsk } from "./graph.js";
import { By, Mark, ScheduleName, SessionName } from "./parts.js";
import { word } from "./text.js";
import { said, Sentence, which } from "./time.js";
import * as Q from "./queries.js";

const KEPT = 200;
/** The latest decisions, newest first. */
const shown = signal(/** @type {any[]} */ ([]));
/** Whether some are missing, because the page was away for too long. */
const isCut = signal(false);
let waiting = /** @type {any[]} */ ([]);
let cursor = /** @type {string | null} */ (null);

/** Follows the decisions until the page ends. */
export function watchFeed() {
  let stop = () => {};
  let ended = false;
  const flush = setInterval(() => {
    if (!waiting.length) return;
    const arrived = waiting;
    waiting = [];
    shown.value = [...arrived.reverse(), ...shown.peek()].slice(0, KEPT);
    if (!asOf.peek()) pulse.value += 1;
  }, 1_000);
  const first = cursor ? Promise.resolve(cursor) : ask(Q.DECISIONS, { last: 40 }).then((data) => {
    const page = data.engine.decisionPage;
    shown.value = page.nodes.filter(Boolean).reverse();
    return page.nodes.at(-1)?.cursor ?? null;
  });
  first.catch(() => null).then((from) => {
    if (ended) return;
    cursor = from;
    stop = follow(Q.FEED, () => (cursor ? { after: cursor } : {}), ({ events: event }) => {
      cursor = event.cursor;
      if (event.truncated || event.lagged) isCut.value = true;
      if (event.kind) waiting.push(event);
      // What comes faster than it can be read is dropped from the oldest on.
      if (waiting.length > KEPT) waiting = waiting.slice(-KEPT);
    });
  });
  return () => {
    ended = true;
    clearInterval(flush);
    stop();
  };
}

const SHAPES = {
  RUN_DELIVERED: "delivered", RUN_TAKEN: "delivered", RUN_FAILED: "failed", RUN_LEFT: "left", RUN_HELD: "held", RUN_QUEUED: "queued",
  RUN_CANCELLED: "cancelled", SCHEDULE_CANCELLED: "cancelled", SLOTS_SKIPPED: "skipped", SCHEDULE_PAUSED: "paused", ENGINE_HELD: "held",
  OPERATION_REFUSED: "failed", HOST_LOST: "lost", RUN_DISPATCHED: "running", RUN_DENIED: "failed", RUN_APPROVED: "finished",
};
export const shapeOf = (kind) => SHAPES[kind] ?? "pending";

/** One decision, in a line. */
export const Line = ({ of }) => html`<span class="num soft">${said(Date.parse(of.at))}${which(Date.parse(of.at))}</span> <${Mark} of=${shapeOf(of.kind)} />
  <span class="what">${word(of.kind)} ${of.scheduleId && html`<${ScheduleName} of=${of.schedule} id=${of.scheduleId} /> `}
    ${!of.scheduleId && of.sessionId && html`<${SessionName} id=${of.sessionId} /> `}
    ${of.by && html`<span class="soft"><${By} of=${of.by} /></span>`}${of.reason && html`<span class="soft"> · ${word(of.reason)}</span>`}
    ${of.detail && html`<span class="soft"> · <${Sentence} text=${of.detail} max=${160} /></span>`}</span>`;

/** The decisions before the instant that the page shows. */
export function PastFeed() {
  const { data } = useAsk(Q.DECISIONS, { last: 100 });
  const list = data?.engine.decisionPage.nodes.slice().reverse() ?? [];
  return html`<section class="feed" aria-labelledby="feed"><h2 id="feed">What had happened</h2>
    ${list.length ? html`<ol tabindex="0" aria-label="Decisions until then, newest first">${list.map((one) => html`<li key=${one.cursor}><${Line} of=${one} /></li>`)}</ol>`
    : html`<p class="empty">Nothing is known.</p>`}</section>`;
}

/** The feed. It stands still while it is read: under the pointer, or with the focus in it. */
export function Feed() {
  const [frozen, setFrozen] = useState(/** @type {any[] | null} */ (null));
  const list = frozen ?? shown.value;
  const fresh = frozen ? shown.value.findIndex((one) => one === frozen[0]) : 0;
  const freeze = () => setFrozen((before) => before ?? shown.peek());
  const thaw = (event) => { if (!event.currentTarget.contains(event.relatedTarget)) setFrozen(null); };
  return html`<section class="feed" aria-labelledby="feed"><h2 id="feed">Feed ${frozen && fresh !== 0
      && html`<button class="quiet" onClick=${() => setFrozen(null)}>${fresh < 0 ? `${KEPT}+` : fresh} new</button>`}</h2>
    ${isCut.value && html`<p class="problem">Truncated: the page was away for too long, and some decisions are missing here.
      <button onClick=${() => { isCut.value = false; }}>I know</button></p>`}
    <div onMouseEnter=${freeze} onMouseLeave=${thaw} onFocusIn=${freeze} onFocusOut=${thaw}>
      ${list.length ? html`<ol tabindex="0" aria-label="Latest decisions, newest first">${list.slice(0, 100).map((one) => html`<li key=${one.cursor}><${Line} of=${one} /></li>`)}</ol>`
    : html`<p class="empty">Nothing has happened yet.</p>`}</div></section>`;
}
