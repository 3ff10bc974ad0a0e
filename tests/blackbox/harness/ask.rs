//! Asking for schedules, and reading what was answered.

use std::time::Duration;

use reveille::domain::{Durability, RunId};
use reveille::edn::{Map, Value};

use reveille_checker::{Event, Lifetime, Moment, Policy, Span};

use crate::harness::daemon::{Daemon, at, text};
use crate::harness::ledger::{trigger, word};
use crate::harness::stream::Stream;

/// Asks for a schedule of the session `main`: its id, or the code of the refusal.
pub(crate) fn create(stream: &mut Stream, rest: &str) -> Result<String, String> {
    let id = create_in(stream, "main", rest)?;
    note_created(stream, &id);
    Ok(id)
}

/// The same of any session, and nothing is written down.
pub(crate) fn create_in(stream: &mut Stream, session: &str, rest: &str) -> Result<String, String> {
    let query = format!("[(psi.scheduler/create {{:kind :message :session-id {session:?} {rest}}})]");
    match stream.eql(&query).expect("it lives") {
        Ok(answer) => {
            let id = text(only(&answer), &["psi.scheduler/schedule-id"]).expect("an id");
            Ok(id.to_owned())
        }
        Err(answer) => {
            let why = at(&answer, &["ok", "reveille.error/why"]).and_then(Value::as_map);
            let code = why.and_then(|why| text(why, &["code"]));
            Err(code.unwrap_or_else(|| panic!("{answer:?}")).to_owned())
        }
    }
}

/// Writes down what was made, as it was acknowledged.
pub(crate) fn note_created(stream: &mut Stream, id: &str) {
    match told(stream, id) {
        (created, Durability::Durable) => stream.diary.note(created),
        (_, Durability::Volatile | Durability::Bound) => stream.diary.leave_out(id),
    }
}

/// What a schedule is, in the checker's words, and whether a restart leaves it.
pub(crate) fn told(stream: &mut Stream, id: &str) -> (Event, Durability) {
    let query = format!(
        "[{{[:psi.scheduler/schedule-id {id:?}] [:psi.scheduler/created-at :psi.scheduler/trigger \
         :psi.scheduler/policy :psi.scheduler/lifetime :psi.scheduler/durability :psi.scheduler/origin-session-id]}}]"
    );
    let answer = stream.eql(&query).expect("it lives").unwrap_or_else(|answer| panic!("{answer:?}"));
    let found = only(&answer);
    let part =
        |key: &str| at(found, &[key]).and_then(Value::as_map).unwrap_or_else(|| panic!("{key}: {found:?}"));
    let durability = word(found, "psi.scheduler/durability").and_then(|word| Durability::parse(&word));
    let lifetime = part("psi.scheduler/lifetime");
    let given = |key: &str| at(lifetime, &[key]).filter(|value| !value.is_nil());
    let max_runs = given("max-runs").and_then(Value::as_int).and_then(|runs| u64::try_from(runs).ok());
    let expires_at = given("expires-at").map(|expires| instant(Some(expires)));
    let created = Event::Create {
        at: instant(at(found, &["psi.scheduler/created-at"])),
        schedule: id.to_owned(),
        session: text(found, &["psi.scheduler/origin-session-id"]).map(str::to_owned),
        trigger: trigger(part("psi.scheduler/trigger")),
        policy: policy(part("psi.scheduler/policy")),
        lifetime: Lifetime { max_runs, expires_at },
    };
    (created, durability.expect("one of them"))
}

/// A policy in the checker's words, which are the same.
fn policy(policy: &Map) -> Policy {
    let mut told = serde_json::Map::new();
    for (key, own) in
        [("overlap", "overlap"), ("missed", "missed"), ("recovery", "recovery"), ("busy", "when-busy")]
    {
        told.insert(key.into(), word(policy, own).expect("it is printed whole").into());
    }
    let max_late = at(policy, &["max-late-ms"]).and_then(Value::as_int);
    told.extend(max_late.map(|millis| ("max_late_ms".into(), millis.into())));
    serde_json::from_value(told.into()).expect("the words are the same")
}

/// Everything acknowledged is in the answers.
pub(crate) fn assert_kept(daemon: &Daemon, ids: &[String]) {
    let answer = daemon.eql("[{:psi.scheduler/schedules [:psi.scheduler/schedule-id]}]");
    let list = Value::from(answer).to_string();
    for id in ids {
        assert!(list.contains(id.as_str()), "{id} was acknowledged and is lost");
    }
}

/// What a query with one thing in it was answered with.
pub(crate) fn only(answer: &Map) -> &Map {
    let mut values = answer.iter().map(|(_, value)| value);
    values.next().and_then(Value::as_map).unwrap_or_else(|| panic!("a map: {answer:?}"))
}

/// An instant of an answer.
pub(crate) fn instant(value: Option<&Value>) -> Moment {
    let inst = value.and_then(Value::as_inst).expect("an instant");
    Moment::new(inst.seconds(), inst.nanos()).expect("in range")
}

/// The slot of a run, as an instant of the checker.
pub(crate) fn slot_of(run: &RunId) -> Moment {
    Moment::new(run.slot.seconds(), run.slot.nanos()).expect("in range")
}

pub(crate) fn later(moment: Moment, millis: u64) -> Moment {
    moment.checked_add(Span::from_millis(millis)).expect("in range")
}

/// The middle one of some times: a machine that has other things to do spoils a few of them, and not half.
pub(crate) fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
