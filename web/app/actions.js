// What can be done with a schedule. Each change says what it did, and how to take it back where that is possible.
import { html } from "./lib.js";
import { calendar, change } from "./graph.js";
import { act, confirm } from "./parts.js";
import { count, Foreign, rhythm, visible, word } from "./text.js";
import * as Q from "./queries.js";

const name = (of) => visible(of.label ?? of.scheduleId);

export const resume = (of) => act(() => change(Q.RESUME, { id: of.scheduleId }), `${name(of)} goes on.`);

export async function pause(of) {
  if (of.paused) return resume(of);
  const reason = await confirm({
    title: "Pause this schedule?", yes: "Pause", reason: "Why (optional)",
    body: html`<p><${Foreign} text=${of.label ?? of.scheduleId} />: its slots get no runs until it is resumed. Then they count as missed.</p>`,
  });
  if (reason === null) return undefined;
  return act(() => change(Q.PAUSE, { id: of.scheduleId, reason: reason || null }), `${name(of)} is paused.`, () => resume(of));
}

export async function cancel(of) {
  const yes = await confirm({
    title: "Cancel this schedule?", yes: "Cancel it", bad: true,
    body: html`<p><${Foreign} text=${of.label ?? of.scheduleId} /> (<${Foreign} text=${rhythm(of.when)} />) will never be delivered. This cannot be taken back.</p>`,
  });
  return yes === null ? undefined : act(() => change(Q.CANCEL, { id: of.scheduleId }), `${name(of)} is cancelled.`);
}

export async function runNow(of) {
  const yes = await confirm({
    title: "Run it now?", yes: "Run now",
    body: html`<p><${Foreign} text=${of.label ?? of.scheduleId} />: one run starts at once. If it has a single slot, this is it.</p>`,
  });
  return yes === null ? undefined : act(() => change(Q.RUN_NOW, { id: of.scheduleId }), `${name(of)} runs.`);
}

export const retry = (of) => act(() => change(Q.RETRY, { id: of.scheduleId }), `${name(of)} is tried again.`);

export async function skip(of) {
  const yes = await confirm({
    title: "Skip the next slot?", yes: "Skip it",
    body: html`<p><${Foreign} text=${of.label ?? of.scheduleId} />: the next slot passes without a run.</p>`,
  });
  return yes === null ? undefined : act(() => change(Q.SKIP, { id: of.scheduleId }), `${name(of)}: the next slot is skipped.`);
}

/** Shows a link by which a calendar program reads when a schedule, those of a session, or all fire. */
export async function subscribe(of) {
  const link = await act(() => calendar(of), "A link was made.");
  if (!link) return;
  await confirm({
    title: "A link for a calendar program", yes: "Done",
    body: html`<p>Everybody who has it sees when it fires and what it is called, not what it says. <code>reveille calendar --revoke</code> ends
      all such links.</p><label>The link<input readonly value=${link} onFocus=${(event) => event.target.select()} /></label>`,
  });
}

/** Does the same with each of several, after showing how many. Says what was refused. */
export async function each(list, title, yes, document, bad = false) {
  const reason = await confirm({
    title, yes, bad,
    body: html`<ul class="picked">${list.slice(0, 12).map((of) => html`<li><${Foreign} text=${of.label ?? of.scheduleId} max=${80} /></li>`)}
      ${list.length > 12 && html`<li class="soft">and ${list.length - 12} more</li>`}</ul>`,
  });
  if (reason === null) return;
  const refused = [];
  let done = 0;
  await act(async () => {
    const rest = [...list];
    const worker = async () => {
      for (let of = rest.shift(); of; of = rest.shift()) {
        try {
          await change(document, { id: of.scheduleId });
          done += 1;
        } catch (error) { refused.push(/** @type {Error} */ (error).message); }
      }
    };
    await Promise.all(Array.from({ length: 6 }, worker));
  }, () => `${done} done${refused.length ? `, ${refused.length} refused: ${visible(refused[0])}` : ""}.`);
}

/** Does the same with all that a filter admits: as many as were counted when it was asked, or nothing. */
export async function many(action, filter) {
  const counted = await act(() => change(Q.MANY, { action, filter, dry: true }), "Counted; nothing is changed yet.");
  if (!counted) return;
  const { matched, unchanged } = counted.changeSchedules;
  const reason = await confirm({
    title: `${word(action)} ${count(matched, "schedule")}?`, yes: `${word(action)} ${matched}`, bad: action === "CANCEL", reason: action === "PAUSE" && "Why (optional)",
    body: html`<p>All unfinished schedules that match, on the screen or not. If it is another number by then, nothing is changed.
      ${unchanged > 0 && ` ${unchanged} cannot be changed now.`}</p>`,
  });
  if (reason === null) return;
  await act(() => change(Q.MANY, { action, filter, expect: matched, reason: action === "PAUSE" ? reason || null : null }), (data) => `${data.changeSchedules.changed} of ${data.changeSchedules.matched} done.`);
}
