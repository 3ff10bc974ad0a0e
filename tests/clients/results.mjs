// What the programs with real agents have seen: printed, and where AGENTS_RESULTS names a file, a line of JSON at its end, from which
// matrix.mjs makes a table.
import { appendFileSync } from "node:fs";

export function note(agent, door, cell, said = cell) {
  console.log(`${agent}: ${said}`);
  const file = process.env.AGENTS_RESULTS;
  if (file) appendFileSync(file, `${JSON.stringify({ agent, door, cell })}\n`);
}
