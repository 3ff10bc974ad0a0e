// A text field for code: it indents, and what is written into it can be undone.
import { lineStart } from "./language.js";

/**
 * Writes over a part of a field, or all of it, as if typed: unlike an assignment, that can be undone.
 * @param {HTMLTextAreaElement} area
 * @param {string} text
 */
export function put(area, text, from = 0, to = area.value.length) {
  area.focus();
  area.setSelectionRange(from, to);
  if (from === to && !text) return;
  if (document.execCommand(text ? "insertText" : "delete", false, text)) return;
  area.setRangeText(text, from, to, "end");
  area.dispatchEvent(new Event("input"));
}

function indent(area, isBack) {
  const { selectionStart: start, selectionEnd: end, value } = area;
  if (start === end && !isBack) return put(area, "  ", start, end);
  const from = lineStart(value, start);
  const lines = value.slice(from, end);
  const moved = isBack ? lines.replace(/^ {1,2}/gm, "") : lines.replace(/^/gm, "  ");
  put(area, moved, from, end);
  // A selection stays one; a mere cursor does not become one, or the next key would overwrite the line.
  if (start !== end) area.setSelectionRange(from, from + moved.length);
  return undefined;
}

/**
 * Makes a field indent. Escape lets the next Tab leave it, forwards or backwards, so that the keyboard is not trapped.
 * `first` gets each key before, and answers whether it has handled it.
 * @param {HTMLTextAreaElement} area
 * @param {() => void} run
 * @param {(event: KeyboardEvent) => boolean} [first]
 */
export function edit(area, run, first = () => false) {
  let leaves = false;
  area.addEventListener("keydown", (event) => {
    if (event.isComposing || ["Shift", "Control", "Alt", "Meta"].includes(event.key)) return;
    if (first(event)) {
      leaves = false;
      return;
    }
    const { selectionStart: start, selectionEnd: end, value } = area;
    const line = value.slice(lineStart(value, start), start);
    const has = event.ctrlKey || event.metaKey || event.altKey;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      run();
    } else if (event.key === "Tab" && !leaves && !has) {
      event.preventDefault();
      indent(area, event.shiftKey);
    } else if (event.key === "Enter" && !has) {
      event.preventDefault();
      const deeper = /[{([]\s*$/.test(line) ? "  " : "";
      put(area, `\n${line.match(/^ */)?.[0]}${deeper}`, start, end);
    } else if (/^[})\]]$/.test(event.key) && start === end && /^(  )+$/.test(line)) {
      event.preventDefault();
      put(area, event.key, start - 2, end);
    }
    leaves = event.key === "Escape";
  });
}
