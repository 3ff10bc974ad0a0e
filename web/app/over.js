// What a time cost in which nothing was started: when the daemon was down, or when all was held. The address says from when to when.
import { html } from "./lib.js";
import { useAsk } from "./graph.js";
import { A, By, InPlace, Lacking, Page, ScheduleName, SessionName, Slot, Status, Table } from "./parts.js";
import { Foreign } from "./text.js";
import { lateness, span, When } from "./time.js";
import * as Q from "./queries.js";

export function Over({ from, until }) {
  const answer = useAsk(Q.OVER, { from, until });
  const { engine, runs, lacking } = answer.data ?? {};
  const [begin, end] = [Date.parse(from), Date.parse(until)];
  // All of it is in that part of the timeline.
  const zoom = end - begin < 6e6 ? "1h" : end - begin < 4e7 ? "6h" : "24h";
  const isDown = engine?.downtimes.some((one) => one.from === from);
  const hold = engine?.pastHolds.find((one) => one.since === from);
  return html`<${Page} title=${isDown ? "The daemon was down" : hold ? "All was held" : "What it cost"} about="What it cost" answer=${answer}
      lead=${html`<${When} at=${from} /> – <${When} at=${until} /> <span class="soft">${span(end - begin)}</span>${hold && html`<${By} of=${hold.by} />${hold.reason && html`: <${Foreign} text=${hold.reason} />`}`}`}
      actions=${end >= begin && html`<${A} page="timeline" params=${{ at: new Date((begin + end) / 2).toISOString(), zoom }} class="button">Timeline<//>`}>
    ${answer.data && html`<${Made} runs=${runs.nodes.filter((run) => !(Date.parse(run.claimedAt) < end))} /><${Lacking} of=${lacking} />
    <${Skipped} decisions=${engine.decisionPage.nodes.filter(({ slots }) => Date.parse(slots.until) >= begin && Date.parse(slots.from ?? slots.until) < end)} />
    ${runs.totalCount > runs.nodes.length && html`<p class="soft">Only the first ${runs.nodes.length} of ${runs.totalCount} runs are looked at.</p>`}
    ${engine.decisionPage.totalCount > engine.decisionPage.nodes.length && html`<p class="soft">Only the first ${engine.decisionPage.nodes.length} of ${engine.decisionPage.totalCount} skips are looked at.</p>`}
    ${isDown && html`<${Lost} all=${engine.lostSchedules.filter((one) => Math.abs(Date.parse(one.lostAt) - end) < 60_000)} />`}`}<//>`;
}

/** The runs of slots that came meanwhile. What was claimed in time went on, and was not made up for. */
const Made = ({ runs }) => html`<section><h2>Made up for afterwards</h2><${Table} caption="Runs" columns=${["Slot", "Schedule", "Ran", "Late", "Outcome"]} empty="None." rows=${runs.map((run) => ({
  key: run.id, cells: [html`<${Slot} of=${run.schedule} at=${run.slot} /><${InPlace} of=${run} />`, html`<${ScheduleName} of=${run.schedule} />`,
    html`<${A} page="run" params=${{ schedule: run.schedule.scheduleId, id: run.id }}>${run.startedAt ? html`<${When} at=${run.startedAt} />` : "not yet"}<//>`,
    lateness(run), html`<${Status} of=${run.state} reason=${run.reason} error=${run.error} />`] }))} /></section>`;

/** What got no run. A slot that is part of another run has one. */
const Skipped = ({ decisions }) => html`<section><h2>Skipped</h2><${Table} caption="Skips" columns=${["Slot", "Schedule", "Why"]} empty="None." rows=${decisions.filter((one) => one.reason !== "COALESCED").map((one) => ({
  key: `${one.scheduleId} ${one.slots.until}`, cells: [html`<${Slot} of=${one.schedule} id=${one.scheduleId} at=${one.slots.until} />${one.slots.count > 1 && ` the last of ${one.slots.count}`}`,
    html`<${ScheduleName} of=${one.schedule} id=${one.scheduleId} />`, html`<${Status} of="SKIPPED" say=${one.reason} />`] }))} /></section>`;

/** The volatile schedules that were lost: what the last end lost is known, and no more. */
const Lost = ({ all }) => html`<section><h2>Lost</h2><${Table} caption="Schedules" columns=${["Schedule", "Session", "Next due"]} empty="None is known." rows=${all.map((one) => ({
  key: one.scheduleId, cells: [html`<${ScheduleName} of=${one} />`, html`<${SessionName} id=${one.sessionId} />`, html`<${When} at=${one.fireAt} />`] }))} /></section>`;
