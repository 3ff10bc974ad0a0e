// The frame around the pages: who looks, where to go, what holds everything, and the keys that work everywhere.
import { html, render, signal, useEffect, useLayoutEffect, useState } from "./lib.js";
import { asOf, begin, change, leave, live, login, paste, useAsk, why } from "./graph.js";
import { route, go, refine, to } from "./route.js";
import { Foreign, visible, word } from "./text.js";
import { now, tell, When } from "./time.js";
import { By, confirm, Dialog, Do, Facts, mayChange, mayRule, Note, onto, Problem, Shapes } from "./parts.js";
import * as Q from "./queries.js";
import { watchFeed } from "./feed.js";
import { Now } from "./now.js";
import { Timeline } from "./timeline.js";
import { Schedules } from "./schedules.js";
import { Schedule } from "./schedule.js";
import { Edit } from "./form.js";
import { Explain, Run } from "./explain.js";
import { Over } from "./over.js";
import { Approvals } from "./approvals.js";
import { Lanes } from "./lanes.js";
import { WhatIf } from "./whatif.js";
import { Past, Doctor, Attributes } from "./engine.js";

const PAGES = [
  ["now", "Now", "n", Now], ["timeline", "Timeline", "t", Timeline], ["schedules", "Schedules", "s", Schedules],
  ["approvals", "Approvals", "a", Approvals], ["lanes", "Lanes", "l", Lanes], ["whatif", "What if", "w", WhatIf],
  ["past", "Past", "p", Past], ["doctor", "Doctor", "d", Doctor], ["attributes", "Attributes", "", Attributes],
];
const INNER = { schedule: Schedule, explain: Explain, run: Run, over: Over, edit: Edit, new: Edit };
const OF = { schedule: "schedules", explain: "schedules", run: "schedules", over: "now", edit: "schedules", new: "schedules" };

const again = signal(0);

const hold = () => confirm({
  title: "Hold everything?", bad: true, yes: "Hold all", reason: "Why (everybody sees it)",
  body: html`<p>No slot gets a run, and no run is handed over, until the hold is released. Runs that are with a host go on.</p>`,
  does: (reason) => change(Q.HOLD, { reason }), done: "Everything is held.",
});
const release = (held) => confirm({
  title: "Release the hold?", yes: "Release",
  body: html`<p>Slots that passed meanwhile are handled as missed, by the policy of each schedule. Schedules that are paused stay
    paused.</p><p class="soft">Held by ${visible(held.by)}.</p>`,
  does: () => change(Q.RELEASE), done: "The hold is released.",
});

function Held({ held }) {
  if (!held) return null;
  return html`<section class="banner" aria-label="Hold"><p><strong>Everything is held</strong>
      ${held.reason && html` · <${Foreign} text=${held.reason} />`} <span class="soft"><${By} of=${held.by} />, since
      <${When} at=${held.since} full /></span></p>
    <${Do} rules kind="main" does=${() => release(held)}>Release…<//></section>`;
}

