//! The entity `session`: a session, as far as the engine knows it.

use super::{attributes, entities, instant, integer, maybe, own, read_session as read, text};
use crate::domain::{
    Address, AgentName, CacheBreakpoint, HolderProcess, PromptSource, Reason, ScheduleId, SessionId,
    ThinkingLevel,
};
use crate::edn::{Map, Value};
use crate::engine::Key;
use crate::graph::listing::{self, Whose};
use crate::graph::params::field;
use crate::graph::psi_terms;
use crate::graph::registry::{Datum, Entity, Record, Type, ViewOf};
use crate::graph::session_config;
use crate::graph::view::Scheduler;

pub(super) fn session() -> Entity<Scheduler, Key> {
    let find: fn(ViewOf<'_, Scheduler>, &Value) -> Option<Key> =
        |view, key| view.session_key(&SessionId::new(text(key)?).ok()?);
    let entity = Entity::<Scheduler, Key>::new("session", "psi.agent-session/session-id", find)
        .doc("A session, in which a model runs, with its transcript and schedules.")
        .whole(WHOLE);
    let entity = contents(standing(provenance(configuration(identity(entity)))));
    let entity = super::inbox::of_session(super::guard::of_session(entity));
    let entity = super::budget::of_session(super::memory::of_session(entity));
    super::agent_schedules::of_session(super::ping::of_session(entity))
}

/// The attributes of a session that is asked for as a whole.
const WHOLE: &[&str] = &[
    "psi.agent-session/session-id",
    "psi.agent-session/session-name",
    "psi.agent-session/model",
    "psi.agent-session/thinking-level",
    "psi.agent-session/busy?",
    "psi.agent-session/host",
    "psi.agent-session/pending-count",
    "psi.agent-session/opened-at",
    "psi.agent-session/last-user-activity",
    "psi.agent-session/scheduled-origin-session-id",
    "psi.agent-session/scheduled-from-schedule-id",
    "psi.agent-session/scheduled-from-label",
];

/// Declares the identity of a session.
fn identity(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    attributes! { entity, by read;
        // A seed: with it, psi's root attributes are about one session.
        /// The id of the session.
        own "psi.agent-session/session-id": Type::String, seed => |record| Datum::Text(record.id().as_str());
        // Before the token: GraphQL takes the first attribute that is never nil as the proof that the session exists.
        /// When the session was opened.
        own "psi.agent-session/opened-at": Type::Instant => |record| instant(record.opened_at());
        /// The session's access token. It is shown once, in the answer that opens the session.
        own "psi.agent-session/token": Type::String;
        /// In the answer of a change to all schedules of the session: how many were changed.
        own "psi.agent-session/changed-count": Type::Integer, unit("schedules");
        /// In the answer of a change to all schedules: how many were left, because they ended, are with a host, or are beyond the
        /// rate of the session's changes.
        own "psi.agent-session/left-count": Type::Integer, unit("schedules");
    }
}

/// Declares the configuration of a session, by psi's keys.
fn configuration(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    attributes! { entity, by read;
        /// A name for people. Nil if not given.
        own "psi.agent-session/session-name": Type::String, nullable =>
            |record| maybe(record.config().session_name.as_deref(), Datum::Text);
        /// The time zone that its calls mean if they name none. Nil if not given; then the configured one is meant, or else the
        /// machine's.
        own "psi.agent-session/zone": Type::String, nullable =>
            |record| maybe(record.config().zone.as_ref(), |zone| Datum::Shown(zone));
        /// The model: provider, id, and whether it can reason. Nil if not given.
        own "psi.agent-session/model": Type::Record(&psi_terms::MODEL), nullable => |record| {
            maybe(record.config().model.as_ref(), |model| psi_terms::model(model).into())
        };
        /// The thinking level of the model. Nil if not given.
        own "psi.agent-session/thinking-level": Type::Enum(ThinkingLevel::NAMES), nullable => |record| {
            maybe(record.config().thinking_level, |level| Datum::Name(level.name()))
        };
        /// The names of its tools.
        own "psi.agent-session/tool-ids": Type::String, many => |record| {
            let tools = record.config().tool_ids.iter().flatten().map(|id| Value::from(&**id));
            tools.collect::<Vec<Value>>().into()
        };
        /// The base of its system prompt. Nil if not given.
        own "psi.agent-session/system-prompt": Type::String, nullable =>
            |record| maybe(record.config().system_prompt.as_deref(), Datum::Text);
        /// Its developer prompt. Nil if not given.
        own "psi.agent-session/developer-prompt": Type::String, nullable =>
            |record| maybe(record.config().developer_prompt.as_deref(), Datum::Text);
        /// Where its developer prompt came from. Nil if not given.
        own "psi.agent-session/developer-prompt-source": Type::Enum(PromptSource::NAMES), nullable => |record| {
            maybe(record.config().developer_prompt_source, |source| Datum::Name(source.name()))
        };
        /// The skills that are offered to its model.
        own "psi.agent-session/skills": Type::Record(&session_config::SKILL), many => |record| {
            let skills = record.config().skills.iter().flatten().map(session_config::skill);
            skills.collect::<Vec<Value>>().into()
        };
        /// The messages that were in its transcript before the first prompt, in this order.
        own "psi.agent-session/preloaded-messages": Type::Record(&session_config::PRELOADED_MESSAGE), many =>
            |record| {
                let messages = record.config().preloaded_messages.iter().flatten().map(session_config::message);
                messages.collect::<Vec<Value>>().into()
            };
        /// The places after which the provider may cache its prompt.
        own "psi.agent-session/cache-breakpoints": Type::Enum(CacheBreakpoint::NAMES), many => |record| {
            let places = record.config().cache_breakpoints.iter().flatten();
            places.map(|place| Value::keyword(place.name())).collect::<Vec<Value>>().into()
        };
        /// Which parts its assembled prompt has. Nil if not given.
        own "psi.agent-session/prompt-component-selection": Type::Record(&session_config::SELECTION), nullable =>
            |record| {
                let selection = record.config().prompt_component_selection.as_ref();
                maybe(selection, |selection| session_config::selection(selection).into())
            };
        /// The agent's conversation behind the session: AGENT:CONVERSATION, or AGENT if it has yet to begin. Nil if there is
        /// none.
        own "psi.agent-session/address": Type::String, nullable =>
            |record| maybe(record.config().address.as_ref(), Datum::shown);
        /// The working directory of that conversation. Nil if it is not known.
        own "psi.agent-session/directory": Type::String, nullable => |record| {
            let directory = record.config().address.as_ref().and_then(Address::directory);
            maybe(directory, Datum::Text)
        };
        /// The name under which the agent is configured, if it is not the agent's own. Nil if it is.
        own "psi.agent-session/agent-profile": Type::String, nullable => |record| {
            let profile = record.config().address.as_ref().and_then(Address::profile);
            maybe(profile.map(AgentName::as_str), Datum::Text)
        };
    }
}

/// Declares the schedule that opened a session.
fn provenance(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    attributes! { entity, by read;
        /// The id of the session whose schedule opened this one. Nil if no schedule did.
        own "psi.agent-session/scheduled-origin-session-id": Type::String, nullable => |record| {
            maybe(record.provenance(), |provenance| Datum::Text(provenance.origin.as_str()))
        };
        /// The id of the schedule that opened the session. Nil if none did.
        own "psi.agent-session/scheduled-from-schedule-id": Type::String, nullable => |record| {
            let schedule: Option<&ScheduleId> = record.provenance().map(|it| &it.schedule);
            maybe(schedule, |id| Datum::Shown(id))
        };
        /// The label of the schedule that opened the session. Nil if there is none.
        own "psi.agent-session/scheduled-from-label": Type::String, nullable => |record| {
            let label = record.provenance().and_then(|provenance| provenance.label.as_deref());
            maybe(label, Datum::Text)
        };
    }
}

/// Declares the current state of a session.
fn standing(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    attributes! { entity, by read;
        /// Whether its host reported a turn, or a compaction, that has not ended.
        own "psi.agent-session/busy?": Type::Boolean => |record| Datum::Bool(record.is_busy());
        /// The run that began the turn that is going on, as far as the host's reports tell. Nil if no turn is going on, if no run
        /// began it, or if the run is not retained.
        own "psi.agent-session/turn-run": Type::Reference("run"), nullable => |view, key, _| {
            read(view, key, |record| {
                // The schedule of the run may belong to another session, and be hidden from the caller.
                let run = record.turn_run().and_then(|id| view.state.run_key(id));
                maybe(run.filter(|key| view.run(*key).is_some()), |key| Datum::Entity(key.number().into()))
            })
        };
        /// The host that runs its turns: built-in, or a connected one.
        own "psi.agent-session/host": Type::String => |record| Datum::shown(record.host());
        /// Whether its host is connected. Due runs wait until it is.
        own "psi.agent-session/hosted?": Type::Boolean => |record| Datum::Bool(record.is_hosted());
        /// Why its agent's conversation cannot be reached for now. Nil if it can, or if another host has the session.
        own "psi.agent-session/away": Type::Enum(Reason::NAMES), nullable =>
            |record| maybe(record.away(), |why| Datum::Name(why.name()));
        /// The process that has its agent's conversation open, if away is held-elsewhere and the agent says which. Nil otherwise.
        own "psi.agent-session/holder": Type::Record(&HOLDER), nullable => |view, key, _| {
            read(view, key, |record| {
                let is_held = record.away() == Some(Reason::HeldElsewhere);
                let holder = view.transcripts.obstacle(record).filter(|_| is_held).and_then(|it| it.holder);
                maybe(holder, |process| holder_of(process).into())
            })
        };
        /// What its agent wrote when it could not be started, without what looks like a secret. Nil if away is another reason
        /// than agent-broken, agent-missing or not-authenticated, or if the agent wrote nothing.
        own "psi.agent-session/away-error": Type::String, nullable => |view, key, _| {
            read(view, key, |record| {
                let is_about_start = record.away().is_some_and(is_of_start);
                let error = view.transcripts.obstacle(record).filter(|_| is_about_start).and_then(|it| it.error);
                maybe(error, Datum::shown)
            })
        };
        /// When a person last sent a message. Nil if none has.
        own "psi.agent-session/last-user-activity": Type::Instant, nullable =>
            |record| maybe(record.last_user_activity(), instant);
        /// The number of its schedules that have not ended.
        own "psi.agent-session/pending-count": Type::Integer, unit("schedules") =>
            |record| integer(record.live_count() as u64);
        /// The schedule whose prompt was handed over and has no receipt yet. Nil if there is none.
        own "psi.agent-session/delivery-in-flight": Type::Reference("schedule"), nullable => |view, key, _| {
            read(view, key, |record| {
                // A schedule of another session may deliver into this one, and stays hidden.
                let run = record.in_flight_key().and_then(|key| view.run(key));
                maybe(run, |(_, run)| Datum::Entity(run.schedule_key().number().into()))
            })
        };
        /// The schedules whose runs wait for the session, in order of delivery.
        own "psi.agent-session/waiting": Type::Reference("schedule"), many => |view, key, _| {
            read(view, key, |record| {
                // Schedules of other sessions may wait for this one. They stay hidden.
                let waiting = view.state.waiting(record).into_iter();
                let keys = waiting.map(crate::engine::RunRecord::schedule_key);
                entities(keys.filter(|key| view.schedule(*key).is_some()))
            })
        };
    }
}

/// Declares the schedules, messages and jobs of a session.
fn contents(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    attributes! { entity, by read;
        /// Its schedules. Order and parameters are those of :psi.scheduler/schedules.
        own "psi.agent-session/schedules": Type::Reference("schedule"), params(listing::OF_SCHEDULES), many =>
            |view, key, params| {
                Ok(Datum::Entities(listing::schedules(view, Whose::Session(key), params)?.numbers))
            };
        /// A page of its schedules, with cursors and the count of the whole list.
        own "psi.agent-session/schedule-page": Type::Reference("schedule-page"), params(listing::OF_SCHEDULES) =>
            |view, key, params| {
                Ok(Datum::Entity(view.keep_page(listing::schedules(view, Whose::Session(key), params)?)))
            };
        /// Its transcript, oldest message first, if the built-in host stores it. Parameters: first, last, after.
        own "psi.agent-session/messages": Type::Reference("message"), params(listing::OF_WINDOWS), many =>
            |view, key, params| super::message::of_session(view, key, params);
        /// Its schedules as psi's background jobs, by creation and id.
        own "psi.agent-session/background-jobs": Type::Reference("job"), many =>
            |view, key, _| super::job::of_session(view, key);
        /// The number of its background jobs.
        own "psi.agent-session/background-job-count": Type::Integer, unit("jobs") =>
            |record| integer(record.schedule_keys().count() as u64);
        /// The statuses that a background job can have.
        own "psi.agent-session/background-job-statuses": Type::Enum(super::job::STATUSES), many =>
            |_| super::job::statuses().into();
        /// Its watches. Order and parameters are those of :reveille/watches.
        own "psi.agent-session/watches": Type::Reference("watch"), params(listing::OF_SCHEDULES), many =>
            |view, key, params| Ok(Datum::Entities(super::watch::list(view, Whose::Session(key), params)?));
        /// Its tasks in the background. Order and parameters are those of :reveille/tasks.
        own "psi.agent-session/background-tasks": Type::Reference("task"), params(listing::OF_SCHEDULES), many =>
            |view, key, params| Ok(Datum::Entities(super::task::list(view, Whose::Session(key), params)?));
        /// The tools that it can have called, as :reveille/tools.
        own "psi.agent-session/tools": Type::Reference("tool"), many =>
            |view, key, _| Ok(Datum::Entities(super::tool::list(view, Whose::Session(key))));
    }
}

/// Whether a conversation cannot be reached because its agent does not start.
fn is_of_start(reason: Reason) -> bool {
    [Reason::AgentBroken, Reason::AgentMissing, Reason::NotAuthenticated].contains(&reason)
}

/// The fields of [`holder_of`].
const HOLDER: Record = Record {
    name: "holder",
    doc: "A process that has an agent's conversation open, and is not one of Reveille's.",
    params: &[
        field::<u32>("pid", "Its process id. Nil if the agent does not say it.").or_nil(),
        field::<bool>("busy?", "Whether a turn is going on there, as far as the agent says."),
    ],
};

fn holder_of(process: HolderProcess) -> Map {
    Map::new().with("pid", process.pid.map(i64::from)).with("busy?", process.busy)
}
