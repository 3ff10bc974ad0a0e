// What the query page knows of GraphQL, in node alone: the tokens of a document, what is wrong in it, and what may stand at the
// cursor, which `|` marks. Run: node query_page_language.mjs
import assert from "node:assert/strict";
import fs from "node:fs";
import { buildSchema, graphqlSync, Lexer, parse, Source, TokenKind } from "graphql";

const web = new URL("../../web/", import.meta.url).pathname;
const { jsonTokens, read, tokens } = await import(`${web}graphql/language.js`);
const { index, INTROSPECTION } = await import(`${web}graphql/schema.js`);
const { options } = await import(`${web}graphql/complete.js`);
const { visible } = await import(`${web}graphql/visible.js`);

const introspect = (text) => index(graphqlSync({ schema: buildSchema(text), source: INTROSPECTION }).data.__schema);
const schema = introspect(`
  interface Node { id: ID! }
  "Somebody. With an account."
  type User implements Node { id: ID! name: String! friends(first: Int): [User!]! role: Role nick: String @deprecated }
  type Group implements Node { id: ID! title: String! members: [User!]! }
  type Note { text: String! }
  union Found = User | Group
  enum Role { ADMIN GUEST ROOT @deprecated }
  enum Order { NAME AGE }
  input TextFilter { contains: String isExact: Boolean = false }
  input UserFilter { role: Role roles: [Role!] name: TextFilter isActive: Boolean and: [UserFilter!] }
  input RenameInput { id: ID! name: String! }
  type Query {
    me: User
    users(first: Int = 10, filter: UserFilter, order: [Order!], after: String): [User!]!
    node(id: ID!): Node
    found(text: String!, isExact: Boolean! = true): [Found!]
    version: String!
  }
  type Mutation { rename(input: RenameInput!): User }
  type Subscription { joined(role: Role): User! }
`);
const own = introspect(fs.readFileSync(`${web}../schema/reveille.graphql`, "utf8"));

/** The names offered at the mark; null if there is nothing to complete. */
function offered(marked, of = schema) {
  const cursor = marked.indexOf("|");
  const text = marked.slice(0, cursor) + marked.slice(cursor + 1);
  const { context } = read(text, of, cursor);
  return context && options(context, of, text);
}

