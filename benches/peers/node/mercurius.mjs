// mercurius on fastify: a hundred finished rows with four fields, answered with its compiled queries. It prints its port, and
// ends when its input does.

import Fastify from "fastify";
import mercurius from "mercurius";

const ROWS = 100;
const schema = `
  enum Kind { MESSAGE }
  enum Status { PENDING }
  type Row { scheduleId: ID! kind: Kind! status: Status! fireAt: String! }
  type Query { schedules: [Row!]! }
`;
const row = (number) => ({
  scheduleId: `sch-6f9619ff-8b86-4d01-b42d-${String(number).padStart(12, "0")}`,
  kind: "MESSAGE",
  status: "PENDING",
  fireAt: `2026-03-01T10:${String(number % 60).padStart(2, "0")}:00Z`,
});
const rows = Array.from({ length: ROWS }, (_, number) => row(number));

const app = Fastify();
app.register(mercurius, { schema, resolvers: { Query: { schedules: () => rows } }, jit: 1 });
await app.listen({ port: 0, host: "127.0.0.1" });
console.log(app.server.address().port);
process.stdin.on("end", () => process.exit(0)).resume();
