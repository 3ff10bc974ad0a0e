// Records what graphql-js answers where fields fail, in every position: fixtures/graphql/nulls.json.
// Run: npm install && npm run nulls
import { writeFileSync } from "node:fs";
import { buildSchema, graphqlSync } from "graphql";

// The same as the world of tests/suite/graphql/nulls.rs.
const schema = buildSchema(`
  enum NodeKind { BLUE }  enum NodeKindHard { BLUE }
  type Node {
    id: ID!  ok: String!  nil: String  fails: String  failsHard: String!  nilHard: String!
    child: Node  childNil: Node  childHard: Node!  childNilHard: Node!  childFails: Node  childFailsHard: Node!
    children: [Node!]  childrenHard: [Node!]!  childrenNil: [Node!]  childrenNilHard: [Node!]!
    childrenHoled: [Node!]  childrenHoledHard: [Node!]!  childrenFail: [Node!]  childrenFailHard: [Node!]!
    words: [String!]!  wordsHoled: [String!]  wordsHoledHard: [String!]!  noList: [String!]  noListHard: [String!]!
    large: Int  largeHard: Int!  noNumber: Int  noFlag: Boolean  kind: NodeKind  kindHard: NodeKindHard!
  }
  type Query { node(id: ID!): Node  must: Node!  many: [Node!]!  some: [Node!]  nothing: Node  failure: Node! }
`);
const fail = (message) => () => { throw new Error(message); };
const node = (id) => ({
  id, ok: "ok", nil: null, fails: fail("fails"), failsHard: fail("fails hard"), nilHard: null,
  child: () => node(2), childNil: null, childHard: () => node(3), childNilHard: null,
  childFails: fail("child"), childFailsHard: fail("child hard"),
  children: () => [node(4), node(5)], childrenHard: () => [node(6), node(7)], childrenNil: null, childrenNilHard: null,
  childrenHoled: () => [node(8), null, node(9)], childrenHoledHard: () => [node(8), null, node(9)],
  childrenFail: fail("children"), childrenFailHard: fail("children hard"),
  words: ["a", "b"], wordsHoled: ["a", null], wordsHoledHard: [null, "b"], noList: 7, noListHard: 7,
  large: 3000000000, largeHard: 3000000000, noNumber: "seven", noFlag: "seven", kind: "green", kindHard: "green",
});
const root = {
  node: ({ id }) => node(id), must: () => node(1), many: () => [node(1), node(2)], some: () => [node(1), node(2)],
  nothing: null, failure: fail("failure"),
};

const leaves = [
  "nil", "fails", "failsHard", "nilHard", "wordsHoled", "wordsHoledHard", "noList", "noListHard", "large", "largeHard",
  "noNumber", "noFlag", "kind", "kindHard",
  ...["childNil", "childNilHard", "childFails", "childFailsHard", "childrenNil", "childrenNilHard", "childrenHoled",
    "childrenHoledHard", "childrenFail", "childrenFailHard"].map((name) => `${name} { id }`),
];
const places = [
  (x) => `{ node(id: 1) { ${x} } }`,
  (x) => `{ must { ${x} } }`,
  (x) => `{ many { ${x} } }`,
  (x) => `{ some { ${x} } }`,
  (x) => `{ node(id: 1) { child { ${x} } } }`,
  (x) => `{ node(id: 1) { childHard { ${x} } } }`,
  (x) => `{ node(id: 1) { child { childHard { ${x} } } ok } }`,
  (x) => `{ node(id: 1) { children { ${x} } } }`,
  (x) => `{ node(id: 1) { childrenHard { ${x} } } }`,
  (x) => `{ node(id: 1) { child { children { childHard { ${x} } } } } }`,
  (x) => `{ must { childHard { childrenHard { ${x} } } } }`,
];
const queries = [
  "{ nothing { id } }", "{ failure { id } }", "{ a: nothing { id } must { id } failure { id } }",
  "{ must { a: fails b: fails ok } }", "{ must { a: fails b: failsHard c: fails } }",
  "{ node(id: 1) { a: failsHard b: failsHard } }", "{ node(id: 1) { fails } other: node(id: 2) { failsHard } must { ok } }",
  "{ node(id: 1) { ...A fails ...B } } fragment A on Node { fails child { fails } } fragment B on Node { fails child { failsHard ok } }",
  "{ node(id: 1) {\n    child {\n      fails\n    }\n    ... on Node { child { ok\n      fails } }\n  }\n}",
  "{ some { children { fails childHard { fails nilHard } } } }",
];
for (const place of places) {
  for (const leaf of leaves) queries.push(place(`id ${leaf}`), place(`fails x: ${leaf} after: fails`));
}
const rows = queries.map((query) => ({ query, answer: graphqlSync({ schema, source: query, rootValue: root }) }));
const lines = rows.map((row) => JSON.stringify(row)).join(",\n");
writeFileSync(new URL("../../fixtures/graphql/nulls.json", import.meta.url), `[\n${lines}\n]\n`);
console.log(`${rows.length} queries, ${rows.filter((row) => row.answer.errors).length} with errors`);
