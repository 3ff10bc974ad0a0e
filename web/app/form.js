// Making a schedule, and changing one. What the daemon understood is said in its own words, with the next slots.
import { html, useEffect, useState } from "./lib.js";
import { change, Refused, useAsk } from "./graph.js";
import { go, to } from "./route.js";
import { act, Changed, Facts, Page, Problem, say } from "./parts.js";
import { Foreign, visible, word } from "./text.js";
import { When } from "./time.js";
import { Preview } from "./whatif.js";
import * as Q from "./queries.js";

const EMPTY = { originSessionId: "", label: "", kind: "MESSAGE", message: "", when: "", zone: "", description: "", whenBusy: "", missed: "", maxRuns: "" };

export const Understood = ({ of, zone }) => of && html`<div class="understood"><p><strong><${Foreign} text=${of.words} /></strong> <span class="soft">clock: ${visible(of.zone)}</span></p>
  <ol class="slots">${of.next.slice(0, 5).map((at) => html`<li><${When} at=${at} zone=${zone ?? of.zone} /></li>`)}</ol>
  ${of.warnings?.map((text) => html`<p class="warn"><${Foreign} text=${text} max=${400} /></p>`)}</div>`;

export function Edit({ id = null, session = "" }) {
  return id ? html`<${Change} id=${id} />` : html`<${Create} session=${session} />`;
}

function Fields({ draft, set, sessions, isNew }) {
  const field = (name) => ({ value: draft[name], onInput: (event) => set({ ...draft, [name]: event.target.value }) });
  return html`<div class="fields wide">
    ${isNew && html`<label>Session<input ...${field("originSessionId")} list="sessions" required autocomplete="off" />
      <datalist id="sessions">${sessions.map((one) => html`<option value=${one.sessionId}>${visible(one.sessionName ?? "")}</option>`)}</datalist></label>
    <label>Delivers<select ...${field("kind")}><option value="MESSAGE">a message into the session</option><option value="SESSION">a message into a fresh session</option>
      <option value="NOTICE">a notice, which starts no turn</option></select></label>`}
    <label>Label<input ...${field("label")} maxlength="120" autocomplete="off" /></label>
    <label class="full">Message<textarea ...${field("message")} rows="4" required=${isNew}></textarea></label>
    <label>When<input ...${field("when")} required=${isNew} placeholder="weekdays at 8:30" autocomplete="off" aria-describedby="phrases" /></label>
    <label>Clock<input ...${field("zone")} placeholder="the session's, else the daemon's" autocomplete="off" /></label>
    <p id="phrases" class="soft full">For example: in 2 hours · tomorrow at 9 · every 15 minutes · weekdays at 8:30 · first monday of the month at 10:00</p>
    <details class="full"><summary>Policy and end</summary><div class="fields">
      <label>If the session is busy<select ...${field("whenBusy")}><option value="">${isNew ? "wait in line" : "as it is"}</option>${["QUEUE", "SKIP", "COALESCE"].map((one) => html`<option value=${one}>${word(one)}</option>`)}</select></label>
      <label>Missed slots<select ...${field("missed")}><option value="">${isNew ? "run once" : "as it is"}</option>${["RUN_ONCE", "ALL", "SKIP"].map((one) => html`<option value=${one}>${word(one)}</option>`)}</select></label>
      <label>Runs at most<input type="number" min="1" ...${field("maxRuns")} /></label></div></details></div>`;
}

/** The parts of a draft that were filled in, as the graph takes them. */
function given(draft, names) {
  const input = /** @type {any} */ ({});
  for (const name of names) if (draft[name] !== "") input[name] = draft[name];
  const policy = Object.fromEntries(["whenBusy", "missed"].filter((name) => draft[name]).map((name) => [name, draft[name]]));
  if (Object.keys(policy).length) input.policy = policy;
  if (draft.maxRuns) input.lifetime = { maxRuns: Number(draft.maxRuns) };
  return input;
}

