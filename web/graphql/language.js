// Reads a GraphQL document that somebody is typing: its tokens, what each is, what is wrong, and what may stand at the cursor.
// It never fails: half a document is the normal case. Highlighting and completion share this one reading. No DOM here.
import { element, field, isComposite, isInput, named } from "./schema.js";

/** @typedef {{ kind: string, from: number, to: number, text: string, mark: string, isOpen?: boolean }} Token */

// Comments, block strings (their end is searched for below), strings, spreads, variables, directives, numbers, names, and one
// character of anything else, which the flag u keeps whole.
const TOKEN = /#[^\n\r]*|"""|"(?:\\.|[^"\\\n\r])*"?|\.{3}|[$@]?[A-Za-z_]\w*|[$@]|-?\d[\w.]*(?:[+-]\d+)?|[^]/uy;

// The kinds of tokens by their first character. A punctuator is a kind of its own.
const KINDS = { "#": "comment", "\"": "string", "$": "variable", "@": "directive", "-": "number" };
for (const first of "{}()[]:=!|&") KINDS[first] = first;
for (const first of "0123456789") KINDS[first] = "number";
for (const first of "_abcdefghijklmnopqrstuvwxyz") KINDS[first] = KINDS[first.toUpperCase()] = "name";

/** Where the line of a place begins. (`lastIndexOf` would look at the first character for a place before it.) */
export function lineStart(text, at) {
  return at > 0 ? text.lastIndexOf("\n", at - 1) + 1 : 0;
}

/** The end of a block string that begins at `from`; an unterminated one ends with the text. */
function blockEnd(text, from) {
  for (let at = from + 3; ;) {
    const end = text.indexOf("\"\"\"", at);
    if (end < 0) return { to: text.length, isOpen: true };
    if (text[end - 1] !== "\\") return { to: end + 3, isOpen: false };
    at = end + 3;
  }
}

/**
 * The tokens of a document, without blanks.
 * @param {string} text
 * @returns {Token[]}
 */
export function tokens(text) {
  const found = [];
  for (let from = 0; from < text.length;) {
    const first = text[from];
    // Commas are blanks. Most characters of a document are, or begin a name: no expression is tried on them in vain.
    if (first === " " || first === "\n" || first === "," || first === "\t" || first === "\r" || first === "\ufeff") {
      from += 1;
      continue;
    }
    TOKEN.lastIndex = from;
    TOKEN.test(text);
    let [to, isOpen] = [TOKEN.lastIndex, false];
    if (first === "\"" && text.startsWith("\"\"\"", from)) ({ to, isOpen } = blockEnd(text, from));
    else if (first === "\"") isOpen = isUnterminated(text.slice(from, to));
    const slice = text.slice(from, to);
    const kind = slice === "..." ? "..." : KINDS[first] || "other";
    found.push({ kind, from, to, text: slice, mark: MARKS[kind] || (kind === first ? "punct" : "name"), isOpen });
    from = to;
  }
  return found;
}

// The quote at the end of an unterminated string may be an escaped one.
function isUnterminated(string) {
  return string.length < 2 || !string.endsWith("\"") || /[^\\](\\\\)*\\"$/.test(string);
}

const MARKS = {
  comment: "comment", string: "string", variable: "variable", directive: "directive", number: "number", name: "name",
  "...": "punct",
};
// A step's answer: pop the frame, and give the token to the one below.
const AGAIN = "again";
const OPERATIONS = ["query", "mutation", "subscription"];
const CONSTANTS = ["true", "false", "null"];

/**
 * Reads a document up to its end. With a cursor, `context` says what may stand there; null where nothing can be completed.
 * Without a schema all types are unknown, and only characters and strings can be wrong.
 * @param {string} text
 * @param {any} [schema]
 * @param {number} [cursor]
 */
export function read(text, schema = null, cursor = -1) {
  const all = tokens(text);
  /** @type {any} */
  const walk = {
    schema, text, cursor, context: null, at: null, next: null, faults: [], operations: [], fragments: new Map(), spreads: [],
    variables: new Map(), everyVariable: new Map(), stack: [top()],
  };
  const code = all.filter((token) => token.kind !== "comment");
  let isAsked = cursor >= 0 && !all.some((token) => hides(token, cursor));
  for (let at = 0; at < code.length; at += 1) {
    const token = code[at];
    walk.next = code[at + 1];
    walk.at = isTouched(token, cursor) ? token : null;
    if (isAsked && (walk.at || token.from >= cursor)) {
      walk.context = asked(walk, walk.at);
      isAsked = false;
    }
    if (token.isOpen) fault(walk, token, "no end of");
    if (token.kind === "other") fault(walk, token, "not expected:");
    else step(walk, token);
  }
  if (isAsked) walk.context = asked(walk, null);
  const { context, faults, operations, fragments, spreads } = walk;
  if (schema) spreads.filter(({ text: name }) => !fragments.has(name)).forEach((token) => fault(walk, token, "no fragment"));
  return { tokens: all, context, faults, operations, fragments };
}

