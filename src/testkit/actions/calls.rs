//! Random tool calls by agents and operators, and the laws about their answers.
//!
//! A refused call and a reading call change nothing; that a caller was not admitted may be recorded. A schedule that an
//! answer says was created exists and belongs to the caller; one that it says was cancelled is cancelled. No answer to a
//! session names a schedule that the session cannot see.

use crate::dialect::{Answer, Notation};
use crate::domain::{
    Actor, Caller, Cursor, Dialect, EngineFact, Fact, Right, ScheduleFact, ScheduleId, Scope,
};
use crate::edn::Value;
use crate::engine::{ScheduleRecord, State};
use crate::port::Clock;
use crate::service::{Service, TOOLBOX, ToolInfo};
use crate::testkit::history::Seen;
use crate::testkit::laws::Broken;
use crate::testkit::world::World;

type Outcome = Result<(), Broken>;

/// One tool call.
pub(in crate::testkit) struct ToolCall {
    pub(in crate::testkit) tool: &'static ToolInfo,
    pub(in crate::testkit) deed: ExpectedEffect,
    pub(in crate::testkit) args: Value,
}

/// What a call is expected to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::testkit) enum ExpectedEffect {
    /// Reads something.
    Read,
    /// Lists all schedules of the session in this dialect.
    List,
    /// Creates a schedule.
    Create,
    /// Cancels something.
    Cancel,
    /// Changes something else.
    Change,
}

/// The observed result of a call.
struct CallOutcome {
    caller: Caller,
    call: ToolCall,
    answer: Option<Answer>,
    /// The facts that the call produced, with their cursors.
    facts: Vec<(Cursor, Fact)>,
    has_changed: bool,
}

impl CallOutcome {
    /// Returns whether the call was not admitted, and all that followed is the record of that.
    fn is_only_recorded(&self) -> bool {
        let is_of_caller = |by: &Actor| by.scope == self.caller.scope;
        let is_record =
            |fact: &Fact| matches!(fact, Fact::Engine(EngineFact::Refused { by, .. }) if is_of_caller(by));
        let [(_, fact)] = &self.facts[..] else { return false };
        self.answer.is_none() && is_record(fact)
    }
}

impl World {
    /// Calls a random tool as a random caller, and judges the answer.
    pub(in crate::testkit) fn call_tool(&mut self) -> Outcome {
        if !self.is_all_kept() {
            // A tool waits until its change is committed. The world has one thread, so it would
            // hang.
            return Ok(());
        }
        // Run what is due first, as a driver would: facts seen below then belong to the call.
        self.turn()?;
        self.judge(false)?;
        let (Some(tool), Some(caller)) = (self.stage.entropy.pick(TOOLBOX), self.any_caller()) else {
            return Ok(());
        };
        let call = self.any_call(tool);
        let notation = if self.stage.entropy.one_in(2) { Notation::Edn } else { Notation::Json };
        self.say(format!("  {:?} calls {} with {}", caller.scope, tool.name, call.args));
        let before = (self.handle.view(State::cursor), self.stage.history.len());
        // Of this process: a crash replaces the engine.
        let service = Service::new(self.handle.clone());
        let answer = service.call_tool(tool.name, &caller, &call.args, notation).unwrap_or_else(|denial| {
            self.say(format!("    denied: {denial}"));
            None
        });
        let has_changed = before != (self.handle.view(State::cursor), self.stage.history.len());
        self.tally.calls += 1;
        self.tally.calls_refused += u64::from(answer.as_ref().is_none_or(is_refused));
        if let Some(answer) = &answer {
            self.say(format!("    {}{}", if answer.is_error { "refused: " } else { "" }, answer.value));
        }
        let facts = self.stage.history.after(before.1).into_iter().filter_map(|seen| match seen.seen {
            Seen::Fact(fact) => Some(fact),
            Seen::Local(_)
            | Seen::Received(_)
            | Seen::CancelAcknowledged { .. }
            | Seen::HostLost(_)
            | Seen::ShutDown
            | Seen::DiskFailed { .. } => None,
        });
        // Cursors are consecutive, so each fact's place follows from the cursor before the call.
        let cursors = std::iter::successors(Some(before.0.next()), |cursor| Some(cursor.next()));
        let facts = cursors.zip(facts).collect();
        self.judge_call(&CallOutcome { caller, call, answer, facts, has_changed })
    }

