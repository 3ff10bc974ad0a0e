//! Prints facts as EDN maps. Keys stand in a fixed order; instants are ISO strings, so that years beyond 9999 fit.

use super::call;
use super::definition;
use super::guard::{of_hold, of_policy};
use super::memory;
use super::names;
use super::pings;
use super::printed::{Instant, Part, Printed, Word};
use super::provenance::of_provenance;
use super::session_config;
use super::watch;
use crate::domain::{
    Actor, BootTime, ChannelFact, Claim, Dispatch, Downtime, EngineFact, Fact, Failure, GuardFact, HostFact,
    LostSchedule, Next, Redefinition, RunFact, ScheduleFact, SessionFact, Skip, ToolName,
};

/// Prints a fact.
pub fn print(fact: &Fact) -> Printed {
    match fact {
        Fact::Session(id, fact, by) => with_by(session(fact), by.as_deref()).with("session", id.as_str()),
        Fact::Created { schedule, next } => {
            named(names::CREATED).with("schedule", definition::print(schedule)).with("next", *next)
        }
        Fact::Schedule(id, fact) => schedule(fact).with("schedule", id.to_string()),
        Fact::Run(id, fact, by) => with_by(run(fact), by.as_deref()).with("run", id.to_string()),
        Fact::Host(id, HostFact::Attached, by) => {
            with_by(named(names::ATTACHED), by.as_deref()).with("host", id.number())
        }
        Fact::Host(id, HostFact::Lost, by) => {
            with_by(named(names::LOST), by.as_deref()).with("host", id.number())
        }
        Fact::Channel(name, ChannelFact::Opened(channel)) => named(names::CHANNEL_OPENED)
            .with("kind", Word(channel.kind.name()))
            .with("goes-to", &*channel.goes_to)
            .with("agents?", channel.agents)
            .with("agents-manage?", channel.agents_manage.then_some(true))
            .with("channel", &**name),
        Fact::Channel(name, ChannelFact::Disabled) => named(names::CHANNEL_DISABLED).with("channel", &**name),
        Fact::Channel(name, ChannelFact::Paused { direction, by }) => named(names::CHANNEL_PAUSED)
            .with("direction", Word(direction.name()))
            .with("by", by)
            .with("channel", &**name),
        Fact::Channel(name, ChannelFact::Resumed { direction, by }) => named(names::CHANNEL_RESUMED)
            .with("direction", Word(direction.name()))
            .with("by", by)
            .with("channel", &**name),
        Fact::Engine(fact) => engine(fact),
    }
}

fn engine(fact: &EngineFact) -> Printed {
    match fact {
        EngineFact::AllHeld { by, reason } => {
            named(names::HELD).with("by", by).with("why", reason.as_deref())
        }
        EngineFact::AllReleased { by } => named(names::RELEASED).with("by", by),
        EngineFact::GuardPolicySet { policy, by } => {
            named(names::GUARDED).with("policy", policy.as_deref().map(of_policy)).with("by", by)
        }
        EngineFact::Restarted { lost, downs, named: schedules } => {
            let down = |it: &Downtime| {
                Printed::new().with("from", Instant(it.from)).with("until", Instant(it.until))
            };
            let downs: Vec<Printed> = downs.iter().map(down).collect();
            let schedule = |it: &LostSchedule| {
                Printed::new()
                    .with("schedule", it.id.to_string().as_str())
                    .with("label", it.label.as_deref())
                    .with("session", it.session.as_str())
                    .with("due", it.due.map(Instant))
                    .with("left-at", it.left_at.map(Instant))
                    .with("task", it.task.as_ref().map(ToolName::as_str))
                    .with("end", it.end.map(|end| Word(end.how.name())))
                    .with("ended-at", it.end.map(|end| Instant(end.at)))
                    .with("lost-at", it.lost_at.map(Instant))
            };
            let schedules: Vec<Printed> = schedules.iter().map(schedule).collect();
            named(names::AWOKE)
                .with("lost", *lost)
                .with("downs", (!downs.is_empty()).then_some(downs))
                .with("named", (!schedules.is_empty()).then_some(schedules))
        }
        EngineFact::Refused { by, op } => named(names::REFUSED).with("by", by).with("op", op.name()),
        EngineFact::Stopping { abandon } => named(names::STOPPING).with("abandon?", *abandon),
    }
}

