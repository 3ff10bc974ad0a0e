//! Creating and rescheduling, one setting at a time.

use std::sync::Arc;

use super::due::Due;
use super::error::Error;
use super::scheduler::Reveille;
use crate::domain::{
    About, Durability, Lifetime, Notice, Payload, Policy, ScheduleId, Scope, SessionConfig, SessionId,
    Settings, Span, Target, When,
};
use crate::engine::{Command, Input, NewSchedule, ScheduleChange, Which};
use crate::service::creation;

/// A schedule in the making. Its last call is [`Create::message`], [`Create::notice`] or [`Create::fresh_session`].
#[must_use = "nothing is created until `message`, `notice` or `fresh_session` is called"]
pub struct Create<'a> {
    reveille: &'a Reveille,
    due: Due,
    zone: Option<&'a str>,
    session: Option<&'a SessionId>,
    label: Option<Box<str>>,
    durability: Option<Durability>,
    settings: Settings,
}

impl Reveille {
    /// Begins a schedule: a phrase such as `every day at 9`, or a typed time.
    pub fn create(&self, due: impl Into<Due>) -> Create<'_> {
        Create::new(self, due.into())
    }

    /// Begins a change of when a schedule is due.
    pub fn reschedule<'a>(&'a self, schedule: &'a ScheduleId, due: impl Into<Due>) -> Reschedule<'a> {
        Reschedule::new(self, schedule, due.into())
    }
}

impl<'a> Create<'a> {
    fn new(reveille: &'a Reveille, due: Due) -> Create<'a> {
        let settings = Settings::PLAIN;
        Create { reveille, due, zone: None, session: None, label: None, durability: None, settings }
    }

    /// The zone on whose clock the phrase is read: a name of the time zone database, an offset, or `local`. If left out, it is
    /// the zone of the session ([`SessionConfig::zone`]), or else of the scheduler ([`Builder::zone`](super::Builder::zone)).
    pub fn zone(self, zone: &'a str) -> Create<'a> {
        Create { zone: Some(zone), ..self }
    }

    /// The session that owns the schedule. If left out, it is the session `main`, which is opened when it is needed.
    pub fn session(self, session: &'a SessionId) -> Create<'a> {
        Create { session: Some(session), ..self }
    }

    /// A display name.
    pub fn label(self, label: impl Into<Box<str>>) -> Create<'a> {
        Create { label: Some(label.into()), ..self }
    }

    /// What the schedule is for.
    pub fn description(mut self, description: impl Into<Box<str>>) -> Create<'a> {
        self.settings.description = Some(description.into());
        self
    }

    /// The schedule survives a restart, and is refused if there is no store. If neither this nor [`Create::volatile`] is
    /// called, a schedule survives if there is a store.
    pub fn durable(self) -> Create<'a> {
        Create { durability: Some(Durability::Durable), ..self }
    }

