//! `reveille log`: the latest decisions of a daemon, as text, EDN or JSON.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Duration;
use std::{io, slice, thread};

use super::client::question::{check_named, query};
use super::fault::AppFault;
use super::forecast_explain::print;
use super::foreign_text::{shown, visible};
use crate::domain::{Moment, SessionId};
use crate::edn::{Map, Value};
use crate::surface::cli::LogArgs;

pub(super) fn log(args: &LogArgs) -> io::Result<ExitCode> {
    let kind = args.kind.as_deref().map(Value::keyword);
    let text = |given: &Option<String>| given.as_deref().map(Value::string);
    let typed = args.schedule.as_deref();
    let meant = typed.map(|it| args.asking.schedule(it));
    let schedule = match meant.transpose() {
        Ok(schedule) => schedule,
        Err(fault) => return Ok(fault.tell()),
    };
    let given = [
        ("by", text(&args.by)),
        ("kind", kind),
        ("schedule-id", text(&schedule)),
        ("session-id", text(&args.about)),
    ];
    let given = given.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let filter = given.fold(Map::new(), |params, (name, value)| params.with(name, value));
    let decisions = match asked(args, filter.clone().with("last", i64::from(args.last))) {
        Ok(decisions) => decisions,
        Err(fault) => return Ok(fault.tell()),
    };
    if decisions.is_empty() {
        let session = args.asking.caller.session.as_ref().map(SessionId::as_str).or(args.about.as_deref());
        if let Err(fault) = check_named(&args.asking.caller.daemon, session, schedule.as_deref()) {
            return Ok(fault.tell());
        }
    }
    if args.follow {
        return follow(args, &filter, decisions);
    }
    let words = || if decisions.is_empty() { NOTHING.to_owned() } else { lines(&decisions) };
    print(&args.asking.printing, &Value::vector(decisions.clone()), words)
}

fn asked(args: &LogArgs, params: Map) -> Result<Vec<Value>, AppFault> {
    let query = query(DECISIONS, params, SHAPE);
    let answer = args.asking.ask(&query)?;
    Ok(answer.keyword(DECISIONS).and_then(Value::as_items).unwrap_or_default().to_vec())
}

/// Prints these decisions, and then those that follow, each on a line of its own, until the daemon ends.
#[expect(clippy::disallowed_methods, reason = "nothing else happens in this process while it waits")]
fn follow(args: &LogArgs, filter: &Map, mut decisions: Vec<Value>) -> io::Result<ExitCode> {
    let mut params = filter.clone().with("first", i64::from(PAGE));
    loop {
        for decision in &decisions {
            print(&args.asking.printing, decision, || lines(slice::from_ref(decision)))?;
        }
        // Without one, nothing was decided yet, and the next page begins with the first decision.
        let newest = decisions.last().and_then(|decision| decision.as_map()?.keyword(CURSOR));
        if let Some(cursor) = newest {
            // The place after which a page begins is text: in other lists it is an id.
            params = params.with("after", Value::string(shown(cursor)));
        }
        // Behind a full page there may be more, so the next question follows at once.
        if decisions.len() < usize::from(PAGE) {
            thread::sleep(PAUSE);
        }
        decisions = match asked(args, params.clone()) {
            Ok(decisions) => decisions,
            Err(fault) => return Ok(fault.tell()),
        };
    }
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
    out
}

/// The list is that of the process: what was decided before it is in the store's history.
const NOTHING: &str = "no such decisions since the daemon started; what was before is told by `reveille eql --as-of INSTANT` and \
                       `reveille export`\n";
const DECISIONS: &str = "reveille.engine/decisions";
const CURSOR: &str = "reveille.decision/cursor";
/// The most decisions that one question of a log that is followed brings, and the time between two of them.
const PAGE: u16 = 1_000;
const PAUSE: Duration = Duration::from_secs(1);
const SHAPE: &str = "[:reveille.decision/cursor :reveille.decision/at :reveille.decision/kind :reveille.decision/reason \
                      :reveille.decision/session-id :reveille.decision/schedule-id :reveille.decision/detail \
                      :reveille.decision/by]";
