// Making a schedule, and changing one. What the daemon understood is said in its own words, with the next slots.
import { html, signal, useEffect, useState } from "./lib.js";
import { change, login, Refused, useAsk } from "./graph.js";
import { go, to } from "./route.js";
import { act, Changed, Do, Facts, mayChange, Page, Problem, say } from "./parts.js";
import { Foreign, visible, word } from "./text.js";
import { When } from "./time.js";
import { Preview } from "./whatif.js";
import * as Q from "./queries.js";

const EMPTY = { originSessionId: "", label: "", kind: "MESSAGE", message: "", when: "", zone: "", description: "", whenBusy: "", missed: "", maxRuns: "" };

export const Understood = ({ of, zone }) => of && html`<div class="understood"><p><strong><${Foreign} text=${of.words} /></strong> <span class="soft">clock: ${visible(of.zone)}</span></p>
  <ol class="slots">${of.next.slice(0, 5).map((at) => html`<li><${When} at=${at} zone=${zone ?? of.zone} full /></li>`)}</ol>
  ${of.warnings?.map((text) => html`<p class="warn"><${Foreign} text=${text} max=${400} /></p>`)}</div>`;

export function Edit({ id = null, session = "" }) {
  return id ? html`<${Change} id=${id} />` : html`<${Create} session=${session} />`;
}

function Fields({ draft, set, sessions = [], was = /** @type {any} */ (null) }) {
  const isNew = !was;
  const field = (name) => ({ value: draft[name], onInput: (event) => set({ ...draft, [name]: event.target.value }) });
  return html`<div class="fields wide">
    ${isNew && html`<label>Session<input ...${field("originSessionId")} list="sessions" required autocomplete="off" />
      <datalist id="sessions">${sessions.map((one) => html`<option value=${one.sessionId}>${visible(one.sessionName ?? "")}</option>`)}</datalist></label>
    <label>Delivers<select ...${field("kind")}><option value="MESSAGE">a message into the session</option><option value="SESSION">a message into a fresh session</option>
      <option value="NOTICE">a notice, which starts no turn</option></select></label>`}
    <label>Label<input ...${field("label")} maxlength="120" autocomplete="off" /></label>
    <label class="full">Message<textarea ...${field("message")} rows="4" required=${isNew || was.message}></textarea></label>
    <label>When<input ...${field("when")} required placeholder="weekdays at 8:30" autocomplete="off" aria-describedby="phrases" /></label>
    <label>Clock<input ...${field("zone")} required=${was?.zone} placeholder="the session's, else the daemon's" autocomplete="off" /></label>
    <p id="phrases" class="soft full">For example: in 2 hours · tomorrow at 9 · every 15 minutes · weekdays at 8:30 · first monday of the month at 10:00</p>
    <details class="full"><summary>Policy and end</summary><div class="fields">
      <label>If the session is busy<select ...${field("whenBusy")}>${isNew && html`<option value="">wait in line</option>`}${["QUEUE", "SKIP", "COALESCE"].map((one) => html`<option value=${one}>${word(one)}</option>`)}</select></label>
      <label>Missed slots<select ...${field("missed")}>${isNew && html`<option value="">run once</option>`}${["RUN_ONCE", "ALL", "SKIP"].map((one) => html`<option value=${one}>${word(one)}</option>`)}</select></label>
      <label>Runs at most<input type="number" min="1" ...${field("maxRuns")} /></label></div></details></div>`;
}

/** Parts of a draft, as the graph takes them: what is empty is removed. Policy and lifetime are given whole, or the rest is lost. */
function given(draft, names, { policy, lifetime } = /** @type {any} */ ({})) {
  const input = /** @type {any} */ ({});
  for (const name of names) {
    if (name === "maxRuns") input.lifetime = { ...lifetime, maxRuns: Number(draft.maxRuns) || null };
    else if (POLICY.includes(name)) input.policy = { ...policy, ...input.policy, [name]: draft[name] };
    else input[name] = draft[name] || null;
  }
  return input;
}
const POLICY = ["whenBusy", "missed"];

/** What is typed for a new schedule: a login that ends does not take it along. */
const kept = signal(EMPTY);

