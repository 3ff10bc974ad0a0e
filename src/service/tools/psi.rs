//! A call of psi's tool: arguments in, psi's own answer out.
//!
//! What lives elsewhere: words and shapes (`dialect::psi`), rules (`engine`). Invariant: an answer to a change shows the schedule
//! as that change left it, read before anything else could happen.

use super::super::Service;
use super::super::admission::{self, Admitted};
use crate::dialect::psi::{self, Call, PsiContext};
use crate::dialect::{Answer, Notation};
use crate::domain::{Actor, Caller, Dialect, Now, Refusal, ScheduleId, Scope, SessionId};
use crate::edn::Value;
use crate::engine::{Command, Input, ScheduleRecord, SessionRecord, State, Which};
use crate::limits;
use crate::runtime::Handle;

/// A call of psi's tool.
pub(super) struct PsiCall<'a> {
    pub(super) service: &'a Service,
    pub(super) admitted: Admitted<'a>,
}

impl<'a> PsiCall<'a> {
    fn handle(&self) -> &'a Handle {
        self.service.handle()
    }

    fn caller(&self) -> &'a Caller {
        self.admitted.caller()
    }

    pub(super) fn call(&self, args: &Value, notation: Notation) -> Answer {
        let session = self.caller().scope.session();
        let started = self.handle().now();
        let live = |id: &SessionId| self.handle().view(|state| live_of_psi(state, id));
        // psi checks its cap on live schedules while it reads the arguments.
        let context = PsiContext { session: session.cloned(), live: session.map_or(0, live), now: started };
        let call = match psi::parse(args, notation, &context) {
            Ok(call) => call,
            Err(answer) => return answer,
        };
        let op = call.op();
        let refused = |refusal| match op {
            Some(op) => psi::refused(op, &refusal, self.since(started)),
            None => Answer::refused(refusal.to_string(), refusal.code()),
        };
        self.run(call, started).unwrap_or_else(refused)
    }

    fn run(&self, call: Call, started: Now) -> Result<Answer, Refusal> {
        match call {
            Call::Query(boundary) => {
                // psi's `query` reads: a model may call it unasked, and changes have tools and mutations of their own.
                let reader = self.caller().reading();
                let answer = self.service.query(&reader, &boundary, true);
                Ok(answer.map_or_else(|refusal| psi::not_queried(&refusal), |it| psi::queried(&boundary, it)))
            }
            Call::Create(mut new) => {
                let id =
                    new.id.get_or_insert_with(|| ScheduleId::random(self.handle().random_bits())).clone();
                new.made_by = self.caller().maker(&new.owner, Some(Dialect::Psi), None);
                let input = Input::Command(Command::CreateSchedule(new));
                // Read in the same critical section: the answer shows the schedule as it was created.
                self.handle()
                    .submit_with(input, |state| {
                        let record = state.schedule(&id);
                        record.map(|record| psi::created(state, record, self.since(started)))
                    })
                    .map(|answer| answer.expect("a schedule that was just created is there"))
            }
            Call::List { session } => self.handle().view(|state| {
                if state.session(&session).is_none() {
                    return Err(Refusal::UnknownSession { session });
                }
                let mut records: Vec<&ScheduleRecord> = state.live_schedules_of(&session);
                // Schedules of other tools are listed by those tools.
                records.retain(|record| is_listed_by_psi(record.schedule().dialect));
                Ok(psi::listed(state, &records, self.since(started)))
            }),
            Call::Cancel { session, schedule } => {
                admission::admit_change(self.handle(), self.caller(), &schedule)?;
                let by = Actor { scope: Scope::Session(session), ..self.caller().actor_with(Dialect::Psi) };
                let id = schedule.clone();
                let input = Input::Command(Command::CancelSchedule(Which::any(by, schedule)));
                self.handle()
                    .submit_with(input, |state| {
                        let record = state.schedule(&id);
                        record.map(|record| psi::cancelled(state, record, self.since(started)))
                    })
                    .map(|answer| answer.expect("a schedule that was just cancelled is kept for reading"))
            }
        }
    }

    /// Milliseconds since `started`.
    fn since(&self, started: Now) -> u64 {
        self.handle().now().boot.since(started.boot).millis()
    }
}

fn is_listed_by_psi(dialect: Dialect) -> bool {
    match dialect {
        Dialect::Psi | Dialect::Native => true,
        Dialect::ClaudeCron | Dialect::Cron | Dialect::Reminder | Dialect::SessionAction => false,
        Dialect::Watch | Dialect::Scheduler | Dialect::Channels | Dialect::Memory | Dialect::Primitives => {
            false
        }
    }
}

/// The unfinished schedules of a session that count for psi's cap, which is checked here because it comes in psi's order of
/// errors. The engine's own bound (`is_full`) counts the whole family of the session, and all dialects. While the total is below
/// the cap, it is returned instead: then the exact number does not matter.
fn live_of_psi(state: &State, session: &SessionId) -> usize {
    let all = state.session(session).map_or(0, SessionRecord::live_count);
    if (all as u64) < limits::PSI_SESSION_SCHEDULES.value {
        return all;
    }
    let live = state.live_schedules_of(session);
    live.iter().filter(|record| record.schedule().dialect == Dialect::Psi).count()
}
