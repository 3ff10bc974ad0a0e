//! Who may have a process now: places, back-off after starts that failed, budgets, and the order of those that wait.
//!
//! Time is an argument, and there is no process here. Invariants: there are never more processes than an agent may have, nor than
//! `limits::AGENT_PROCESSES` in all; who waits longest is called first.

mod away;
mod beside;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::budget::{Amount, Budget};
use super::plan::AgentPlan;
use crate::domain::{Address, AgentName, BootTime, Reason, SessionId, Span};
use crate::limits;
use crate::port::Holder;

/// The agents and the sessions of one host.
pub(super) struct Pool {
    agents: BTreeMap<AgentName, Agent>,
    sessions: BTreeMap<SessionId, Session>,
    /// Sessions that wait for a place, the longest first.
    waiting: VecDeque<SessionId>,
    /// When to look again at sessions that cannot be reached.
    alarms: BTreeSet<(BootTime, SessionId)>,
}

struct Agent {
    plan: Arc<AgentPlan>,
    places: u32,
    /// Starts that failed in a row.
    failed: u32,
    /// When it may be started again, and why not before.
    again: Option<(BootTime, Reason)>,
    /// What it wrote when its start failed last; empty if it did not fail.
    errors: Box<str>,
    budget: Budget,
}

/// A session whose conversation we may go on with.
struct Session {
    address: Address,
    /// When we began the conversation, if we did in this process.
    begun: Option<BootTime>,
    /// What the conversation has cost so far, as the agent told it last.
    cost: Option<Amount>,
    /// Why it could not be reached last.
    away: Option<Reason>,
    /// Who had its conversation open last.
    holder: Holder,
    place: Place,
    /// The agent whose place it has. The address may name another agent while a process of this one ends.
    place_of: Option<AgentName>,
    /// Whether it was released, and is only here because its process has not ended.
    is_gone: bool,
}

impl Session {
    fn has_place_of_another(&self) -> bool {
        self.place_of.as_ref().is_some_and(|agent| agent != self.address.configured_as())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// It has no process.
    None,
    /// A place is kept for it until then.
    Kept(BootTime),
    /// It has a process that is at work, or is being started.
    Working,
    /// It has a process, and nothing is going on there.
    Idle,
    /// Its process is about to end.
    Leaving,
}

/// What becomes of a prompt.
#[derive(Clone, Debug)]
pub(super) enum Admission {
    /// It goes to the process that is there.
    Running,
    /// A process is started for it.
    Start(Arc<AgentPlan>, Address),
    /// It waits, and one session's idle process, if it is named, is ended to make room.
    Waits(Reason, Option<SessionId>),
    /// The session is not one of ours.
    Unknown,
}

impl Pool {
    pub(super) fn new(plans: Vec<AgentPlan>) -> Pool {
        let agent = |plan: AgentPlan| {
            let budget = Budget::new(plan.turns_per_hour, plan.cost_per_day);
            let agent =
                Agent { plan: Arc::new(plan), places: 0, failed: 0, again: None, errors: "".into(), budget };
            (agent.plan.name.clone(), agent)
        };
        Pool {
            agents: plans.into_iter().map(agent).collect(),
            sessions: BTreeMap::new(),
            waiting: VecDeque::new(),
            alarms: BTreeSet::new(),
        }
    }

    pub(super) fn plan(&self, address: &Address) -> Option<Arc<AgentPlan>> {
        self.agents.get(address.configured_as()).map(|agent| Arc::clone(&agent.plan))
    }

    /// Takes a session in. Returns whether its agent is configured.
    pub(super) fn adopt(&mut self, session: &SessionId, address: &Address) -> bool {
        if !self.agents.contains_key(address.configured_as()) {
            return false;
        }
        // What is known of a session stays when its address is given again: its process may still run.
        if let Some(known) = self.sessions.get_mut(session) {
            known.address = address.clone();
            known.is_gone = false;
            if known.has_place_of_another() {
                self.give_back(session);
            }
            return true;
        }
        let adopted = Session {
            address: address.clone(),
            begun: None,
            cost: None,
            away: None,
            holder: Holder::Nobody,
            place: Place::None,
            place_of: None,
            is_gone: false,
        };
        self.sessions.insert(session.clone(), adopted);
        true
    }