function Create({ session }) {
  const { data } = useAsk(Q.SESSION_IDS, {}, { still: true });
  const sessions = data?.sessions.nodes ?? [];
  const draft = kept.value;
  const set = (to) => { kept.value = to; };
  useEffect(() => {
    if (session) set({ ...kept.peek(), originSessionId: session });
    return () => { if (login.peek()) set(EMPTY); };
  }, []);
  const [made, setMade] = useState(/** @type {any} */ (null));
  const [error, setError] = useState(/** @type {any} */ (null));
  useEffect(() => { if (!draft.originSessionId && sessions.length === 1) set({ ...draft, originSessionId: sessions[0].sessionId }); }, [data]);
  const submit = async (event) => {
    event.preventDefault();
    setError(null);
    try {
      const answer = await change(Q.CREATE, { input: given(draft, Object.keys(draft).filter((name) => draft[name])) });
      setMade(answer.createSchedule);
      say("The schedule is made.");
    } catch (refused) { setError(refused); }
  };
  const undo = () => act(() => change(Q.CANCEL, { id: made.schedule.scheduleId }), "Taken back: it is cancelled.").then((done) => done && setMade(null));
  if (made) {
    return html`<${Page} title="This is what was understood" about="New schedule"><section><${Understood} of=${made.understood} />
      <div class="actions"><button onClick=${undo}>Take it back, and write it anew</button><a class="button main" href=${to("schedule", { id: made.schedule.scheduleId })}>That is right</a></div></section><//>`;
  }
  return html`<${Page} title="New schedule"><form onSubmit=${submit}><${Fields} draft=${draft} set=${set} sessions=${sessions} />
    <${Problem} error=${error} /><div class="actions"><a class="button" href=${to("schedules")}>Leave it</a><${Do} kind="main">Make it<//></div></form><//>`;
}

const NAMES = { zone: "clock", whenBusy: "if the session is busy", missed: "missed slots", maxRuns: "runs at most" };
const draftOf = ({ label, message, when, zone, policy, lifetime }) => ({
  label: label ?? "", message, when, zone: zone ?? "",
  whenBusy: policy.whenBusy, missed: policy.missed, maxRuns: String(lifetime.maxRuns ?? ""),
});

function Change({ id }) {
  const answer = useAsk(Q.SCHEDULE, { id }, { still: true });
  const before = answer.data?.schedule;
  const [draft, set] = useState(EMPTY);
  const [error, setError] = useState(/** @type {Refused | null} */ (null));
  const [revision, setRevision] = useState(0);
  useEffect(() => {
    if (!before || revision) return;
    setRevision(before.revision);
    set({ ...EMPTY, ...draftOf(before) });
  }, [before]);
  const was = before && draftOf(before);
  const changed = before ? Object.keys(was).filter((name) => draft[name] !== was[name]).map((name) => [name, was[name]]) : [];
  const changes = changed.map(([name, old]) => {
    const as = POLICY.includes(name) ? word : (value) => value || null;
    return [NAMES[name] ?? name, html`<${Changed} was=${as(old)} is=${as(draft[name])} />`];
  });
  const isRetimed = changed.some(([name]) => name === "when" || name === "zone");
  const submit = async (event) => {
    event.preventDefault();
    setError(null);
    const names = changed.map(([name]) => name);
    // A clock alone changes nothing: the time is said again on it.
    if (names.includes("zone") && !names.includes("when")) names.push("when");
    try {
      await change(Q.RESCHEDULE, { input: { ...given(draft, names, before), scheduleId: id, baseRevision: revision } });
      say("The change is saved.");
      go("schedule", { id });
    } catch (refused) {
      setError(/** @type {Refused} */ (refused));
      answer.again();
    }
  };
  return html`<${Page} title=${before ? html`Change <${Foreign} text=${before.label ?? id} max=${80} />` : "Change"} about="Change" answer=${answer}>
    ${before && html`<form onSubmit=${submit}><${Fields} draft=${draft} set=${set} was=${was} />
      ${error && error.code === "CONFLICT" && before.revision !== revision ? html`<section class="problem" role="alert"><h2>Somebody changed it meanwhile</h2>
        <p>You began with revision ${revision}; it is revision ${before.revision} now, by <${Foreign} text=${before.editedBy ?? before.madeBy} />.</p>
        <${Facts} rows=${changes} />
        <button type="button" onClick=${() => { setRevision(before.revision); setError(null); }}>I have seen it; mine shall replace it</button></section>` : html`<${Problem} error=${error} />`}
      <h2>What changes</h2>${changed.length ? html`<${Facts} rows=${changes} />`
      : html`<p class="soft">Nothing yet.</p>`}
      ${isRetimed && draft.when && html`<${Preview} id=${id} when=${draft.when} zone=${draft.zone} />`}
      <div class="actions"><a class="button" href=${to("schedule", { id })}>Leave it</a><button class="main" disabled=${!changed.length || !mayChange()}>Save</button></div></form>`}<//>`;
}