    /// The schedule ends with the process, and touches no disk.
    pub fn volatile(self) -> Create<'a> {
        Create { durability: Some(Durability::Volatile), ..self }
    }

    /// A key that makes a repeat harmless: a second creation with it, for the same session, returns the first one's id. Once
    /// that schedule has ended, another creation may use the key.
    pub fn idempotency_key(mut self, key: impl Into<Box<str>>) -> Create<'a> {
        self.settings.key = Some(key.into());
        self
    }

    /// What applies to late, missed, overlapping and failed runs.
    pub fn policy(mut self, policy: Policy) -> Create<'a> {
        self.settings.policy = policy;
        self
    }

    /// When the schedule ends by itself.
    pub fn lifetime(mut self, lifetime: Lifetime) -> Create<'a> {
        self.settings.lifetime = lifetime;
        self
    }

    /// Creates the schedule: it delivers this text as a prompt into its session.
    ///
    /// # Errors
    /// [`Error`]; nothing is created then.
    pub fn message(self, text: impl Into<Box<str>>) -> Result<ScheduleId, Error> {
        self.submit(Payload::Turn { text: text.into() })
    }

    /// Creates the schedule: it shows this text in its session, without a turn of the agent.
    ///
    /// # Errors
    /// [`Error`]; nothing is created then.
    pub fn notice(self, text: impl Into<Box<str>>) -> Result<ScheduleId, Error> {
        let notice = Notice { about: About::Reminder, text: text.into(), file: None };
        self.submit(Payload::Notice(Box::new(notice)))
    }

    /// Creates the schedule: it opens a fresh session with this configuration and delivers the text there.
    ///
    /// # Errors
    /// [`Error`]; nothing is created then.
    pub fn fresh_session(
        mut self,
        text: impl Into<Box<str>>,
        config: SessionConfig,
    ) -> Result<ScheduleId, Error> {
        self.settings.target = Target::Fresh;
        self.submit(Payload::new_session(text, Arc::new(config)))
    }

    fn submit(self, payload: Payload) -> Result<ScheduleId, Error> {
        let handle = self.reveille.handle();
        let owner = match self.session {
            Some(session) => session.clone(),
            None => self.reveille.session(MAIN)?,
        };
        let new = NewSchedule {
            durability: self.durability.unwrap_or_else(|| creation::durability(handle)),
            label: self.label,
            payload,
            settings: Some(Box::new(self.settings)),
            // The other fields are those of a plain message. Its time is replaced when it is created.
            ..NewSchedule::message(owner, When::After(Span::ZERO), "")
        };
        let own = handle.view(|state| state.zone_of(Some(&new.owner)).cloned());
        let zones = (&**handle.zones(), handle.zones().usual(own.as_ref()));
        let read = |now| {
            let when = self.due.clone().resolve(self.zone, now, zones);
            when.map(|when| (when, ()))
        };
        let (created, ()) = creation::create(handle, new, read, |_| ())?;
        Ok(created?.id)
    }
}

/// A change in the making. Its last call is [`Reschedule::apply`].
#[must_use = "nothing is changed until `apply` is called"]
pub struct Reschedule<'a> {
    reveille: &'a Reveille,
    schedule: &'a ScheduleId,
    due: Due,
    zone: Option<&'a str>,
    text: Option<Box<str>>,
    base: Option<u32>,
}

impl<'a> Reschedule<'a> {
    fn new(reveille: &'a Reveille, schedule: &'a ScheduleId, due: Due) -> Reschedule<'a> {
        Reschedule { reveille, schedule, due, zone: None, text: None, base: None }
    }

    /// The zone on whose clock the phrase is read. If left out, the zone of the owning session, or else the scheduler's.
    pub fn zone(self, zone: &'a str) -> Reschedule<'a> {
        Reschedule { zone: Some(zone), ..self }
    }

    /// The new text of its messages.
    pub fn text(self, text: impl Into<Box<str>>) -> Reschedule<'a> {
        Reschedule { text: Some(text.into()), ..self }
    }

    /// Refuses the change if the schedule has another revision than this.
    pub fn if_revision(self, revision: u32) -> Reschedule<'a> {
        Reschedule { base: Some(revision), ..self }
    }

    /// Changes the schedule.
    ///
    /// # Errors
    /// [`Error`]; nothing is changed then.
    pub fn apply(self) -> Result<(), Error> {
        let handle = self.reveille.handle();
        let own = handle.view(|state| {
            let owner = state.schedule(self.schedule).map(|record| &record.schedule().owner);
            state.zone_of(owner).cloned()
        });
        let zones = (&**handle.zones(), handle.zones().usual(own.as_ref()));
        let when: When = self.due.resolve(self.zone, handle.now().wall, zones)?;
        let change = ScheduleChange { when: Some(when), text: self.text, ..ScheduleChange::default() };
        // The embedding program may change every schedule, like an operator.
        let which = Which { base: self.base, ..Which::any(Scope::Operator, self.schedule.clone()) };
        Ok(handle.submit(Input::Command(Command::ChangeSchedule { which, change: Box::new(change) }))?)
    }
}

/// The session of schedules that name none.
const MAIN: &str = "main";