fn session(fact: &SessionFact) -> Printed {
    match fact {
        SessionFact::Opened { host, config, provenance } => named(names::OPENED)
            .with("host", host.number())
            .with("config", session_config::print(config))
            .with("provenance", provenance.as_deref().map(of_provenance)),
        SessionFact::Closed => named(names::CLOSED),
        SessionFact::HostAttached { host } => named(names::HOSTED).with("host", host.number()),
        SessionFact::HostDetached { why } => {
            named(names::UNHOSTED).with("why", why.map(|why| Word(why.name())))
        }
        SessionFact::Addressed { address } => {
            named(names::ADDRESSED).with("address", session_config::of_address(address))
        }
        SessionFact::Busy => named(names::BUSY),
        SessionFact::Idle => named(names::IDLE),
        SessionFact::UserMessage => named(names::USER_SPOKE),
        SessionFact::TurnUnreported => named(names::TURN_UNREPORTED),
        SessionFact::Granted { grant } => named(names::GRANTED).with("grant", grant),
        SessionFact::JobReady { job } => named(names::JOB_READY).with("job", job.as_str()),
        SessionFact::Memory(change) => memory::of_change(change),
        SessionFact::Pinged { name, at } => pings::with_ping(named(names::PINGED), name, *at),
        SessionFact::ToolsCalled { tools } => {
            let tool = |(tool, calls): &(ToolName, u32)| {
                Printed::new().with("name", tool.as_str()).with("calls", *calls)
            };
            named(names::TOOLS_CALLED).with("tools", tools.iter().map(tool).collect::<Vec<Printed>>())
        }
    }
}

fn schedule(fact: &ScheduleFact) -> Printed {
    match fact {
        ScheduleFact::Changed(change) => {
            let Redefinition { schedule, by, retriggered, revises } = &**change;
            let map = named(names::CHANGED)
                .with("definition", definition::print(schedule))
                .with("by", by)
                .with("next", *retriggered);
            // Nearly every change counts as a revision, so only the exceptions are marked.
            if *revises { map } else { map.with("revises", false) }
        }
        ScheduleFact::Paused { by, reason } => {
            named(names::PAUSED).with("by", by).with("why", reason.as_deref())
        }
        ScheduleFact::Resumed { by, next } => named(names::RESUMED).with("by", by).with("next", *next),
        ScheduleFact::Skipped(Skip { from, until, count, reason, next, by }) => {
            let map = named(names::SKIPPED)
                .with("from", Instant(*from))
                .with("until", Instant(*until))
                .with("count", *count)
                .with("reason", Word(reason.name()))
                .with("next", *next);
            with_by(map, by.as_deref())
        }
        ScheduleFact::Armed { next, by } => with_by(named(names::ARMED).with("next", *next), by.as_deref()),
        ScheduleFact::Cancelled { reason, by } => {
            with_by(named(names::CALLED_OFF).with("reason", Word(reason.name())), by.as_deref())
        }
    }
}

fn guard(fact: &GuardFact) -> Printed {
    match fact {
        GuardFact::Asked { digest, due, until } => named(names::ASKED)
            .with("digest", digest.to_string())
            .with("due-ns", due.nanos())
            .with("until", Instant(*until)),
        GuardFact::Allowed { digest, until } => {
            named(names::ALLOWED).with("digest", digest.to_string()).with("until-ns", until.nanos())
        }
        GuardFact::Held(hold) => named(names::HELD_BACK).with("hold", of_hold(hold)),
        GuardFact::Approved { digest, by } => {
            named(names::APPROVED).with("digest", digest.to_string()).with("by", &**by)
        }
        GuardFact::Denied { by, why } => named(names::DENIED).with("by", &**by).with("why", why.as_deref()),
        GuardFact::Answered(decided) => named(names::ANSWERED)
            .with("question", decided.question.to_string())
            .with("what", &*decided.what)
            .with("allowed?", decided.is_allowed)
            .with("by", &decided.by)
            .with("why", decided.why.as_deref()),
    }
}

