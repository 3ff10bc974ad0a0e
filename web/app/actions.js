// What can be done with a schedule. Each change says what it did, and how to take it back where that is possible.
import { html } from "./lib.js";
import { calendar, change } from "./graph.js";
import { act, confirm, say } from "./parts.js";
import { count, Foreign, rhythm, visible, word } from "./text.js";
import * as Q from "./queries.js";

const name = (of) => visible(of.label ?? of.scheduleId);
/** Whether a schedule has not ended: one that has can only be tried again. */
export const isOpen = (of) => /PENDING|QUEUED|PAUSED/.test(of?.status);

export const resume = (of) => act(() => change(Q.RESUME, { id: of.scheduleId }), `${name(of)} goes on.`);
export const retry = (of) => act(() => change(Q.RETRY, { id: of.scheduleId }), `${name(of)} is tried again.`);

/** Asks before one schedule is changed: its name, and what will come of it. */
const question = (document, title, yes, says, done, more = {}) => (of) => (isOpen(of) ? confirm({
  title, yes, body: html`<p><${Foreign} text=${of.label ?? of.scheduleId} />${says(of)}</p>`,
  does: (reason) => change(document, { id: of.scheduleId, ...(more.reason && { reason }) }),
  done: `${name(of)} ${done}`, undo: more.reason && (() => resume(of)), ...more,
}) : say(`${name(of)} has ended.`));

const stop = question(Q.PAUSE, "Pause this schedule?", "Pause", () => ": its slots get no runs until it is resumed. Then they count as missed.", "is paused.", { reason: "Why (optional)" });
export const pause = (of) => (of.paused && isOpen(of) ? resume(of) : stop(of));
export const cancel = question(Q.CANCEL, "Cancel this schedule?", "Cancel it", (of) => html` (<${Foreign} text=${rhythm(of.when)} />) will never be delivered. This cannot be taken back.`, "is cancelled.", { bad: true });
export const runNow = question(Q.RUN_NOW, "Run it now?", "Run now", () => ": one run starts at once. If it has a single slot, this is it.", "runs.");
export const skip = question(Q.SKIP, "Skip the next slot?", "Skip it", () => ": the next slot passes without a run.", ": the next slot is skipped.");

/** Shows a link by which a calendar program reads when a schedule, those of a session, or all fire. */
export async function subscribe(of) {
  const link = await act(() => calendar(of), "A link was made.");
  if (!link) return;
  confirm({
    title: "A link for a calendar program", yes: "Done",
    body: html`<p>Everybody who has it sees when it fires and what it is called, not what it says. <code>reveille calendar --revoke</code> ends
      all such links.</p><label>The link<input readonly value=${link} onFocus=${(event) => event.target.select()} /></label>`,
  });
}

/** Does the same with each of several, after showing how many. Says what was refused. */
export const each = (list, yes, document, bad = false) => (list.length ? confirm({
  title: `${yes} ${count(list.length, "schedule")}?`, yes: bad ? `${yes} them` : yes, bad,
  body: html`<ul class="picked">${list.slice(0, 12).map((of) => html`<li><${Foreign} text=${of.label ?? of.scheduleId} max=${80} /></li>`)}
    ${list.length > 12 && html`<li class="soft">and ${list.length - 12} more</li>`}</ul>`,
  does: async () => {
    const rest = [...list];
    const refused = [];
    const worker = async () => {
      for (let of = rest.shift(); of; of = rest.shift()) {
        await change(document, { id: of.scheduleId }).catch((error) => refused.push(error.message));
      }
    };
    await Promise.all(Array.from({ length: 6 }, worker));
    return refused;
  },
  done: (refused) => `${list.length - refused.length} done${refused.length ? `, ${refused.length} refused: ${visible(refused[0])}` : ""}.`,
}) : say(`There is none to ${yes.toLowerCase()}.`));

/** Does the same with all that a filter admits: as many as were counted when it was asked, or nothing. */
export async function many(action, filter) {
  const counted = await act(() => change(Q.MANY, { action, filter, dry: true }), "Counted; nothing is changed yet.");
  if (!counted) return;
  const { matched, unchanged } = counted.changeSchedules;
  confirm({
    title: `${word(action)} ${count(matched, "schedule")}?`, yes: `${word(action)} ${matched}`, bad: action === "CANCEL", reason: action === "PAUSE" && "Why (optional)",
    body: html`<p>All unfinished schedules that match, on the screen or not. If it is another number by then, nothing is changed.
      ${unchanged > 0 && ` ${unchanged} cannot be changed now.`}</p>`,
    does: (reason) => change(Q.MANY, { action, filter, expect: matched, reason }),
    done: ({ changeSchedules: all }) => `${all.changed} of ${all.matched} done.`,
  });
}
