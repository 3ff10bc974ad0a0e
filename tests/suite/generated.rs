//! Documents that are generated from the code. `UPDATE=1 cargo test --test suite generated` writes them; otherwise a
//! difference fails.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use reveille::app::schema;
use reveille::domain::{Code, DecisionKind, Phase, Reason, Status};
use reveille::graph::export;
use reveille::limits::{self, Budget};
use reveille::service::registry;
use reveille::surface::cli::SchemaKind;
use reveille::surface::http::ErrorCode;

#[test]
fn limits_page_is_current() {
    let mut page = String::from(
        "# Limits\n\nGenerated from `src/limits/`. A refusal gives the bound's value and, in most cases, its name.\n\n",
    );
    page += "| limit | value | unit | what it protects |\n|---|---|---|---|\n";
    for limit in limits::ALL {
        let doc = limit.doc.trim();
        writeln!(page, "| `{}` | {} | {} | {doc} |", limit.name, limit.value, limit.unit)
            .expect("a string grows");
    }
    page += "\n## Budgets\n\nGenerated from `src/limits/budgets.rs`. A session, with those that come from it, reads its own in \
             `:reveille.session/budgets`; operators read what all use in `:reveille.engine/budgets`, and in the metrics \
             `reveille_budget_used` and `reveille_budget_limit`.\n\n\
             | budget | what is counted | of a session | of all | operators' part of it |\n|---|---|---|---|---|\n";
    for budget in Budget::ALL {
        let limit = |limit: Option<limits::Limit>| {
            limit.map_or_else(String::new, |limit| {
                format!("{} {} (`{}`)", limit.value, limit.unit, limit.name)
            })
        };
        let bounds = [budget.of_session(), budget.of_all(), budget.reserve()].map(limit).join(" | ");
        writeln!(page, "| `{}` | {} | {bounds} |", budget.name(), budget.doc().trim())
            .expect("a string grows");
    }
    check("docs/LIMITS.md", &page);
}

#[test]
fn reasons_page_is_current() {
    let mut page =
        String::from("# Reasons, kinds and codes\n\nGenerated from `src/domain/`. Every list is closed.\n");
    let mut section = |title: &str, about: &str, rows: Vec<(&str, &str)>| {
        write!(page, "\n## {title}\n\n{about}\n\n| name | meaning |\n|---|---|\n").expect("a string grows");
        for (name, doc) in rows {
            writeln!(page, "| `{name}` | {doc} |").expect("a string grows");
        }
    };
    let rows = Reason::ALL.iter().map(|reason| (reason.name(), reason.doc())).collect();
    section("Reasons", "Why something waits, was called off or failed.", rows);
    let rows = DecisionKind::ALL.iter().map(|kind| (kind.name(), kind.doc())).collect();
    section("Kinds of decision", "What the feed shows.", rows);
    let rows = Status::ALL.iter().map(|status| (status.name(), status.doc())).collect();
    section("Statuses", "Where a schedule stands. psi shows `in-flight` as `pending`.", rows);
    let rows = Phase::ALL.iter().map(|phase| (phase.name(), phase.doc())).collect();
    section("Phases", "How far a delivery had come.", rows);
    let rows = Code::ALL.iter().map(|code| (code.name(), code.doc())).collect();
    section("Codes of refusals", "The class of what the engine refuses.", rows);
    let rows = ErrorCode::ALL.iter().map(|code| (code.name(), code.doc())).collect();
    section("Codes of HTTP", "The class of what HTTP refuses before or instead of a tool.", rows);
    check("docs/REASONS.md", &page);
}

#[test]
fn schemas_are_current() {
    check("schema/reveille.graphql", &schema::text(SchemaKind::Graphql));
    check("schema/attributes.edn", &schema::text(SchemaKind::Attributes));
    check("schema/tools.json", &schema::text(SchemaKind::Tools));
    check("schema/errors.edn", &schema::text(SchemaKind::Errors));
    check("docs/ATTRIBUTES.md", &export::attributes_markdown(&*registry()));
}

#[track_caller]
#[expect(clippy::disallowed_methods, reason = "UPDATE=1 is how a person asks for the files to be written")]
pub(crate) fn check(path: &str, expected: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var("UPDATE").is_ok() {
        fs::write(&file, expected).expect("the page can be written");
    }
    let found = fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(found, expected, "{path} is out of date: UPDATE=1 cargo test --test suite generated");
}
