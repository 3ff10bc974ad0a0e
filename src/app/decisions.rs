//! `reveille log`: the latest decisions of a daemon, as text, EDN or JSON.

use std::fmt::Write as _;
use std::io;
use std::process::ExitCode;

use super::client::question::{ask, check_named, query};
use super::client::typed_id;
use super::forecast_explain::print;
use super::foreign_text::{shown, visible};
use crate::domain::{Moment, SessionId};
use crate::edn::{Map, Value};
use crate::surface::cli::LogArgs;

pub(super) fn log(args: &LogArgs) -> io::Result<ExitCode> {
    let kind = args.kind.as_deref().map(Value::keyword);
    let text = |given: &Option<String>| given.as_deref().map(Value::string);
    let typed = args.schedule.as_deref();
    let meant = typed.map(|it| typed_id::schedule(&args.caller.daemon, args.caller.session.as_ref(), it));
    let schedule = match meant.transpose() {
        Ok(schedule) => schedule,
        Err(fault) => return Ok(fault.tell()),
    };
    let given = [
        ("by", text(&args.by)),
        ("kind", kind),
        ("schedule-id", text(&schedule)),
        ("session-id", text(&args.about)),
        ("last", Some(Value::Int(args.last.into()))),
    ];
    let params = given.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let params = params.fold(Map::new(), |params, (name, value)| params.with(name, value));
    let query = query("reveille.engine/decisions", params, SHAPE);
    let answer = match ask(&args.caller.daemon, args.caller.session.as_ref(), &query) {
        Ok(answer) => answer,
        Err(fault) => return Ok(fault.tell()),
    };
    let decisions = answer.keyword("reveille.engine/decisions").and_then(Value::as_items).unwrap_or_default();
    if decisions.is_empty() {
        let session = args.caller.session.as_ref().map(SessionId::as_str).or(args.about.as_deref());
        if let Err(fault) = check_named(&args.caller.daemon, session, schedule.as_deref()) {
            return Ok(fault.tell());
        }
    }
    print(&args.printing, &Value::vector(decisions.to_vec()), || lines(decisions))
}

/// One line for each decision.
fn lines(decisions: &[Value]) -> String {
    let mut out = String::new();
    for decision in decisions.iter().filter_map(Value::as_map) {
        let part = |name: &str| {
            let value =
                decision.keyword(&format!("reveille.decision/{name}")).filter(|value| !value.is_nil())?;
            let word = value.as_keyword().map(|word| word.as_str().to_owned());
            Some(word.or_else(|| value.as_str().map(visible)).unwrap_or_else(|| shown(value)))
        };
        // To the millisecond: shorter, and steps of one run can still be told apart.
        let at = decision.keyword("reveille.decision/at").and_then(Value::as_inst);
        let at = at.and_then(|at| Moment::new(at.seconds(), at.nanos() - at.nanos() % 1_000_000));
        let at = at.map(|at| at.to_string());
        // Writing to a string cannot fail.
        let _ = write!(out, "{}  {}", at.unwrap_or_default(), part("kind").unwrap_or_default());
        for (name, before) in [
            ("reason", " "),
            ("session-id", "  session "),
            ("schedule-id", "  "),
            ("detail", "  "),
            ("by", "  by "),
        ] {
            if let Some(part) = part(name) {
                let _ = write!(out, "{before}{part}");
            }
        }
        out.push('\n');
    }
    if out.is_empty() { NOTHING.to_owned() } else { out }
}

/// The list is that of the process: what was decided before it is in the store's history.
const NOTHING: &str = "no such decisions since the daemon started; what was before is told by `reveille eql --as-of INSTANT` and \
                       `reveille export`\n";
const SHAPE: &str = "[:reveille.decision/cursor :reveille.decision/at :reveille.decision/kind :reveille.decision/reason \
                      :reveille.decision/session-id :reveille.decision/schedule-id :reveille.decision/detail \
                      :reveille.decision/by]";
