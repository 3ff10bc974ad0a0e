// Approvals: what would be handed over, all of it, before somebody says yes.
import { html } from "./lib.js";
import { change, useAsk } from "./graph.js";
import { to } from "./route.js";
import { act, By, Changed, confirm, Do, Facts, Left, mayRule, Page, rowKeys, ScheduleName, SessionName } from "./parts.js";
import { Box, count, Foreign, visible, word } from "./text.js";
import { When } from "./time.js";
import { Line } from "./feed.js";
import * as Q from "./queries.js";

export function Approvals({ id = null }) {
  const answer = useAsk(Q.APPROVALS);
  const runs = answer.data?.engine.heldRuns ?? [];
  const questions = answer.data?.engine.openQuestions ?? [];
  const waiting = [questions.length && `${count(questions.length, "agent")} asking`, runs.length && `${count(runs.length, "run")} waiting, the one that expires first in front`];
  const find = (run) => runs.find((one) => one.id === run);
  const keys = { a: (run) => mayRule() && approve(find(run)), d: (run) => mayRule() && deny(find(run)) };
  return html`<${Page} title="Approvals" answer=${answer} lead=${answer.data && waiting.filter(Boolean).join("; ")}>
    ${answer.data && !runs.length && !questions.length && html`<p class="empty good">Nothing waits for approval.</p>`}
    <div class="held">${questions.map((asked) => html`<${Question} key=${asked.digest} asked=${asked} />`)}</div>
    <div class="held" onKeyDown=${(event) => rowKeys(event, keys)}>${runs.map((run) => html`<${One} key=${run.id} run=${run} first=${run.id === id} />`)}</div>
    ${answer.data && html`<${Decided} engine=${answer.data.engine} />`}<//>`;
}

/** What was decided last, and what nobody decided in time. */
function Decided({ engine: { decided, expired } }) {
  const all = [...decided.nodes, ...expired.nodes].sort((one, two) => Number(two.cursor) - Number(one.cursor)).slice(0, 10);
  return html`<section><h2>Decided last</h2>${all.length ? html`<ol class="log">${all.map((one) => html`<li key=${one.cursor}><${When} at=${one.at} /> <${Line} of=${one} /></li>`)}</ol>` : html`<p class="empty">None that is retained.</p>`}</section>`;
}

function approve(run) {
  const { approval } = run;
  confirm({
    title: "Approve this run?", yes: "Approve",
    body: html`<p>Into ${where(approval)}:</p><${Box} text=${approval.message} label="The message" />
      <p class="soft">Digest <code>${approval.digest.slice(0, 16)}…</code>: if anything of it changes before the daemon reads this, nothing is approved.</p>`,
    does: () => change(Q.APPROVE, { id: run.id, digest: approval.digest }), done: `Approved: ${visible(approval.label ?? run.id)}.`,
  });
}

const deny = (run) => confirm({
  title: "Deny this run?", yes: "Deny", bad: true, reason: "Why (the agent sees it)",
  body: html`<p><${Foreign} text=${run.approval.label ?? run.id} />: the run fails, and is not handed over.</p>`,
  does: (reason) => change(Q.DENY, { id: run.id, reason }), done: `Denied: ${visible(run.approval.label ?? run.id)}.`,
});

// What an agent asks permission for in a turn: all that it says of it, or the daemon has refused it already.
function Question({ asked }) {
  const answer = (yes) => act(
    () => change(yes ? Q.APPROVE : Q.DENY, { id: asked.runId, digest: asked.digest }), `${yes ? "Allowed" : "Denied"}: ${visible(asked.title)}.`,
  );
  return html`<article aria-label=${visible(asked.title)}>
    <header><h2><${Foreign} text=${asked.title} max=${1000} /></h2><${Left} until=${asked.until} warn=${60_000} /></header>
    <p class="soft"><${Foreign} text=${asked.address} /> asks in a turn of <${SessionName} id=${asked.sessionId} />. Kind: <${Foreign} text=${asked.kind} />.</p>
    ${asked.details && html`<${Box} text=${asked.details} label="What the tool is to do" />`}
    <div class="actions"><${Do} rules kind="main" does=${() => answer(true)}>Allow once<//><${Do} rules kind="bad" does=${() => answer(false)}>Deny<//></div></article>`;
}

