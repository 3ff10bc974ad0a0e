// Colors text: the layer below a field, which shows the field's text in colors, and JSON in the answer.
import { jsonTokens, lineStart } from "./language.js";

/** @typedef {{ from: number, to: number, mark: string }} Mark */

/** From this length on, text stays plain: coloring would build tens of thousands of elements and block the page for a second. */
export const PLAIN_FROM = 200_000;
const GROUP = 64;

/**
 * Adds a part of a text to an element, with its tokens as elements of the classes `t-…`.
 * @param {Node} parent
 * @param {string} text
 * @param {Mark[]} marks
 */
function append(parent, text, marks, from = 0, to = text.length) {
  let at = from;
  for (const mark of marks) {
    if (mark.from > at) parent.appendChild(document.createTextNode(text.slice(at, mark.from)));
    const token = document.createElement("span");
    token.className = mark.mark.replace(/^| /g, " t-").trim();
    token.appendChild(document.createTextNode(text.slice(mark.from, mark.to)));
    parent.appendChild(token);
    at = mark.to;
  }
  if (at < to) parent.appendChild(document.createTextNode(text.slice(at, to)));
}

/**
 * JSON in colors; plain above the bound.
 * @param {string} text
 */
export function json(text) {
  const all = document.createDocumentFragment();
  // Punctuation is half of the tokens of an answer, and needs no color of its own there.
  append(all, text, text.length < PLAIN_FROM ? jsonTokens(text).filter(({ mark }) => mark !== "punct") : []);
  return all;
}

/** How many line breaks a text has between two places. */
function breaks(text, from, to) {
  let count = 0;
  for (let at = text.indexOf("\n", from); at >= 0 && at < to; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

/**
 * How two marked texts differ: as many characters at the front and at the back are equal and have equal tokens. The other text's
 * tokens between them are those from `first` to `end`.
 * @param {{ text: string, marks: Mark[] }} one
 * @param {{ text: string, marks: Mark[] }} other
 */
function difference(one, other) {
  const shorter = Math.min(one.text.length, other.text.length);
  let front = 0;
  while (front < shorter && one.text.charCodeAt(front) === other.text.charCodeAt(front)) front += 1;
  const [last, lastOther] = [one.text.length - 1, other.text.length - 1];
  let back = 0;
  while (back < shorter - front && one.text.charCodeAt(last - back) === other.text.charCodeAt(lastOther - back)) back += 1;
  const move = other.text.length - one.text.length;
  const isEqual = (a, b, by) => a && b && a.from + by === b.from && a.to + by === b.to && a.mark === b.mark;
  let first = 0;
  for (; isEqual(one.marks[first], other.marks[first], 0) && one.marks[first].to <= front; first += 1);
  front = Math.min(front, one.marks[first]?.from ?? front, other.marks[first]?.from ?? front);
  let [end, endOther] = [one.marks.length, other.marks.length];
  const isBehind = () => end > first && endOther > first && isEqual(one.marks[end - 1], other.marks[endOther - 1], move);
  for (; isBehind() && one.marks[end - 1].from >= one.text.length - back; end -= 1) endOther -= 1;
  // A token that differs may reach further back than the last character that does.
  const behind = (/** @type {{ text: string, marks: Mark[] }} */ { text, marks }, at) => text.length - (marks[at - 1]?.to ?? 0);
  back = Math.min(back, behind(one, end), behind(other, endOther));
  return { front, back, first, end: endOther };
}

/**
 * The lines of a part of a text, each as an element. What follows the last line break of a text is a line too, if `isLast`.
 * @param {string} text
 * @param {Mark[]} marks
 */
function lines(text, marks, start, stop, isLast) {
  const found = [];
  let next = 0;
  for (let from = start; from < stop || (isLast && from === text.length);) {
    const end = text.indexOf("\n", from);
    const to = end < 0 ? text.length : end + 1;
    const own = [];
    for (; next < marks.length && marks[next].from < to; next += 1) {
      own.push({ from: Math.max(from, marks[next].from), to: Math.min(to, marks[next].to), mark: marks[next].mark });
      // A block string goes on in the next line.
      if (marks[next].to > to) break;
    }
    const line = document.createElement("span");
    append(line, text, own, from, to);
    found.push(line);
    if (end < 0) break;
    from = to;
  }
  return found;
}

/**
 * A layer that shows the text of a field in colors, exactly below the field's own text, which is transparent meanwhile.
 * Its text is the field's, character by character: replacing hidden ones would move what is above from what is below.
 * @param {HTMLTextAreaElement} area
 * @param {HTMLElement} pre
 */
export function layer(area, pre) {
  const inner = document.createElement("code");
  pre.append(inner);
  /** @type {{ text: string, marks: Mark[] }} */
  let shown = { text: "", marks: [] };
  let nodes = lines("", [], 0, 0, true);
  group();

  const scroll = () => { inner.style.transform = `translate(${-area.scrollLeft}px, ${-area.scrollTop}px)`; };
  area.addEventListener("scroll", scroll);

  /** Puts the lines into groups: the browser lays out anew only the group in which a line changed. */
  function group() {
    const groups = [];
    for (let at = 0; at < nodes.length; at += GROUP) {
      const group = document.createElement("div");
      group.append(...nodes.slice(at, at + GROUP));
      groups.push(group);
    }
    inner.replaceChildren(...groups);
  }

  /** Replaces only the lines that changed: a key that is pressed changes one or two of several thousand. */
  function paint(text, marks) {
    const isPlain = text.length >= PLAIN_FROM;
    area.classList.toggle("lit", !isPlain);
    const now = isPlain ? { text: "", marks: [] } : { text, marks };
    const { front, back, first, end } = difference(shown, now);
    const start = lineStart(now.text, front);
    const behind = now.text.indexOf("\n", now.text.length - back);
    const stop = behind < 0 ? now.text.length : behind + 1;
    const before = breaks(now.text, 0, start);
    const after = behind < 0 ? 0 : breaks(now.text, stop, now.text.length) + 1;
    // A token that began in an equal line before may reach into the first line that changed.
    let from = first;
    while (from > 0 && now.marks[from - 1].to > start) from -= 1;
    let to = end;
    while (to < now.marks.length && now.marks[to].from < stop) to += 1;
    const fresh = lines(now.text, now.marks.slice(from, to), start, stop, behind < 0);
    const gone = nodes.splice(before, nodes.length - before - after, ...fresh);
    if (fresh.length + gone.length < GROUP) {
      gone[0].before(...fresh);
      gone.forEach((line) => line.remove());
    } else {
      group();
    }
    shown = now;
    // Later, because asking for the place now would lay out the page once more.
    requestAnimationFrame(scroll);
  }

  /** Where a character of the field is in the window; null if the layer does not show the text. */
  function place(at) {
    if (!shown.text) return null;
    const line = nodes[breaks(shown.text, 0, at)];
    const box = line.getBoundingClientRect();
    const range = document.createRange();
    range.setStart(line, 0);
    let left = at - lineStart(shown.text, at);
    const width = left ? () => range.getBoundingClientRect().width : () => 0;
    const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const length = node.textContent?.length || 0;
      if (left <= length) {
        range.setEnd(node, left);
        break;
      }
      left -= length;
    }
    return { left: box.left + width(), top: box.top, bottom: box.bottom };
  }

  return { paint, place };
}