const USER = "id name friends role __typename ... nick";
const FILTER = "role roles name isActive and";
const INPUTS = "ID Int Role Order String TextFilter UserFilter RenameInput Boolean";
const CASES = [
  // The document.
  ["|", "query mutation subscription fragment"],
  ["{ version }\n|", "query mutation subscription fragment"],
  ["mu|", "mutation"],
  ["query { version } sub|", "subscription"],
  ["query |", null],
  ["query Na|me { version }", null],
  ["query Name |", null],
  ["fragment |", null],
  ["fragment F |", "on"],
  // Fields.
  ["{ | }", "me users node found version __typename __schema __type ..."],
  ["{ ve| }", "version"],
  ["{ ve|rsion }", "version"],
  ["{ me { | } }", USER],
  ["{ me { n| } }", "name nick"],
  ["{ me { id na|", "name"],
  ["{ me {\n  id\n  |\n}", USER],
  ["query Q { users(first: 3) { friends { | } } }", USER],
  ["{ other: m| }", "me"],
  ["{ other: | }", "me users node found version __typename __schema __type ..."],
  ["{ other: me { | } }", USER],
  ["{ version, me, | }", "me users node found version __typename __schema __type ..."],
  ["mutation { | }", "rename __typename ..."],
  ["subscription S { joined { | } }", USER],
  ["{ node(id: 1) { | } }", "id __typename ..."],
  ["{ found(text: \"a\") { | } }", "__typename ..."],
  ["{ __schema { qu| } }", "queryType"],
  ["{ nothing { | } }", ""],
  ["{ version { | } }", ""],
  ["{ me { __t| } }", "__typename"],
  ["{ me @include(if: true) { | } }", USER],
  ["{ users(filter: {role: ADMIN}, order: [NAME]) { na| } }", "name"],
  // A closing bracket is missing before the cursor.
  ["{ users(first: 1 { na| } }", "name"],
  ["{ users(filter: {role: ADMIN) { na| } }", "name"],
  ["{ me { id \nquery B { ve| }", "version"],
  ["query A($a: Int\nquery B { ve| }", "version"],
  ["query A\nquery B { ve| }", "version"],
  ["{ me { id \n  query { ve| }", ""],
  // Arguments.
  ["{ users(|) }", "first filter order after"],
  ["{ users(first: 1, |) }", "filter order after"],
  ["{ users(|, first: 1) }", "filter order after"],
  ["{ users(fi|) { id } }", "first filter"],
  ["{ users(fi|lter: {}) { id } }", "first filter"],
  ["{ found(|) }", "text isExact"],
  ["{ users(first: |) }", "null"],
  ["{ me(|) }", ""],
  ["{ users(first 1 |) }", null],
  // Values.
  ["{ users(order: |) }", "NAME AGE [ ] null"],
  ["{ users(order: [|]) }", "NAME AGE"],
  ["{ users(order: [NAME, |]) }", "NAME AGE"],
  ["{ users(order: A|) }", "AGE"],
  ["{ users(filter: |) }", "{ } null"],
  ["{ users(filter: {|}) }", FILTER],
  ["{ users(filter: {role: |}) }", "ADMIN GUEST null ROOT"],
  ["{ users(filter: {role: ADMIN, |}) }", "roles name isActive and"],
  ["{ users(filter: {roles: [ADMIN, G|]}) }", "GUEST"],
  ["{ users(filter: {name: {|}}) }", "contains isExact"],
  ["{ users(filter: {name: {isExact: |}}) }", "true false null"],
  ["{ users(filter: {name: {isExact: t|}}) }", "true"],
  ["{ users(filter: {and: [{role: ADMIN}, {|}]}) }", FILTER],
  ["{ users(filter: {and: [{name: {contains: \"x\"}, r|}]}) }", "role roles"],
  ["{ found(text: |) }", ""],
  ["{ found(text: \"a\", isExact: |) }", "true false"],
  ["mutation { rename(input: {id: 1, |}) }", "name"],
  ["subscription { joined(role: G|) { id } }", "GUEST"],
  // Variables.
  ["query($r: Role, $n: Int) { users(filter: {role: $|}) }", "$r"],
  ["query($r: Role, $n: Int) { users(filter: {role: |}) }", "$r ADMIN GUEST null ROOT"],
  ["query($r: Role, $n: Int) { users(first: |) }", "$n null"],
  ["query($all: [Order!]) { users(order: $a|) }", "$all"],
  ["query A($a: Int) { version } query B($b: Int) { users(first: $|) }", "$b"],
  ["query A($a: Int) { ...F } fragment F on Query { users(first: $|) }", "$a"],
  ["query($|", null],
  ["query($a: |", INPUTS],
  ["query($a: Us|) { version }", "UserFilter"],
  ["query($a: [R|", "Role RenameInput"],
  ["query($a: Role = |) { version }", "ADMIN GUEST ROOT"],
  ["query($a: [Role!] = [A|", "ADMIN"],
  ["query($a: UserFilter = {|}) { version }", FILTER],
  ["query($a: Role = $|) { version }", null],
  ["query($a: Role |) { version }", null],
  // Directives.
  ["{ me @| }", "@include @skip"],
  ["{ me @in| }", "@include"],
  ["{ me @include(|) }", "if"],
  ["query($yes: Boolean!) { me @skip(if: |) { id } }", "$yes true false"],
  ["{ ...F @s| }", "@skip"],
  ["{ ... @i| }", "@include"],
  ["query Q @| { version }", ""],
  // Fragments.
  ["{ ...| }", "on"],
  ["{ ...| } fragment F on Query { version } fragment G on User { id }", "on F"],
  ["{ me { ...| } } fragment F on Query { version } fragment G on User { id } fragment H on Node { id }", "on G H"],
  ["{ me { ... | } } fragment G on User { id }", "on G"],
  ["{ me { ... o| } }", "on"],
  ["{ found(text: \"\") { ... on | } }", "User Group Found Node"],
  ["{ node(id: 1) { ... on | { id } } }", "Node User Group Found"],
  ["{ me { ... on Us| { id } } }", "User"],
  ["{ found(text: \"\") { ... on Group { | } } }", "id title members __typename ..."],
  ["{ node(id: 1) { ... { | } } }", "id __typename ..."],
  ["fragment F on | { id }", "Query Node User Group Note Found Mutation Subscription __Schema __Type __Field __InputValue __EnumValue __Directive"],
  ["fragment F on Gr| { id }", "Group"],
  ["fragment F on Group { | }", "id title members __typename ..."],
  // Nothing is completed here.
  ["{ me # |\n }", null],
  ["{ me # na|me { id }\n }", null],
  ["{ users(after: \"na|\") }", null],
  ["{ users(after: \"na| ", null],
  ["{ users(after: \"a\\\"b|\") }", null],
  ["{ users(after: \"\"\"\n block | \n\"\"\") }", null],
  ["{ users(after: \"\"\" { | ", null],
  ["{ users(first: 1|) }", null],
  // Brackets in comments and strings are text.
  ["# { users(\n{ ve| }", "version"],
  ["{ users(after: \"} { \\\" )\") { na| } }", "name"],
  ["{ users(after: \"\"\" } \" \\\"\"\" ) \"\"\") { na| } }", "name"],
  ["{ users(after: \"never closed\n first: 1) { na| } }", "name"],
  ["\"\"\"A description, which has & | and { in it.\"\"\" { ve| }".replace("& |", "&"), "version"],
];
for (const [marked, wanted] of CASES) {
  const found = offered(marked)?.map(({ name }) => name);
  if (wanted === INPUTS || (wanted || "").startsWith("Query Node")) {
    // The order of types is that of the schema; here it does not matter.
    const types = found.filter((name) => wanted !== INPUTS || !name.startsWith("__"));
    assert.deepEqual(types.toSorted(), wanted.split(" ").toSorted(), marked);
  } else if (/on \| /.test(marked)) {
    assert.deepEqual(found.toSorted(), wanted.split(" ").toSorted(), marked);
  } else {
    assert.deepEqual(found?.join(" ") ?? null, wanted, marked);
  }
}

