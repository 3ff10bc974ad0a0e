// What the dashboard takes from elsewhere. `pages.mjs` puts the vendored files in place of the packages' names, and compiles the
// templates, so that no browser parses them.
import { h, render } from "preact";
import htm from "htm";

export { h, render };
export { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
export { effect, signal } from "@preact/signals";
/** A template of elements. Text in it becomes text, never markup. */
export const html = /* @__PURE__ */ htm.bind(h);
