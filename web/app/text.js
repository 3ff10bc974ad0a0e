// Text that agents, hosts or other people wrote. It is shown as text only, and all of it is seen: what a browser would not
// show, or what would move the text around it, stands there by its number. `src/app/foreign_text.rs` does so for terminals.
import { html } from "./lib.js";

const HIDDEN = /(?![\ufe0e\ufe0f])[\p{C}\p{Zl}\p{Zp}\p{DI}\u2800\u{13441}\u{13442}\u{16fe4}\u{1d159}]/u;
const EACH = new RegExp(HIDDEN.source, "gu");

/** A text with its hidden characters by number, for attributes and titles. */
export function visible(text) {
  return String(text ?? "").replace(EACH, (found) => `\\u{${found.codePointAt(0)?.toString(16)}}`);
}

/** The parts of a text: plain strings, and marks in place of hidden characters. With `lines`, line breaks are layout. */
function parts(text, lines) {
  const out = [];
  let plain = "";
  for (const found of text) {
    if (!HIDDEN.test(found) || (lines && found === "\n")) {
      plain += found;
    } else {
      if (plain) out.push(plain);
      plain = "";
      out.push(html`<b class="esc">${`\\u{${found.codePointAt(0).toString(16)}}`}</b>`);
    }
  }
  if (plain) out.push(plain);
  return out;
}

/** A foreign text within a line. Its direction stays its own. */
export function Foreign({ text, max = 400 }) {
  const all = String(text ?? "");
  const cut = all.length > max ? `${all.slice(0, max)}…` : all;
  return html`<bdi class="foreign">${parts(cut, false)}</bdi>`;
}

/** A foreign text in a box of its own, which it cannot leave. */
export function Box({ text, label }) {
  return html`<pre class="box" dir="auto" tabindex="0" role="group" aria-label=${label}>${parts(String(text ?? ""), true)}</pre>`;
}

/** A trigger's phrase for people: the instants in it are shown on clocks elsewhere. */
export const rhythm = (when) => {
  const text = String(when ?? "").replace(/ from \d{4}-\S+/, "");
  return /^\d{4}-\d\d-\d\dT/.test(text) ? "once" : text;
};
/** A value of an enum, as people write it. */
export const word = (value) => String(value ?? "").toLowerCase().replaceAll("_", " ");
/** A word for a count. */
export const count = (number, one, many = `${one}s`) => `${Number(number).toLocaleString()} ${number === 1 ? one : many}`;
/** How many slots of one schedule are listed, so that one that fires each second does not hide the others. */
export const LISTED = 6;