// What an option inserts, and where the cursor is then.
const INSERTS = [
  ["{ me| }", "me", "me { | }"],
  ["{\n  me|\n}", "me", "me {\n    |\n  }"],
  ["{ no| }", "node", "node(id: |)"],
  ["{ fo| }", "found", "found(text: |)"],
  ["{ us|(first: 1) { id } }", "users", "users|"],
  ["{ us| { id } }", "users", "users|"],
  ["{ users(fi|) }", "first", "first: |"],
  ["{ users(fi|: 3) }", "first", "first|"],
  ["{ users(filter: |) }", "{ }", "{ | }"],
  ["{ users(order: |) }", "[ ]", "[|]"],
  ["{ me @| }", "@include", "@include(if: |)"],
  ["qu|", "query", "query |"],
  ["{ ... o| }", "on", "on |"],
];
for (const [marked, name, wanted] of INSERTS) {
  const found = offered(marked).find((option) => option.name === name);
  const caret = found.caret ?? found.insert.length;
  assert.equal(`${found.insert.slice(0, caret)}|${found.insert.slice(caret)}`, wanted, marked);
}
const [user] = offered("fragment F on Us|");
assert.deepEqual([user.type, user.note], ["object", "Somebody."]);
assert.equal(offered("{ me { ni| } }")[0].isDeprecated, true);

// What is wrong, in words.
const FAULTS = [
  ["{ me { id nam } }", ["User has no field nam"]],
  ["{ users(limit: 1) { id } }", ["users has no argument limit"]],
  ["{ users(filter: {rol: ADMIN}) { id } }", ["UserFilter has no field rol"]],
  ["{ users(filter: {role: BOSS}) { id } }", ["Role has no value BOSS"]],
  ["{ users(first: $n) { id } }", ["not declared: $n"]],
  ["{ me { ...F } }", ["no fragment F"]],
  ["{ me { ... on Usr { id } } }", ["no type Usr"]],
  ["query($a: User) { version }", ["not possible here: type User"]],
  ["{ me @skp(if: true) { id } }", ["no directive @skp"]],
  ["{ me { name: id nick, __typename } __schema { types { name } } }", []],
  ["{ nothing { id } }", ["Query has no field nothing"]],
  ["{ me { id % } }", ["not expected: %"]],
  ["{ found(text: \"a) { __typename } }", ["no end of \"a) { __typename } }"]],
];
for (const [text, wanted] of FAULTS) assert.deepEqual(read(text, schema).faults.map(({ why }) => why), wanted, text);
assert.deepEqual(read("{ nothing(at: all) }").faults, [], "without a schema nothing is wrong");

