//! Links the modules of the dashboard into one script. In one piece they pack better by a fifth than file by file, a browser asks
//! once instead of 25 times, and nothing has to be built.
//!
//! Each module becomes a function that returns what it exports, behind the modules that it imports. Comments, types within them
//! and the indentation are left out: they are for readers of `web/app/`. What lives elsewhere: the files (`assets.rs`).
//! Invariant: modules import each other in the forms that are read here, and never in a circle.

use std::fmt::Write as _;

/// A module: its name, and its text.
pub(super) type Module = (&'static str, &'static str);

/// Links a module with all that it imports. `packages` are the modules that are imported by the name of a package.
pub(super) fn link(main: &str, modules: &[Module], packages: &[Module]) -> String {
    let mut linking = Linking { modules, packages, entered: Vec::new(), script: String::new() };
    linking.enter(main);
    linking.script
}

struct Linking<'a> {
    modules: &'a [Module],
    packages: &'a [Module],
    /// The modules that are in the script, or will be once those that they import are.
    entered: Vec<&'a str>,
    script: String,
}

impl<'a> Linking<'a> {
    /// Adds a module to the script, unless it is there; returns the variable that has what it exports.
    fn enter(&mut self, source: &str) -> String {
        let package = self.packages.iter().find(|(package, _)| *package == source).map(|(_, file)| *file);
        let name = package.unwrap_or_else(|| source.trim_start_matches("./"));
        let variable = format!("${}", name.trim_end_matches(".js").replace('-', "_"));
        let Some(&(name, text)) = self.modules.iter().find(|(known, _)| *known == name) else {
            return variable;
        };
        if self.entered.contains(&name) {
            return variable;
        }
        self.entered.push(name);
        let (body, exports) = self.translate(text);
        let exports = exports.join(", ");
        // Writing to a string cannot fail.
        let _ =
            writeln!(self.script, "const {variable} = (() => {{\n{body}\nreturn {{ {exports} }};\n}})();");
        variable
    }

    /// Translates the imports and exports of a module; returns the rest of it, and what it exports.
    fn translate(&mut self, text: &str) -> (String, Vec<String>) {
        let (mut body, mut exports) = (String::new(), Vec::new());
        let mut rest = text;
        while let Some(at) = next_statement(rest) {
            let (before, statement) = rest.split_at(at);
            body.push_str(before);
            rest = match statement.strip_prefix("import") {
                Some(import) => self.import(import.trim_start(), &mut body),
                None => {
                    let export = statement.trim_start_matches("export").trim_start();
                    self.export(export, &mut body, &mut exports)
                }
            };
        }
        body.push_str(rest);
        let lines = body.lines().map(str::trim).filter(|line| !is_comment(line));
        (lines.map(without_types).collect::<Vec<String>>().join("\n"), exports)
    }

    /// `{ a, b as c } from "x";`, `* as all from "x";` or `whole from "x";`: variables of the same names.
    fn import<'t>(&mut self, import: &'t str, body: &mut String) -> &'t str {
        // The quotes come last: a name may have `from` in it.
        let Some((names, source)) = import.split_once('"') else { return import };
        let Some((source, rest)) = unquoted(source) else { return import };
        let module = self.enter(source);
        let names = names.trim_end().trim_end_matches("from").trim_end();
        let _ = match names.strip_prefix("* as ") {
            Some(all) => write!(body, "const {all} = {module};"),
            None if names.starts_with('{') => {
                write!(body, "const {} = {module};", names.replace(" as ", ": "))
            }
            None => write!(body, "const {names} = {module}.default;"),
        };
        rest
    }

    /// `{ a, b as c };`, the same `from "x";`, `default …`, or a declaration with its name.
    fn export<'t>(&mut self, export: &'t str, body: &mut String, exports: &mut Vec<String>) -> &'t str {
        if let Some((names, rest)) = export.strip_prefix('{').and_then(|list| list.split_once('}')) {
            let source = rest.trim_start().strip_prefix("from").map(str::trim_start);
            let source = source.and_then(|source| unquoted(source.strip_prefix('"')?));
            let within = source.map_or_else(String::new, |(source, _)| format!("{}.", self.enter(source)));
            for name in names.split(',').map(str::trim) {
                let (own, name) = name.split_once(" as ").unwrap_or((name, name));
                exports.push(format!("{name}: {within}{own}"));
            }
            return source.map_or_else(|| rest.trim_start_matches(';'), |(_, rest)| rest);
        }
        if let Some(whole) = export.strip_prefix("default ") {
            exports.push("default: $default".to_owned());
            body.push_str("const $default = ");
            return whole;
        }
        let name = DECLARED.iter().find_map(|kind| export.strip_prefix(kind));
        let name = name.map(|rest| rest.split(|it: char| !it.is_ascii_alphanumeric() && it != '_'));
        exports.extend(name.and_then(|mut parts| parts.next()).map(str::to_owned));
        export
    }
}

