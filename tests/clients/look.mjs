// A reader without eyes looks at the dashboard: one browser that stays, commands in, and after each the page as it can be read.
// What can be clicked stands in brackets, [a link] and <a button>. It knows nothing else of the daemon: only the pages answer.
// Run: node look.mjs BINARY DATA-DIR [--port N] [--read-only] [--questions FILE] [--pictures DIR] [--log FILE] [--zone ZONE]
// or with an address that logs in, in place of the first two. Commands are lines on the standard input, or posts to the port:
//   open, back, read               the first page, the one before, and this one again
//   click NAME, click N NAME       a link, a button or anything else that is called so; the Nth of them
//   type LABEL = TEXT, choose LABEL = OPTION, key KEYS, scroll PIXELS
//   hover NAME, titles             what a pointer shows there, and everywhere on this page
//   find WORD, picture NAME        only the lines with a word; a picture into a file
//   questions, ask NUMBER, done ANSWER   all of them; begins to count for one; what it took, as a line of the log
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import readline from "node:readline";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";

const BLOCKS = /^(P|DIV|SECTION|ARTICLE|HEADER|NAV|MAIN|LI|UL|OL|DL|H1|H2|H3|TR|TABLE|PRE|FORM|DIALOG|DETAILS|THEAD|TBODY)$/;
const squeeze = (text) => text.replaceAll(/\s+/g, " ");
/** What somebody sees of a page, in lines: `[link]`, `<button>`, `{field: value}`, `(title: what a pointer shows)`. */
const READ = (hasTitles = false) => `(() => {
  const hasTitles = ${hasTitles};
  const BLOCKS = ${BLOCKS};
  const squeeze = ${squeeze};
  ${[isSeen, field, picture, titled, control, text, read].join("\n")}
  return read();
})()`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    port: { type: "string" }, "read-only": { type: "boolean" }, questions: { type: "string" }, log: { type: "string" },
    pictures: { type: "string", default: "." }, zone: { type: "string", default: "Europe/Berlin" },
  },
});
const [where, data] = positionals;
const login = () => {
  if (where.startsWith("http")) return where;
  const flags = values["read-only"] ? ["--read-only"] : [];
  return execFileSync(where, ["dashboard", "--print", "--data-dir", data, ...flags], { encoding: "utf8" }).trim();
};
const asked = values.questions ? JSON.parse(fs.readFileSync(values.questions, "utf8")) : { questions: [], spare: [] };

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => browser.close().finally(() => process.exit(0)));
const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, timezoneId: values.zone, locale: "en-GB" });
const page = await context.newPage();
const troubles = [];
page.on("pageerror", (error) => troubles.push(error.message));

/** What has been done for the question that is open, or for none. */
let tally = null;
const fresh = (number) => ({ number, began: Date.now(), clicks: 0, typed: 0, keys: 0, moves: 0, steps: [], machineMs: 0 });

async function settle() {
  await page.waitForTimeout(180);
  const isDone = () => document.querySelector("h1") && !document.querySelector("[aria-busy]");
  await page.waitForFunction(isDone, null, { timeout: 15_000 }).catch(() => troubles.push("the page was not done in 15 s"));
  await page.waitForTimeout(220);
}

/** What has that name, or says that: links and buttons first, then anything that can be seen; the exact before the inexact. */
async function found(name, place = 1) {
  for (const exact of [true, false]) {
    for (const role of ["link", "button", "checkbox", "option"]) {
      const all = await visible(page.getByRole(role, { name, exact }));
      if (all.length) return pick(all, place, `${role} ${name}`);
    }
    const all = [...await visible(page.getByText(name, { exact })), ...await visible(page.getByTitle(name, { exact }))];
    if (all.length) return pick(all, place, name);
  }
  // Marks of a picture, which a pointer tells about.
  const marks = await page.locator("svg [data-at]").filter({ hasText: name }).all();
  if (marks.length) return pick(marks, place, name);
  throw new Error(`nothing here is called ${JSON.stringify(name)}`);
}
async function visible(locator) {
  const all = [];
  for (const one of (await locator.all()).slice(0, 60)) if (await one.isVisible()) all.push(one);
  return all;
}
function pick(all, place, name) {
  if (!all[place - 1]) throw new Error(`there are only ${all.length} of ${name}`);
  return { one: all[place - 1], note: all.length > 1 ? `(${all.length} are called ${name}; this is number ${place})\n` : "" };
}
const numbered = (rest) => {
  const parts = /^(\d+) (.+)$/.exec(rest);
  return parts ? [parts[2], Number(parts[1])] : [rest, 1];
};
const pair = (rest) => {
  const at = rest.indexOf("=");
  if (at < 0) throw new Error("say LABEL = TEXT");
  return [rest.slice(0, at).trim(), rest.slice(at + 1).trim()];
};