    /// Lets a session go.
    pub(super) fn forget(&mut self, session: &SessionId) {
        self.waiting.retain(|other| other != session);
        self.alarms.retain(|(_, other)| other != session);
        self.give_back(session);
        // A process keeps its place until it has ended.
        if let Some(known) = self.sessions.get_mut(session) {
            known.is_gone = true;
            if known.place == Place::None {
                self.sessions.remove(session);
            }
        }
    }

    /// Decides what becomes of a prompt for a session.
    pub(super) fn admit(&mut self, session: &SessionId, now: BootTime) -> Admission {
        let Some(known) = self.sessions.get(session) else { return Admission::Unknown };
        let (address, begun) = (known.address.clone(), known.begun);
        // The process of another agent takes no prompt for this one.
        let place = if known.has_place_of_another() { Place::Leaving } else { known.place };
        let Some(agent) = self.agents.get_mut(address.configured_as()) else { return Admission::Unknown };
        let plan = Arc::clone(&agent.plan);
        let starts = matches!(place, Place::None | Place::Kept(_));
        // Loading a conversation that is too young may wipe it.
        let ripe = begun.map(|begun| (begun.after(plan.kind.age), Reason::HostBusy));
        // Both are about starts: a process that runs takes further prompts.
        let later = agent.again.into_iter().chain(ripe).find(|(at, _)| starts && *at > now);
        let used_up = agent.budget.used_up_until(now).map(|at| (at, Reason::OverBudget));
        if let Some((at, reason)) = used_up.or(later) {
            // A place that was kept is for others then.
            self.give_back(session);
            self.alarms.insert((at, session.clone()));
            return Admission::Waits(reason, None);
        }
        if starts && let Some(leaves) = self.make_way(session) {
            self.give_back(session);
            self.alarms.insert((now.after(plan.timing.probe), session.clone()));
            return Admission::Waits(Reason::HeldElsewhere, leaves);
        }
        match place {
            Place::Working | Place::Idle => {
                self.reserve(session);
                return Admission::Running;
            }
            Place::Leaving => {
                self.wait(session);
                return Admission::Waits(Reason::HostBusy, None);
            }
            Place::None | Place::Kept(_) => {}
        }
        if place == Place::None {
            let has_room = self.has_room(&plan);
            if !has_room || self.is_called_before(session) {
                self.wait(session);
                // Nothing has to end for a place that is free.
                let leaves = if has_room { None } else { self.idle_one(&plan) };
                return Admission::Waits(Reason::HostBusy, leaves);
            }
            self.waiting.retain(|other| other != session);
            self.take_place(session, &plan.name);
        }
        self.reserve(session);
        Admission::Start(plan, address)
    }

    /// The session is at work, and a turn of the budget is reserved for it.
    fn reserve(&mut self, session: &SessionId) {
        self.set(session, Place::Working);
        if let Some(budget) = self.budget(session) {
            budget.reserve(session);
        }
    }

    fn budget(&mut self, session: &SessionId) -> Option<&mut Budget> {
        let known = self.sessions.get(session)?;
        // What was reserved with a place is that of the place's agent.
        let agent = known.place_of.as_ref().unwrap_or(known.address.configured_as());
        self.agents.get_mut(agent).map(|agent| &mut agent.budget)
    }

    fn has_room(&self, plan: &AgentPlan) -> bool {
        let in_all: u32 = self.agents.values().map(|agent| agent.places).sum();
        let own = self.agents.get(&plan.name).map_or(0, |agent| agent.places);
        own < plan.processes && u64::from(in_all) < limits::AGENT_PROCESSES.value
    }

    /// Whether a session can be called that waits, and for longer than this one. One whose agent is full holds up nobody else.
    fn is_called_before(&self, session: &SessionId) -> bool {
        self.waiting.iter().take_while(|other| *other != session).any(|other| self.can_be_called(other))
    }

    /// Whether there is a place for a session that has none.
    fn can_be_called(&self, session: &SessionId) -> bool {
        let known = self.sessions.get(session).filter(|known| known.place == Place::None);
        let plan = known.and_then(|known| self.plan(&known.address));
        plan.is_some_and(|plan| self.has_room(&plan))
    }

    /// A session whose idle process can make room for this agent.
    fn idle_one(&mut self, plan: &AgentPlan) -> Option<SessionId> {
        let is_fit = |session: &Session| session.place == Place::Idle && self.makes_room(session, plan);
        let found = self.sessions.iter().find(|(_, session)| is_fit(session)).map(|(id, _)| id.clone())?;
        // At once, so that it takes no further prompt and is not chosen twice.
        self.set(&found, Place::Leaving);
        Some(found)
    }