// What each token is.
const marks = (text) => read(text, schema).tokens.map(({ text: part, mark }) => `${part}:${mark}`).join(" ");
assert.equal(marks("query Q($a: Role = ADMIN) { x: users(first: -1.5e+3, after: \"s\") @skip(if: $a) { ...F ... on User { id } } } # c"), [
  "query:keyword Q:title (:punct $a:variable ::punct Role:type =:punct ADMIN:constant ):punct {:punct x:alias ::punct users:field",
  "(:punct first:argument ::punct -1.5e+3:number after:argument ::punct \"s\":string ):punct @skip:directive (:punct if:argument",
  "::punct $a:variable ):punct {:punct ...:punct F:title ...:punct on:keyword User:type {:punct id:field }:punct }:punct }:punct",
  "# c:comment",
].join(" "));
assert.deepEqual(jsonTokens("{\"a\": [1, \"b\\\"\", true, no]}").map(({ mark }) => mark).join(" "),
  "punct field punct punct number punct string punct constant punct wrong punct punct");

// The tokens of the dashboard's documents are those of the reference implementation, and nothing in them is wrong; no beginning of
// a document, and no document with a character lost, stops the reading, or loses a character of the text.
const documents = Object.values(await import(`${web}app/queries.js`)).filter((text) => typeof text === "string");
const tricky = "query A($a:[Int!]!=[1,2],$b:T){a:b(c:{d:[{e:\"\\\\\"},{e:\"\"\"x \\\"\"\" y\"\"\"}]})@e(f:null)...on G@h{i}...J} fragment J on K{l}";
let cuts = 0;
for (const text of [...documents, tricky]) {
  parse(text);
  const lexer = new Lexer(new Source(text));
  const theirs = [];
  for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance()) theirs.push(token);
  const ours = tokens(text).filter(({ kind }) => kind !== "comment");
  // A variable and a directive are one token here.
  const merged = theirs.filter((token) => !["$", "@"].includes(token.prev?.kind) || token.prev.end !== token.start).map(({ start }) => start);
  assert.deepEqual(ours.map(({ from }) => from), merged, text);
  if (text !== tricky) assert.deepEqual(read(text, own).faults.map(({ why }) => why), [], text);
  for (let at = 0; at < text.length; at += 3) {
    for (const broken of [text.slice(0, at), text.slice(0, at) + text.slice(at + 1)]) {
      const { tokens: all, context } = read(broken, own, at);
      const between = all.map(({ from }, place) => broken.slice(place ? all[place - 1].to : 0, from)).join("") + broken.slice(all.at(-1)?.to ?? 0);
      assert.match(between, /^[\s,]*$/, broken);
      if (context) options(context, own, broken);
      cuts += 1;
    }
  }
}

// Foreign text is inert: what a reader would not see, or what would move other text, is shown by number.
const hostile = "a\u202Eb\u0007\u200B\u{E0041}<img src=x onerror=window.forged=1>";
assert.equal(visible(hostile), "a\\u202eb\\u0007\\u200b\\udb40\\udc41<img src=x onerror=window.forged=1>");

// A document of 50 kB is read while a key is pressed.
let large = "";
for (let number = 0; large.length < 50_000; number += 1) large += `${documents[number % documents.length]}\n`;
const took = [];
for (let round = 0; round < 40; round += 1) {
  const began = performance.now();
  read(large, own, large.length - 10);
  took.push(performance.now() - began);
}
took.sort((a, b) => a - b);
console.log(`${CASES.length + INSERTS.length + FAULTS.length} documents as expected, ${cuts} broken ones; 50 kB read in ${took[20].toFixed(1)} ms (median)`);
