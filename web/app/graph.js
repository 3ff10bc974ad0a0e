// The graph: the one source of all that the pages show, and the one place that they change it through.
import { effect, signal, useEffect, useRef, useState } from "./lib.js";

/** Who looks: `null` until it is known, `false` if nobody may. `key` is half of a login; the cookie is the other. */
export const login = signal(/** @type {any} */ (null));
/** Why nobody is logged in, if there is more to say than that. */
export const why = signal("");
/** The past instant that the pages show, if any. */
export const asOf = signal(/** @type {string | null} */ (null));
/** How the live feed is: `connecting`, `live`, `lost`, `off`. */
export const live = signal("connecting");
/** Counts on, at most once in a second, when something has happened. */
export const pulse = signal(0);

const KEY = "reveille-key";
const PAGE = "reveille-page";
const at = (path) => new URL(path, document.baseURI).href;

function headers() {
  const all = /** @type {Record<string, string>} */ ({ "content-type": "application/json", accept: "application/json" });
  const who = login.peek();
  if (who?.token) all.authorization = `Bearer ${who.token}`;
  else if (who?.key) all["reveille-csrf"] = who.key;
  return all;
}

/** An error of the graph: its words, its code, and its hint. */
export class Refused extends Error {
  constructor(/** @type {any} */ error, /** @type {number} */ status = 200) {
    super(error?.message ?? `the daemon answered ${status}`);
    this.code = error?.extensions?.code ?? error?.code ?? String(status);
    this.hint = error?.extensions?.data?.hint ?? error?.hint ?? "";
    this.data = error?.extensions?.data ?? {};
  }
}

/** Asks the graph. Reads are as of the instant that the pages show, but for those named "Present…"; changes are of the present. */
export async function ask(/** @type {string} */ document, variables = {}, /** @type {AbortSignal | undefined} */ signal = undefined) {
  const isChange = document.startsWith("mutation");
  const request = /** @type {any} */ ({ query: mine(document), variables });
  if (!isChange && asOf.peek() && !document.startsWith("query Present")) request.extensions = { asOf: asOf.peek() };
  let response;
  try {
    response = await fetch(at("graphql"), { method: "POST", headers: headers(), body: JSON.stringify(request), signal });
  } catch (error) {
    if (/** @type {any} */ (error).name === "AbortError") throw error;
    throw new Refused({ message: "the daemon does not answer", extensions: { hint: "the page asks again by itself" } });
  }
  if (response.status === 401) {
    end();
    throw new Refused({ message: "the login has ended", extensions: { code: "UNAUTHORIZED" } });
  }
  const answer = await response.json().catch(() => ({ errors: [{ message: `the daemon answered ${response.status}` }] }));
  if (answer.errors?.length && (!answer.data || isChange)) throw new Refused(answer.errors[0], response.status);
  if (!answer.data) throw new Refused(answer.error, response.status);
  return answer.data;
}

/** Makes a change, and has the pages look again. */
export async function change(document, variables = {}) {
  const data = await ask(document, variables);
  pulse.value += 1;
  return data;
}

