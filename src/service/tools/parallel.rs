//! `run_parallel`: several calls at once, and one answer with what each came to.
//!
//! What lives elsewhere: places, turns and time-outs of calls (`runtime`), tasks (`tasks.rs`). Invariant: one answer, when the
//! last call has ended or the time is over; what has not ended then goes on as a task, or ends if nobody waits any more.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::later::{Called, Pending, Promise};
use super::primitives::PrimitivesCall;
use super::tasks::{TaskMaker, task_time};
use crate::dialect::primitives::{self, Item, ItemEnd, ItemResult, Parallel};
use crate::dialect::{Answer, unreachable, within_bound};
use crate::domain::{
    BootTime, CallPurpose, CallVia, CallerRole, Dialect, ExecutorKind, Outcome, Refusal, ScheduleId,
    SessionId, Span, ToolName, ToolSpec,
};
use crate::edn::Value;
use crate::engine::{Input, Invocation, Report};
use crate::limits;
use crate::runtime::{AlarmId, Calling, Handle, KnownTool};

impl PrimitivesCall<'_> {
    pub(super) fn parallel(&self, parallel: Parallel, session: &SessionId) -> Called {
        let (kit, group) = (self.handle().tools().of(session), self.fresh_id());
        let time = self.patience.map_or(parallel.time, |patience| patience.min(parallel.time));
        let (mut items, mut calls) = (Vec::new(), Vec::new());
        for (index, item) in parallel.items.into_iter().enumerate() {
            let found = match &item {
                Ok(item) => {
                    self.callable(&kit, session, (item, false)).map_err(|fault| fault.message().to_owned())
                }
                Err(bad) => Err(bad.why.clone()),
            };
            let name = match item {
                Ok(item) => {
                    let name = item.name.clone();
                    if let Ok(tool) = &found {
                        let id = format!("par-{group}/{index}").into();
                        let invocation = self.invocation(id, session, tool, item);
                        calls.push((index, Calling { tool: tool.clone(), invocation }));
                    }
                    name
                }
                Err(bad) => bad.name,
            };
            // A refused item keeps its place, so that the results are in the order of the call.
            items.push((name, found.err().map(ItemEnd::Refused)));
        }
        if calls.is_empty() {
            let results = items.into_iter().enumerate();
            let results =
                results.filter_map(|(index, (name, end))| Some(ItemResult { name, end: end? }.print(index)));
            let results: Vec<Value> = results.collect();
            return Called::Now(primitives::all_failed(results.len(), results));
        }
        let board = Arc::new(Board {
            handle: self.handle().clone(),
            began: self.handle().now().boot,
            maker: self.maker(session),
            calls: calls.iter().map(|(index, calling)| (*index, Begun::of(calling))).collect(),
            state: Mutex::new(BoardState {
                left: calls.len(),
                items,
                is_time_up: false,
                unheard: None,
                promise: None,
                alarm: None,
            }),
        });
        self.record(session, calls.iter().map(|(_, calling)| &calling.tool.spec.name));
        let at_gone = Arc::clone(&board);
        let (pending, promise) = Pending::new(time, move || at_gone.give_up());
        // Before the calls begin, because the last of them may end at once.
        board.state().promise = Some(promise);
        for (index, calling) in calls {
            let ended = Arc::clone(&board);
            self.handle().calls().begin(calling, move |outcome| ended.ended(index, outcome));
        }
        board.bound(time);
        Called::Later(pending)
    }

    /// Records who calls which tools: the calls are no runs, so the log has nothing else of them.
    fn record<'t>(&self, session: &SessionId, called: impl Iterator<Item = &'t ToolName>) {
        let mut tools = BTreeMap::<ToolName, u32>::new();
        called.for_each(|tool| *tools.entry(tool.clone()).or_default() += 1);
        let (tools, by) = (tools.into_iter().collect(), self.caller().actor_with(Dialect::Primitives));
        // A session that was closed meanwhile has no calls to record, and its calls end by themselves.
        let _ =
            self.handle().submit(Input::Report(Report::ToolsCalled { session: session.clone(), tools, by }));
    }

    /// Whether at least one of the items would be called.
    pub(super) fn check_parallel(&self, parallel: &Parallel, session: &SessionId) -> Answer {
        let kit = self.handle().tools().of(session);
        let is_callable = |item: &Item| self.callable(&kit, session, (item, false)).is_ok();
        if parallel.items.iter().flatten().any(is_callable) {
            return Answer::done(Value::Nil);
        }
        primitives::all_failed(parallel.items.len(), Vec::new())
    }

    fn invocation(&self, id: Box<str>, session: &SessionId, tool: &KnownTool, item: Item) -> Invocation {
        Invocation {
            id,
            session: session.clone(),
            tool: tool.spec.name.clone(),
            args: item.args,
            via: if tool.kind == ExecutorKind::Host { CallVia::Host } else { CallVia::Any },
            timeout: time_of(&tool.spec),
            attempt: 1,
            caller: self.caller().actor_with(Dialect::Primitives),
            is_operators: self.caller().role == CallerRole::Operator,
            purpose: CallPurpose::Parallel,
            last: None,
        }
    }
}