/** Whether the cursor is inside text in which nothing can be completed. */
function hides(/** @type {Token} */ token, cursor) {
  if (cursor <= token.from || cursor > token.to) return false;
  const { kind, to, isOpen } = token;
  return kind === "comment" || kind === "number" || (kind === "string" && (cursor < to || isOpen));
}

/** Whether the cursor is in a word, or at its end. */
function isTouched({ kind, from, to }, cursor) {
  return from < cursor && cursor <= to && (kind === "name" || kind === "variable" || kind === "directive");
}

/** What may stand at the cursor, which is in the word `token`, or between tokens. */
function asked(walk, token) {
  const frame = walk.stack[walk.stack.length - 1];
  const isDirective = token?.kind === "directive";
  const want = isDirective ? { want: "directive", location: frame.last?.location } : EXPECT[frame.kind](walk, frame);
  if (!want || (token?.kind === "variable" && !want.variables)) return null;
  const [from, to] = token ? [token.from, token.to] : [walk.cursor, walk.cursor];
  // Filled in by the rest of the reading: arguments behind the cursor are given too, and fragments stand at the end.
  return { ...want, from, to, prefix: walk.text.slice(from, walk.cursor), fragments: walk.fragments };
}

function top() {
  return { kind: "top", state: "start", type: null, last: null };
}

// A definition at the beginning of a line. While somebody types, the one before it may lack its closing brackets, which must not
// make everything below part of it.
function isDefinition(walk, { kind, from, text }) {
  return kind === "name" && [...OPERATIONS, "fragment"].includes(text) && (from === 0 || walk.text[from - 1] === "\n")
    && (walk.next?.kind === "name" || walk.stack.length === 1);
}

function step(walk, token) {
  if (isDefinition(walk, token)) {
    walk.stack = [top()];
    walk.variables = new Map();
  }
  // A frame that the token cannot belong to ends before it: while somebody types, closing brackets are often missing.
  for (;;) {
    const frame = walk.stack[walk.stack.length - 1];
    if (STEP[frame.kind](walk, frame, token) !== AGAIN) return;
    walk.stack.pop();
  }
}

/** A closing bracket inside another frame ends that frame, if there is one that it closes; otherwise it is ignored. */
function closing(walk, token) {
  return walk.stack.some((frame) => frame.close === token.kind) ? AGAIN : undefined;
}

function fault(walk, token, why) {
  walk.faults.push({ token, why: `${why} ${token.text.slice(0, 40)}` });
}

function directive(walk, frame, token) {
  const known = walk.schema?.directives.get(token.text.slice(1));
  if (walk.schema && !known) fault(walk, token, "no directive");
  frame.last = { ...frame.last, args: known?.args || null, owner: token.text, isDirective: true };
}

/** Opens the brackets of arguments, which belong to the field or directive before them. */
function openArguments(walk, frame) {
  openPairs(walk, { close: ")", parts: frame.last?.args || null, owner: frame.last?.owner });
}

function openPairs(walk, more) {
  walk.stack.push({ kind: "pairs", given: new Set(), state: "name", now: null, ...more });
}

function openSelection(walk, type) {
  const known = walk.schema && isComposite(walk.schema, type) ? type : null;
  walk.stack.push({ kind: "select", close: "}", type: known, state: "field", last: null });
}

function checkType(walk, token, is) {
  token.mark = "type";
  if (!walk.schema || is(walk.schema, token.text)) return;
  fault(walk, token, walk.schema.types.has(token.text) ? "not possible here: type" : "no type");
}

// The expected type of a value is that of an argument, an input field, or the element of a list.
function value(walk, token, type, isConstant = false) {
  const known = walk.schema && type ? walk.schema.types.get(named(type)) : null;
  if (token.kind === "[") {
    walk.stack.push({ kind: "list", close: "]", type: element(type), isConstant });
  } else if (token.kind === "{") {
    const parts = known?.kind === "INPUT_OBJECT" ? known.parts : null;
    openPairs(walk, { close: "}", parts, owner: known?.name, isConstant });
  } else if (token.kind === "variable") {
    const declared = inFragment(walk) ? null : walk.variables;
    if (walk.schema && declared && !declared.has(token.text)) fault(walk, token, "not declared:");
  } else if (token.kind === "name") {
    token.mark = "constant";
    const isKnown = known?.kind !== "ENUM" || known.parts.has(token.text) || token.text === "null";
    if (!isKnown) fault(walk, token, `${known.name} has no value`);
  }
}