function Create({ session }) {
  const { data } = useAsk(Q.SESSION_IDS, {}, { still: true });
  const sessions = data?.sessions.nodes ?? [];
  const [draft, set] = useState({ ...EMPTY, originSessionId: session });
  const [made, setMade] = useState(/** @type {any} */ (null));
  const [error, setError] = useState(/** @type {any} */ (null));
  useEffect(() => { if (!draft.originSessionId && sessions.length === 1) set({ ...draft, originSessionId: sessions[0].sessionId }); }, [data]);
  const submit = async (event) => {
    event.preventDefault();
    setError(null);
    try {
      const answer = await change(Q.CREATE, { input: given(draft, ["originSessionId", "label", "kind", "message", "when", "zone"]) });
      setMade(answer.createSchedule);
      say("The schedule is made.");
    } catch (refused) { setError(refused); }
  };
  const undo = () => act(() => change(Q.CANCEL, { id: made.schedule.scheduleId }), "Taken back: it is cancelled.").then((done) => done && setMade(null));
  if (made) {
    return html`<${Page} title="This is what was understood" about="New schedule"><section><${Understood} of=${made.understood} />
      <div class="actions"><button onClick=${undo}>Take it back, and write it anew</button><a class="button main" href=${to("schedule", { id: made.schedule.scheduleId })}>That is right</a></div></section><//>`;
  }
  return html`<${Page} title="New schedule"><form onSubmit=${submit}><${Fields} draft=${draft} set=${set} sessions=${sessions} isNew />
    <${Problem} error=${error} /><div class="actions"><a class="button" href=${to("schedules")}>Leave it</a><button class="main">Make it</button></div></form><//>`;
}

function Change({ id }) {
  const answer = useAsk(Q.SCHEDULE, { id }, { still: true });
  const before = answer.data?.schedule;
  const [draft, set] = useState(EMPTY);
  const [error, setError] = useState(/** @type {Refused | null} */ (null));
  const [revision, setRevision] = useState(0);
  useEffect(() => {
    if (!before || revision) return;
    setRevision(before.revision);
    set({ ...EMPTY, label: before.label ?? "", message: before.message, when: before.when, zone: before.zone ?? "" });
  }, [before]);
  const changed = before ? [["label", before.label ?? ""], ["message", before.message], ["when", before.when], ["zone", before.zone ?? ""]].filter(([name, was]) => draft[name] !== was) : [];
  const isRetimed = changed.some(([name]) => name === "when" || name === "zone");
  const submit = async (event) => {
    event.preventDefault();
    setError(null);
    const names = changed.map(([name]) => name);
    // A clock alone changes nothing: the time is said again on it.
    if (names.includes("zone") && !names.includes("when")) names.push("when");
    try {
      await change(Q.RESCHEDULE, { input: { ...given(draft, names), scheduleId: id, baseRevision: revision } });
      say("The change is saved.");
      go("schedule", { id });
    } catch (refused) {
      setError(/** @type {Refused} */ (refused));
      answer.again();
    }
  };
  return html`<${Page} title=${before ? html`Change <${Foreign} text=${before.label ?? id} max=${80} />` : "Change"} about="Change" answer=${answer}>
    ${before && html`<form onSubmit=${submit}><${Fields} draft=${draft} set=${set} sessions=${[]} isNew=${false} />
      ${error && error.code === "CONFLICT" && before.revision !== revision ? html`<section class="problem" role="alert"><h2>Somebody changed it meanwhile</h2>
        <p>You began with revision ${revision}; it is revision ${before.revision} now, by <${Foreign} text=${before.editedBy ?? before.madeBy} />.</p>
        <${Facts} rows=${["label", "message", "when", "zone"].filter((name) => draft[name] !== (before[name] ?? "")).map((name) => [name, html`<${Changed} was=${before[name]} is=${draft[name]} />`])} />
        <button type="button" onClick=${() => { setRevision(before.revision); setError(null); }}>I have seen it; mine shall replace it</button></section>` : html`<${Problem} error=${error} />`}
      <h2>What changes</h2>${changed.length ? html`<${Facts} rows=${changed.map(([name, was]) => [name, html`<${Changed} was=${was || null} is=${draft[name]} />`])} />`
      : html`<p class="soft">Nothing yet.</p>`}
      ${isRetimed && draft.when && html`<${Preview} id=${id} when=${draft.when} zone=${draft.zone} />`}
      <div class="actions"><a class="button" href=${to("schedule", { id })}>Leave it</a><button class="main" disabled=${!changed.length && !draft.whenBusy && !draft.missed && !draft.maxRuns}>Save</button></div></form>`}<//>`;
}
