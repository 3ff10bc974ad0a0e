//! Parses facts from EDN maps. Everything is checked, because any program may have written the log.

use std::sync::Arc;

use super::actor::actor;
use super::call::{self, tool_name};
use super::definition;
use super::form::Form;
use super::parts::{
    boot, each_map, flag, flag_or, host, instant, map, maybe, number, one, own_text, part, run_id,
    schedule_id, session_id, text, wrong,
};
use super::provenance::provenance;
use super::{FactError, guard, memory, names, pings, session_config, watch};
use crate::dialect::echo;
use crate::domain::{
    Actor, Cause, Channel, ChannelFact, ChannelKind, Claim, Decided, Direction, Dispatch, Downtime,
    EngineFact, Fact, Failure, GuardFact, HostFact, JobId, LostEnd, LostSchedule, Next, Op, Phase, Reason,
    Redefinition, RunFact, ScheduleFact, SessionFact, Skip, Span, TaskEnd,
};
use crate::edn::Map;

/// Parses a fact.
///
/// # Errors
/// [`FactError`], for the first thing that is wrong with it.
pub fn parse(form: &Map) -> Result<Fact, FactError> {
    parse_form(&Form::of_map(form))
}

/// Parses a fact from a form.
pub(crate) fn parse_form(form: &Form<'_>) -> Result<Fact, FactError> {
    let name = part(form, "fact");
    // Anything but a keyword becomes the empty name, which no reader knows.
    let word = name.as_keyword().unwrap_or_default();
    // Each of these returns `None` for a name that it does not know.
    let readers = [session, schedule, run, rest];
    let fact = readers.into_iter().find_map(|read| read(word, form).transpose());
    fact.unwrap_or_else(|| Err(FactError::Unknown { name: echo(&name.to_value()) }))
}

fn session(name: &str, form: &Form<'_>) -> Result<Option<Fact>, FactError> {
    let fact = match name {
        names::OPENED => SessionFact::Opened {
            host: host(form)?,
            config: Arc::new(session_config::parse(form)?),
            provenance: maybe(form, "provenance", |form, key| provenance(map(form, key)?))?.map(Box::new),
        },
        names::CLOSED => SessionFact::Closed,
        names::HOSTED => SessionFact::HostAttached { host: host(form)? },
        names::UNHOSTED => {
            SessionFact::HostDetached { why: maybe(form, "why", |form, key| one(form, key, Reason::parse))? }
        }
        names::ADDRESSED => {
            SessionFact::Addressed { address: Box::new(session_config::address(map(form, "address")?)?) }
        }
        names::BUSY => SessionFact::Busy,
        names::IDLE => SessionFact::Idle,
        names::USER_SPOKE => SessionFact::UserMessage,
        names::TURN_UNREPORTED => SessionFact::TurnUnreported,
        names::GRANTED => SessionFact::Granted { grant: guard::grant(map(form, "grant")?)? },
        names::JOB_READY => SessionFact::JobReady { job: job_id(form)? },
        names::PINGED => {
            let (name, at) = pings::ping(form)?;
            SessionFact::Pinged { name, at }
        }
        names::TOOLS_CALLED => SessionFact::ToolsCalled {
            tools: each_map(form, "tools", |form| Ok((tool_name(form, "name")?, number(form, "calls")?)))?,
        },
        name => match memory::change(name, form)? {
            Some(change) => SessionFact::Memory(Box::new(change)),
            None => return Ok(None),
        },
    };
    let by = maybe(form, "by", actor)?.map(Box::new);
    Ok(Some(Fact::Session(session_id(form, "session")?, fact, by)))
}

