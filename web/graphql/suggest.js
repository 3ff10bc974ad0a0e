// The list of completions at the cursor of a field. The focus stays in the field; the list is its combobox popup.
import { options } from "./complete.js";
import { put } from "./editor.js";
import { visible } from "./visible.js";

const PAGE = 8;
/** Keys that move the choice, and by how much. Home and End stay with the text, and close the list. */
const MOVES = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE, PageUp: -PAGE };

/**
 * @typedef {object} Parts
 * @property {HTMLElement} box The listbox.
 * @property {HTMLElement} status Where the number of options is said.
 * @property {(at: number) => { left: number, top: number, bottom: number } | null} place Where a character is in the window.
 * @property {() => { context: any, schema: any }} look What may stand at the cursor now.
 * @property {() => Promise<string>} learn Reads the schema. Resolves to what is missing, or to "".
 */

/**
 * @param {HTMLTextAreaElement} area
 * @param {Parts} parts
 */
export function suggest(area, { box, status, place, look, learn }) {
  /** @type {import("./complete.js").Option[]} */
  let shown = [];
  let chosen = 0;
  /** @type {any} */
  let context = null;
  // The list was asked for, so it stays without a typed prefix.
  let isAsked = false;
  let isTaking = false;
  let cursor = -1;

  const isOpen = () => shown.length > 0;

  function close(says = "") {
    if (isOpen()) {
      shown = [];
      box.hidden = true;
      box.replaceChildren();
      area.setAttribute("aria-expanded", "false");
      area.removeAttribute("aria-activedescendant");
    }
    status.textContent = visible(says);
  }

  function choose(index) {
    chosen = (index + shown.length) % shown.length;
    [...box.children].forEach((item, at) => item.setAttribute("aria-selected", String(at === chosen)));
    const item = /** @type {HTMLElement} */ (box.children[chosen]);
    area.setAttribute("aria-activedescendant", item.id);
    // Not scrollIntoView, which would scroll the page too.
    const [top, bottom] = [item.offsetTop, item.offsetTop + item.offsetHeight];
    if (top < box.scrollTop) box.scrollTop = top;
    else if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight;
  }

  function move(by) {
    // A page stops at the ends; a single step goes round.
    const most = shown.length - 1;
    choose(Math.abs(by) === 1 ? chosen + by : Math.max(0, Math.min(most, chosen + by)));
  }

  function position() {
    if (!isOpen()) return;
    const frame = area.getBoundingClientRect();
    const at = place(context.from) || { left: frame.left, top: frame.bottom, bottom: frame.bottom };
    const [width, height] = [document.documentElement.clientWidth, innerHeight];
    const bottom = Math.min(at.bottom, frame.bottom) + 2;
    const fits = bottom + box.offsetHeight <= height;
    box.style.left = `${Math.max(4, Math.min(at.left, width - box.offsetWidth - 4))}px`;
    box.style.top = `${fits ? bottom : Math.max(4, Math.max(at.top, frame.top) - box.offsetHeight - 2)}px`;
  }

  function show(found) {
    shown = found;
    cursor = area.selectionStart;
    box.replaceChildren(...found.map(item));
    box.hidden = false;
    box.scrollTop = 0;
    area.setAttribute("aria-expanded", "true");
    choose(0);
    position();
    status.textContent = visible(`${found.length} ${found.length === 1 ? "completion" : "completions"}`);
  }

  /** Opens, updates or closes the list for the word at the cursor. */
  function update() {
    const { context: now, schema } = look();
    context = now;
    const isWanted = now && schema && area.selectionStart === area.selectionEnd && (isAsked || now.prefix);
    const found = isWanted ? options(now, schema, area.value) : [];
    // Nothing is left to complete in a word that is the only option.
    const isDone = found.length === 1 && found[0].insert === area.value.slice(now.from, now.to);
    if (found.length && !isDone) show(found);
    else close(isAsked && !isOpen() ? "Nothing to complete here." : "");
  }

  async function ask() {
    isAsked = true;
    if (!look().schema) {
      const before = area.value;
      const missing = await learn();
      if (missing) return close(missing);
      if (area.value !== before || document.activeElement !== area) return undefined;
    }
    return update();
  }

  /** Inserts an option. False if it would change nothing: then Enter is a line break, as without a list. */
  function take(index) {
    const { insert, caret = insert.length, opens } = shown[index];
    const { from, to } = context;
    close();
    if (area.value.slice(from, to) === insert) return false;
    isTaking = true;
    put(area, insert, from, to);
    isTaking = false;
    area.setSelectionRange(from + caret, from + caret);
    isAsked = Boolean(opens);
    if (opens) update();
    // What follows by itself may be nothing, and then nothing is said.
    if (!isOpen()) status.textContent = "";
    return true;
  }

  /** Handles a key of the field. True if nothing else may handle it. */
  function key(event) {
    if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      ask();
      return true;
    }
    if (!isOpen()) return false;
    const has = event.ctrlKey || event.metaKey || event.altKey || event.shiftKey;
    let isHandled = true;
    if (event.key === "Escape") close();
    else if (MOVES[event.key] && !has) move(MOVES[event.key]);
    else if (["Enter", "Tab"].includes(event.key) && !has) isHandled = take(chosen) || event.key === "Tab";
    else isHandled = false;
    if (isHandled) event.preventDefault();
    return isHandled;
  }

  /** Follows what was typed. Pasting, undoing and the page's own insertions open nothing. */
  function typed(event) {
    if (isTaking || event.isComposing) return;
    if (!isOpen()) isAsked = false;
    const isWord = event.inputType === "insertText" && /^[\w$@]$/.test(event.data || "");
    if (isWord || (isOpen() && event.inputType?.startsWith("delete"))) update();
    else if (isOpen()) close();
  }

  area.addEventListener("blur", () => close());
  document.addEventListener("selectionchange", () => {
    if (isOpen() && !isTaking && area.selectionStart !== cursor) close();
  });
  addEventListener("resize", position);
  addEventListener("scroll", position, { capture: true, passive: true });
  // The focus must stay in the field, whose list this is.
  box.addEventListener("mousedown", (event) => event.preventDefault());
  box.addEventListener("click", (event) => {
    const found = /** @type {Element} */ (event.target).closest("[role=option]");
    if (found) take([...box.children].indexOf(found));
  });
  return { key, typed, close };
}

/** @param {import("./complete.js").Option} option */
function item({ name, type, note, isDeprecated }, index) {
  const line = document.createElement("li");
  line.id = `offer-${index}`;
  line.setAttribute("role", "option");
  for (const [kind, text] of [["name", name], ["type", type], ["gone", isDeprecated ? "deprecated" : ""], ["note", note]]) {
    if (!text) continue;
    const part = document.createElement("span");
    part.className = kind;
    part.textContent = visible(text);
    // Blanks between the parts, for readers aloud.
    line.append(part, " ");
  }
  return line;
}
