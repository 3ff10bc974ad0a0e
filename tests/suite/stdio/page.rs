//! `docs/HARNESS.md`: the conversation of a harness as it goes, in both notations.

use std::fmt::Write as _;

use reveille::dialect::Notation;
use reveille::edn::Value;

use super::json::{request, text};
use super::{Done, World, forms};
use crate::generated::check;
use crate::psi_rows::pattern::Bindings;

#[test]
fn generated_page_of_the_harness_is_current() {
    let mut worlds = [World::speaking(Notation::Json), World::new()];
    let (mut page, mut bindings) = (String::new(), Bindings::default());
    for row in forms(include_str!("../../../fixtures/stdio/harness.edn")) {
        let row = row.as_map().expect("a row is a map");
        let about = row.keyword("text").and_then(Value::as_str).expect("a row has a text");
        writeln!(page, "{about}").expect("a string grows");
        let Some(steps) = row.keyword("steps").and_then(Value::as_items) else { continue };
        let [json, edn] = &mut worlds;
        let before = edn.done.len();
        edn.play(steps, &mut bindings).expect("it goes as written");
        page += "| | JSON | EDN |\n|---|---|---|\n";
        for Done(verb, args, said) in &edn.done[before..] {
            let found = json.act(verb, args).expect("it goes in JSON as well");
            assert_eq!(text(&found), text(said), "{verb}");
            page += &rows(verb, args, said).expect("the page has words for it");
        }
        page.push('\n');
    }
    check("docs/HARNESS.md", &format!("{}\n", page.trim_end()));
}

/// What was said in one step, as rows of a table; `None` for a step that the page has no words for.
fn rows(verb: &str, args: &[Value], said: &Value) -> Option<String> {
    let line = |way: &str, json: String, edn: String| format!("| {way} | `{json}` | `{edn}` |\n");
    let heard = || line("←", text(said), said.to_string());
    Some(match verb {
        "ask" => {
            let asked = args.get(1)?;
            line("→", request(asked)?, asked.to_string()) + &heard()
        }
        "push" => heard(),
        "advance-ms" => "| | *time passes* | |\n".to_owned(),
        "connect" => "| | *the harness connects* | |\n".to_owned(),
        "hang-up" => "| | *its connection is lost* | |\n".to_owned(),
        _ => return None,
    })
}