/// How long a call of a tool may take that is one of several.
fn time_of(spec: &ToolSpec) -> Span {
    let (plain, most) =
        (Span::from_millis(limits::CALL_MS.value), Span::from_millis(limits::CALL_MS_MAX.value));
    spec.time_max.map_or(plain, |time| time.min(most))
}

/// A call that was begun.
struct Begun {
    id: Box<str>,
    spec: ToolSpec,
    kind: ExecutorKind,
    args: Arc<Value>,
}

impl Begun {
    fn of(calling: &Calling) -> Begun {
        let Calling { tool, invocation } = calling;
        let (id, args) = (invocation.id.clone(), Arc::clone(&invocation.args));
        Begun { id, spec: tool.spec.clone(), kind: tool.kind, args }
    }
}

/// Calls made at once, and what has come of each.
struct Board {
    handle: Handle,
    began: BootTime,
    /// Makes tasks of the calls that have not ended when the time is over.
    maker: TaskMaker,
    /// The calls, with the places of their items.
    calls: Vec<(usize, Begun)>,
    state: Mutex<BoardState>,
}

struct BoardState {
    left: usize,
    items: Vec<(Box<str>, Option<ItemEnd>)>,
    /// Whether what has not ended becomes tasks: from then on it is not ended for a caller that leaves.
    is_time_up: bool,
    /// The warning that nobody would be told of the tasks, if there are any and that is so.
    unheard: Option<String>,
    /// `None` once the answer was given, or nobody wants it.
    promise: Option<Promise>,
    alarm: Option<AlarmId>,
}

impl Board {
    fn ended(&self, index: usize, outcome: Outcome) {
        let mut state = self.state();
        // The item has an end already, or nobody waits for the answer any more.
        let Some((_, end @ None)) = state.items.get_mut(index) else { return };
        *end = Some(ItemEnd::Ended(outcome));
        state.left -= 1;
        if state.left == 0 {
            self.answer(state);
        }
    }

    /// Answers when this much time has passed, if not before.
    fn bound(self: &Arc<Board>, time: Span) {
        if self.state().left == 0 {
            return;
        }
        let board = Arc::clone(self);
        let alarm = self.handle.waiters().set_alarm(time, move || board.time_is_up(time));
        let mut state = self.state();
        if state.left > 0 {
            state.alarm = Some(alarm);
            return;
        }
        drop(state);
        // The last one has ended meanwhile.
        self.handle.waiters().call_off(alarm);
    }

