// Audits a server by the GraphQL over HTTP specification: every rule of graphql-http's `auditServer`.
// Run: npm install && npm run audit -- http://127.0.0.1:7517 [token]
import { auditServer } from "graphql-http";

const [base = "http://127.0.0.1:7517", token] = process.argv.slice(2);
const url = `${base}/graphql`;
const fetchFn = (address, init = {}) => {
  const headers = new Headers(init.headers);
  if (token) headers.set("authorization", `Bearer ${token}`);
  return fetch(address, { ...init, headers });
};
const results = await auditServer({ url, fetchFn });
const failed = results.filter((result) => result.status !== "ok");
for (const { status, id, name, reason } of failed) console.log(`${status} ${id} ${name}: ${reason}`);
console.log(`${results.length - failed.length} of ${results.length}`);
process.exit(failed.length > 0 ? 1 : 0);
