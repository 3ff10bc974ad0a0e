// What the dashboard takes from elsewhere. The server puts the vendored files in place of the packages' names.
import { h, render } from "preact";
import htm from "htm";

export { h, render };
export { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
export { effect, signal } from "@preact/signals";
/** A template of elements. Text in it becomes text, never markup. */
export const html = htm.bind(h);