// When somebody approved a run of this schedule, and what differs since.
const LastApproved = ({ of: { runId, at, by, changedAt, differences: all }, schedule }) => html`<p class="soft">Approved last for <a href=${to("run", { schedule: schedule.scheduleId, id: runId })}>an earlier run</a>, <${When} at=${at} /><${By} of=${by} />.
    ${all?.length === 0 && " Nothing differs from what was approved then."}
    ${!all && html` <strong class="warn">What was approved then is not retained, so it is not known what differs.</strong>`}
    ${changedAt && html` The schedule was changed, paused or resumed since: <${When} at=${changedAt} />.`}</p>
  ${all?.length > 0 && html`<section><h3>${count(all.length, "part")} ${all.length > 1 ? "differ" : "differs"} from what was approved then</h3>
    <${Facts} rows=${all.map((one) => [html`<${Foreign} text=${one.part} />`, html`<${Changed} was=${one.before} is=${one.now} />`])} /></section>`}`;

const where = (approval) => html`${word(approval.target)} ${approval.sessionId ? html`<${SessionName} id=${approval.sessionId} />` : html`<${Foreign} text=${approval.channel ?? ""} />`}`;

function One({ run, first }) {
  const of = run.approval;
  if (!of) return null;
  return html`<article data-row=${run.id} tabindex="0" aria-label=${visible(of.label ?? run.id)} ref=${(element) => first && element?.scrollIntoView({ block: "nearest" })}>
    <header><h2><${ScheduleName} of=${run.schedule} /></h2><${Left} until=${of.until} warn=${300_000} /></header>
    <p class="soft">Rule <strong><${Foreign} text=${of.rule} /></strong>${of.why && html`: <${Foreign} text=${of.why} />`}. Slot <${When} at=${run.slot} zone=${run.schedule?.zone} full />; expires <${When} at=${of.until} />.</p>
    ${run.lastApproved && html`<${LastApproved} of=${run.lastApproved} schedule=${run.schedule} />`}
    <${Box} text=${[of.message, of.memory].filter(Boolean).join("\n\n")} label="What would be handed over" />
    ${of.description && html`<p>What for: <${Foreign} text=${of.description} max=${1000} /></p>`}
    <${Facts} rows=${[
      ["goes to", where(of)], of.conversation && ["conversation", html`<${Foreign} text=${of.conversation} /> <${Foreign} text=${of.thread ?? ""} />`],
      ["kind", word(of.kind)], ["owner", html`<${SessionName} id=${of.owner} />`], ["made by", html`<${Foreign} text=${of.madeBy} />`],
      ["cause", word(of.cause)], ["the model sees it as", word(of.envelope)], ["made with", html`${word(of.dialect)}, ${word(of.durability)}${of.shared ? ", shared" : ""}`],
      of.notice && ["notice about", html`${word(of.notice.about)} <${Foreign} text=${of.notice.file?.path ?? ""} />`],
      ["if it fails", of.policy.backoffMs.length ? count(of.policy.backoffMs.length, "further attempt") : "no further attempt"],
      of.editedBy && ["changed by", html`<strong><${Foreign} text=${of.editedBy} /></strong>`], ["revision", of.revision],
      of.lineage && ["chain", html`${of.lineage.depth} deep, from <${ScheduleName} id=${of.lineage.rootScheduleId} />`],
      of.sessionConfig?.model && ["model", html`<${Foreign} text=${`${of.sessionConfig.model.provider}/${of.sessionConfig.model.id}`} />`],
      of.sessionConfig && ["tools, skills", `${of.sessionConfig.toolCount}, ${of.sessionConfig.skillCount}`], ["digest", html`<code class="wrap">${of.digest}</code>`]]} />
    ${of.config && html`<details><summary>Its whole configuration</summary><${Box} text=${JSON.stringify(of.config, null, 2)} label="Configuration" /></details>`}
    <div class="actions"><${Do} rules kind="main" does=${() => approve(run)}>Approve…<//><${Do} rules kind="bad" does=${() => deny(run)}>Deny…<//></div></article>`;
}