const COMMANDS = {
  open: async () => { await page.goto(login()); },
  click: async (rest) => {
    const { one, note } = await found(...numbered(rest));
    count("clicks");
    await one.click({ timeout: 3_000 });
    return note;
  },
  hover: async (rest) => {
    const { one, note } = await found(...numbered(rest));
    count("moves");
    await one.hover({ timeout: 3_000 });
    const title = await one.evaluate((element) => element.closest("[title]")?.getAttribute("title")
      ?? element.querySelector("[title]")?.getAttribute("title") ?? element.querySelector("title")?.textContent);
    return `${note}(a pointer there shows: ${title ?? "nothing more"})\n`;
  },
  type: async (rest) => {
    const [label, text] = pair(rest);
    const box = page.getByLabel(label).or(page.getByPlaceholder(label)).first();
    count("typed");
    await box.fill(text);
    await box.press("Enter");
    await box.dispatchEvent("change");
  },
  choose: async (rest) => {
    const [label, option] = pair(rest);
    count("clicks");
    await page.getByLabel(label).first().selectOption({ label: option });
  },
  key: async (rest) => {
    for (const one of rest.split(" ")) {
      count("keys");
      await page.keyboard.press(one);
    }
  },
  scroll: async (rest) => {
    count("moves");
    const down = (by) => { (document.querySelector(".virtual") ?? document.scrollingElement).scrollTop += by; };
    await page.evaluate(down, Number(rest));
  },
  back: async () => {
    count("clicks");
    await page.goBack();
  },
  read: async () => {},
};
function count(what) {
  if (tally) tally[what] += 1;
}

const QUIET = {
  titles: async () => {
    count("moves");
    return page.evaluate(READ(true));
  },
  find: async (rest) => {
    const lines = (await page.evaluate(READ())).split("\n").filter((line) => line.toLowerCase().includes(rest.toLowerCase()));
    return lines.join("\n") || "no line of this page has that";
  },
  picture: async (rest) => {
    const file = path.join(values.pictures, `${rest.replaceAll(/\W+/g, "-") || "page"}.png`);
    await page.screenshot({ path: file });
    return file;
  },
  questions: async () => [...asked.questions, ...asked.spare].map((one) => `${one.number}. ${one.question}`).join("\n"),
  ask: async (rest) => {
    tally = fresh(Number(rest));
    return [...asked.questions, ...asked.spare].find((one) => one.number === tally.number)?.question ?? "begun";
  },
  done: async (rest) => {
    if (!tally) return "no question is open: ask NUMBER";
    const { began, ...counted } = tally;
    tally = null;
    const line = JSON.stringify({ ...counted, seconds: Math.round((Date.now() - began) / 100) / 10, answer: rest });
    if (values.log) fs.appendFileSync(values.log, `${line}\n`);
    return line;
  },
};

async function obey(line) {
  const [, name, rest] = /^\s*(\w*)\s*([^]*?)\s*$/.exec(line);
  if (QUIET[name]) return QUIET[name](rest);
  if (!COMMANDS[name]) return `commands: ${[...Object.keys(COMMANDS), ...Object.keys(QUIET)].join(", ")}`;
  const began = performance.now();
  tally?.steps.push(line.trim());
  let note = "";
  try {
    note = (await COMMANDS[name](rest)) ?? "";
    await settle();
  } catch (error) {
    note = `NOT DONE: ${error.message.split("\n")[0]}\n`;
  }
  if (tally) tally.machineMs += Math.round(performance.now() - began);
  const wrong = troubles.splice(0).map((one) => `TROUBLE: ${one}\n`).join("");
  // The code in the address is used up by now, and is not shown.
  return `${note}${wrong}${new URL(page.url()).hash}\n${await page.evaluate(READ())}`;
}

let last = Promise.resolve();
const inOrder = (line) => (last = last.then(() => obey(line)).catch((error) => `NOT DONE: ${error.message}`));
if (values.port) {
  http.createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    response.end(`${await inOrder(String(Buffer.concat(parts)))}\n`);
  }).listen(Number(values.port), "127.0.0.1");
}
console.log(await inOrder("open"));
readline.createInterface({ input: process.stdin }).on("line", async (line) => console.log(await inOrder(line)))
  .on("close", async () => {
    // Without a port nobody else could ask.
    if (values.port) return;
    await last;
    await browser.close();
  });

