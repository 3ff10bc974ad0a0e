//! The definition of a schedule. Each change makes a new revision of it.

use crate::domain::{
    Actor, Call, Descent, Dialect, Durability, Envelope, Lifetime, Lineage, Moment, Payload, Policy, Route,
    RunId, ScheduleId, Scope, SessionId, Settings, Span, Target, Telling, Trigger, Via,
};

/// The definition of a schedule. The engine stores its progress separately.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The schedule's id, unique in the engine.
    pub id: ScheduleId,
    /// The dialect of the tool that made the schedule.
    pub dialect: Dialect,
    /// Whether the schedule survives a restart.
    pub durability: Durability,
    /// A name for people; the engine does not interpret it.
    pub label: Option<Box<str>>,
    /// The session that owns the schedule. By default, closing it cancels the schedule.
    pub owner: SessionId,
    /// When the slots are.
    pub trigger: Trigger,
    /// What happens when a slot is due.
    pub payload: Payload,
    /// When the schedule was created, on the wall clock.
    pub created_at: Moment,
    /// How the schedule was created; `None` if its owner created it with a tool of its dialect,
    /// outside any chain.
    pub creation: Option<Box<Creation>>,
    /// All further settings; `None` stands for [`Settings::PLAIN`].
    pub settings: Option<Box<Settings>>,
}

/// How a schedule was created, and by whom it was changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Creation {
    /// Who created it; `None` if its owner did, with a tool of its dialect.
    pub by: Option<Actor>,
    /// The chain that it belongs to, if it was created or rescheduled in a turn that a schedule
    /// began.
    pub chain: Option<Lineage>,
    /// Who changed it last, other than its owner; `None` if nobody did.
    pub edited_by: Option<Actor>,
    /// The sessions that changed it before, and whose words may still be in it.
    pub editors: Vec<Actor>,
    /// Where its owner, its maker and its editors come from, of those that are fresh sessions.
    pub descents: Vec<Descent>,
}

impl Creation {
    /// Returns the record; `None` if there is nothing to record.
    pub(crate) fn recorded(self) -> Option<Box<Creation>> {
        // Most schedules have no part of it, and then need no allocation.
        (self != Creation::default()).then(|| Box::new(self))
    }
}

impl Schedule {
    /// Returns who created the schedule; `None` if its owner did, with a tool of its dialect.
    pub(crate) fn created_by(&self) -> Option<&Actor> {
        self.creation.as_ref()?.by.as_ref()
    }

    /// Returns who answers for what the schedule does: who created it, or else its owner.
    pub(crate) fn author(&self) -> Actor {
        self.created_by().cloned().unwrap_or_else(|| Actor {
            scope: Scope::Session(self.owner.clone()),
            via: Some(Via::Session),
            tool: None,
            as_model: false,
        })
    }

    /// Returns the chain that the schedule belongs to, if it was created or rescheduled in a turn
    /// that a schedule began.
    pub fn lineage(&self) -> Option<&Lineage> {
        self.creation.as_ref()?.chain.as_ref()
    }

    /// Returns the chain of a turn that a run of this schedule begins.
    pub(crate) fn lineage_of_turn(&self, run: RunId) -> Lineage {
        match self.lineage() {
            // A schedule outside any chain was created by a person or an operator: it is the root.
            None => Lineage { run, depth: 1, root: self.id.clone() },
            Some(lineage) => {
                Lineage { run, depth: lineage.depth.saturating_add(1), root: lineage.root.clone() }
            }
        }
    }

    /// Returns who changed the schedule last, other than its owner.
    pub(crate) fn edited_by(&self) -> Option<&Actor> {
        self.creation.as_ref()?.edited_by.as_ref()
    }

    /// Returns those whose words may be in the schedule besides its maker's: who changed it last, and the sessions that did
    /// before.
    pub(crate) fn editors(&self) -> impl Iterator<Item = &Actor> {
        self.edited_by().into_iter().chain(self.creation.iter().flat_map(|creation| &creation.editors))
    }

    /// Returns where a session with a hand in the schedule comes from, if that was a fresh session.
    pub(crate) fn descent_of(&self, session: &SessionId) -> Option<&Descent> {
        self.creation.as_ref()?.descents.iter().find(|descent| descent.session == *session)
    }

    /// Returns whether every word of the schedule is an operator's.
    pub(crate) fn is_by_operators(&self) -> bool {
        let is_operator = |actor: &Actor| actor.scope == Scope::Operator;
        self.created_by().is_some_and(is_operator) && self.editors().all(is_operator)
    }

    /// Returns how many slots it has in a minute, if they are closer together than that, and a session asked for them.
    pub(crate) fn slots_per_minute(&self) -> u64 {
        let Trigger::Every(every) = &self.trigger else { return 0 };
        // A period is never zero, but a panic is no way to say so. Rounded up, so that every period below a minute counts.
        let slots = Span::from_millis(60_000).nanos().div_ceil(every.period().nanos().max(1));
        if slots < 2 || self.is_watch() || self.is_by_operators() { 0 } else { slots }
    }

    /// Puts the schedule into a chain.
    pub fn enter_chain(&mut self, lineage: Lineage) {
        self.creation_mut().chain = Some(lineage);
    }

