//! Tasks: calls that were begun and that nobody waits for, as schedules of their own that are due at once.
//!
//! What lives elsewhere: runs, limits and what the session is told (`engine`), who waits for an end (`runtime`). Invariant: of a
//! task either its caller gets the end, or its session is told of it.

use std::sync::{Arc, Mutex, PoisonError};

use super::super::later::{Called, Pending, Promise};
use super::primitives::PrimitivesCall;
use crate::dialect::primitives::{self, Background, Item, TaskView};
use crate::dialect::{Answer, unreachable, within_bound};
use crate::domain::{
    Actor, Call, CallPurpose, CallVia, CallerRole, Dialect, Durability, ExecutorKind, Moment, Payload,
    Policy, Refusal, ScheduleId, SessionId, Settings, Sink, Span, TaskState, ToolSpec, When,
};
use crate::edn::Value;
use crate::engine::{Command, Input, NewSchedule, ScheduleRecord, State, Task, Which};
use crate::limits;
use crate::runtime::{AlarmId, Handle, WaiterId};

/// What makes tasks of a session.
#[derive(Clone)]
pub(super) struct TaskMaker {
    handle: Handle,
    session: SessionId,
    made_by: Option<Box<Actor>>,
}

impl TaskMaker {
    /// Creates the schedule of a task, which calls its tool at once.
    pub(super) fn create(
        &self,
        id: &ScheduleId,
        (spec, kind): (&ToolSpec, ExecutorKind),
        args: Arc<Value>,
    ) -> Result<(), Refusal> {
        // The bound is of the tasks that run at a time. Those that have ended are retained beside it.
        let running = self.handle.view(|state| tasks(state, &self.session).filter(is_running).count());
        if running as u64 >= limits::SESSION_TASKS.value {
            return Err(Refusal::LimitReached { limit: limits::SESSION_TASKS });
        }
        let via = if kind == ExecutorKind::Host { CallVia::Host } else { CallVia::Any };
        let (purpose, sink) = (CallPurpose::Task, Sink::Session);
        let call = Call { tool: spec.name.clone(), args, via, purpose, sink, filter: None };
        let policy = Policy { timeout: Some(task_time(spec)), ..Policy::PLAIN };
        let new = NewSchedule {
            id: Some(id.clone()),
            dialect: Dialect::Primitives,
            durability: Durability::Volatile,
            made_by: self.made_by.clone(),
            payload: Payload::Call(Box::new(call)),
            settings: Some(Box::new(Settings { policy, ..Settings::PLAIN })),
            ..NewSchedule::message(self.session.clone(), When::At(self.handle.now().wall), "")
        };
        self.handle.submit(Input::Command(Command::CreateSchedule(new)))
    }
}

/// How long a task may take: longer than a call, because nobody waits for its answer.
pub(super) fn task_time(spec: &ToolSpec) -> Span {
    let most = Span::from_millis(limits::CALL_MS_MAX.value);
    spec.time_max.map_or(most, |time| time.min(most))
}