/** A question as who looks may ask it: lines that are for operators are left out for a session. */
const mine = (document) => (login.peek()?.session ? document.replace(/.*# for operators$/gm, "") : document);

/** The login has ended, and was not left: the next one opens the page that was open. */
function end() {
  forget();
  localStorage.setItem(PAGE, location.hash);
  why.value = "The login has ended. A new one opens the same page.";
}

function forget() {
  localStorage.removeItem(KEY);
  sessionStorage.removeItem(KEY);
  why.value = "";
  login.value = false;
}

/** Finds out who looks: by the code in the address, by a login before, by a token of this tab. */
export async function begin() {
  const code = location.pathname.endsWith("/enter") ? location.hash.slice(1) : "";
  if (code) {
    history.replaceState(null, "", at("./") + (localStorage.getItem(PAGE) ?? "#/"));
    localStorage.removeItem(PAGE);
    dispatchEvent(new Event("hashchange"));
    const response = await fetch(at("enter"), { method: "POST", headers: { "reveille-code": code } }).catch(() => null);
    if (response?.ok) {
      const { key, "read-only": readOnly } = await response.json();
      localStorage.setItem(KEY, JSON.stringify({ key, readOnly }));
      login.value = { key, readOnly };
    } else {
      login.value = false;
      why.value = "The code is used up or too old. Run `reveille dashboard` again.";
    }
    return;
  }
  const known = localStorage.getItem(KEY) ?? sessionStorage.getItem(KEY);
  try { login.value = known ? JSON.parse(known) : false; } catch { login.value = false; }
}

/** A pasted token, for this tab only. Until it is known whose it is, it may do what everybody may. */
export async function paste(token) {
  login.value = { token, session: true, readOnly: true };
  await ask("query Who { engine { now } }");
  const refusal = (document) => ask(document).then(() => "", (refused) => refused.code);
  // An observer reads the whole and changes nothing; a session reads and changes its own.
  const readOnly = await refusal("mutation Who { changeSchedules(action: RESUME, dryRun: true) { matched } }") === "FORBIDDEN";
  const session = await refusal("query Who { engine { imbalance } }") === "GRAPHQL_VALIDATION_FAILED";
  login.value = { token, session, readOnly };
  sessionStorage.setItem(KEY, JSON.stringify(login.value));
}

/** Asks for a link to a calendar: of one schedule, of a session, or of all. */
export async function calendar(of) {
  const response = await fetch(at("calendar"), { method: "POST", headers: headers(), body: JSON.stringify(of) }).catch(() => null);
  const answer = await response?.json().catch(() => null);
  if (!response?.ok) throw new Refused(answer?.error ?? { message: "the daemon does not answer" }, response?.status);
  return at(answer.path);
}

export async function leave() {
  if (login.peek()?.key) await fetch(at("leave"), { method: "POST", headers: headers() }).catch(() => null);
  forget();
}

/** Follows a subscription over a WebSocket, from where it was when it breaks. `variables` is asked again each time. */
export function follow(document, variables, next) {
  let socket = /** @type {WebSocket | null} */ (null);
  let ended = false;
  let tries = 0;
  let timer = 0;
  const connect = () => {
    clearTimeout(timer);
    const url = new URL("graphql", window.document.baseURI);
    url.protocol = url.protocol.replace("http", "ws");
    socket = new WebSocket(url, "graphql-transport-ws");
    const send = (message) => socket?.readyState === 1 && socket.send(JSON.stringify(message));
    socket.onopen = () => {
      const who = login.peek() || {};
      send({ type: "connection_init", payload: who.token ? { token: who.token } : { csrf: who.key } });
    };
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(data);
      if (message.type === "connection_ack") {
        tries = 0;
        live.value = "live";
        pulse.value += 1;
        send({ id: "1", type: "subscribe", payload: { query: document, variables: variables() } });
      } else if (message.type === "ping") send({ type: "pong" });
      else if (message.type === "next" && message.payload.data) next(message.payload.data);
      else if (message.type === "complete" || message.type === "error") socket?.close();
    };
    socket.onclose = ({ code }) => {
      if (ended) return;
      live.value = "lost";
      if (code === 4403) return end();
      tries += 1;
      timer = setTimeout(() => ended || connect(), Math.min(5_000, 250 * 2 ** tries));
    };
  };
  // A browser that is back on the net need not wait out the pause.
  const back = () => { if (socket && socket.readyState > 1) connect(); };
  addEventListener("online", back);
  connect();
  return () => {
    ended = true;
    clearTimeout(timer);
    removeEventListener("online", back);
    socket?.close();
  };
}

/** A page's question. It is asked again when something has happened, and keeps its last answer meanwhile. */
export function useAsk(document, variables = {}, { still = false } = {}) {
  const [answer, setAnswer] = useState(/** @type {any} */ ({ data: null, error: null }));
  const key = JSON.stringify(variables);
  const asking = useRef(/** @type {AbortController | null} */ (null));
  const load = async () => {
    asking.current?.abort();
    const controller = new AbortController();
    asking.current = controller;
    try {
      const data = await ask(document, variables, controller.signal);
      setAnswer({ data, error: null });
    } catch (error) {
      if (!controller.signal.aborted) setAnswer((/** @type {any} */ before) => ({ data: before.data, error }));
    }
  };
  useEffect(() => {
    let timer = 0;
    let first = true;
    const stop = effect(() => {
      const [beat, moment] = [pulse.value, asOf.value];
      if (first || (!still && !moment && beat)) {
        clearTimeout(timer);
        timer = setTimeout(() => document_visible() && load(), first ? 0 : 150);
      }
      first = false;
    });
    const again = setInterval(() => !still && !asOf.peek() && document_visible() && load(), 30_000);
    return () => {
      stop();
      clearTimeout(timer);
      clearInterval(again);
      asking.current?.abort();
    };
  }, [document, key, asOf.value]);
  return { ...answer, again: load, question: { document: mine(document), variables } };
}
const document_visible = () => window.document.visibilityState !== "hidden";