fn schedule(name: &str, form: &Form<'_>) -> Result<Option<Fact>, FactError> {
    let fact = match name {
        names::CHANGED => ScheduleFact::Changed(Box::new(Redefinition {
            schedule: definition::parse(map(form, "definition")?)?,
            by: actor(form, "by")?,
            retriggered: maybe(form, "next", next)?,
            // Written only if it is false.
            revises: flag_or(true, form, "revises")?,
        })),
        names::PAUSED => ScheduleFact::Paused { by: actor(form, "by")?, reason: own_text(form, "why")? },
        names::RESUMED => ScheduleFact::Resumed { by: actor(form, "by")?, next: next(form, "next")? },
        names::SKIPPED => ScheduleFact::Skipped(Skip {
            from: instant(form, "from")?,
            until: instant(form, "until")?,
            count: number::<u64>(form, "count")?,
            reason: one(form, "reason", Reason::parse)?,
            next: next(form, "next")?,
            by: by(form)?,
        }),
        names::ARMED => ScheduleFact::Armed { next: next(form, "next")?, by: by(form)? },
        names::CALLED_OFF => {
            ScheduleFact::Cancelled { reason: one(form, "reason", Reason::parse)?, by: by(form)? }
        }
        _ => return Ok(None),
    };
    Ok(Some(Fact::Schedule(schedule_id(form, "schedule")?, fact)))
}

fn run(name: &str, form: &Form<'_>) -> Result<Option<Fact>, FactError> {
    let Some(fact) = run_fact(name, form)? else { return Ok(None) };
    // The others say themselves who asked for them, or are the engine's own.
    let by = if is_reported(&fact) { reporter(form)? } else { None };
    Ok(Some(Fact::Run(run_id(form, "run")?, fact, by)))
}

fn run_fact(name: &str, form: &Form<'_>) -> Result<Option<RunFact>, FactError> {
    Ok(Some(match name {
        names::CLAIMED => RunFact::Claimed(Claim {
            cause: one(form, "cause", Cause::parse)?,
            folded: number::<u64>(form, "folded")?,
            next: maybe(form, "next", next)?,
            time_up: maybe(form, "time-up-ns", boot)?,
            by: by(form)?,
            telling: maybe(form, "telling", |form, key| call::telling(map(form, key)?))?.map(Box::new),
        }),
        names::QUEUED => RunFact::Queued { reason: one(form, "reason", Reason::parse)? },
        names::ASKED => RunFact::Guard(GuardFact::Asked {
            digest: guard::digest(form, "digest")?,
            due: boot(form, "due-ns")?,
            until: instant(form, "until")?,
        }),
        names::ALLOWED => RunFact::Guard(GuardFact::Allowed {
            digest: guard::digest(form, "digest")?,
            until: boot(form, "until-ns")?,
        }),
        names::HELD_BACK => RunFact::Guard(GuardFact::Held(Box::new(guard::hold(map(form, "hold")?)?))),
        names::APPROVED => RunFact::Guard(GuardFact::Approved {
            digest: guard::digest(form, "digest")?,
            by: Box::new(actor(form, "by")?),
        }),
        names::DENIED => RunFact::Guard(GuardFact::Denied {
            by: Box::new(actor(form, "by")?),
            why: own_text(form, "why")?,
        }),
        names::ANSWERED => RunFact::Guard(GuardFact::Answered(Box::new(Decided {
            question: guard::digest(form, "question")?,
            what: text(form, "what")?.into(),
            is_allowed: flag(form, "allowed?")?,
            by: actor(form, "by")?,
            why: own_text(form, "why")?,
        }))),
        names::DISPATCHED => RunFact::Dispatched(Dispatch {
            host: host(form)?,
            phase: one(form, "phase", Phase::parse)?,
            session: session_id(form, "session")?,
            overdue: boot(form, "overdue-ns")?,
        }),
        names::ACCEPTED => RunFact::Accepted,
        names::DELIVERED => RunFact::Delivered,
        names::RETURNED => {
            let outcome = Arc::new(call::outcome(map(form, "outcome")?)?);
            let check =
                maybe(form, "check", |form, key| watch::check(map(form, key)?, &outcome))?.map(Box::new);
            RunFact::Returned { outcome, check }
        }
        names::FOLDED => RunFact::Folded(Box::new(call::telling(map(form, "telling")?)?)),
        names::JOINED => RunFact::Joined { lead: Box::new(run_id(form, "lead")?) },
        names::POSTPONED => RunFact::Postponed {
            reason: one(form, "reason", Reason::parse)?,
            at: instant(form, "at")?,
            due: boot(form, "due-ns")?,
        },
        names::LEFT => RunFact::Left,
        names::TAKEN => RunFact::Taken { by: by(form)? },
        names::RETRYING => RunFact::Retrying {
            failure: Box::new(failure(form)?),
            at: instant(form, "at")?,
            due: boot(form, "due-ns")?,
        },
        names::FAILED => RunFact::Failed(Box::new(failure(form)?)),
        names::CANCELLED => RunFact::Cancelled { reason: one(form, "reason", Reason::parse)? },
        _ => return Ok(None),
    }))
}

