// Why a slot fired, did not, or will: in a sentence, and step by step. And one run, from its slot to its end.
import { html } from "./lib.js";
import { useAsk } from "./graph.js";
import { refine, to } from "./route.js";
import { A, By, Facts, Page, ScheduleName, SessionName, Slots, Status, Stretch, TurnOf } from "./parts.js";
import { Box, Foreign, rhythm, word } from "./text.js";
import { At, lateness, Sentence, span, When } from "./time.js";
import * as Q from "./queries.js";

export function Explain({ id, at = null }) {
  const answer = useAsk(Q.EXPLAIN, { id, at });
  const { explain: of, schedule } = answer.data ?? {};
  const zone = schedule?.zone;
  const neighbours = [...(schedule?.runs ?? []).map((run) => run.slot), schedule?.lastSkip?.at, ...(schedule?.upcoming ?? [])].filter(Boolean);
  const here = of && Date.parse(of.slot ?? of.asked);
  const before = neighbours.filter((one) => Date.parse(one) < here).sort().pop();
  const after = neighbours.filter((one) => Date.parse(one) > here).sort()[0];
  const busy = of?.obstacles.find((one) => one.reason === "SESSION_BUSY");
  return html`<${Page} title="Explain" about="Explain" answer=${answer} lead=${of && html`<${ScheduleName} of=${schedule} id=${id} /> <span class="soft"><${Foreign} text=${rhythm(schedule?.when ?? "")} /></span>`}
      actions=${html`<label class="inline">at <${At} ms=${here} take=${(at) => refine({ at })} /></label>
        ${before && html`<a class="button" href=${to("explain", { id, at: before })}>← earlier slot</a>`}${after && html`<a class="button" href=${to("explain", { id, at: after })}>later slot →</a>`}`}>
    ${of && html`<p class="sentence big"><${Status} of=${of.verdict} say="" /> <${Sentence} text=${of.sentence} zone=${zone} /></p>
      <div class="columns"><section><h2>Step by step</h2><ol class="steps">
        ${of.slot && html`<li><b>Slot</b> <${When} at=${of.slot} zone=${zone} full /></li>`}
        ${of.down && html`<li class="bad"><b>The daemon was down</b> <${Stretch} from=${of.down.from} until=${of.down.until} /></li>`}
        ${of.obstacles.map((one) => html`<li class="warn"><b>${word(one.reason)}</b> <${When} at=${one.at} zone=${zone} full />
          ${one.detail && html`<br /><span class="soft"><${Sentence} text=${one.detail} zone=${zone} /></span>`}</li>`)}
        ${of.runId && html`<${Beside} run=${of.runId} session=${schedule?.runs.find((run) => run.id === of.runId)?.sessionId} at=${busy?.at} />`}
        <li><b>${word(of.verdict)}</b>${of.reason && html` · ${word(of.reason)}`} ${of.at && html`<${When} at=${of.at} zone=${zone} full />`}</li></ol></section>
      <section><h2>In figures</h2><${Facts} rows=${[
      ["verdict", html`<${Status} of=${of.verdict} />`], of.reason && ["reason", word(of.reason)], of.by && ["by", html`<${Foreign} text=${of.by} />`],
      of.lateMs !== null && of.verdict !== "FAILED" && ["late", span(Number(of.lateMs))], of.slots > 1 && ["slots in one run", of.slots],
      of.runId && ["run", html`<${A} page="run" params=${{ schedule: id, id: of.runId }}><code><${Foreign} text=${of.runId} /></code><//>`],
      ["asked about", html`<${When} at=${of.asked} zone=${zone} full />`], of.nextFireAt && ["next", html`<a href=${to("explain", { id, at: of.nextFireAt })}><${When} at=${of.nextFireAt} zone=${zone} full /></a>`]]} />
        <p><a href=${to("timeline", { at: of.slot ?? of.asked, zoom: "1h" })}>See it on the timeline</a></p></section></div>`}<//>`;
}

/** Who approved a run or denied it, and of which run the turn was that it waited for. */
function Beside({ run, session, at }) {
  const { data } = useAsk(Q.BESIDE, { run, session: session ?? "", at: at ?? null });
  if (!data) return null;
  const since = (one) => Date.parse(one.deliveredAt ?? one.startedAt);
  const turn = data.runs.nodes.filter((one) => since(one) <= Date.parse(at)).sort((one, two) => since(two) - since(one))[0];
  return html`${turn && html`<li class="soft">the last prompt before: <${TurnOf} run=${turn} /></li>`}
    ${data.engine.decisionPage.nodes.map((one) => html`<li><${Decided} of=${one} /></li>`)}`;
}
const Decided = ({ of }) => html`<b>${of.kind === "RUN_APPROVED" ? "approved" : "denied"}</b><${By} of=${of.by} /> <${When} at=${of.at} />`;

