//! The steps that do something. Each answers with what was done or with the refusal.

use reveille::dialect::psi::{self, session_config};
use reveille::dialect::{Answer, Notation};
use reveille::domain::{
    Caller, Failure, HostId, Phase, Reason, Refusal, RunId, ScheduleId, SessionConfig, SessionId, Span, When,
};
use reveille::edn::{Caps, Map, Value, read};
use reveille::engine::{Command, Input, NewSchedule, Report};
use reveille::service::Service;
use reveille::testkit::{Behaviour, Seen};

use super::look;
use super::pattern::number;
use super::scene::{BUILT_IN, Scene};

/// What was done, or the refusal; the outer error is a row that makes no sense.
pub(crate) type Outcome = Result<Result<Value, Value>, String>;
pub(crate) type Verb = fn(&mut Scene, &Args) -> Outcome;

/// What stands between a step's name and its arrow.
pub(crate) struct Args(pub(crate) Vec<Value>);

impl Args {
    pub(crate) fn get(&self, place: usize) -> Result<&Value, String> {
        self.0.get(place).ok_or_else(|| format!("argument {place} is missing"))
    }

    pub(crate) fn text(&self, place: usize) -> Result<&str, String> {
        self.get(place)?.as_str().ok_or_else(|| format!("argument {place} is no string"))
    }

    pub(crate) fn session(&self, place: usize) -> Result<SessionId, String> {
        SessionId::new(self.text(place)?).map_err(|error| error.to_string())
    }

    pub(crate) fn schedule(&self, place: usize) -> Result<ScheduleId, String> {
        ScheduleId::new(self.text(place)?).map_err(|error| error.to_string())
    }

    fn int(&self, place: usize) -> Result<i64, String> {
        self.get(place)?.as_int().ok_or_else(|| format!("argument {place} is no integer"))
    }

    fn span(&self, unit: fn(u64) -> Span) -> Result<Span, String> {
        u64::try_from(self.int(0)?).map(unit).map_err(|_| "time does not go back".to_owned())
    }
}

/// The step of that name.
pub(crate) fn verb(name: &str) -> Option<Verb> {
    VERBS.iter().chain(look::VERBS).find(|(known, _)| *known == name).map(|(_, verb)| *verb)
}

const VERBS: &[(&str, Verb)] = &[
    ("open", open),
    ("close", |scene, args| refusable(scene.handle.close_session(&args.session(0)?))),
    ("busy", busy),
    ("say", say),
    ("call", |scene, args| call(scene, args, Notation::Edn)),
    ("call-json", |scene, args| call(scene, args, Notation::Json)),
    ("create", |scene, args| operate(scene, args, "create").map(|outcome| outcome.and_then(summary))),
    ("list", |scene, args| operate(scene, args, "list").map(|outcome| outcome.and_then(summaries))),
    ("cancel", cancel),
    ("create-as", create_as),
    ("schedule", schedule),
    ("advance-ms", |scene, args| time(scene, args, Span::from_millis, Scene::advance)),
    ("advance-ns", |scene, args| time(scene, args, Span::from_nanos, Scene::advance)),
    ("pass-ms", |scene, args| {
        time(scene, args, Span::from_millis, |scene, span| scene.stage.clock.advance(span))
    }),
    ("wall-on-ms", |scene, args| {
        time(scene, args, Span::from_millis, |scene, span| scene.stage.clock.step_wall_on(span))
    }),
    ("wall-back-ms", |scene, args| {
        time(scene, args, Span::from_millis, |scene, span| scene.stage.clock.step_wall_back(span))
    }),
    ("turn", |scene, _| {
        scene.handle.run_due();
        done()
    }),
    ("behave", behave),
    ("receipt", receipt),
    ("ack", |scene, args| report(scene, args, |run| Report::Accepted { run })),
    ("created", |scene, args| report(scene, args, |run| Report::Created { run })),
    ("nack", nack),
    ("attach", attach),
    ("detach", detach),
    ("shutdown", |scene, _| {
        scene.handle.shut_down();
        done()
    }),
    ("stop", stop),
    ("differ", differ),
];

#[expect(clippy::unnecessary_wraps, reason = "the shape of every step")]
fn done() -> Outcome {
    Ok(Ok(Value::keyword("ok")))
}

fn time(scene: &mut Scene, args: &Args, unit: fn(u64) -> Span, pass: fn(&Scene, Span)) -> Outcome {
    pass(scene, args.span(unit)?);
    done()
}

#[expect(clippy::unnecessary_wraps, reason = "the shape of every step")]
fn refusable(outcome: Result<(), Refusal>) -> Outcome {
    Ok(match outcome {
        Ok(()) => Ok(Value::keyword("ok")),
        Err(refusal) => {
            let code = Value::keyword(&refusal.code().name().to_lowercase().replace('_', "-"));
            Err(Map::new().with("code", code).with("message", refusal.to_string()).into())
        }
    })
}