fn run(fact: &RunFact) -> Printed {
    match fact {
        RunFact::Claimed(Claim { cause, folded, next, time_up, by, telling }) => {
            let map = named(names::CLAIMED)
                .with("cause", Word(cause.name()))
                .with("folded", *folded)
                .with("next", *next)
                .with("time-up-ns", time_up.map(BootTime::nanos))
                .with("telling", telling.as_deref().map(call::of_telling));
            with_by(map, by.as_deref())
        }
        RunFact::Queued { reason } => named(names::QUEUED).with("reason", Word(reason.name())),
        RunFact::Guard(fact) => guard(fact),
        RunFact::Dispatched(to) => dispatched(to),
        RunFact::Accepted => named(names::ACCEPTED),
        RunFact::Delivered => named(names::DELIVERED),
        RunFact::Returned { outcome, check } => named(names::RETURNED)
            .with("outcome", call::of_outcome(outcome))
            .with("check", check.as_deref().map(watch::of_check)),
        RunFact::Folded(telling) => named(names::FOLDED).with("telling", call::of_telling(telling)),
        RunFact::Joined { lead } => named(names::JOINED).with("lead", lead.to_string()),
        RunFact::Postponed { reason, at, due } => named(names::POSTPONED)
            .with("reason", Word(reason.name()))
            .with("at", Instant(*at))
            .with("due-ns", due.nanos()),
        RunFact::Left => named(names::LEFT),
        RunFact::Taken { by } => with_by(named(names::TAKEN), by.as_deref()),
        RunFact::Retrying { failure, at, due } => {
            failed(names::RETRYING, failure).with("at", Instant(*at)).with("due-ns", due.nanos())
        }
        RunFact::Failed(failure) => failed(names::FAILED, failure),
        RunFact::Cancelled { reason } => named(names::CANCELLED).with("reason", Word(reason.name())),
    }
}

fn dispatched(to: &Dispatch) -> Printed {
    named(names::DISPATCHED)
        .with("host", to.host.number())
        .with("phase", Word(to.phase.name()))
        .with("session", to.session.as_str())
        .with("overdue-ns", to.overdue.nanos())
}

fn failed(name: &str, failure: &Failure) -> Printed {
    with_failure(named(name), failure)
}

pub(super) fn of_failure(failure: &Failure) -> Printed {
    with_failure(Printed::new(), failure)
}

fn with_failure(map: Printed, failure: &Failure) -> Printed {
    let map = map
        .with("phase", Word(failure.phase.name()))
        .with("reason", Word(failure.reason.name()))
        .with("message", &*failure.message)
        .with("session-exists?", failure.session_exists);
    // Only deliveries to channels have these two parts.
    let map = match failure.code {
        Some(code) => map.with("code", code),
        None => map,
    };
    match failure.again_after {
        Some(wait) => map.with("again-after-ns", wait.nanos()),
        None => map,
    }
}

impl Part for Next {
    fn print(self, out: &mut String) {
        match self {
            Next::Slot { slot, due } => {
                let due = due.map(BootTime::nanos);
                Printed::new().with("slot", Instant(slot)).with("due-ns", due).print(out);
            }
            Next::AfterFinish => Word("after-finish").print(out),
            Next::AtEvent => Word("at-event").print(out),
            Next::Never { reason } => Printed::new().with("never", Word(reason.name())).print(out),
        }
    }
}

/// Adds the actor that caused the fact; nothing for a fact without one.
fn with_by(map: Printed, by: Option<&Actor>) -> Printed {
    match by {
        Some(by) => map.with("by", by),
        None => map,
    }
}

fn named(name: &str) -> Printed {
    Printed::new().with("fact", Word(name))
}