    /// Answers with what has ended. The other calls go on as tasks.
    fn time_is_up(&self, time: Span) {
        // Collected first: a task is a step of the engine, which must not wait for this lock.
        let open = {
            let mut state = self.state();
            // Under one lock with the look at what is open: a caller that leaves before has ended these, and one that leaves
            // after ends nothing.
            state.is_time_up = true;
            self.open(&state)
        };
        for (index, begun) in open {
            let end = self.as_task(begun).unwrap_or_else(|why| {
                self.handle.calls().cancel(&begun.id);
                let text = format!(
                    "timed out after {} s, with the others; it is no task: {why}",
                    time.millis() / 1_000
                );
                Some(ItemEnd::Ended(Outcome::of_error(text, time)))
            });
            let unheard = end.as_ref().and_then(|end| self.unheard(end));
            let mut state = self.state();
            // `None`: it ends just now, and says so itself.
            if let (Some(end), Some((_, place @ None))) = (end, state.items.get_mut(*index)) {
                *place = Some(end);
                state.left -= 1;
                state.unheard = state.unheard.take().or(unheard);
            }
        }
        let mut state = self.state();
        state.alarm = None;
        if state.left == 0 {
            self.answer(state);
        }
    }

    /// Lets a call go on as a task; `None` if it has ended.
    fn as_task(&self, begun: &Begun) -> Result<Option<ItemEnd>, Refusal> {
        let Ok(id) = ScheduleId::new(&self.handle.random_bits().short()) else { return Ok(None) };
        // Before its schedule exists, so that an end that comes in between is kept for the schedule's run.
        if !self.handle.calls().go_on_as(&begun.id, &id, task_time(&begun.spec)) {
            return Ok(None);
        }
        match self.maker.create(&id, (&begun.spec, begun.kind), Arc::clone(&begun.args)) {
            Ok(()) => Ok(Some(ItemEnd::Running(id.to_string().into()))),
            Err(refusal) => {
                self.handle.calls().abandon(&id);
                Err(refusal)
            }
        }
    }

    /// The warning that nobody would be told of a call that goes on as a task.
    fn unheard(&self, end: &ItemEnd) -> Option<String> {
        let ItemEnd::Running(task) = end else { return None };
        let id = ScheduleId::new(task).ok()?;
        self.handle.view(|state| unreachable(state, state.schedule(&id)?))
    }

    /// The calls that have not ended.
    fn open(&self, state: &BoardState) -> Vec<&(usize, Begun)> {
        let is_open = |index: usize| matches!(state.items.get(index), Some((_, None)));
        self.calls.iter().filter(|(index, _)| is_open(*index)).collect()
    }

    /// Ends what has not ended: nobody waits for it.
    fn give_up(&self) {
        let mut state = self.state();
        // What is becoming a task is not ended: its model is told what came of it.
        let open = if state.is_time_up { Vec::new() } else { self.open(&state) };
        if !state.is_time_up {
            // Calls that end from here on find no place, and do nothing.
            state.left = 0;
            state.items.clear();
        }
        let (promise, alarm) = (state.promise.take(), state.alarm.take());
        // Unlocked first: a promise that is dropped says so.
        drop(state);
        drop(promise);
        if let Some(alarm) = alarm {
            self.handle.waiters().call_off(alarm);
        }
        open.into_iter().for_each(|(_, begun)| self.handle.calls().cancel(&begun.id));
    }

    fn answer(&self, mut state: MutexGuard<'_, BoardState>) {
        let (promise, alarm) = (state.promise.take(), state.alarm.take());
        let (items, unheard) = (std::mem::take(&mut state.items), state.unheard.take());
        // Unlocked first: the receiver of the answer may do anything.
        drop(state);
        if let Some(alarm) = alarm {
            self.handle.waiters().call_off(alarm);
        }
        let result = |(name, end): (Box<str>, Option<ItemEnd>)| Some(ItemResult { name, end: end? });
        let results: Vec<ItemResult> = items.into_iter().filter_map(result).collect();
        let took = self.handle.now().boot.since(self.began);
        if let Some(promise) = promise {
            promise.give(within_bound(primitives::parallel(&results, took, unheard)));
        }
    }

    fn state(&self) -> MutexGuard<'_, BoardState> {
        // A panic elsewhere cannot leave it inconsistent: each change is complete before the unlock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