/// `[:open "s" {config} "host"]`
fn open(scene: &mut Scene, args: &Args) -> Outcome {
    let config = match args.get(1) {
        Ok(config) => session_config::parse(config, Notation::Edn).map_err(|error| error.to_string())?,
        Err(_) => SessionConfig::default(),
    };
    let host = args.text(2).map_or(HostId::LOCAL, |name| scene.host(name).number());
    refusable(scene.handle.open_session(Some(args.session(0)?), host, config).map(drop))
}

/// `[:schedule "s" ms "text"]`: as the crate's own interface does it, without psi's bounds.
fn schedule(scene: &mut Scene, args: &Args) -> Outcome {
    let millis = u64::try_from(args.int(1)?).map_err(|_| "a delay is not negative")?;
    let when = When::After(Span::from_millis(millis));
    refusable(scene.handle.schedule(NewSchedule::message(args.session(0)?, when, args.text(2)?)).map(drop))
}

fn busy(scene: &mut Scene, args: &Args) -> Outcome {
    let busy = args.get(1)?.as_bool().ok_or("busy or not?")?;
    refusable(scene.handle.submit(Input::Report(Report::Busy { session: args.session(0)?, busy, by: None })))
}

fn say(scene: &mut Scene, args: &Args) -> Outcome {
    let (session, text) = (args.session(0)?, args.text(1)?.into());
    refusable(scene.handle.submit(Input::Report(Report::UserMessage { session, text, by: None })))
}

/// `[:call "s" {args}]`; nobody calls where the session is nil.
fn call(scene: &mut Scene, args: &Args, notation: Notation) -> Outcome {
    let session = if args.get(0)?.is_nil() { None } else { Some(args.session(0)?) };
    let caller = session.clone().map_or(Caller::OPERATOR, Caller::session);
    let answer = Service::new(scene.handle.clone()).call_tool(psi::TOOL, &caller, args.get(1)?, notation);
    let answer = answer.map_err(|denial| denial.to_string())?.ok_or("psi-tool is always there")?;
    envelope(&answer)?;
    note_cancel(scene, session, &answer);
    Ok(if answer.is_error { Err(answer.value) } else { Ok(answer.value) })
}

/// What holds for every answer: keys in psi's order, a status that agrees with the flag, and text that reads back.
fn envelope(answer: &Answer) -> Result<(), String> {
    const CAPS: Caps = Caps { bytes_max: 64 << 20, depth_max: 64, digits_max: 1_000, forms_max: 1_000_000 };
    let text = answer.value.to_string();
    if read(text.as_bytes(), &CAPS).ok().as_ref() != Some(&answer.value) {
        return Err(format!("the answer does not read back: {text}"));
    }
    // psi's words about an action that it does not have are plain text, as those about a query are.
    if answer.is_error && answer.value.as_str().is_some_and(|text| text.starts_with("EQL query error: ")) {
        return Ok(());
    }
    let map = answer.value.as_map().ok_or("an answer is a map")?;
    let keys = map.keys().map(|key| key.to_string().replace(":psi-tool/", "")).collect::<Vec<_>>().join(" ");
    let (expected, status) = if answer.is_error {
        ("action scheduler-op duration-ms overall-status error", "error")
    } else {
        ("action scheduler-op overall-status scheduler duration-ms", "ok")
    };
    let fits = keys == expected && map.keyword("psi-tool/overall-status") == Some(&Value::keyword(status));
    if fits { Ok(()) } else { Err(format!("not an answer of psi's: {text}")) }
}

/// The laws hold the engine to every cancel that a caller was promised.
fn note_cancel(scene: &Scene, session: Option<SessionId>, answer: &Answer) {
    let tool = answer.value.as_map().and_then(|map| map.keyword("psi-tool/scheduler"));
    let done = tool.and_then(Value::as_map).filter(|done| done.keyword("cancelled?").is_some());
    let id = done.and_then(|done| done.keyword("schedule")?.as_map()?.keyword("schedule-id")?.as_str());
    if let (Some(session), Some(schedule)) = (session, id.and_then(|id| ScheduleId::new(id).ok())) {
        let scope = reveille::domain::Scope::Session(session);
        let now = scene.handle.now();
        scene.stage.history.note(now, Seen::CancelAcknowledged { scope, schedule });
    }
}

/// One operation of the tool: the answer's own part, or the error's.
fn operate(scene: &mut Scene, args: &Args, op: &str) -> Outcome {
    let given = args.get(1).ok().and_then(Value::as_map).cloned().unwrap_or_default();
    let given = given.with("action", "scheduler").with("op", op);
    let outcome = call(scene, &Args(vec![args.get(0)?.clone(), given.into()]), Notation::Edn)?;
    let part = |value: &Value, key: &str| value.as_map().and_then(|map| map.keyword(key)).cloned();
    Ok(match outcome {
        Ok(answer) => Ok(part(&answer, "psi-tool/scheduler").ok_or("no part of its own")?),
        Err(answer) => Err(part(&answer, "psi-tool/error").ok_or("no error")?),
    })
}

