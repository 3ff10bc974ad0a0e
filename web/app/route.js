// The address is the state: every page, filter and instant has one, behind `#`.
import { signal } from "./lib.js";
import { asOf } from "./graph.js";

/** @type {import("@preact/signals").Signal<{ page: string, params: Record<string, string> }>} */
export const route = signal({ page: "now", params: {} });

function read() {
  const [page, query] = location.hash.replace(/^#\/?/, "").split("?");
  const params = Object.fromEntries(new URLSearchParams(query ?? ""));
  asOf.value = Date.parse(params.asof) ? params.asof : null;
  route.value = { page: page || "now", params };
}
addEventListener("hashchange", read);
read();

/** The address of a page. The past that is looked at stays. */
export function to(page, params = {}) {
  const all = { ...(asOf.value ? { asof: asOf.value } : {}), ...params };
  const query = new URLSearchParams(Object.entries(all).filter(([, value]) => value !== null && value !== undefined && value !== ""));
  return `#/${page === "now" ? "" : page}${query.size ? `?${query}` : ""}`;
}

export function go(page, params = {}) {
  location.hash = to(page, params);
}

/** Changes parameters of this page, without a step in the history. */
export function refine(params) {
  const { page, params: before } = route.peek();
  history.replaceState(null, "", to(page, { ...before, ...params }));
  read();
}
