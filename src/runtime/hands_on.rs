//! What the graph's mutations do beyond psi's tools: the other triggers and policies, and what changes where a schedule stands.

use std::sync::Arc;

use super::hands::{CallerHands, denied, refused, unknown, wrong};
use crate::dialect::{Notation, psi};
use crate::domain::{
    About, Code, Durability, Kind, Moment, Notice, Payload, Refusal, Route, Schedule, ScheduleId, Scope,
    SessionConfig, Span, Target, Terms, Trigger, When,
};
use crate::edn::{Keyword, Map, Value};
use crate::engine::{Command, Input, NewSchedule, State, Which};
use crate::graph::asked;
use crate::graph::registry::ResolverError;
use crate::graph::shown;

/// Whether a creation says nothing that psi's tool does not know.
pub(super) fn is_psis(params: &Map) -> bool {
    let kind = params.keyword("kind");
    let kind = kind.and_then(|kind| kind.as_keyword().map(Keyword::as_str).or_else(|| kind.as_str()));
    kind != Some(Kind::Notice.name())
        && params.keys().all(|key| key.as_keyword().is_none_or(|key| !BEYOND_PSI.contains(&key.as_str())))
}

impl CallerHands<'_> {
    /// Creates a schedule of any trigger and policy.
    pub(super) fn create_any(&self, params: &Map) -> Result<Value, ResolverError> {
        let known = |key: &Value| {
            key.as_keyword().is_some_and(|key| {
                let name = key.as_str();
                CREATION.contains(&name) || asked::CHANGES.contains(&name)
            })
        };
        if let Some(key) = params.keys().find(|key| !known(key)) {
            return Err(unknown(key, "psi.scheduler/create"));
        }
        let owner = self.session(params, "origin-session-id")?;
        let call = Map::new().with("action", "scheduler").with("op", psi::Op::Create.name());
        self.handle.admit_call(self.caller, psi::TOOL, &call.into()).map_err(denied)?;
        let key: Option<Box<str>> = self.maybe_text(params, "idempotency-key")?.map(Into::into);
        let dialect = NewSchedule::message(owner.clone(), When::After(Span::ZERO), "").dialect;
        let earlier = |key: &str| {
            self.handle
                .view(|state| state.asked_as(&owner, dialect, key).map(|known| asked_at(known.schedule())))
        };
        // A repeat means what was meant at first: what has passed since had not passed then.
        let now = key.as_deref().and_then(earlier).unwrap_or_else(|| self.handle.now().wall);
        let zones = self.handle.zones();
        let meant = asked::when(params, now, zones)?;
        let meant = meant
            .ok_or_else(|| wrong("when", "given, or one of delay-ms, at, trigger, cron, every-ms", None))?;
        let wanted = asked::change(params, now, zones)?.change;
        let payload = self.payload(params)?;
        let target = self.target(params, &payload)?;
        let terms = Terms {
            description: wanted.description.flatten(),
            key: key.clone(),
            target,
            policy: wanted.policy.unwrap_or(Terms::PLAIN.policy),
            lifetime: wanted.lifetime.unwrap_or(Terms::PLAIN.lifetime),
            ..Terms::PLAIN
        };
        let durability = self.durability(params)?;
        let id = ScheduleId::fresh(durability, || self.handle.now().wall, self.handle.draw());
        let new = NewSchedule {
            id: Some(id.clone()),
            durability,
            label: wanted.label.flatten(),
            made_by: self.caller.maker(&owner, self.tool),
            payload,
            terms: Some(Box::new(terms)),
            ..NewSchedule::message(owner.clone(), meant.when, "")
        };
        let known = move |state: &State| {
            let same = || state.asked_as(&owner, dialect, key.as_deref()?);
            let is_new = state.schedule(&id).is_some();
            if is_new { Some((id, true)) } else { same().map(|same| (same.schedule().id.clone(), false)) }
        };
        let create = Input::Command(Command::CreateSchedule(new));
        let found = self.handle.submit_with(create, known).map_err(|refusal| refused(&refusal))?;
        let (id, created) =
            found.ok_or_else(|| ResolverError::new("the schedule has ended already", Value::Nil))?;
        let answer = Map::new().with("psi.scheduler/schedule-id", id.to_string());
        Ok(answer.with("psi.scheduler/created?", created).with("psi.scheduler/understood", meant.echo).into())
    }

    /// Where it goes: into the session, into a fresh one, or out by a channel.
    fn target(&self, params: &Map, payload: &Payload) -> Result<Target, ResolverError> {
        let is_fresh = payload.config().is_some();
        let Some(channel) = self.maybe_text(params, "channel")? else {
            return Ok(if is_fresh { Target::Fresh } else { Target::Owner });
        };
        if is_fresh {
            return Err(wrong("channel", "left out for a fresh session", params.keyword("channel")));
        }
        let conversation = self.maybe_text(params, "conversation")?.unwrap_or_default();
        let route = Route { channel: channel.into(), conversation: conversation.into(), thread: None };
        let target = Target::Route(Box::new(route));
        self.handle.admit_target(self.caller, Some(&target)).map_err(|refusal| refused(&refusal))?;
        Ok(target)
    }

    fn payload(&self, params: &Map) -> Result<Payload, ResolverError> {
        let text: Box<str> = self.text(params, "message")?.into();
        let kind = params.keyword("kind").and_then(|kind| {
            kind.as_keyword()
                .map(|kind| kind.as_str().to_owned())
                .or_else(|| kind.as_str().map(str::to_owned))
        });
        match kind.as_deref().and_then(Kind::parse) {
            Some(Kind::Message) => Ok(Payload::Turn { text }),
            Some(Kind::Session) => {
                let config = match params.keyword("session-config").filter(|value| !value.is_nil()) {
                    None => SessionConfig::default(),
                    Some(value) => psi::session_config::parse(value, Notation::Edn).map_err(|error| {
                        ResolverError::new(error.to_string(), error.data()).coded(Code::Validation)
                    })?,
                };
                Ok(Payload::new_session(text, Arc::new(config)))
            }
            Some(Kind::Notice) => {
                Ok(Payload::Say(Box::new(Notice { about: About::Reminder, text, file: None })))
            }
            None => Err(wrong("kind", "message, session or notice", params.keyword("kind"))),
        }
    }

    fn durability(&self, params: &Map) -> Result<Durability, ResolverError> {
        let Some(value) = params.keyword("durability").filter(|value| !value.is_nil()) else {
            return Ok(Durability::Volatile);
        };
        let name = value.as_keyword().map(Keyword::as_str).or_else(|| value.as_str());
        name.and_then(Durability::parse)
            .ok_or_else(|| wrong("durability", "volatile or durable", Some(value)))
    }

    /// Gives a schedule another definition.
    pub(super) fn reschedule(&self, params: &Map) -> Result<Value, ResolverError> {
        let known = |key: &Value| {
            key.as_keyword().is_some_and(|key| {
                let name = key.as_str();
                ["schedule-id", "base-revision"].contains(&name) || asked::CHANGES.contains(&name)
            })
        };
        if let Some(key) = params.keys().find(|key| !known(key)) {
            return Err(unknown(key, "psi.scheduler/reschedule"));
        }
        let which = self.which(params)?;
        let changed = asked::change(params, self.handle.now().wall, self.handle.zones())?;
        let answer = Map::new().with("psi.scheduler/schedule-id", which.schedule.to_string());
        let command = Command::ChangeSchedule { which, change: changed.change };
        self.handle.submit(Input::Command(command)).map_err(|refusal| refused(&refusal))?;
        Ok(answer.with("psi.scheduler/understood", changed.echo.unwrap_or(Value::Nil)).into())
    }

    /// Carries out a command on one schedule.
    pub(super) fn command(
        &self,
        params: &Map,
        command: impl FnOnce(Which) -> Command,
    ) -> Result<Value, ResolverError> {
        let which = self.which(params)?;
        let answer = Map::new().with("psi.scheduler/schedule-id", which.schedule.to_string());
        self.handle.submit(Input::Command(command(which))).map_err(|refusal| refused(&refusal))?;
        Ok(answer.into())
    }

    /// Holds everything, with a reason, or releases it.
    pub(super) fn hold(&self, reason: Option<Option<Box<str>>>) -> Result<Value, ResolverError> {
        let by = self.actor();
        if by.scope != Scope::Operator {
            let message = "only an operator may hold or release everything";
            return Err(ResolverError::new(message, Map::new()).coded(Code::Forbidden));
        }
        let command = match reason {
            Some(reason) => Command::HoldAll { by, reason },
            None => Command::ReleaseAll { by },
        };
        let held = |state: &State| state.held().cloned();
        let held =
            self.handle.submit_with(Input::Command(command), held).map_err(|refusal| refused(&refusal))?;
        let held = held.map(|pause| {
            Map::new()
                .with("by", "operator")
                .with("reason", pause.reason.as_deref())
                .with("since", shown::instant(pause.since))
        });
        Ok(Map::new().with("reveille.engine/held", held.map_or(Value::Nil, Value::from)).into())
    }

    fn which(&self, params: &Map) -> Result<Which, ResolverError> {
        let text = self.text(params, "schedule-id")?;
        let Ok(schedule) = ScheduleId::new(text) else {
            let data = Map::new().with("schedule-id", text);
            return Err(ResolverError::new("schedule not found", data).coded(Code::NotFound));
        };
        let base = match params.keyword("base-revision").filter(|value| !value.is_nil()) {
            None => None,
            Some(value) => {
                let base = value.as_int().and_then(|base| u32::try_from(base).ok());
                Some(base.ok_or_else(|| wrong("base-revision", "a revision, from 1", Some(value)))?)
            }
        };
        Ok(Which { by: self.actor(), schedule, base })
    }

    /// The caller's reason, in its own words.
    pub(super) fn words(&self, params: &Map) -> Result<Option<Box<str>>, ResolverError> {
        let words = self.maybe_text(params, "reason")?;
        let most = crate::limits::LABEL_BYTES;
        match words {
            Some(words) if words.len() as u64 > most.value => {
                Err(refused(&Refusal::LimitReached { limit: most }))
            }
            words => Ok(words.map(Into::into)),
        }
    }

    fn maybe_text<'p>(&self, params: &'p Map, name: &'static str) -> Result<Option<&'p str>, ResolverError> {
        match params.keyword(name).filter(|value| !value.is_nil()) {
            None => Ok(None),
            Some(_) => self.text(params, name).map(Some),
        }
    }
}

/// The moment at which a creation was read, as far as its repeat can tell: an instant that lay ahead when it was read may have
/// passed when it was decided on.
fn asked_at(schedule: &Schedule) -> Moment {
    match schedule.trigger {
        Trigger::At(at) => at.min(schedule.created_at),
        Trigger::Every(_) | Trigger::Calendar(_) | Trigger::Cron(..) | Trigger::Event(_) => {
            schedule.created_at
        }
    }
}

/// What psi's tool does not know.
const BEYOND_PSI: &[&str] = &[
    "when",
    "trigger",
    "cron",
    "zone",
    "every-ms",
    "if-past",
    "policy",
    "lifetime",
    "durability",
    "idempotency-key",
    "description",
    "channel",
    "conversation",
];
/// What only a creation takes.
const CREATION: &[&str] = &[
    "kind",
    "session-config",
    "session-id",
    "origin-session-id",
    "durability",
    "idempotency-key",
    "channel",
    "conversation",
];