fn cancel(scene: &mut Scene, args: &Args) -> Outcome {
    let given = Map::new().with("schedule-id", args.get(1)?.clone());
    let args = Args(vec![args.get(0)?.clone(), given.into()]);
    Ok(operate(scene, &args, "cancel")?.and_then(summary))
}

fn summary(done: Value) -> Result<Value, Value> {
    done.as_map().and_then(|map| map.keyword("schedule")).cloned().ok_or(done)
}

fn summaries(done: Value) -> Result<Value, Value> {
    let map = done.as_map();
    let schedules = map.and_then(|map| map.keyword("schedules")).cloned().ok_or(Value::Nil)?;
    let count = map.and_then(|map| map.keyword("schedule-count")).cloned();
    let agrees = schedules.as_items().map(|items| number(items.len())) == count;
    if agrees { Ok(schedules) } else { Err(done) }
}

/// `[:create-as "id" "s" {:delay-ms n :message "…"}]`: the crate's own interface, where the id can be chosen.
fn create_as(scene: &mut Scene, args: &Args) -> Outcome {
    let map = args.get(2)?.as_map().ok_or("what is to be created?")?;
    let delay = map.keyword("delay-ms").and_then(Value::as_int).and_then(|delay| u64::try_from(delay).ok());
    let when = When::After(Span::from_millis(delay.ok_or("when?")?));
    let text = map.keyword("message").and_then(Value::as_str).unwrap_or("wake up");
    let new = NewSchedule::message(args.session(1)?, when, text);
    refusable(scene.handle.schedule(NewSchedule { id: Some(args.schedule(0)?), ..new }).map(drop))
}

/// `[:behave "host" :slow]`
fn behave(scene: &mut Scene, args: &Args) -> Outcome {
    let name = args.get(1)?.as_keyword().map_or("", |keyword| keyword.as_str());
    let behaviour = match name {
        "well" => Behaviour::Prompt,
        "slow" => Behaviour::Slow,
        "slow-failure" => Behaviour::SlowFailure,
        "fail-create" => Behaviour::FailCreate,
        "fail-configure" => Behaviour::FailConfigure,
        "deny-create" => Behaviour::DenyCreate,
        "fail-submit" => Behaviour::FailSubmit,
        "lose-receipts" => Behaviour::LoseReceipt,
        "repeat-receipts" => Behaviour::RepeatReceipt,
        "panic" => Behaviour::Panic,
        other => return Err(format!("no behaviour {other:?}")),
    };
    scene.host(args.text(0)?).behave(&[(behaviour, 1)]);
    done()
}

/// `[:receipt "host"]`: the oldest receipt that it owes comes in.
fn receipt(scene: &mut Scene, args: &Args) -> Outcome {
    let report = scene.host(args.text(0)?).take_receipt(0).ok_or("the host owes no receipt")?;
    refusable(scene.handle.submit(Input::Report(report)))
}

fn run_of(scene: &Scene, id: &ScheduleId) -> Result<RunId, String> {
    let run = scene.handle.view(|state| state.schedule(id).map(|it| it.run_id(it.fire_at())));
    run.ok_or_else(|| format!("{id} is unknown"))
}

fn report(scene: &Scene, args: &Args, what: fn(RunId) -> Report) -> Outcome {
    refusable(scene.handle.submit(Input::Report(what(run_of(scene, &args.schedule(0)?)?))))
}

fn nack(scene: &mut Scene, args: &Args) -> Outcome {
    let failure = Failure::new(Phase::PromptSubmit, Reason::HostRefused, args.text(1)?);
    let run = run_of(scene, &args.schedule(0)?)?;
    refusable(scene.handle.submit(Input::Report(Report::Failed { run, failure })))
}

/// `[:attach "host" "s" …]`: a host connects, if it is new, and takes sessions over.
fn attach(scene: &mut Scene, args: &Args) -> Outcome {
    let host = scene.host(args.text(0)?).number();
    let sessions = (1..args.0.len()).map(|place| args.session(place)).collect::<Result<Vec<_>, _>>()?;
    refusable(scene.handle.submit(Input::Command(Command::HostSessions {
        host,
        sessions,
        busy: Some(false),
        by: None,
    })))
}

fn detach(scene: &mut Scene, args: &Args) -> Outcome {
    let name = args.text(0)?;
    if name == BUILT_IN {
        return Err("the built-in host never goes".to_owned());
    }
    let host = scene.host(name).number();
    scene.handle.hosts().detach(host);
    done()
}

/// The engine stops taking work; `:abandon` gives up the receipts that are out, as the end of the grace would.
fn stop(scene: &mut Scene, args: &Args) -> Outcome {
    let abandon = args.get(0).is_ok();
    let stopping = refusable(scene.handle.submit(Input::Command(Command::Shutdown { abandon })));
    scene.handle.run_due();
    stopping
}

/// `[:differ a b …]`: no two are the same.
fn differ(_: &mut Scene, args: &Args) -> Outcome {
    let mut values = args.0.clone();
    values.sort();
    values.dedup();
    Ok(if values.len() == args.0.len() { Ok(Value::Bool(true)) } else { Err(Value::vector(args.0.clone())) })
}