fn rest(name: &str, form: &Form<'_>) -> Result<Option<Fact>, FactError> {
    Ok(Some(match name {
        names::CREATED => {
            Fact::Created { schedule: definition::parse(map(form, "schedule")?)?, next: next(form, "next")? }
        }
        names::ATTACHED => Fact::Host(host(form)?, HostFact::Attached, reporter(form)?),
        names::LOST => Fact::Host(host(form)?, HostFact::Lost, reporter(form)?),
        names::CHANNEL_OPENED => {
            let name: Box<str> = text(form, "channel")?.into();
            let channel = Channel {
                name: name.clone(),
                kind: one(form, "kind", ChannelKind::parse)?,
                goes_to: text(form, "goes-to")?.into(),
                agents: flag(form, "agents?")?,
                agents_manage: flag_or(false, form, "agents-manage?")?,
            };
            Fact::Channel(name, ChannelFact::Opened(channel))
        }
        names::CHANNEL_DISABLED => Fact::Channel(text(form, "channel")?.into(), ChannelFact::Disabled),
        names::CHANNEL_PAUSED => Fact::Channel(
            text(form, "channel")?.into(),
            ChannelFact::Paused {
                direction: one(form, "direction", Direction::parse)?,
                by: actor(form, "by")?,
            },
        ),
        names::CHANNEL_RESUMED => Fact::Channel(
            text(form, "channel")?.into(),
            ChannelFact::Resumed {
                direction: one(form, "direction", Direction::parse)?,
                by: actor(form, "by")?,
            },
        ),
        names::HELD => {
            Fact::Engine(EngineFact::AllHeld { by: actor(form, "by")?, reason: own_text(form, "why")? })
        }
        names::RELEASED => Fact::Engine(EngineFact::AllReleased { by: actor(form, "by")? }),
        names::GUARDED => Fact::Engine(EngineFact::GuardPolicySet {
            policy: maybe(form, "policy", |form, key| guard::policy(map(form, key)?))?.map(Arc::new),
            by: actor(form, "by")?,
        }),
        names::AWOKE => Fact::Engine(EngineFact::Restarted {
            lost: number::<u64>(form, "lost")?,
            downs: maybe(form, "downs", downs)?.unwrap_or_default(),
            // Facts from before they were named have none.
            named: maybe(form, "named", lost_schedules)?.unwrap_or_default(),
        }),
        names::REFUSED => Fact::Engine(EngineFact::Refused { by: actor(form, "by")?, op: op(form)? }),
        names::STOPPING => Fact::Engine(EngineFact::Stopping { abandon: flag(form, "abandon?")? }),
        _ => return Ok(None),
    }))
}