/// The kinds of declarations that are exported.
const DECLARED: [&str; 4] = ["const ", "async function ", "function ", "class "];

/// Finds where the next import or export begins: at the start of a line, or, where lines were joined, behind another statement.
fn next_statement(text: &str) -> Option<usize> {
    text.match_indices("port").find_map(|(at, _)| {
        let start = at.checked_sub("im".len())?;
        let (before, statement) = text.split_at_checked(start)?;
        let behind = statement.strip_prefix("import").or_else(|| statement.strip_prefix("export"))?;
        let is_first = before.is_empty() || before.ends_with('\n') && behind.starts_with(' ');
        let is_joined =
            before.ends_with([';', '}']) && (behind.starts_with('{') || behind.starts_with(" default "));
        (is_first || is_joined).then_some(start)
    })
}

/// The text up to the closing quotes, and what is behind the end of the statement.
fn unquoted(text: &str) -> Option<(&str, &str)> {
    let (source, rest) = text.split_once('"')?;
    Some((source, rest.strip_prefix(';').unwrap_or(rest)))
}

fn is_comment(line: &str) -> bool {
    line.is_empty() || line.starts_with("//") || line.starts_with("/**") && line.ends_with("*/")
}

/// A line without the types that stand in comments within it.
fn without_types(line: &str) -> String {
    let (mut text, mut rest) = (String::new(), line);
    while let Some((before, (_, behind))) =
        rest.split_once("/** @type").and_then(|(before, typed)| Some((before, typed.split_once("*/")?)))
    {
        text.push_str(before);
        rest = behind.trim_start();
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_of_import_and_export_is_linked() {
        let main = "// What it is.\n\
            import { a, b as c, fromIt } from \"./one.js\";\n\
            import * as all from \"./one.js\";\n\n  all.a(c);\n";
        let one = "import two from \"two\";\nexport const a = /** @type {any} */ (two);\n\
            export async function b() {}\nexport { d as e } from \"three\";\n";
        let three =
            "import{x as y}from\"two\";const d=y;export{d,y as z};\n//# sourceMappingURL=three.js.map";
        let modules: &[Module] = &[
            ("main.js", main),
            ("one.js", one),
            ("two.js", "export default function(){}"),
            ("three.js", three),
        ];
        let packages: &[Module] = &[("two", "two.js"), ("three", "three.js")];
        let expected = "const $two = (() => {\nconst $default = function(){}\nreturn { default: $default };\n})();\n\
            const $three = (() => {\nconst {x: y} = $two;const d=y;\nreturn { d: d, z: y };\n})();\n\
            const $one = (() => {\nconst two = $two.default;\nconst a = (two);\nasync function b() {}\n\
            return { a, b, e: $three.d };\n})();\n\
            const $main = (() => {\nconst { a, b: c, fromIt } = $one;\nconst all = $one;\nall.a(c);\nreturn {  };\n})();\n";
        assert_eq!(link("main.js", modules, packages), expected);
    }
}
