//! One call of a tool of watches: arguments in, the tool's own answer out.
//!
//! What lives elsewhere: words and shapes (`dialect::watch`), which checks are told (`engine`). Invariant: an answer shows a
//! watch as the change left it, read before anything else could happen.

use super::super::Service;
use super::super::admission::Admitted;
use super::called::CallLater;
use crate::dialect::watch::{self, Call, Tool, WatchDraft, Watcher};
use crate::dialect::{Answer, Notation, unreachable};
use crate::domain::{Caller, Dialect, Durability, Refusal, ScheduleId, SessionId, Span, WatchStatus};
use crate::edn::Value;
use crate::engine::{Command, Input, NewSchedule, ScheduleRecord, Which};
use crate::runtime::Handle;

/// A call of a tool of watches.
pub(super) struct WatchCall<'a> {
    pub(super) service: &'a Service,
    pub(super) admitted: Admitted<'a>,
}

/// A watch to start, and how the tool that starts it speaks.
pub(super) struct Start<'a> {
    pub(super) watch: &'a WatchDraft,
    /// After how long it ends; `None` for a watch without such an end.
    pub(super) lasts: Option<Span>,
    /// The names of the tool and of its arguments in the caller's call.
    pub(super) fields: [&'static str; 2],
    /// The family of the tool that starts it.
    pub(super) by: Dialect,
}

/// Why a watch was not started.
pub(super) enum NotStarted {
    /// The tool cannot be called later with these arguments; this answer says why.
    Answered(Answer),
    /// An operator approves each call of the tool.
    NeedsApproval,
    /// The engine refused it.
    Refused(Refusal),
}

