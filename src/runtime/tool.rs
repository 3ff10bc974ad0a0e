//! One tool call: arguments in, the tool's own answer out.

use super::handle::Handle;
use crate::dialect::psi::{self, Call, Context};
use crate::dialect::{Answer, Notation, cron, native, reminder, session_action};
use crate::domain::{Actor, Caller, Dialect, Now, Refusal, Right, ScheduleId, Scope, SessionId};
use crate::edn::Value;
use crate::engine::{Command, Input, ScheduleRecord, SessionRecord, State, Which};
use crate::limits;

impl Handle {
    /// Calls a tool for a caller; `None` if there is no tool of that name. The answer is the dialect's own, a
    /// refusal included.
    pub fn call_tool(&self, tool: &str, caller: &Caller, args: &Value, notation: Notation) -> Option<Answer> {
        if tool == psi::TOOL {
            return Some(self.call_psi(caller, args, notation));
        }
        if let Some(tool) = cron::Tool::parse(tool) {
            return Some(self.call_cron(tool, caller, args, notation));
        }
        if let Some(tool) = reminder::Tool::parse(tool) {
            return Some(self.call_reminder(tool, caller, args, notation));
        }
        if let Some(tool) = native::Tool::parse(tool) {
            return Some(self.call_native(tool, caller, args, notation));
        }
        let tool = session_action::Tool::parse(tool)?;
        Some(self.call_session_action(tool, caller, args, notation))
    }

    fn call_psi(&self, caller: &Caller, args: &Value, notation: Notation) -> Answer {
        let session = caller.scope.session();
        let started = self.now();
        let live = |id: &SessionId| self.view(|state| live_of_psi(state, id));
        let context = Context { session: session.cloned(), live: session.map_or(0, live), now: started };
        let call = match psi::parse(args, notation, &context) {
            Ok(call) => call,
            Err(answer) => return answer,
        };
        let op = call.op();
        let refused = |refusal| match op {
            Some(op) => psi::refused(op, &refusal, self.since(started)),
            None => Answer::refused(refusal.to_string(), refusal.code()),
        };
        self.run_psi(call, caller, started).unwrap_or_else(refused)
    }

    fn run_psi(&self, call: Call, caller: &Caller, started: Now) -> Result<Answer, Refusal> {
        match call {
            Call::Query(boundary) => {
                // psi's `query` reads: a model may call it unasked, and changes have tools and mutations of their own.
                let reader = Caller { right: Right::Read, ..caller.clone() };
                let answer = self.query(&reader, &boundary, true);
                Ok(answer.map_or_else(|refusal| psi::not_queried(&refusal), |it| psi::queried(&boundary, it)))
            }
            Call::Create(mut new) => {
                let id = new.id.get_or_insert_with(|| ScheduleId::random(self.draw())).clone();
                new.made_by = caller.maker(&new.owner, Some(Dialect::Psi));
                let input = Input::Command(Command::CreateSchedule(new));
                // Read in the same critical section: the answer shows the schedule as it was created.
                self.submit_with(input, |state| {
                    let record = state.schedule(&id);
                    record.map(|record| psi::created(state, record, self.since(started)))
                })
                .map(|answer| answer.expect("a schedule that was just created is there"))
            }
            Call::List { session } => self.view(|state| {
                if state.session(&session).is_none() {
                    return Err(Refusal::UnknownSession { session });
                }
                let mut records: Vec<&ScheduleRecord> = state.live_schedules_of(&session);
                // What other tools have made has lists of its own.
                records.retain(|record| is_listed_by_psi(record.schedule().dialect));
                Ok(psi::listed(state, &records, self.since(started)))
            }),
            Call::Cancel { session, schedule } => {
                let by = Actor { scope: Scope::Session(session), ..caller.actor_with(Dialect::Psi) };
                let id = schedule.clone();
                let input = Input::Command(Command::CancelSchedule(Which::any(by, schedule)));
                self.submit_with(input, |state| {
                    let record = state.schedule(&id);
                    record.map(|record| psi::cancelled(state, record, self.since(started)))
                })
                .map(|answer| answer.expect("a schedule that was just cancelled is kept for reading"))
            }
        }
    }

    /// Milliseconds since then.
    fn since(&self, started: Now) -> u64 {
        self.now().boot.since(started.boot).millis()
    }
}

fn is_listed_by_psi(dialect: Dialect) -> bool {
    match dialect {
        Dialect::Psi | Dialect::Native => true,
        Dialect::Cron | Dialect::Reminder | Dialect::SessionAction => false,
    }
}

/// Unfinished schedules of a session that count for psi's cap. Below the cap all of them may: the others are not looked for.
fn live_of_psi(state: &State, session: &SessionId) -> usize {
    let all = state.session(session).map_or(0, SessionRecord::live_count);
    if (all as u64) < limits::PSI_SESSION_SCHEDULES.value {
        return all;
    }
    let live = state.live_schedules_of(session);
    live.iter().filter(|record| record.schedule().dialect == Dialect::Psi).count()
}