    /// Records who changed the schedule. Sessions that changed it before stay in the record, because their words may stay in the
    /// schedule; so a change by the owner need not be recorded. If the schedule goes to another session or a channel, the owner
    /// is recorded too, because its author has to be allowed that at each run. So is an owner that changes what an operator has
    /// made: it is the operator's no more.
    pub(crate) fn note_editor(&mut self, by: &Actor) {
        let leaves = by.is_bound() && self.target().is_outside(&self.owner);
        if by.scope.session() == Some(&self.owner) && !leaves && !self.is_by_operators() {
            return;
        }
        let creation = self.creation_mut();
        creation.editors.extend(creation.edited_by.replace(by.clone()));
        // Operators may everything. Of a session, the record that binds it to its rights stands for the other one.
        let stands_for = |one: &Actor| by.scope == one.scope && (by.is_bound() || !one.is_bound());
        creation.editors.retain(|one| one.is_of_session() && !stands_for(one));
    }

    /// Forgets who changed the schedule: none of their words are in it any more.
    pub(crate) fn forget_editors(&mut self) {
        if let Some(creation) = &mut self.creation {
            (creation.edited_by, creation.editors) = (None, Vec::new());
        }
    }

    /// Records where a fresh session comes from that has a hand in the schedule.
    pub(crate) fn note_descent(&mut self, descent: Descent) {
        let others = self.created_by().into_iter().chain(self.editors());
        let mut hands: Vec<SessionId> = others.filter_map(|by| by.scope.session()).cloned().collect();
        hands.push(self.owner.clone());
        let descents = &mut self.creation_mut().descents;
        descents.retain(|one| hands.contains(&one.session) && one.session != descent.session);
        if hands.contains(&descent.session) {
            descents.push(descent);
        }
    }

    fn creation_mut(&mut self) -> &mut Creation {
        self.creation.get_or_insert_default()
    }

    /// Returns the definition of a bulletin of this schedule: the words go into the owner's session as a turn of their own, or
    /// out through a channel. What goes out names its author, who has to be allowed to use the channel when it goes.
    pub(crate) fn bulletin(&self, telling: &Telling) -> Schedule {
        let target = self.bulletin_target(telling.channel.as_deref());
        // A bulletin tells of what came before, so no expiry and no bound on runs applies to it.
        let lifetime = Lifetime { dies_with_session: self.lifetime().dies_with_session, ..Lifetime::PLAIN };
        let settings = Settings { target, lifetime, shared: self.settings().shared, ..Settings::PLAIN };
        let bulletin = Schedule {
            payload: Payload::Turn { text: telling.text.clone() },
            settings: (settings != Settings::PLAIN).then(|| Box::new(settings)),
            ..self.clone()
        };
        if telling.channel.is_none() {
            return bulletin;
        }
        let known = self.creation.as_deref().cloned().unwrap_or_default();
        let creation = Creation { by: Some(self.author()), ..known };
        Schedule { creation: creation.recorded(), ..bulletin }
    }

    /// Returns where a bulletin of this schedule goes: out through this channel, or into the owner's session.
    pub(crate) fn bulletin_target(&self, channel: Option<&str>) -> Target {
        channel.map_or(Target::Owner, |channel| {
            // The receiver tells sessions apart by the conversation.
            let conversation = self.owner.as_str().into();
            Target::Route(Box::new(Route { channel: channel.into(), conversation, thread: None }))
        })
    }

    /// Returns whether the schedule exists for this scope: it belongs to it, or is shared.
    pub fn is_in(&self, scope: &Scope) -> bool {
        scope.covers(&self.owner) || self.settings().shared
    }

    /// Returns the settings beyond trigger and payload.
    pub fn settings(&self) -> &Settings {
        const PLAIN: &Settings = &Settings::PLAIN;
        self.settings.as_deref().unwrap_or(PLAIN)
    }

    /// Returns how late, overlapping, failed and interrupted runs are handled.
    pub fn policy(&self) -> &Policy {
        &self.settings().policy
    }

    /// Returns what ends the schedule.
    pub fn lifetime(&self) -> &Lifetime {
        &self.settings().lifetime
    }

    /// Returns how the prompt is presented to the model.
    pub fn envelope(&self) -> Envelope {
        self.settings().envelope
    }

    /// Returns where the payload goes: a prompt to the target of the settings, a fresh session to
    /// no existing session.
    pub fn target(&self) -> &Target {
        match self.payload {
            Payload::Turn { .. } | Payload::Notice(_) | Payload::Call(_) => &self.settings().target,
            // Whatever the settings say, because this payload opens a session of its own.
            Payload::NewSession(_) => &Target::Fresh,
        }
    }

    /// Returns the size of its texts, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        let of = |text: &Option<Box<str>>| text.as_ref().map_or(0, |text| text.len());
        let config = self.payload.config().map_or(0, |config| config.bytes());
        let args = self.payload.call().map_or(0, Call::bytes);
        (self.payload.text().len() + of(&self.label) + of(&self.settings().description) + config + args)
            as u64
    }

    /// Returns whether the schedule survives a restart.
    pub fn is_durable(&self) -> bool {
        self.durability != Durability::Volatile
    }

    /// Returns whether its runs are checks of a watch.
    pub(crate) fn is_watch(&self) -> bool {
        self.payload.call().is_some_and(|call| call.filter.is_some())
    }

    /// Returns whether the schedule may have more than one slot.
    pub fn recurs(&self) -> bool {
        !matches!(self.trigger, Trigger::At(_) | Trigger::Event(_))
    }
}