    /// A random caller: mostly an agent, one in six an operator, one in ten without write access.
    fn any_caller(&self) -> Option<Caller> {
        let entropy = &self.stage.entropy;
        let caller = if entropy.one_in(6) { Caller::OPERATOR } else { Caller::session(self.any_session()?) };
        let right = if entropy.one_in(10) { Right::Read } else { Right::Change };
        Some(Caller { right, ..caller })
    }

    fn judge_call(&mut self, effect: &CallOutcome) -> Outcome {
        let broken = |law, detail: &str| {
            let CallOutcome { caller, call, answer, facts, .. } = effect;
            let asked = format!("{:?} called {} with {}", caller.scope, call.tool.name, call.args);
            Err(Broken {
                law,
                detail: format!("{detail}: {asked}, answered was {answer:?}, and then {facts:?}"),
            })
        };
        let Some(answer) = effect.answer.as_ref().filter(|answer| !is_refused(answer)) else {
            // A change may be decided before the store's failure is known. It is then refused and
            // rolled back.
            let is_ill = self.disk.as_ref().is_some_and(|disk| disk.is_ill);
            if effect.has_changed && !is_ill && !effect.is_only_recorded() {
                return broken("refusals_change_nothing", "a refused call changed something");
            }
            return effect.answer.as_ref().map_or(Ok(()), |answer| self.judge_walls(effect, answer));
        };
        self.judge_walls(effect, answer)?;
        let text = answer.value.to_string();
        match effect.call.deed {
            ExpectedEffect::Read | ExpectedEffect::List if effect.has_changed => {
                return broken("reads_change_nothing", "a call that reads changed something");
            }
            ExpectedEffect::List => {
                if let Some(missing) = self.unlisted(effect, &text) {
                    return broken("a_list_shows_all", &format!("{missing} is not in the list"));
                }
            }
            ExpectedEffect::Create => {
                if let Err(detail) = self.is_made(effect, &text) {
                    return broken("what_is_acknowledged_is_there", &detail);
                }
            }
            ExpectedEffect::Cancel => {
                if effect.called_off().next().is_none() {
                    return broken("what_is_acknowledged_is_there", "nothing was called off");
                }
            }
            ExpectedEffect::Read | ExpectedEffect::Change => {}
        }
        self.note_promises(effect);
        Ok(())
    }

    /// Records what the answer promised: its durable facts are committed, and what it cancelled
    /// never goes out again.
    fn note_promises(&mut self, effect: &CallOutcome) {
        let is_durable = |id: &ScheduleId| {
            self.handle.view(|state| state.schedule(id).is_some_and(|it| it.schedule().is_durable()))
        };
        let kept = effect.facts.iter().filter(|(_, fact)| {
            let created = if let Fact::Created { schedule, .. } = fact { Some(&schedule.id) } else { None };
            let changed = if let Fact::Schedule(id, _) = fact { Some(id) } else { None };
            created.or(changed).is_some_and(is_durable)
        });
        // The call waits for its own change, which comes first. Facts after it may still be
        // pending.
        let first = kept.map(|(cursor, _)| *cursor).next();
        if let Some(cursor) = first.filter(|_| self.disk.is_some()) {
            self.laws.tell_kept(cursor);
        }
        for schedule in effect.called_off().cloned() {
            let scope = effect.caller.scope.clone();
            self.stage.history.note(self.stage.clock.now(), Seen::CancelAcknowledged { scope, schedule });
        }
    }

