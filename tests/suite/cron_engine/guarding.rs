//! Steps of a scene that are about the guard: its policy, its answers, an operator's word, and what sessions may do.

use std::sync::{Arc, Mutex, PoisonError};

use reveille::domain::{
    Dialect, Digest, Grant, GuardAnswer, GuardPolicy, PayloadKind, Right, Rule, RuleScope, Ruling, RunId,
    Scope, TimeOfDay, TimeWindow, Weekday, Weekdays, Zone,
};
use reveille::engine::{Command, GuardQuestion, State};
use reveille::port::{Guard, GuardReply};

use super::scene::{Scene, session};
use super::script::span;

/// A guard that does as the script says.
#[derive(Default)]
pub(crate) struct ScriptGuard {
    mode: Mutex<String>,
    open: Mutex<Vec<GuardReply>>,
}

impl ScriptGuard {
    fn speak(&self, word: &str) {
        let open = std::mem::take(&mut *self.open.lock().unwrap_or_else(PoisonError::into_inner));
        for reply in open {
            if let Some(answer) = answer(word) {
                reply.give(answer);
            }
        }
    }
}

fn answer(word: &str) -> Option<GuardAnswer> {
    Some(match word {
        "allow" => GuardAnswer::Allow,
        "hold" => GuardAnswer::Hold { why: Some("have a look".into()) },
        "refuse" => GuardAnswer::Refuse { why: Some("looks bad".into()) },
        "garbage" => GuardAnswer::Failed { detail: "its answer is no JSON".into() },
        _ => return None,
    })
}

impl Guard for ScriptGuard {
    fn ask(&self, _: GuardQuestion, reply: GuardReply) {
        let mode = self.mode.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match mode.as_str() {
            "silent" => self.open.lock().unwrap_or_else(PoisonError::into_inner).push(reply),
            "crash" => drop(reply),
            "panic" => unreachable!("a guard of a test panics"),
            word => reply.give(answer(word).expect("a word of a guard")),
        }
    }
}

/// Does a step about the guard, if it is one, and says what was refused.
pub(crate) fn play(scene: &mut Scene, verb: &str, rest: &str) -> Option<Result<(), String>> {
    Some(match verb {
        "policy" => {
            let policy = (rest != "none").then(|| Arc::new(policy(rest)));
            scene.command(Command::SetGuard { policy, by: Scope::Operator.into() })
        }
        "guard" => {
            let guard = scene.guard.get_or_insert_default();
            *guard.mode.lock().unwrap_or_else(PoisonError::into_inner) = rest.to_owned();
            let guard = Arc::clone(guard);
            scene.handle.outside().set_guard(guard);
            Ok(())
        }
        // `speak WORD`: it answers what is open; another word lets go of it, as one that dies does.
        "speak" => {
            scene.guard.clone().expect("a guard").speak(rest);
            scene.turn();
            Ok(())
        }
        "look" => {
            scene.shown = held(scene).map(|(_, digest)| digest);
            Ok(())
        }
        "approve" => {
            let Some((run, present)) = held(scene) else { return Some(Err("nothing is held".to_owned())) };
            let digest = if rest == "as-shown" { scene.shown.expect("it was looked at") } else { present };
            let scope = if rest == "as-session" { Scope::Session(session("s")) } else { Scope::Operator };
            scene.command(Command::Approve { run, digest, by: scope.into() })
        }
        "deny" => {
            let Some((run, _)) = held(scene) else { return Some(Err("nothing is held".to_owned())) };
            let why = Some(rest).filter(|why| !why.is_empty()).map(Into::into);
            scene.command(Command::Deny { run, why, by: Scope::Operator.into() })
        }
        "grant" => {
            let (id, words) = rest.split_once(' ').expect("a session and a right");
            let command =
                Command::SetGrant { session: session(id), grant: grant(words), by: Scope::Operator.into() };
            scene.command(command)
        }
        _ => return None,
    })
}

fn held(scene: &Scene) -> Option<(RunId, Digest)> {
    scene.handle.view(|state: &State| {
        let runs = state.schedules().into_iter().flat_map(|record| state.runs_of(record));
        runs.filter_map(|(_, run)| Some((state.run_id(run)?, state.approval_digest(run)?))).next()
    })
}

/// `full`, `none`, `read`, or the names of dialects.
fn grant(words: &str) -> Grant {
    match words {
        "full" => Grant::FULL,
        "none" => Grant { right: None, ..Grant::FULL },
        "read" => Grant { right: Some(Right::Read), ..Grant::FULL },
        _ if words.starts_with("depth=") => {
            Grant { depth: words[6..].parse().expect("a depth"), ..Grant::FULL }
        }
        names => {
            let dialects = names.split(' ').map(|name| Dialect::parse(name).expect("a dialect"));
            Grant { dialects: Some(dialects.collect()), ..Grant::FULL }
        }
    }
}

/// `approval=SPAN asks=SPAN NAME:THEN[:KEY=VALUE]…`
fn policy(words: &str) -> GuardPolicy {
    let mut policy = GuardPolicy::default();
    for word in words.split(' ') {
        if let Some(text) = word.strip_prefix("approval=") {
            policy.approval = Some(span(text));
        } else if let Some(text) = word.strip_prefix("asks=") {
            policy.asks = Some(span(text));
        } else {
            policy.rules.push(rule(word));
        }
    }
    policy
}

fn rule(word: &str) -> Rule {
    let mut parts = word.split(';');
    let (name, then) = (parts.next().expect("a name"), parts.next().expect("a ruling"));
    let mut of = RuleScope::default();
    for part in parts {
        let (key, value) = part.split_once('=').expect("a key and a value");
        match key {
            "session" => of.sessions.push(session(value)),
            "dialect" => of.dialects.push(Dialect::parse(value).expect("a dialect")),
            "kind" => of.kinds.push(PayloadKind::parse(value).expect("a kind")),
            "tool" => of.tools.push(value.into()),
            "window" => {
                let mut words = value.split(',');
                let mut next = || words.next().expect("from, until, zone and a day");
                let time = |text: &str| TimeOfDay::parse(text).expect("a time");
                let (from, until, zone) = (time(next()), time(next()), Zone::parse(next()).expect("a zone"));
                let day = words.next().map(|day| Weekday::parse(day).expect("a day"));
                let days = Weekdays::new(day).unwrap_or(Weekdays::DAILY);
                of.window = Some(TimeWindow { days, from, until, zone });
            }
            _ => unreachable!("no rule has {key}"),
        }
    }
    Rule { name: name.into(), of, then: Ruling::parse(then).expect("a ruling"), why: None }
}