fn lost_schedules(form: &Form<'_>, key: &'static str) -> Result<Box<[LostSchedule]>, FactError> {
    let found = part(form, key);
    let items = found.as_items().ok_or_else(|| wrong(key, "a vector", found))?;
    let end = |item: &Form<'_>, key| {
        Ok(LostEnd { how: one(item, key, TaskEnd::parse)?, at: instant(item, "ended-at")? })
    };
    let lost = |item: &Form<'_>| {
        Ok(LostSchedule {
            id: schedule_id(item, "schedule")?,
            label: own_text(item, "label")?,
            session: session_id(item, "session")?,
            due: maybe(item, "due", instant)?,
            left_at: maybe(item, "left-at", instant)?,
            // Facts from before this was recorded do not say what was a task.
            task: maybe(item, "task", tool_name)?,
            // Those from before this was recorded say of no task that it had ended.
            end: maybe(item, "end", end)?,
            lost_at: maybe(item, "lost-at", instant)?,
        })
    };
    items.iter().map(lost).collect()
}

fn downs(form: &Form<'_>, key: &'static str) -> Result<Box<[Downtime]>, FactError> {
    let found = part(form, key);
    let items = found.as_items().ok_or_else(|| wrong(key, "a vector", found))?;
    let down =
        |item: &Form<'_>| Ok(Downtime { from: instant(item, "from")?, until: instant(item, "until")? });
    items.iter().map(down).collect()
}

pub(super) fn failure(form: &Form<'_>) -> Result<Failure, FactError> {
    Ok(Failure {
        phase: one(form, "phase", Phase::parse)?,
        reason: one(form, "reason", Reason::parse)?,
        message: text(form, "message")?.into(),
        session_exists: flag(form, "session-exists?")?,
        code: maybe(form, "code", number::<i32>)?,
        again_after: maybe(form, "again-after-ns", number::<u64>)?.map(Span::from_nanos),
    })
}

pub(super) fn job_id(form: &Form<'_>) -> Result<JobId, FactError> {
    let value = part(form, "job");
    let job = value.as_str().and_then(|text| JobId::new(text).ok());
    job.ok_or_else(|| wrong("job", "the id of a job", value))
}

fn next(form: &Form<'_>, key: &'static str) -> Result<Next, FactError> {
    let value = part(form, key);
    if value.as_keyword().is_some_and(|word| word == "after-finish") {
        return Ok(Next::AfterFinish);
    }
    if value.as_keyword().is_some_and(|word| word == "at-event") {
        return Ok(Next::AtEvent);
    }
    let form = map(form, key)?;
    if !part(form, "never").is_nil() {
        return Ok(Next::Never { reason: one(form, "never", Reason::parse)? });
    }
    // `due` is there only for slots that run on boot time, those of volatile schedules.
    Ok(Next::Slot { slot: instant(form, "slot")?, due: maybe(form, "due-ns", boot)? })
}

/// The actor that caused the fact; `None` for a fact without one.
fn by(form: &Form<'_>) -> Result<Option<Box<Actor>>, FactError> {
    Ok(maybe(form, "by", actor)?.map(Box::new))
}

/// Whether hosts report such a fact. The engine also decides on some of these by itself.
fn is_reported(fact: &RunFact) -> bool {
    match fact {
        RunFact::Accepted
        | RunFact::Delivered
        | RunFact::Returned { .. }
        | RunFact::Left
        | RunFact::Retrying { .. }
        | RunFact::Failed(_) => true,
        RunFact::Claimed(_)
        | RunFact::Queued { .. }
        | RunFact::Guard(_)
        | RunFact::Dispatched(_)
        | RunFact::Folded(_)
        | RunFact::Joined { .. }
        | RunFact::Postponed { .. }
        | RunFact::Taken { .. }
        | RunFact::Cancelled { .. } => false,
    }
}

/// The actor who reported the fact; `None` for the engine, and in logs from before this was recorded.
fn reporter(form: &Form<'_>) -> Result<Option<Arc<Actor>>, FactError> {
    Ok(maybe(form, "by", actor)?.map(Arc::new))
}

fn op(form: &Form<'_>) -> Result<Op, FactError> {
    let found = part(form, "op");
    found.as_str().and_then(Op::parse).ok_or_else(|| wrong("op", "the name of an operation", found))
}