// The page as it can be read. These functions run in the page, and see one another there only.


function isSeen(element) {
  const style = getComputedStyle(element);
  // `away` is what there is for readers of screens only.
  return !element.hidden && style.display !== "none" && style.visibility !== "hidden" && !element.classList.contains("away");
}

function field(element) {
  const label = element.getAttribute("aria-label")
    ?? [...element.labels?.[0]?.childNodes ?? []].filter((one) => !one.contains(element)).map((one) => one.textContent).join("");
  const name = squeeze(label).trim().slice(0, 80) || element.placeholder || "field";
  // The rows of a list can be selected; their names follow.
  if (/^Select /.test(name)) return element.checked ? "{selected}" : "{}";
  if (element.type === "checkbox") return `{${name}: ${element.checked ? "checked" : "not checked"}}`;
  const hint = element.placeholder ? `, for ${element.placeholder}` : "";
  if (element.tagName !== "SELECT") return `{${name}: ${element.value || "empty"}${hint}}`;
  const options = [...element.options].map((one) => one.textContent).join(", ");
  return `{${name}: ${element.selectedOptions[0]?.textContent} of ${options}}`;
}

/** A picture by what a pointer would show of its marks, row by row. */
function picture(svg) {
  const rows = new Map();
  for (const mark of svg.querySelectorAll("rect.cell, svg.mark")) {
    const said = mark.querySelector("title")?.textContent;
    const box = mark.getBoundingClientRect();
    const row = Math.floor((box.top + box.height / 2 - svg.getBoundingClientRect().top) / 26);
    if (said) rows.set(row, [...rows.get(row) ?? [], said]);
  }
  const words = [...svg.querySelectorAll("text")].map((one) => one.textContent);
  const names = [...svg.closest(".timeline")?.querySelectorAll(".rows .row") ?? []].map((one) => one.textContent.trim());
  const line = ([row, all]) => `  ${names[row] ?? `row ${row + 1}`}: ${all.join("; ")}`.slice(0, 1_500);
  const lines = [...rows].sort(([one], [two]) => one - two).map(line);
  return `\n(a picture; along it: ${words.join(", ")})\n${lines.join("\n")}\n`;
}

function titled(element, said) {
  const title = squeeze(element.getAttribute("title") ?? "");
  return hasTitles && title && title !== squeeze(said).trim() ? ` (title: ${title}) ` : "";
}

function control(element, said) {
  const more = titled(element, said);
  if (element.tagName === "A") return `[${said.trim()}]${element.getAttribute("aria-current") ? "*" : ""} ${more}`;
  const state = { true: ", pressed" }[element.getAttribute("aria-pressed")] ?? "";
  return `<${said.trim() || element.getAttribute("aria-label")}${state}${element.disabled ? ", disabled" : ""}> ${more}`;
}

function text(node) {
  if (node.nodeType === Node.TEXT_NODE) return squeeze(node.textContent);
  if (node.nodeType !== Node.ELEMENT_NODE || !isSeen(node)) return "";
  const tag = node.tagName.toUpperCase();
  if (tag === "SVG") return node.closest(".picture") ? picture(node) : "";
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(tag)) return field(node);
  if (/^(SCRIPT|STYLE|TITLE|NOSCRIPT)$/.test(tag) || node.classList.contains("rows")) return "";
  if (tag === "DETAILS" && !node.open) return `\n${text(node.querySelector("summary"))} (closed)\n`;
  if (tag === "LABEL" && node.control) return `${text(node.control)} `;
  if (tag === "PRE") return `\n"""${node.textContent}"""\n`;
  const said = [...node.childNodes].map(text).join("");
  if (tag === "A" || tag === "BUTTON") return control(node, said);
  if (tag === "SUMMARY") return `\n<${said.trim()}>`;
  if (/^(TD|TH)$/.test(tag)) return `${said.trim()} | `;
  if (tag === "DT") return `${said.trim()}: `;
  if (/^H[123]$/.test(tag)) return `\n${"#".repeat(Number(tag[1]))} ${said.trim()}\n`;
  if (tag === "LI" && node.closest("nav, .figures")) return said;
  if (tag === "LI") return `\n- ${said.trim()}`;
  return `${BLOCKS.test(tag) ? `\n${said}\n` : said}${titled(node, said)}`;
}

function read() {
  const dialog = document.querySelector("dialog[open]");
  const lines = text(dialog ?? document.body).split("\n").map((line) => line.replaceAll(/ +/g, " ").trim()).filter(Boolean);
  return (dialog ? ["(a dialog, above the page)", ...lines] : lines).join("\n");
}
