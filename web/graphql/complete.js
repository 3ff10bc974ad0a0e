// Completion: the options at a cursor, best first, and the text that each inserts. No DOM here.
import { lineStart } from "./language.js";
import { isComposite, meta, named, overlaps, written } from "./schema.js";

/**
 * @typedef {object} Option
 * @property {string} name
 * @property {string} type
 * @property {string} note The first sentence of the description.
 * @property {boolean} isDeprecated
 * @property {string} insert The text that replaces the word at the cursor.
 * @property {number} [caret] Where the cursor stands in that text afterwards, if not at its end.
 * @property {boolean} [opens] Whether the list opens again for what comes next.
 */

/**
 * The options for a context of `read()`, without those that do not match what is typed already.
 * @param {any} context
 * @param {any} schema
 * @param {string} text
 * @returns {Option[]}
 */
export function options(context, schema, text) {
  const all = OFFERS[context.want](context, schema, around(text, context));
  const scored = all.map((/** @type {Option} */ one) => ({ one, score: score(one, context.prefix) }));
  return scored.filter(({ score: found }) => found < NONE).sort((a, b) => a.score - b.score).map(({ one }) => one);
}

const NONE = 9;

// Lower is better: the whole name, its beginning, then a word inside it, then any part of it. Deprecated ones come last.
function score({ name, isDeprecated }, prefix) {
  const [low, wanted] = [name.toLowerCase(), prefix.toLowerCase()];
  const at = low.indexOf(wanted);
  if (name === prefix) return -1;
  if (at < 0) return NONE;
  const isWord = at > 0 && (/[A-Z]/.test(name[at]) || name[at - 1] === "_") && prefix.length > 1;
  const place = name.startsWith(prefix) ? 0 : at === 0 ? 1 : isWord ? 2 : prefix.length > 2 ? 3 : NONE;
  return place + (isDeprecated && place < NONE ? 4 : 0);
}

// The text around the word that an option replaces: what follows on the line, and how far the line is indented.
function around(text, { from, to }) {
  const line = text.slice(lineStart(text, from), from);
  const end = text.indexOf("\n", to);
  const rest = text.slice(to, end < 0 ? text.length : end);
  return { indent: line.slice(0, line.search(/[^ ]|$/)), rest, next: rest.trim()[0] || "" };
}

function sentence(text) {
  const first = /^[^]*?[.!?](?=\s|$)/.exec(text || "");
  return (first ? first[0] : text || "").slice(0, 200);
}

/** @returns {Option} */
function option(name, type = "", of = {}, more = {}) {
  return { name, type, note: sentence(of.description), isDeprecated: Boolean(of.isDeprecated), insert: name, ...more };
}

// A name of something that takes a value: its colon is added, if it is not there yet.
function pair(one, { next }) {
  return option(one.name, written(one.type), one, next === ":" ? {} : { insert: `${one.name}: `, opens: true });
}

const isRequired = (/** @type {any} */ one) => one.type.kind === "NON_NULL" && one.defaultValue == null;

/** A field, with the brackets for its required argument or its selection, if they are not there yet. */
function fieldOption(schema, one, { indent, rest, next }) {
  const required = [...one.args.values()].find(isRequired);
  const type = written(one.type);
  const isAlone = !required && !isComposite(schema, named(one.type));
  if (isAlone || ["(", "{", ":"].includes(next)) return option(one.name, type, one);
  // In the middle of a line the braces stay on it.
  const [open, close] = rest.trim() ? [" { ", " }"] : [` {\n${indent}  `, `\n${indent}}`];
  if (required) return option(one.name, type, one, brackets(`${one.name}(${required.name}: `, ")"));
  return option(one.name, type, one, { ...brackets(one.name + open, close), opens: false });
}

/** Inserts brackets with the cursor between them. */
function brackets(before, after) {
  return { insert: before + after, caret: before.length, opens: true };
}

const OFFERS = {
  definition(_context, { roots }) {
    const kinds = Object.keys(roots).filter((kind) => roots[kind]);
    const fragment = option("fragment", "", { description: "Fields to use in several places." });
    return [...kinds.map((kind) => option(kind, roots[kind])), fragment].map((one) => ({ ...one, insert: `${one.name} ` }));
  },

  on: () => [option("on", "", {}, { insert: "on ", opens: true })],

  field({ type, prefix }, schema, place) {
    if (!type) return [];
    const fields = [...schema.types.get(type).parts.values(), ...meta(schema, type)];
    const spread = option("...", "", { description: "A fragment, or fields under a condition." }, { opens: true });
    return [...fields.map((one) => fieldOption(schema, one, place)), ...(prefix ? [] : [spread])];
  },

  spread({ type, fragments }, schema) {
    const known = [...fragments].filter(([, on]) => !type || !on || overlaps(schema, type, on));
    const on = option("on", "", { description: "Fields of one type." }, { insert: "on ", opens: true });
    return [on, ...known.map(([name, of]) => option(name, of ? `on ${of}` : ""))];
  },

  type({ is, within }, schema) {
    const fits = [...schema.types.values()].filter(({ name }) => is(schema, name) && (!within || overlaps(schema, within, name)));
    const own = (/** @type {any} */ { name }) => name.startsWith("__") ? 1 : 0;
    const kind = (/** @type {any} */ one) => one.kind.toLowerCase().replace("_object", "");
    return fits.sort((a, b) => own(a) - own(b)).map((one) => option(one.name, kind(one), one));
  },

  argument({ parts, given }, _schema, place) {
    const left = [...(parts?.values() || [])].filter(({ name }) => !given.has(name));
    // Required ones first: without them nothing is answered.
    return left.sort((a, b) => Number(isRequired(b)) - Number(isRequired(a))).map((one) => pair(one, place));
  },

  value({ type, variables }, schema, { next }) {
    const known = type ? schema.types.get(named(type)) : null;
    const all = [...(variables || [])];
    const fitting = all.filter(([, one]) => !known || !one.type || one.type.name === known.name);
    const found = fitting.map(([name, one]) => option(name, one.written));
    if (!known) return found;
    if (known.kind === "ENUM") found.push(...[...known.parts.values()].map((one) => option(one.name, known.name, one)));
    if (known.name === "Boolean") found.push(option("true", "Boolean"), option("false", "Boolean"));
    const isList = (type.kind === "NON_NULL" ? type.ofType : type).kind === "LIST";
    if (known.kind === "INPUT_OBJECT" && next !== "{") found.push(option("{ }", known.name, known, brackets("{ ", " }")));
    if (isList && next !== "[") found.push(option("[ ]", written(type), {}, brackets("[", "]")));
    if (type.kind && type.kind !== "NON_NULL") found.push(option("null", written(type)));
    return found;
  },

  directive({ location }, schema, { next }) {
    const possible = [...schema.directives.values()].filter((one) => one.locations.includes(location));
    return possible.map((one) => {
      const required = [...one.args.values()].find(isRequired);
      const name = `@${one.name}`;
      const isWhole = !required || next === "(";
      return option(name, "directive", one, isWhole ? {} : brackets(`${name}(${required.name}: `, ")"));
    });
  },
};