    /// Checks a successful create: at most one new schedule, owned by the caller and named in the
    /// answer.
    fn is_made(&self, effect: &CallOutcome, answer: &str) -> Result<(), String> {
        let made = effect.facts.iter().filter_map(|(_, fact)| {
            if let Fact::Created { schedule, .. } = fact { Some(schedule) } else { None }
        });
        let made: Vec<_> = made.collect();
        let own = effect.caller.scope.session();
        for schedule in &made {
            let is_own = own.is_none_or(|own| schedule.owner == *own);
            let is_named = answer.contains(&schedule.id.to_string());
            let is_there = self.handle.view(|state| state.schedule(&schedule.id).is_some());
            if !(is_own && is_named && is_there && schedule.dialect == effect.call.tool.dialect) {
                return Err(format!("{schedule:?} was made"));
            }
        }
        // No new schedule is right if the call repeats an earlier one and the answer names that
        // schedule.
        let of_dialect = |state: &State| {
            let records = state.schedules().into_iter().map(ScheduleRecord::schedule);
            let mut same = records.filter(|schedule| own.is_none_or(|own| schedule.owner == *own));
            same.any(|schedule| answer.contains(&schedule.id.to_string()))
        };
        match made.len() {
            0 if self.handle.view(of_dialect) => Ok(()),
            1 => Ok(()),
            several => Err(format!("{several} schedules were made")),
        }
    }

    /// A live schedule of the caller that is missing from the list, if there is one.
    fn unlisted(&self, effect: &CallOutcome, answer: &str) -> Option<ScheduleId> {
        let own = effect.caller.scope.session()?;
        self.handle.view(|state| {
            let live = state.live_schedules_of(own).into_iter().map(ScheduleRecord::schedule);
            let mut of_dialect = live.filter(|schedule| schedule.dialect == effect.call.tool.dialect);
            let missing = of_dialect.find(|schedule| !answer.contains(&schedule.id.to_string()));
            missing.map(|schedule| schedule.id.clone())
        })
    }

    /// Checks that the answer names no schedule of another session, unless the caller named it
    /// first.
    fn judge_walls(&self, effect: &CallOutcome, answer: &Answer) -> Outcome {
        let Scope::Session(own) = &effect.caller.scope else { return Ok(()) };
        let (text, asked) = (answer.value.to_string(), effect.call.args.to_string());
        let leaked = self.handle.view(|state| {
            let others = state.schedules().into_iter().map(ScheduleRecord::schedule);
            let others = others.filter(|schedule| !schedule.is_in(&effect.caller.scope));
            let mut ids = others.map(|schedule| schedule.id.to_string());
            ids.find(|id| text.contains(id.as_str()) && !asked.contains(id.as_str()))
        });
        leaked.map_or(Ok(()), |id| {
            let detail = format!("{own} was told of {id}: {asked} was answered by {text}");
            Err(Broken { law: "walls_hold", detail })
        })
    }
}

impl CallOutcome {
    /// The schedules that a cancelling call cancelled.
    fn called_off(&self) -> impl Iterator<Item = &ScheduleId> {
        let is_asked = self.call.deed == ExpectedEffect::Cancel;
        self.facts.iter().filter(move |_| is_asked).filter_map(|(_, fact)| {
            if let Fact::Schedule(id, ScheduleFact::Cancelled { .. }) = fact { Some(id) } else { None }
        })
    }
}

/// Whether a call was refused. Some tools report a missing schedule by `status`, not as an error.
fn is_refused(answer: &Answer) -> bool {
    let status = answer.value.as_map().and_then(|map| map.keyword("status")).and_then(Value::as_keyword);
    answer.is_error || status.is_some_and(|status| status.as_str() == "not_found")
}

/// Whether the dialect's list tool shows every schedule that the session has in it.
pub(in crate::testkit) fn lists_all(dialect: Dialect) -> bool {
    match dialect {
        Dialect::Psi | Dialect::Cron => true,
        // These show one page, or omit schedules that their dialect cannot express.
        Dialect::ClaudeCron | Dialect::Native | Dialect::Reminder | Dialect::SessionAction => false,
        Dialect::Watch | Dialect::Scheduler | Dialect::Channels | Dialect::Memory | Dialect::Primitives => {
            false
        }
    }
}
