// What the Node peers share: sizes, delays and messages as `benches/table/workload.rs` has them, and how figures are printed.

export const quick = process.argv.includes("--quick");
export const measure = process.argv[2];

/** How long before something is due it is created. */
export const LEAD_MS = 2_000;
const HOUR_MS = 3_600_000;

/** The same delays in every run: from one hour to 24. */
export function farDelay(number) {
  return HOUR_MS + ((number * 7_919_777) % (23 * HOUR_MS));
}

/** A message of 64 bytes that begins with its number. */
export function message(number) {
  return String(number).padStart(10, "0") + ": look at the build that began an hour ago, and report";
}

/** Milliseconds on a clock that only goes forward. */
export const now = () => performance.now();

export function print(figures) {
  for (const [name, value] of Object.entries(figures)) {
    if (!Number.isFinite(value)) throw new Error(`${name} is ${value}`);
    console.log(`${name} ${value}`);
  }
}

/** Percentiles of latenesses in milliseconds; whoever is early is off by as much. */
export function lateness(late) {
  const off = late.map(Math.abs).sort((one, two) => one - two);
  const at = (permille) => off[Math.min(Math.floor((off.length * permille) / 1_000), off.length - 1)];
  return { "late-p50": at(500), "late-p99": at(990), early: late.filter((time) => time < 0).length };
}
