//! Results for watches to look at: small ones of a few kinds that often stay as they are, errors, and how old pings are.
//!
//! What lives elsewhere: when they are given, and whether at all (`sim_executor.rs`).

use std::collections::BTreeMap;

use crate::domain::{Moment, Outcome, SessionId, Span};
use crate::edn::{Map, Value};
use crate::engine::Invocation;
use crate::testkit::sim::sim_entropy::SimEntropy;

/// The tool that says how old a ping is.
pub(in crate::testkit) const PING_TOOL: &str = "ping.age";

/// The last ping of each name in each session.
pub(in crate::testkit) type LastPings = BTreeMap<(SessionId, Box<str>), Moment>;

/// The results of simulated tools that are watched.
#[derive(Debug, Default)]
pub(in crate::testkit) struct SimResults {
    pub(in crate::testkit) pings: LastPings,
    /// What was answered last.
    last: Option<Outcome>,
}

impl SimResults {
    /// What a tool answers that is called now.
    pub(in crate::testkit) fn next(
        &mut self,
        entropy: &SimEntropy,
        now: Moment,
        invocation: &Invocation,
    ) -> Outcome {
        if invocation.tool.as_str() == PING_TOOL {
            return if entropy.one_in(12) { wrong() } else { self.age(now, invocation) };
        }
        // Half of the time what it was: otherwise nothing would ever last.
        let outcome = self.last.take().filter(|_| entropy.one_in(2)).unwrap_or_else(|| any_result(entropy));
        self.last = Some(outcome.clone());
        outcome
    }

    fn age(&self, now: Moment, invocation: &Invocation) -> Outcome {
        let name = ping_name_of(&invocation.args).unwrap_or_default();
        let at = self.pings.get(&(invocation.session.clone(), name.into()));
        let age = at.and_then(|at| i64::try_from(now.millis_since(*at) / 1_000).ok());
        let answer = Map::new()
            .with("name", name)
            .with("age_seconds", age)
            .with("at", at.map(|at| Value::from(at.to_string())))
            .with("ok", at.is_some());
        Outcome::of_value(answer.into(), 60, TOOK)
    }
}

/// The ping that a watch of pings asks about.
pub(in crate::testkit) fn ping_name_of(args: &Value) -> Option<&str> {
    args.as_map()?.keyword("name")?.as_str()
}

fn any_result(entropy: &SimEntropy) -> Outcome {
    match entropy.below(10) {
        0 | 1 => return wrong(),
        2 => return Outcome::of_error("it is not there", TOOK),
        3 => return Outcome::of_value(Value::from("other"), 7, TOOK),
        _ => {}
    }
    let state = entropy.pick(&["up", "down"]).copied().filter(|_| !entropy.one_in(6));
    let count = i64::try_from(entropy.below(4)).unwrap_or(0);
    let result = Map::new().with("count", count);
    let result = state.map(|state| result.clone().with("state", state)).unwrap_or(result);
    Outcome::of_value(result.into(), 24, TOOK)
}

fn wrong() -> Outcome {
    Outcome::of_error("it went wrong", TOOK)
}

const TOOK: Span = Span::from_millis(20);