// A fragment may use the variables of every operation.
function inFragment(walk) {
  return walk.stack[0].isFragment;
}

function begin(walk, frame, token) {
  token.mark = "keyword";
  if (OPERATIONS.includes(token.text)) {
    const type = walk.schema?.roots[token.text] || null;
    Object.assign(frame, { state: "name", type, isFragment: false, last: { location: token.text.toUpperCase(), args: null } });
    walk.operations.push({ kind: token.text, name: "", at: token.from });
  } else if (token.text === "fragment") {
    const last = { location: "FRAGMENT_DEFINITION", args: null };
    Object.assign(frame, { state: "fragment", type: null, isFragment: true, last });
  } else {
    token.mark = "name";
  }
}

function topName(walk, frame, token) {
  if (frame.state === "start") {
    begin(walk, frame, token);
  } else if (frame.state === "name") {
    token.mark = "title";
    walk.operations[walk.operations.length - 1].name = token.text;
    frame.state = "head";
  } else if (frame.state === "fragment") {
    token.mark = "title";
    frame.fragment = token.text;
    walk.fragments.set(token.text, null);
    frame.state = "on";
  } else if (frame.state === "on") {
    token.mark = token.text === "on" ? "keyword" : "name";
    frame.state = "condition";
  } else if (frame.state === "condition") {
    checkType(walk, token, isComposite);
    walk.fragments.set(frame.fragment, token.text);
    frame.type = token.text;
    frame.state = "head";
  }
}

function openVariables(walk) {
  const last = { location: "VARIABLE_DEFINITION", args: null };
  walk.stack.push({ kind: "variables", close: ")", state: "name", now: null, last });
}

// What a token does to each kind of frame.
const STEP = {
  top(walk, frame, token) {
    if (token.kind === "name") topName(walk, frame, token);
    else if (token.kind === "directive") directive(walk, frame, token);
    else if (token.kind === "(" && frame.last?.isDirective) openArguments(walk, frame);
    else if (token.kind === "(") openVariables(walk);
    if (token.kind !== "{") return;
    if (frame.state === "start") {
      walk.operations.push({ kind: "query", name: "", at: token.from });
      frame.type = walk.schema?.roots.query || null;
    }
    openSelection(walk, frame.type);
  },

  /** @returns {any} */
  variables(walk, frame, token) {
    if (token.kind === "variable" && frame.state !== "value") {
      frame.now = { type: null, written: "" };
      walk.variables.set(token.text, frame.now);
      walk.everyVariable.set(token.text, frame.now);
      frame.state = "colon";
    } else if (frame.state === "value") {
      frame.state = "done";
      value(walk, token, frame.now?.type, true);
    } else if (token.kind === ":") {
      frame.state = "type";
    } else if (token.kind === "name" && frame.state === "type") {
      checkType(walk, token, isInput);
      if (frame.now) frame.now.type = { kind: "", name: token.text };
      frame.state = "after";
    } else if (token.kind === "=") {
      frame.state = "value";
    } else if (token.kind === "directive") {
      directive(walk, frame, token);
    } else if (token.kind === "(") {
      openArguments(walk, frame);
    } else if (token.kind === ")") {
      walk.stack.pop();
    } else if (token.kind === "{" || token.kind === "}") {
      return AGAIN;
    }
    const isType = frame.state === "type" || frame.state === "after";
    if (frame.now && isType && /^[\w![\]]/.test(token.text)) frame.now.written += token.text;
  },

  /** @returns {any} */
  pairs(walk, frame, token) {
    const isName = token.kind === "name" && (frame.state !== "value" || walk.next?.kind === ":");
    if (isName) {
      token.mark = "argument";
      frame.now = frame.parts?.get(token.text) || null;
      if (frame.parts && !frame.now) fault(walk, token, `${frame.owner} has no ${frame.close === ")" ? "argument" : "field"}`);
      if (token !== walk.at) frame.given.add(token.text);
      frame.state = "colon";
    } else if (token.kind === ":") {
      frame.state = "value";
    } else if (token.kind === frame.close) {
      walk.stack.pop();
    } else if ([")", "}", "]"].includes(token.kind)) {
      return closing(walk, token);
    } else if (frame.state === "value") {
      frame.state = "name";
      value(walk, token, frame.now?.type, frame.isConstant);
    } else if (token.kind === "{" || token.kind === "...") {
      return AGAIN;
    }
  },

  /** @returns {any} */
  list(walk, frame, token) {
    if (token.kind === "]") walk.stack.pop();
    else if (token.kind === ")" || token.kind === "}") return closing(walk, token);
    else if (token.kind === "name" && walk.next?.kind === ":") return AGAIN;
    else value(walk, token, frame.type, frame.isConstant);
  },

  select(walk, frame, token) {
    if (token.kind === "name") {
      selectName(walk, frame, token);
    } else if (token.kind === "...") {
      frame.state = "spread";
      frame.last = { location: "INLINE_FRAGMENT", type: frame.type, args: null };
    } else if (token.kind === "directive") {
      frame.state = "field";
      directive(walk, frame, token);
    } else if (token.kind === "(") {
      openArguments(walk, frame);
    } else if (token.kind === "{") {
      const type = frame.last?.type;
      Object.assign(frame, { state: "field", last: null });
      openSelection(walk, type);
    } else if (token.kind === "}") {
      walk.stack.pop();
      if (walk.stack.length > 1) return;
      walk.stack[0] = top();
      walk.variables = new Map();
    }
  },
};