    /// Whether the place of a session makes room for this agent once it is free.
    fn makes_room(&self, session: &Session, plan: &AgentPlan) -> bool {
        // If the agent itself is full, only one of its own places helps. Otherwise any place does.
        let own_is_full = self.agents.get(&plan.name).is_some_and(|agent| agent.places >= plan.processes);
        !own_is_full || session.place_of.as_ref() == Some(&plan.name)
    }

    /// Whether a session waits for a place such as the one that this session has.
    fn is_wanted(&self, session: &SessionId) -> bool {
        let Some(known) = self.sessions.get(session) else { return false };
        let waiting = self.waiting.iter().filter_map(|other| self.sessions.get(other));
        let mut plans =
            waiting.filter(|other| other.place == Place::None).filter_map(|other| self.plan(&other.address));
        plans.any(|plan| !self.has_room(&plan) && self.makes_room(known, &plan))
    }

    fn wait(&mut self, session: &SessionId) {
        if !self.waiting.contains(session) {
            self.waiting.push_back(session.clone());
        }
    }

    fn take_place(&mut self, session: &SessionId, agent: &AgentName) {
        let known = self.sessions.get_mut(session);
        if let (Some(known), Some(of)) = (known, self.agents.get_mut(agent)) {
            known.place_of = Some(agent.clone());
            of.places += 1;
        }
    }

    fn set(&mut self, session: &SessionId, place: Place) {
        if let Some(session) = self.sessions.get_mut(session) {
            session.place = place;
        }
    }

    /// Frees a place that was kept and is not needed.
    fn give_back(&mut self, session: &SessionId) {
        let Some(known) = self.sessions.get_mut(session) else { return };
        if let Place::Kept(_) = known.place {
            self.free(session);
        }
    }

    fn free(&mut self, session: &SessionId) {
        let Some(known) = self.sessions.get_mut(session) else { return };
        known.place = Place::None;
        if let Some(agent) = known.place_of.take().and_then(|agent| self.agents.get_mut(&agent)) {
            agent.places = agent.places.saturating_sub(1);
        }
    }

    /// A turn has ended; the conversation has cost this so far, if the agent says so. Returns whether its process is to end,
    /// because others wait.
    pub(super) fn ended(&mut self, session: &SessionId, cost: Option<Amount>, now: BootTime) -> bool {
        let cost = cost.map_or(Amount::default(), |cost| self.cost_of_turn(session, cost));
        if let Some(budget) = self.budget(session) {
            budget.end(session, cost, now);
        }
        let is_wanted = self.is_wanted(session);
        self.set(session, if is_wanted { Place::Leaving } else { Place::Idle });
        is_wanted
    }

    /// Returns what a conversation that has cost this so far has cost since the agent told it last. An agent that counts from
    /// zero again, as another process of it may, tells less than before. Of a conversation of which nothing was told, all counts.
    fn cost_of_turn(&mut self, session: &SessionId, cost: Amount) -> Amount {
        let Some(known) = self.sessions.get_mut(session) else { return cost };
        let before = known.cost.replace(cost).filter(|before| *before <= cost).unwrap_or_default();
        Amount(cost.0 - before.0)
    }

    /// The prompt of a session was not sent.
    pub(super) fn release(&mut self, session: &SessionId) {
        if let Some(budget) = self.budget(session) {
            budget.release(session);
        }
    }

    /// A process has ended, or was not started: its place is free.
    pub(super) fn leave(&mut self, session: &SessionId) {
        self.release(session);
        let Some(known) = self.sessions.get_mut(session) else { return };
        if known.place != Place::None {
            let is_gone = known.is_gone;
            // The next process counts from zero, and may be dearer by the time that it tells.
            known.cost = None;
            self.free(session);
            if is_gone {
                self.sessions.remove(session);
            }
        }
    }

    /// Calls the session that waits longest and has room; a place is kept for it.
    pub(super) fn call(&mut self, now: BootTime) -> Option<SessionId> {
        // Those that were released meanwhile wait no more.
        let sessions = &self.sessions;
        self.waiting.retain(|session| sessions.contains_key(session));
        // Not always the first one: the session that waits longest may belong to an agent that is full.
        let at = self.waiting.iter().position(|session| self.can_be_called(session))?;
        let session = self.waiting.remove(at)?;
        self.keep_place(&session, now);
        Some(session)
    }