/** The attempts to hand a run over: when, to whom, and what each came to. */
const Attempts = ({ of, zone }) => html`<ol class="steps">${of.map((one) => html`<li key=${one.number}>
  <b>${one.number}</b> <${Status} of=${one.state} reason=${one.error?.reason} />
  ${one.startedAt && html` <${When} at=${one.startedAt} zone=${zone} full />`} <span class="soft"><${Foreign} text=${one.channel ?? one.host ?? ""} /></span>
  ${one.error && html`<br /><span class="soft"><${Foreign} text=${one.error.message} />${one.code !== null && `, code ${one.code}`}</span>`}
  ${one.nextAt && html`<br /><span class="soft">next attempt</span> <${When} at=${one.nextAt} zone=${zone} full />`}</li>`)}</ol>`;

export function Run({ schedule: scheduleId, id }) {
  const answer = useAsk(Q.RUN, { schedule: scheduleId, run: id });
  const schedule = answer.data?.schedule;
  const run = schedule?.runs.find((one) => one.id === id);
  const log = answer.data?.engine.decisionPage.nodes ?? [];
  if (answer.data && !run && !log.length) {
    return html`<${Page} title="No such run"><p>Its record is dropped, or it is not yours to see. <a href=${to("schedule", { id: scheduleId })}>The schedule</a></p><//>`;
  }
  const zone = schedule?.zone;
  const steps = run ? [["slot", run.slot], ["claimed", run.claimedAt], ["handed over", run.startedAt], ["delivered", run.deliveredAt], ["ended", run.finishedAt]].filter(([, at]) => at) : [];
  return html`<${Page} title="Run" answer=${answer} lead=${run && html`<${Status} of=${run.state} reason=${run.reason} error=${run.error} /> of <${ScheduleName} of=${schedule} id=${scheduleId} />${log.filter((one) => /APPROVED|DENIED/.test(one.kind)).map((one) => html`; <${Decided} of=${one} />`)}`}
      actions=${run && html`<a class="button" href=${to("explain", { id: scheduleId, at: run.slot })}>Explain</a>`}>
    <div class="columns"><div>${run && html`<section><h2>From its slot to its end</h2><ol class="steps">${steps.map(([name, at], place) => html`<li><b>${name}</b> <${When} at=${at} zone=${zone} full />
        ${place > 0 && html`<span class="soft"> + ${span(Date.parse(at) - Date.parse(steps[place - 1][1]))}</span>`}</li>`)}
        ${run.retryAt && html`<li class="warn"><b>next attempt</b> <${When} at=${run.retryAt} zone=${zone} full /></li>`}
        ${!run.finishedAt && html`<li class="soft">not ended yet${run.reason ? `: ${word(run.reason)}` : ""}</li>`}</ol></section>
      ${run.attempts.length > 1 && html`<section><h2>Attempts</h2><${Attempts} of=${run.attempts} zone=${zone} /></section>`}
      ${run.error && html`<section><h2>Error</h2><${Box} text=${run.error.message} label="The error" /><${Facts} rows=${[["reason", word(run.error.reason)], ["phase", word(run.error.phase)],
      ["fresh session", run.error.sessionExists ? "exists" : "does not exist"]]} /></section>`}
      <section><h2>${run.message ? "What was delivered" : "What was to be delivered"}</h2><${Box} text=${run.message?.text ?? (run.approval ?? schedule).message} label="The text" />
        ${!run.message && html`<p class="soft">No message of this run is recorded. This is the text of revision ${(run.approval ?? schedule).revision}${run.approval ? "" : ", the schedule's present one"}.</p>`}
        ${run.message && html`<p class="soft">Message <code><${Foreign} text=${run.message.id} /></code> in the transcript${run.message.taken === false ? ", not taken yet" : ""}.</p>`}</section>`}
      <section><h2>Decisions</h2><ol class="steps">${log.map((one) => html`<li key=${one.cursor}><b>${word(one.kind)}</b><${By} of=${one.by} />${one.reason && html` · ${word(one.reason)}`} <${When} at=${one.at} />
        ${one.detail && html`<br /><span class="soft"><${Sentence} text=${one.detail} zone=${zone} /></span>`}</li>`)}</ol>${!log.length && html`<p class="empty">None is retained.</p>`}</section></div>
    ${run && html`<section><h2>In figures</h2><${Facts} rows=${[
      ["id", html`<code><${Foreign} text=${run.id} /></code>`], ["cause", word(run.cause)], ["attempt", run.attempt], run.phase && ["phase", word(run.phase)],
      run.folded > 0 && ["stands for", html`<${Slots} of=${{ ...run, schedule }} />`], lateness(run) && ["late", lateness(run)],
      ["host", html`<${Foreign} text=${run.host ?? "–"} />`], ["session", html`<${SessionName} id=${run.sessionId} />`],
      run.approvalDigest && ["digest", html`<code>${run.approvalDigest.slice(0, 16)}…</code>`]]} /></section>`}</div><//>`;
}
