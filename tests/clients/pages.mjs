// Builds the dashboard's script and style as they are served, into `web/built/`. That folder is committed, so that `cargo build`
// needs no node. htm's plugin compiles the templates, esbuild bundles the modules and drops what is not used, and terser
// shortens names and syntax. Names of properties stay: the graph's names are among them.
// Run: npm install && node pages.mjs, or `just pages`. With --check it writes nothing, and fails if a committed file differs.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fs from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import babel from "@babel/core";
import templates from "babel-plugin-htm";
import * as esbuild from "esbuild";
import { minify } from "terser";

const web = fileURLToPath(new URL("../../web/", import.meta.url));
const read = (name) => fs.readFileSync(`${web}${name}`, "utf8");
const list = (folder) => fs.readdirSync(`${web}${folder}`).sort().map((name) => `${folder}/${name}`);
const sha256 = (text) => createHash("sha256").update(text).digest("hex");

/** The most bytes that the page and all that it loads have by gzip. A page that grows past it has to say why. */
export const BUDGET = 45_000;
/** What a browser loads for the first page: names below `/app/`, and the page itself. */
export const LOADED = ["index.html", "icon.svg", "app.css", "main.js"];
/** How terser compresses: what is inlined at each place, or turned around, repeats less, and gzip finds less of it. */
const REPEATED = { passes: 2, inline: 1, reduce_funcs: false, keep_fargs: false, lhs_constants: false };
/** Sizes of texts together, as a proxy or a browser's tool would count them. */
export const packed = (texts) => texts.reduce((sum, text) => sum + gzipSync(text, { level: 9 }).length, 0);

/** Builds each file of `web/built/`; returns their texts by name. */
export async function build() {
  const vendored = read("vendor/LOCK").split("\n").filter((line) => line && !line.startsWith("#")).map((line) => {
    const [file, source, version, path, licence] = line.split(" ");
    return { file, source, version, path, licence };
  });
  const { script, sources } = await bundle();
  for (const name of list("app").filter((one) => one.endsWith(".js"))) assert.ok(name in sources, `nothing imports ${name}`);
  const used = vendored.filter(({ file }) => sources[`vendor/${file}`]?.bytesInOutput);
  // One licence covers the packages of one repository, whose names begin alike: @preact/signals and @preact/signals-core.
  const licences = vendored.filter(({ file, source }) => file.endsWith(".LICENSE") && used.some((one) => one.source.startsWith(source)));
  const named = licences.map(({ source, version, licence }) => `${source} ${version} (${licence})`);
  const files = {
    "app.css": (await esbuild.build({ entryPoints: [`${web}app/app.css`], minify: true, charset: "utf8", write: false })).outputFiles[0].text,
    "licences.txt": licences.map(({ file }, at) => `${named[at]}\n\n${read(`vendor/${file}`).trim()}\n`).join("\n\n"),
    "main.js": `/*! With ${named.join(" and ")}: see licences.txt */\n${script}\n`,
  };
  return { ...files, LOCK: lock(files) };
}

async function bundle() {
  const alias = { preact: "preact", "preact/hooks": "hooks", "@preact/signals": "signals", "@preact/signals-core": "signals-core", htm: "htm" };
  const built = await esbuild.build({
    entryPoints: [`${web}app/main.js`], bundle: true, format: "esm", target: "es2024", charset: "utf8", legalComments: "inline", write: false, metafile: true,
    absWorkingDir: web, minifySyntax: true, plugins: [{ name: "sources", setup }],
    alias: Object.fromEntries(Object.entries(alias).map(([name, file]) => [name, `${web}vendor/${file}.js`])),
  });
  const { code } = await minify(built.outputFiles[0].text, { module: true, ecma: 2020, compress: REPEATED });
  return { script: code, sources: Object.values(built.metafile.outputs)[0].inputs };
}

/** What the vendored signals have and no page uses: a signal in place of a text, or of an attribute's value. Each part goes from
 * a text to before another one. */
const CUTS = [
  ['w.displayName="ReactiveTextNode"', 'b("__b"'], ['if("string"==typeof n.type){var r,t=n.props', 'i(n)});b("__r"'],
  ['var r;if("string"==typeof n.type&&(r=n.__e))', 'i(n)});function k('],
  ['if("string"==typeof n.type){var r=n.__e', "{var c=n.__c"],
];
function cut({ path }) {
  let text = fs.readFileSync(path, "utf8");
  for (const [from, to] of CUTS) {
    const begin = text.indexOf(from);
    const end = text.indexOf(to, begin);
    assert.ok(begin > 0 && end > begin, `${path} has changed: no ${from}`);
    text = text.slice(0, begin) + text.slice(end);
  }
  return { contents: text };
}

function setup(built) {
  built.onLoad({ filter: /\/web\/app\/.*\.js$/ }, compiled);
  built.onLoad({ filter: /\/vendor\/signals\.js$/ }, cut);
}

/** A module whose templates are calls, so that a browser need not read them. */
async function compiled({ path }) {
  const plugin = [templates.default ?? templates, { tag: "html", pragma: "h", import: { module: "preact", export: "h" }, useNativeSpread: true }];
  const { code } = await babel.transformAsync(fs.readFileSync(path, "utf8"), { babelrc: false, configFile: false, compact: false, plugins: [plugin] });
  return { contents: code };
}

/** The hashes by which `cargo test` sees that the sources have changed since, without node. */
function lock(files) {
  const texts = [...["app", "vendor"].flatMap(list).map((name) => [name, read(name)]), ...Object.entries(files).map(([name, text]) => [`built/${name}`, text])];
  const head = "# What web/built/ was made from, and what came of it: file, SHA-256. Written by `just pages`; a test recomputes it.\n";
  return head + texts.sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, text]) => `${name} ${sha256(text)}\n`).join("");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = await build();
  const size = packed(LOADED.map((name) => files[name] ?? read(`app/${name}`)));
  console.log(`the page and what it loads: ${size} B by gzip, of ${BUDGET}`);
  assert.ok(size <= BUDGET, "the pages are too large");
  if (process.argv.includes("--check")) {
    const there = list("built").map((name) => name.slice("built/".length));
    assert.deepEqual(there, Object.keys(files).sort(), "other files are in web/built: `just pages` writes them");
    for (const name of there) assert.ok(read(`built/${name}`) === files[name], `web/built/${name} is not what the sources make: run \`just pages\``);
  } else {
    fs.rmSync(`${web}built`, { recursive: true, force: true });
    fs.mkdirSync(`${web}built`);
    for (const [name, text] of Object.entries(files)) fs.writeFileSync(`${web}built/${name}`, text);
  }
}
