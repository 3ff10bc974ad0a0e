// Foreign text for the reader: controls, marks of direction and characters without width are shown by their numbers, as JSON
// escapes them, so that an answer still parses. Line breaks are layout; JSON has none inside a string.
const CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g;
const HIDDEN = /[\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890-\u0891\u08e2\u115f-\u1160\u17b4-\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\u{110bd}\u{110cd}\u{13430}-\u{1343f}\u{13441}-\u{13442}\u{16fe4}\u{1bca0}-\u{1bca3}\u{1d159}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;

/** @param {string} text */
export function visible(text) {
  const byNumber = (/** @type {string} */ found) => [...Array(found.length).keys()]
    .map((at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, "0")}`).join("");
  return text.replace(CONTROLS, byNumber).replace(HIDDEN, byNumber);
}