impl<'a> WatchCall<'a> {
    fn handle(&self) -> &'a Handle {
        self.service.handle()
    }

    fn caller(&self) -> &'a Caller {
        self.admitted.caller()
    }

    pub(super) fn call(&self, tool: Tool, args: &Value, notation: Notation) -> Answer {
        let call = match watch::parse(tool, args, notation) {
            Ok(call) => call,
            Err(answer) => return answer,
        };
        let Some(session) = self.caller().scope.session() else { return watch::no_session() };
        if self.handle().view(|state| state.session(session).is_none()) {
            return watch::refused(&Refusal::UnknownSession { session: session.clone() });
        }
        match call {
            Call::Start(draft) => self.start_watch(&draft, session),
            Call::Stop(id) => self.stop(&id, session),
            Call::Pause(id) => self.toggle(&id, session, (WatchStatus::Running, "pause"), |which| {
                Command::PauseSchedule { which, reason: None }
            }),
            Call::Resume(id) => {
                self.toggle(&id, session, (WatchStatus::Paused, "resume"), Command::ResumeSchedule)
            }
            Call::Status(id) => self.shown(&id, session, watch::status),
            Call::History { watcher, last } => {
                self.shown(&watcher, session, |watcher| watch::history(watcher, last))
            }
            Call::PingAge(name) => {
                let at = self.handle().view(|state| state.session(session)?.pings().at(&name));
                watch::ping_age(&name, at, self.handle().now().wall)
            }
            Call::List(page) => {
                self.handle().view(|state| watch::listed(&watch::watchers(state, session), &page))
            }
        }
    }

    fn start_watch(&self, draft: &WatchDraft, session: &SessionId) -> Answer {
        let start = Start { watch: draft, lasts: None, fields: ["name", "params"], by: Dialect::Watch };
        let shown = |record: &ScheduleRecord, warnings: &[String]| {
            Some(watch::started(&Watcher::of(record)?, warnings))
        };
        self.start(&start, session, shown).unwrap_or_else(|why| match why {
            NotStarted::Answered(answer) => answer,
            NotStarted::NeedsApproval => watch::needs_approval("name", &draft.tool),
            NotStarted::Refused(Refusal::SessionFull { max }) => watch::full(max),
            NotStarted::Refused(refusal) => watch::refused(&refusal),
        })
    }

    /// Starts a watch, and answers with `shown`, which is given its record and what the caller should know.
    ///
    /// # Errors
    /// [`NotStarted`]; there is no watch then.
    pub(super) fn start(
        &self,
        start: &Start<'_>,
        session: &SessionId,
        shown: impl Fn(&ScheduleRecord, &[String]) -> Option<Answer>,
    ) -> Result<Answer, NotStarted> {
        let (draft, [tool_field, args_field]) = (start.watch, start.fields);
        let (tool, args) = ((tool_field, &draft.tool), (args_field, &draft.params));
        let asker = (session, self.caller());
        // Refused here, and not at each check: the tool must exist for the session, and take these arguments.
        let later = CallLater::find(self.handle(), asker, Dialect::Watch, tool, args);
        let later = later.map_err(NotStarted::Answered)?;
        if later.spec.approval {
            return Err(NotStarted::NeedsApproval);
        }
        // With a store, what is told and what is remembered outlive the process.
        let has_store = self.handle().read().store().is_some();
        let durability = if has_store { Durability::Bound } else { Durability::Volatile };
        let mut warnings: Vec<String> = draft.warnings.iter().map(|it| (*it).to_owned()).collect();
        if !has_store {
            warnings.push(watch::IN_MEMORY.to_owned());
        }
        // Never returned, because the loop runs at least once.
        let mut started = Err(Refusal::Stopping);
        // The ids are short, so one may be in use already: draw another.
        for _ in 0..DRAWS {
            let id =
                ScheduleId::new(&self.handle().random_bits().short()).expect("hexadecimal digits are an id");
            let now = self.handle().now().wall;
            let new = draft.clone().into_new(id.clone(), session.clone(), (now, start.lasts));
            let new = later.of(new.ok_or(NotStarted::Refused(Refusal::BeyondCalendar))?);
            let new = NewSchedule {
                durability,
                made_by: self.caller().maker(session, Some(start.by), None),
                ..new
            };
            // Before there is the watch: what changes from now on is heard of.
            let mut warnings = warnings.clone();
            if let Err(why) = self.handle().tools().listen(&id, session, (&later.spec.name, &draft.params)) {
                warnings.push(watch::unheard(why));
            }
            started = self.handle().submit_with(Input::Command(Command::CreateSchedule(new)), |state| {
                let record = state.schedule(&id)?;
                warnings.extend(unreachable(state, record));
                shown(record, &warnings)
            });
            match started {
                // The id is another schedule's, which may listen itself.
                Err(Refusal::ScheduleExists { .. }) => {}
                Err(_) => {
                    self.handle().tools().stop_listening(&id);
                    break;
                }
                Ok(_) => break,
            }
        }
        let started = started.map_err(NotStarted::Refused)?;
        Ok(started.expect("a watch that was just started is there"))
    }

    fn stop(&self, id: &str, session: &SessionId) -> Answer {
        let Some(schedule) = self.find(id, session) else { return watch::not_found(id) };
        // Shown as it was: afterwards there is no such watch.
        let answer = self.shown(id, session, watch::stopped);
        match self.end(&schedule, Dialect::Watch) {
            Ok(true) => answer,
            Ok(false) => watch::not_found(id),
            Err(refusal) => watch::refused(&refusal),
        }
    }

    /// Ends a watch, for a tool of this family. Returns whether it was there.
    pub(super) fn end(&self, watch: &ScheduleId, by: Dialect) -> Result<bool, Refusal> {
        let which = Which::any(self.caller().actor_with(by), watch.clone());
        match self.handle().submit(Input::Command(Command::DeleteSchedule(which))) {
            // One that has made all its checks is gone from the list only when its record is.
            Ok(()) | Err(Refusal::NotCancellable { .. }) => {
                self.handle().tools().stop_listening(watch);
                Ok(true)
            }
            Err(Refusal::UnknownSchedule { .. }) => Ok(false),
            Err(refusal) => Err(refusal),
        }
    }

    /// Pauses or resumes a watch that is in the status in which that makes sense.
    fn toggle(
        &self,
        id: &str,
        session: &SessionId,
        (wanted, verb): (WatchStatus, &str),
        command: impl FnOnce(Which) -> Command,
    ) -> Answer {
        let status = |schedule: &ScheduleId| {
            self.handle().view(|state| watch::watcher(state, session, schedule).map(|watcher| watcher.status))
        };
        let Some((schedule, found)) =
            self.find(id, session).and_then(|it| Some((status(&it)?, it))).map(|(found, it)| (it, found))
        else {
            return watch::not_found(id);
        };
        if found != wanted {
            return watch::wrong_status(id, found.name(), (verb, wanted.name()));
        }
        let which = Which::any(self.caller().actor_with(Dialect::Watch), schedule.clone());
        let done = self.handle().submit_with(Input::Command(command(which)), |state| {
            let watcher = watch::watcher(state, session, &schedule)?;
            Some(if wanted == WatchStatus::Running {
                watch::paused(&watcher)
            } else {
                watch::resumed(&watcher)
            })
        });
        match done {
            Ok(answer) => answer.unwrap_or_else(|| watch::not_found(id)),
            Err(Refusal::UnknownSchedule { .. } | Refusal::WrongStatus { .. }) => watch::not_found(id),
            Err(refusal) => watch::refused(&refusal),
        }
    }

    fn shown(&self, id: &str, session: &SessionId, show: impl FnOnce(&Watcher<'_>) -> Answer) -> Answer {
        let Ok(schedule) = ScheduleId::new(id) else { return watch::not_found(id) };
        self.handle().view(|state| {
            let watcher = watch::watcher(state, session, &schedule);
            watcher.map_or_else(|| watch::not_found(id), |watcher| show(&watcher))
        })
    }

    /// The id of a watch of this session.
    fn find(&self, id: &str, session: &SessionId) -> Option<ScheduleId> {
        let schedule = ScheduleId::new(id).ok()?;
        let is_there = self.handle().view(|state| watch::watcher(state, session, &schedule).is_some());
        is_there.then_some(schedule)
    }
}

const DRAWS: u32 = 8;