impl PrimitivesCall<'_> {
    pub(super) fn background(&self, asked: Background, session: &SessionId) -> Called {
        match asked {
            Background::List => {
                let now = self.handle().now().wall;
                let views = self
                    .handle()
                    .view(|state| tasks(state, session).map(|task| view(state, &task, now)).collect());
                Called::Now(primitives::tasks(views))
            }
            Background::Status { task } => Called::Now(self.status(&task, session)),
            Background::Cancel { task } => Called::Now(self.cancel(&task, session)),
            Background::Wait { task, time } => self.wait(&task, session, time),
            Background::Launch { item, has_timeout } => self.launch((item, has_timeout), session),
        }
    }

    /// Whether there is the task that is asked about, and whether a launch would be accepted.
    pub(super) fn check_background(&self, asked: Background, session: &SessionId) -> Answer {
        match asked {
            Background::List => Answer::done(Value::Nil),
            Background::Status { task } | Background::Cancel { task } | Background::Wait { task, .. } => {
                self.status(&task, session)
            }
            Background::Launch { item, .. } => {
                let kit = self.handle().tools().of(session);
                let tool = match self.callable(&kit, session, (&item, true)) {
                    Ok(tool) => tool,
                    Err(fault) => return fault.answer(),
                };
                let Ok(id) = ScheduleId::new(&self.fresh_id()) else { return primitives::unknown_task("") };
                let made = self.maker(session).create(&id, (&tool.spec, tool.kind), item.args);
                made.map_or_else(|refusal| primitives::refused(&refusal), |()| Answer::done(Value::Nil))
            }
        }
    }

    /// What makes tasks of the session, on behalf of the caller.
    pub(super) fn maker(&self, session: &SessionId) -> TaskMaker {
        let caller = self.caller();
        let actor = || Box::new(caller.actor_with(Dialect::Primitives));
        // Who calls with a session's own token is recorded, because the tool must be open to it at each attempt.
        let made_by = match caller.role {
            CallerRole::Session => Some(actor()),
            CallerRole::Operator | CallerRole::Observer | CallerRole::Host | CallerRole::Channel => {
                caller.maker(session, Some(Dialect::Primitives), None)
            }
        };
        TaskMaker { handle: self.handle().clone(), session: session.clone(), made_by }
    }

    fn launch(&self, (item, has_timeout): (Item, bool), session: &SessionId) -> Called {
        let kit = self.handle().tools().of(session);
        let tool = match self.callable(&kit, session, (&item, true)) {
            Ok(tool) => tool,
            Err(fault) => return Called::Now(fault.answer()),
        };
        let id = match ScheduleId::new(&self.fresh_id()) {
            Ok(id) => id,
            Err(_) => return Called::Now(primitives::unknown_task("")),
        };
        // The launch waits a moment, so that a call that ends at once is answered with its end.
        let (settle, shown) = (Span::from_millis(limits::TASK_SETTLE_MS.value), tool.spec.name.clone());
        let (handle, owner, task) = (self.handle().clone(), session.clone(), id.clone());
        let print = move || {
            let Some(view) = view_of(&handle, &task, &owner) else { return primitives::unknown_task("") };
            match (view.state, &view.outcome, &view.error) {
                (TaskState::Running, ..) => primitives::launched(&view, has_timeout),
                (TaskState::Failed, outcome, error) => {
                    let error =
                        outcome.as_ref().and_then(|outcome| outcome.error.as_deref()).or(error.as_deref());
                    primitives::failed_at_once(shown.as_str(), error.unwrap_or("it failed"))
                }
                (TaskState::Completed | TaskState::Cancelled, ..) => primitives::ended_at_once(&view),
            }
        };
        let wait = Wait::new(self.handle(), print);
        let (pending, promise) = wait.pending(settle);
        // Before the task begins: it may end at once.
        let ring = Arc::clone(&wait);
        let waiter = self.handle().waiters().await_end_of_new(&id, move || ring.rings());
        wait.begin(promise, Some(waiter));
        if let Err(refusal) = self.maker(session).create(&id, (&tool.spec, tool.kind), item.args) {
            wait.give_up();
            return Called::Now(primitives::refused(&refusal));
        }
        wait.bound(settle);
        Called::Later(pending)
    }

    fn status(&self, task: &str, session: &SessionId) -> Answer {
        let view = ScheduleId::new(task).ok().and_then(|id| view_of(self.handle(), &id, session));
        view.map_or_else(|| missing(self.handle(), task, session), |view| primitives::status(&view))
    }

    fn cancel(&self, task: &str, session: &SessionId) -> Answer {
        let found = ScheduleId::new(task).ok();
        let found = found.and_then(|id| Some((view_of(self.handle(), &id, session)?, id)));
        let Some((view, id)) = found else { return missing(self.handle(), task, session) };
        if view.state != TaskState::Running {
            return primitives::already_over(&view);
        }
        // The session itself asked for it, so it is not told: it is the actor here, also if an operator speaks for it.
        let which = Which::any(self.caller().actor_with(Dialect::Primitives), id.clone());
        match self.handle().submit(Input::Command(Command::CancelCall(which))) {
            // It may have ended meanwhile, which the view says.
            Ok(()) | Err(Refusal::NotCancellable { .. }) => match view_of(self.handle(), &id, session) {
                Some(view) => primitives::cancelled(&view),
                None => primitives::unknown_task(task),
            },
            Err(refusal) => primitives::refused(&refusal),
        }
    }

    fn wait(&self, task: &str, session: &SessionId, time: Span) -> Called {
        let time = self.patience.map_or(time, |patience| patience.min(time));
        let found = ScheduleId::new(task).ok();
        let Some(id) = found.filter(|id| view_of(self.handle(), id, session).is_some()) else {
            return Called::Now(missing(self.handle(), task, session));
        };
        let (handle, owner, waited) = (self.handle().clone(), session.clone(), id.clone());
        let print = move || match view_of(&handle, &waited, &owner) {
            Some(view) => primitives::status(&view),
            None => primitives::unknown_task(&waited.to_string()),
        };
        let wait = Wait::new(self.handle(), print);
        let (pending, promise) = wait.pending(time);
        let ring = Arc::clone(&wait);
        let waiter = self.handle().waiters().await_end(&id, move || ring.rings());
        let is_over = waiter.is_none();
        wait.begin(promise, waiter);
        if is_over {
            wait.rings();
        } else {
            wait.bound(time);
        }
        Called::Later(pending)
    }
}

/// A wait for the end of one task, which ends with that end, with its time, or with its caller.
struct Wait {
    handle: Handle,
    /// Prints the answer.
    print: Box<dyn Fn() -> Answer + Send + Sync>,
    stage: Mutex<WaitStage>,
}

#[derive(Default)]
struct WaitStage {
    promise: Option<Promise>,
    waiter: Option<WaiterId>,
    alarm: Option<AlarmId>,
    /// It rang before the promise was set.
    has_rung: bool,
}

