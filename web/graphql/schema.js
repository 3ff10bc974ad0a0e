// The server's schema: the query that reads it, and lookups by name. No DOM here.

const TYPE = "kind name ofType { kind name ofType { kind name ofType { kind name } } }";
const INPUT = `name description defaultValue type { ${TYPE} }`;
export const INTROSPECTION = `{ __schema { queryType { name } mutationType { name } subscriptionType { name }
directives { name description locations args { ${INPUT} } }
types {
  kind name description possibleTypes { name }
  fields(includeDeprecated: true) { name description isDeprecated args { ${INPUT} } type { ${TYPE} } }
  inputFields { ${INPUT} }
  enumValues(includeDeprecated: true) { name description isDeprecated }
} } }`;

const leaf = (/** @type {string} */ kind, /** @type {string} */ name) => ({ kind: "NON_NULL", ofType: { kind, name } });
// Fields that every schema has and no introspection lists.
const TYPENAME = {
  name: "__typename", description: "The name of the type of this object.", args: new Map(), type: leaf("SCALAR", "String"),
};
const OF_QUERY = [
  { name: "__schema", description: "The schema of this server.", args: new Map(), type: leaf("OBJECT", "__Schema") },
  {
    name: "__type", description: "One type of the schema.", args: byName([{ name: "name", type: leaf("SCALAR", "String") }]),
    type: { kind: "OBJECT", name: "__Type" },
  },
];

/** @param {any[] | null | undefined} list */
function byName(list) {
  return new Map((list || []).map((one) => [one.name, one]));
}

/**
 * Lookups over the answer to `INTROSPECTION`. `parts` of a type are its fields, input fields or enum values.
 * @param {any} answer
 */
export function index(answer) {
  const types = new Map();
  for (const type of answer.types) {
    const parts = byName(type.fields || type.inputFields || type.enumValues);
    for (const part of parts.values()) part.args = byName(part.args);
    types.set(type.name, { ...type, parts });
  }
  const root = (/** @type {string} */ kind) => answer[`${kind}Type`]?.name;
  const roots = { query: root("query"), mutation: root("mutation"), subscription: root("subscription") };
  const directives = byName(answer.directives.map((/** @type {any} */ one) => ({ ...one, args: byName(one.args) })));
  return { types, roots, directives };
}

/** The fields that a selection of this type may have besides the listed ones. */
export function meta(schema, type) {
  return type === schema.roots.query ? [TYPENAME, ...OF_QUERY] : [TYPENAME];
}

/** The field `name` of an object type; undefined if there is none. */
export function field(schema, type, name) {
  return schema.types.get(type)?.parts.get(name) || meta(schema, type).find((one) => one.name === name);
}

/** A type as a document writes it. */
export function written(type) {
  if (type.kind === "NON_NULL") return `${written(type.ofType)}!`;
  return type.kind === "LIST" ? `[${written(type.ofType)}]` : type.name;
}

/** The name inside lists and non-null marks. */
export function named(type) {
  return type.ofType ? named(type.ofType) : type.name;
}

/** The type of an element, if `type` is a list; otherwise the type itself, because one value may stand for a list of one. */
export function element(type) {
  if (type?.kind === "NON_NULL") return element(type.ofType);
  return type?.kind === "LIST" ? type.ofType : type;
}

/** Whether a selection set may or must follow. */
export function isComposite(schema, name) {
  return ["OBJECT", "INTERFACE", "UNION"].includes(schema.types.get(name)?.kind);
}

/** Whether a variable may have this type. */
export function isInput(schema, name) {
  return ["SCALAR", "ENUM", "INPUT_OBJECT"].includes(schema.types.get(name)?.kind);
}

/** Whether an object can be of both types. */
export function overlaps(schema, one, other) {
  const members = (/** @type {string} */ name) => [name, ...namesOf(schema.types.get(name)?.possibleTypes)];
  const known = members(one);
  return members(other).some((name) => known.includes(name));
}

function namesOf(/** @type {any[] | null | undefined} */ list) {
  return (list || []).map((one) => one.name);
}