function Frame() {
  const { page } = route.value;
  const { data, error } = useAsk(Q.SHELL);
  const engine = data?.engine;
  useEffect(() => { if (engine && !asOf.value) tell(engine.now); }, [engine]);
  useEffect(watchFeed, []);
  // Where it is narrow, the tab of this page may be out of sight.
  useLayoutEffect(() => {
    document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [page]);
  const Shown = PAGES.find(([name]) => name === page)?.[3] ?? INNER[page] ?? Lost;
  const state = asOf.value ? "past" : error ? "lost" : live.value;
  const words = { live: "live", lost: "no connection", connecting: "connecting", past: "past" }[state];
  return html`<a class="skip" href="#main" onClick=${(event) => { event.preventDefault(); document.getElementById("main")?.focus(); }}>
      Skip to the page</a>
    <header><a class="brand" href=${to("now")}>Reveille</a>
      <span class=${`state ${state}`}><i aria-hidden="true"></i>${words}</span>
      ${engine && engine.mode !== "RUNNING" && html`<strong class="bad">${word(engine.mode)}</strong>`}
      <span class="grow"></span>
      ${login.value?.readOnly && html`<span class="tag">read only</span>`}
      ${!engine?.held && html`<${Do} rules does=${hold} title="Hold all schedules">Hold all…<//>`}
      ${mayChange() && html`<a class="button main" href=${to("new")} onClick=${() => { again.value += 1; }}>New schedule</a>`}
      <button class="quiet" onClick=${help} aria-label="Keys">?</button>
      <button class="quiet" onClick=${leave}>Log out</button></header>
    <nav aria-label="Pages"><ul>${PAGES.map(([name, title]) => html`<li><a href=${to(name)}
      aria-current=${(OF[page] ?? page) === name ? "page" : null}>${title}</a></li>`)}</ul></nav>
    <main id="main" tabindex="-1">
      ${asOf.value && html`<section class="banner past" aria-label="Past"><p>This is how it was at <strong><${When} at=${asOf.value} base=${now.value} full /></strong>.
        Nothing can be changed there.<${WasDown} /></p><button onClick=${() => refine({ asof: null })}>Back to now</button></section>`}
      <${Held} held=${engine?.held} />
      <${Shown} key=${`${page} ${route.value.params.id ?? ""} ${route.value.params.session ?? again.value}`} ...${route.value.params} engine=${engine} /></main>
    <${Note} /><${Dialog} />`;
}

/** Says so, if nothing ran at the instant that the pages show. */
function WasDown() {
  const { data } = useAsk(Q.PRESENT_DOWNS, {}, { still: true });
  const at = Date.parse(asOf.value ?? "");
  const down = data?.engine.downtimes.find((one) => Date.parse(one.from) <= at && at < Date.parse(one.until));
  return down ? html` <strong class="bad">The daemon was down then</strong>, from <${When} at=${down.from} /> until <${When} at=${down.until} />.` : null;
}

const Lost = () => html`<div class="head"><h1>No such page</h1></div><p><a href=${to("now")}>Now</a></p>`;

const KEYS = [["/", "Search"], ["?", "This list"], ["H", "Hold all, after a question"]];
const ROW_KEYS = [
  ["j k", "Next, previous; arrows too"], ["Enter", "Open"], ["e", "Explain"], ["p", "Pause or resume"], ["r", "Run now"],
  ["c", "Cancel"], ["x", "Select"], ["a d", "Approve, deny"],
];
const Strokes = ({ of }) => html`<${Facts} rows=${of.map(([keys, does]) => [keys.split(" ").map((key) => html`<kbd>${key}</kbd> `), does])} />`;
const help = () => confirm({
  title: "Keys", yes: "Close",
  body: html`<${Strokes} of=${[...PAGES.filter(([, , key]) => key).map(([, title, key]) => [`g ${key}`, title]), ...KEYS]} />
    <h2>On a row that has the focus</h2><${Strokes} of=${ROW_KEYS} />
    <label class="check"><input type="checkbox" checked=${!keysOff()} onChange=${(event) => localStorage.setItem("reveille-keys", event.target.checked ? "on" : "off")} />
      Single keys work</label>`,
});
const keysOff = () => localStorage.getItem("reveille-keys") === "off";

let after = "";
addEventListener("keydown", (event) => {
  const target = /** @type {HTMLElement} */ (event.target);
  if (event.ctrlKey || event.metaKey || event.altKey || /INPUT|TEXTAREA|SELECT/.test(target.tagName) || document.querySelector("dialog[open]")) return;
  if (!login.value || keysOff()) return;
  const [key, before] = [event.key, after];
  after = "";
  if (before === "g") {
    const page = PAGES.find(([, , letter]) => letter && letter === key);
    if (page) go(page[0]);
  } else if (key === "g") after = "g";
  else if (key === "?") help();
  else if (key === "H" && mayRule()) hold();
  else if (key === "/") {
    const search = /** @type {HTMLElement | null} */ (document.querySelector("input[type=search]"));
    if (search) search.focus();
    else {
      onto.first = "input[type=search]";
      go("schedules");
    }
    event.preventDefault();
  }
});

function Enter() {
  const [error, setError] = useState(/** @type {any} */ (null));
  const submit = async (event) => {
    event.preventDefault();
    const token = new FormData(event.target).get("token")?.toString().trim();
    try { if (token) await paste(token); } catch (refused) {
      login.value = false;
      why.value = "";
      setError(refused);
    }
  };
  return html`<main id="main" class="enter"><h1>Reveille</h1>
    ${why.value && html`<p class="problem" role="alert">${why.value}</p>`}
    <p>Open the dashboard from a terminal on the machine of the daemon:</p>
    <pre class="box">reveille dashboard</pre>
    <p class="soft">It prints an address that works once. With <code>--read-only</code> the page changes nothing.</p>
    <details><summary>Or paste a token</summary><form onSubmit=${submit}>
      <label>Token of an operator, an observer or a session<input name="token" type="password" autocomplete="off" spellcheck="false" required /></label>
      <p class="soft">It stays until this tab is closed.</p>
      <${Problem} error=${error} />
      <div class="actions"><button class="main">Look</button></div></form></details></main>`;
}

function App() {
  if (login.value === null) return html`<p class="empty">Asking…</p>`;
  return html`<${Shapes} />${login.value ? html`<${Frame} />` : html`<${Enter} />`}`;
}

begin().then(() => render(html`<${App} />`, document.body));