impl Wait {
    fn new(handle: &Handle, print: impl Fn() -> Answer + Send + Sync + 'static) -> Arc<Wait> {
        Arc::new(Wait { handle: handle.clone(), print: Box::new(print), stage: Mutex::default() })
    }

    fn pending(self: &Arc<Wait>, at_most: Span) -> (Pending, Promise) {
        let gone = Arc::clone(self);
        Pending::new(at_most, move || gone.give_up())
    }

    fn begin(&self, promise: Promise, waiter: Option<WaiterId>) {
        let mut stage = self.stage();
        stage.promise = Some(promise);
        stage.waiter = waiter;
        let has_rung = stage.has_rung;
        drop(stage);
        if has_rung {
            self.rings();
        }
    }

    /// Ends the wait when this much time has passed.
    fn bound(self: &Arc<Wait>, time: Span) {
        if self.stage().promise.is_none() {
            return;
        }
        let wait = Arc::clone(self);
        let alarm = self.handle.waiters().set_alarm(time, move || wait.time_is_up());
        let mut stage = self.stage();
        if stage.promise.is_some() {
            stage.alarm = Some(alarm);
            return;
        }
        drop(stage);
        self.handle.waiters().call_off(alarm);
    }

    /// The task has ended.
    fn rings(&self) {
        let mut stage = self.stage();
        let Some(promise) = stage.promise.take() else {
            stage.has_rung = true;
            return;
        };
        let alarm = stage.alarm.take();
        drop(stage);
        if let Some(alarm) = alarm {
            self.handle.waiters().call_off(alarm);
        }
        promise.give(within_bound((self.print)()));
    }

    fn time_is_up(&self) {
        let mut stage = self.stage();
        stage.alarm = None;
        let waiter = stage.waiter.take();
        drop(stage);
        // If the waiter is gone, the task has ended, and `rings` answers with its end. The session gets no message about an end
        // that is answered here, so this wait must not end with anything else.
        if waiter.is_some_and(|waiter| self.handle.waiters().stop(&waiter)) {
            self.rings();
        }
    }

    /// Nobody waits any more. The task goes on, and its session will be told.
    fn give_up(&self) {
        let mut stage = self.stage();
        let (promise, waiter, alarm) = (stage.promise.take(), stage.waiter.take(), stage.alarm.take());
        // Unlocked first: a promise that is dropped says so.
        drop(stage);
        drop(promise);
        if let Some(alarm) = alarm {
            self.handle.waiters().call_off(alarm);
        }
        if let Some(waiter) = waiter {
            self.handle.waiters().stop(&waiter);
        }
    }

    fn stage(&self) -> std::sync::MutexGuard<'_, WaitStage> {
        // A panic elsewhere cannot leave it inconsistent: each change is complete before the unlock.
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The tasks of a session.
fn tasks<'a>(state: &'a State, session: &SessionId) -> impl Iterator<Item = Task<'a>> + use<'a> {
    state.schedules_of(session).into_iter().filter_map(|record| task(state, record))
}

fn view_of(handle: &Handle, id: &ScheduleId, session: &SessionId) -> Option<TaskView> {
    let now = handle.now().wall;
    handle.view(|state| {
        let record = state.schedule(id).filter(|record| record.schedule().owner == *session)?;
        Some(view(state, &task(state, record)?, now))
    })
}

/// The answer to a call about a task that the session does not have. A task is in memory only, so a crash may have lost it.
fn missing(handle: &Handle, task: &str, session: &SessionId) -> Answer {
    let lost = ScheduleId::new(task).ok().and_then(|id| {
        let lost = |state: &State| {
            let (at, lost) = state.lost(&id).filter(|(_, lost)| lost.session == *session)?;
            Some((at, lost.end.map(|end| end.how)))
        };
        handle.view(lost)
    });
    lost.map_or_else(|| primitives::unknown_task(task), |(at, end)| primitives::lost_task(task, at, end))
}

fn is_running(task: &Task<'_>) -> bool {
    task.state() == TaskState::Running
}

/// The task of a record, if these tools made it.
fn task<'a>(state: &'a State, record: &'a ScheduleRecord) -> Option<Task<'a>> {
    Task::of(state, record).filter(|_| record.schedule().dialect == Dialect::Primitives)
}

fn view(state: &State, task: &Task<'_>, now: Moment) -> TaskView {
    let schedule = task.record.schedule();
    let (started, finished) = (schedule.created_at, task.run.and_then(|run| run.ended_at));
    TaskView {
        id: schedule.id.to_string().into(),
        tool: task.call.tool.clone(),
        state: task.state(),
        is_held: task.is_held(),
        started,
        finished,
        elapsed: finished.unwrap_or(now).since(started),
        outcome: task.run.and_then(|run| run.outcome.as_deref().cloned()),
        error: task.run.and_then(|run| run.failure.as_ref().map(|failure| failure.message.clone())),
        unheard: unreachable(state, task.record),
    }
}
