//! The definition of a schedule: what was asked for. A change makes a new revision of it.

use super::{
    Actor, Envelope, Lifetime, Lineage, Moment, Payload, Policy, ScheduleId, SessionId, Target, Terms,
    Trigger, names,
};

names! {
    /// Whose tools made a schedule. The engine stores it and asks nothing of it.
    Dialect {
        /// psi's one-shot scheduler. Source: SEED-002.
        Psi = "psi",
        /// The scheduled tasks of a personal agent, shared by all its sessions. Source: SEED-004.
        Cron = "cron",
        /// Prompts that a session sets for itself, once or again and again. Source: SEED-003.
        Reminder = "reminder",
        /// What an agent has the runtime do later in its session. Source: SEED-000.
        SessionAction = "session-action",
        /// The crate's own interface, as embedders call it.
        Native = "native",
    }
}

names! {
    /// What a restart leaves of a schedule.
    Durability {
        /// Nothing: it lives in memory, and its delays count suspended time.
        Volatile = "volatile",
        /// All of it: it is on disk before anybody is told of it, and its slots are instants of the wall clock.
        Durable = "durable",
    }
}

/// What was asked for. Where it stands is kept beside it, by the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Its id, unique in the engine.
    pub id: ScheduleId,
    /// Whose tools made it.
    pub dialect: Dialect,
    /// What a restart leaves of it.
    pub durability: Durability,
    /// A name for people; no meaning to the engine.
    pub label: Option<Box<str>>,
    /// The session that asked for it and that it dies with.
    pub owner: SessionId,
    /// When its slots come.
    pub trigger: Trigger,
    /// What happens then.
    pub payload: Payload,
    /// When it was created, on the wall clock.
    pub created_at: Moment,
    /// How it was made; `None` where its owner made it by the tools of its dialect, in no line.
    pub making: Option<Box<Making>>,
    /// What it has beyond that; `None` is [`Terms::PLAIN`].
    pub terms: Option<Box<Terms>>,
}

/// How a schedule was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Making {
    /// By whom, where that was not its owner by the tools of its dialect.
    pub by: Option<Actor>,
    /// In whose line, where it was made or given another time in a turn that a schedule began.
    pub line: Option<Lineage>,
}

impl Making {
    /// What is to be kept of it; `None` where there is nothing to say.
    pub fn of(by: Option<Actor>, line: Option<Lineage>) -> Option<Box<Making>> {
        (by.is_some() || line.is_some()).then(|| Box::new(Making { by, line }))
    }
}

impl Schedule {
    /// Who created it, where that was not its owner by the tools of its dialect.
    pub fn made_by(&self) -> Option<&Actor> {
        self.making.as_ref()?.by.as_ref()
    }

    /// In whose line it is, where it was made or given another time in a turn that a schedule began.
    pub fn lineage(&self) -> Option<&Lineage> {
        self.making.as_ref()?.line.as_ref()
    }

    /// Puts it in a line.
    pub fn enter_line(&mut self, line: Lineage) {
        let by = self.making.take().and_then(|making| making.by);
        self.making = Making::of(by, Some(line));
    }

    /// What it has beyond when and what.
    pub fn terms(&self) -> &Terms {
        const PLAIN: &Terms = &Terms::PLAIN;
        self.terms.as_deref().unwrap_or(PLAIN)
    }

    /// What applies where the plain course of things does not say.
    pub fn policy(&self) -> &Policy {
        &self.terms().policy
    }

    /// How long it lives.
    pub fn lifetime(&self) -> &Lifetime {
        &self.terms().lifetime
    }

    /// How its prompt is put.
    pub fn envelope(&self) -> Envelope {
        self.terms().envelope
    }

    /// Where its payload goes: a prompt where its terms say, a fresh session to nobody's lane.
    pub fn target(&self) -> &Target {
        match self.payload {
            Payload::Turn { .. } | Payload::Say(_) => &self.terms().target,
            Payload::NewSession(_) => &Target::Fresh,
        }
    }

    /// Whether it is on disk.
    pub fn is_durable(&self) -> bool {
        self.durability == Durability::Durable
    }

    /// Whether it has more slots than one.
    pub fn recurs(&self) -> bool {
        !matches!(self.trigger, Trigger::At(_) | Trigger::Event(_))
    }
}