function selectName(walk, frame, token) {
  if (frame.state === "spread" && token.text === "on") {
    token.mark = "keyword";
    frame.state = "on";
  } else if (frame.state === "spread") {
    token.mark = "title";
    walk.spreads.push(token);
    Object.assign(frame, { state: "field", last: { location: "FRAGMENT_SPREAD", type: null, args: null } });
  } else if (frame.state === "on") {
    checkType(walk, token, isComposite);
    Object.assign(frame, { state: "field", last: { location: "INLINE_FRAGMENT", type: token.text, args: null } });
  } else if (walk.next?.kind === ":") {
    token.mark = "alias";
    frame.last = null;
  } else {
    token.mark = "field";
    const known = frame.type ? field(walk.schema, frame.type, token.text) : null;
    if (frame.type && !known) fault(walk, token, `${frame.type} has no field`);
    frame.last = { location: "FIELD", type: known ? named(known.type) : null, args: known?.args || null, owner: token.text };
  }
}

// What may stand next in a frame; null where only names that nobody knows, or punctuators, can.
const EXPECT = {
  top(_walk, { state }) {
    if (state === "start") return { want: "definition" };
    if (state === "on") return { want: "on" };
    return state === "condition" ? { want: "type", is: isComposite } : null;
  },
  variables(_walk, { state, now }) {
    if (state === "type") return { want: "type", is: isInput };
    return state === "value" ? { want: "value", type: now?.type, variables: null } : null;
  },
  pairs(walk, frame) {
    if (frame.state === "name") return { want: "argument", parts: frame.parts, given: frame.given };
    return frame.state === "value" ? wantValue(walk, frame, frame.now?.type) : null;
  },
  list: (walk, frame) => wantValue(walk, frame, frame.type),
  select(_walk, { state, type }) {
    if (state === "on") return { want: "type", is: isComposite, within: type };
    return { want: state === "spread" ? "spread" : "field", type };
  },
};

function wantValue(walk, frame, type) {
  const variables = inFragment(walk) ? walk.everyVariable : walk.variables;
  return { want: "value", type: type || null, variables: frame.isConstant ? null : variables };
}

const JSON_TOKEN = /"(?:\\.|[^"\\\n])*"?|-?\d[\w.+-]*|[A-Za-z_]\w*|[^]/uy;

/**
 * The tokens of JSON text. A key is a string before a colon.
 * @param {string} text
 * @returns {{ from: number, to: number, mark: string }[]}
 */
export function jsonTokens(text) {
  const found = [];
  for (let from = 0; from < text.length;) {
    const first = text[from];
    if (first <= " ") {
      from += 1;
      continue;
    }
    JSON_TOKEN.lastIndex = from;
    JSON_TOKEN.test(text);
    const to = JSON_TOKEN.lastIndex;
    const last = found[found.length - 1];
    if (first === ":" && last?.mark === "string") last.mark = "field";
    found.push({ from, to, mark: jsonMark(text, first, from, to) });
    from = to;
  }
  return found;
}

function jsonMark(text, first, from, to) {
  if (first === "\"") return "string";
  if (/[-\d]/.test(first)) return "number";
  if ("{}[]:,".includes(first)) return "punct";
  return CONSTANTS.includes(text.slice(from, to)) ? "constant" : "wrong";
}