    fn keep_place(&mut self, session: &SessionId, now: BootTime) {
        let Some(known) = self.sessions.get(session).filter(|known| known.place == Place::None) else {
            return;
        };
        let agent = known.address.configured_as().clone();
        self.take_place(session, &agent);
        let until = now.after(KEPT);
        self.set(session, Place::Kept(until));
        self.alarms.insert((until, session.clone()));
    }

    /// Takes a place for a look at a conversation, if there is one; nobody waits for it in the queue.
    pub(super) fn place_for_look(&mut self, session: &SessionId) -> Option<(Arc<AgentPlan>, Address)> {
        let known = self.sessions.get(session).filter(|known| known.place == Place::None)?;
        let address = known.address.clone();
        let plan =
            self.plan(&address).filter(|plan| self.has_room(plan) && self.beside(session).is_none())?;
        self.take_place(session, &plan.name);
        self.set(session, Place::Working);
        Some((plan, address))
    }

    /// Sets when to look at a session again.
    pub(super) fn look_again(&mut self, session: &SessionId, at: BootTime) {
        self.alarms.insert((at, session.clone()));
    }

    /// Looks at a session now that would be looked at later.
    pub(super) fn look_now(&mut self, session: &SessionId, now: BootTime) {
        let alarm = self.alarms.iter().find(|(_, other)| other == session).cloned();
        if let Some(alarm) = alarm.filter(|(at, _)| *at > now) {
            self.alarms.remove(&alarm);
            self.alarms.insert((now, alarm.1));
        }
    }

    /// Returns when an agent is asked again that refused to open a conversation because somebody else has it open.
    pub(super) fn refused_until(&self, address: &Address, now: BootTime) -> BootTime {
        self.plan(address).map_or(now, |plan| now.after(plan.missing_wait()))
    }

    /// Returns when the next alarm is due.
    pub(super) fn next_alarm(&self) -> Option<BootTime> {
        self.alarms.first().map(|(at, _)| *at)
    }

    /// Takes the sessions whose alarm is due, and frees the places that were kept in vain.
    pub(super) fn due(&mut self, now: BootTime) -> Vec<SessionId> {
        let mut due = Vec::new();
        while let Some((at, _)) = self.alarms.first()
            && *at <= now
            && let Some((_, session)) = self.alarms.pop_first()
        {
            let kept = self.sessions.get(&session).map(|known| known.place);
            if let Some(Place::Kept(until)) = kept
                && until <= now
            {
                self.give_back(&session);
                continue;
            }
            due.push(session);
        }
        due
    }

    /// A start of the agent failed in this way. Returns when it may be tried again.
    pub(super) fn failed(
        &mut self,
        address: &Address,
        reason: Reason,
        errors: &str,
        now: BootTime,
    ) -> BootTime {
        let longest = Span::from_millis(limits::AGENT_BACKOFF_MS.value);
        let Some(agent) = self.agents.get_mut(address.configured_as()) else { return now.after(longest) };
        let wait = if reason == Reason::AgentBroken {
            // The shift is bounded: 2^16 times the first wait is far beyond the longest one, and a shift by 64 would overflow.
            let doubled = agent.plan.timing.backoff.millis().saturating_mul(1 << agent.failed.min(16));
            agent.failed += 1;
            Span::from_millis(doubled).min(longest)
        } else {
            agent.plan.missing_wait()
        };
        agent.errors = errors.into();
        let at = now.after(wait);
        agent.again = Some((at, reason));
        at
    }

    /// The agent was started, and opened a conversation.
    pub(super) fn worked(&mut self, address: &Address) {
        if let Some(agent) = self.agents.get_mut(address.configured_as()) {
            agent.failed = 0;
            agent.again = None;
            agent.errors = "".into();
        }
    }

    /// A turn began.
    pub(super) fn began(&mut self, session: &SessionId, now: BootTime) {
        if let Some(budget) = self.budget(session) {
            budget.begin(session, now);
        }
    }

    /// The session has this conversation from now on.
    pub(super) fn readdress(&mut self, session: &SessionId, address: &Address, now: BootTime) {
        if let Some(known) = self.sessions.get_mut(session) {
            known.address = address.clone();
            known.begun = Some(now).filter(|_| address.is_begun_by_us());
        }
    }

    pub(super) fn address(&self, session: &SessionId) -> Option<Address> {
        self.sessions.get(session).map(|known| known.address.clone())
    }
}

/// How long a place is kept for a session that was called, while its run is stored and handed over.
const KEPT: Span = Span::from_millis(5_000);

#[cfg(test)]
mod tests;
