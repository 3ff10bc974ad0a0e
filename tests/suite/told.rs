//! Seeded worlds of watches, tasks and jobs (T72): whatever tools answer, callers await and operators cancel, a session is
//! told of a check exactly if its filter says so, and of a task exactly if nobody waited for its end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use reveille::domain::{
    Call, CallPurpose, CountFrom, Dispatch, Edge, Every, Fact, Filter, Gaps, HostId, Lasting, Moment,
    NotifyWhen, Now, Outcome, Payload, Phase, Policy, RunFact, RunId, ScheduleId, Scope, SessionConfig,
    Settings, Sink, Span, ToolName, Trigger, Watch, WatchCheck, When,
};
use reveille::edn::Map;
use reveille::engine::{
    Checked, Command, Input, Look, NewSchedule, Report, State, Which, parse_condition, read_outcome,
    remember_check, weigh,
};
use reveille::runtime::{Handle, WaiterId};
use reveille::testkit::{Seen, SimExecutor, SimHost, Stage};

use crate::simulated::{open, session};

const SEEDS: u64 = 60;
const STEPS: u64 = 150;

/// A world under way.
struct World {
    stage: Stage,
    handle: Handle,
    executor: Arc<SimExecutor>,
    made: Vec<ScheduleId>,
    waits: Vec<Wait>,
    /// What each watch remembers, and its filter: as it began, and then by the plain functions.
    watches: BTreeMap<ScheduleId, (Watch, Arc<Filter>, Moment)>,
}

/// Somebody who waits for the end of a task: from which fact on, and until which.
struct Wait {
    schedule: ScheduleId,
    id: WaiterId,
    since: usize,
    until: Option<usize>,
}

/// How often each of these was seen, so that worlds in which nothing happens show.
#[derive(Debug, Default)]
struct Counts {
    told: u64,
    silent: u64,
    awaited: u64,
    folded: u64,
    cancelled: u64,
}

impl World {
    fn new(seed: u64) -> World {
        let stage = Stage::seeded(seed);
        let handle = Handle::new(stage.parts(Arc::new(SimHost::new(&stage, HostId::LOCAL))));
        let executor = Arc::new(SimExecutor::random(&stage).with("http.get"));
        executor.serve(&handle);
        open(&handle, "s", SessionConfig::default());
        World { stage, handle, executor, made: vec![], waits: vec![], watches: BTreeMap::new() }
    }

    fn now(&self) -> usize {
        self.stage.history.len()
    }

    fn seconds(&self, most: u64) -> Span {
        Span::from_millis(self.stage.entropy.below(most) * 1_000)
    }

    fn any_filter(&self) -> Filter {
        let entropy = &self.stage.entropy;
        let when = *entropy.pick(NotifyWhen::ALL).expect("there are some");
        let lasts = entropy.one_in(3);
        Filter {
            condition: parse_condition("result.ok == true").ok().map(Into::into),
            edge: *entropy.pick(Edge::ALL).expect("there are some"),
            gaps: *entropy.pick(Gaps::ALL).expect("there are some"),
            lasting: if lasts { Lasting { checks: 2, span: self.seconds(60) } } else { Lasting::NONE },
            cooldown: if entropy.one_in(3) { self.seconds(120) } else { Span::ZERO },
            again: entropy.one_in(3).then(|| self.seconds(120)),
            silence: entropy.one_in(4).then(|| self.seconds(120)),
            recall: if entropy.one_in(3) { 3 } else { 0 },
            batch: 3,
            ..Filter::plain(when)
        }
    }

    /// As a watch has it: from the end of one check to the next one.
    fn interval(&self) -> When {
        let interval = Span::from_millis(20_000);
        let first = self.handle.now().wall.checked_add(interval).expect("an instant");
        When::By(Trigger::Every(Box::new(Every::new(interval, first, CountFrom::Finish).expect("a period"))))
    }

    /// Begins something: a task that is due at once, a job, or a watch.
    fn create(&mut self) {
        let id = ScheduleId::new(&format!("it-{}", self.made.len())).expect("an id");
        let (purpose, when, filter) = match self.stage.entropy.below(3) {
            0 => (CallPurpose::Task, When::After(Span::ZERO), None),
            1 => (CallPurpose::Job, When::Each(Span::from_millis(40_000)), None),
            _ => (CallPurpose::Watch, self.interval(), Some(Arc::new(self.any_filter()))),
        };
        let sink = if self.stage.entropy.one_in(6) { Sink::Nobody } else { Sink::Session };
        let tool = ToolName::new("http.get").expect("a name");
        let call = Call { purpose, sink, filter: filter.clone(), ..Call::new(tool, Map::new()) };
        // A task may take a day. That the end of its time is told, is shown elsewhere.
        let seconds = if purpose == CallPurpose::Task { 86_400 } else { 60 };
        let policy = Policy { timeout: Some(Span::from_millis(seconds * 1_000)), ..Policy::PLAIN };
        let new = NewSchedule {
            id: Some(id.clone()),
            payload: Payload::Call(Box::new(call)),
            settings: Some(Box::new(Settings { policy, ..Settings::PLAIN })),
            ..NewSchedule::message(session("s"), when, "")
        };
        if purpose == CallPurpose::Task && self.stage.entropy.one_in(3) {
            let waiter = self.handle.waiters().await_end_of_new(&id, || {});
            self.waits.push(Wait { schedule: id.clone(), id: waiter, since: self.now(), until: None });
        }
        if self.handle.schedule(new).is_err() {
            // The session has as many as it can have.
            return;
        }
        let made = self.handle.view(|state| {
            let record = state.schedule(&id)?;
            Some((record.watch()?.clone(), record.schedule().created_at))
        });
        if let Some(((watch, since), filter)) = made.zip(filter) {
            self.watches.insert(id.clone(), (watch, filter, since));
        }
        self.made.push(id);
    }

    fn wait_or_stop(&mut self) {
        let now = self.now();
        let open = self.waits.iter_mut().find(|wait| wait.until.is_none());
        if let Some(wait) = open.filter(|_| self.stage.entropy.one_in(3)) {
            // One that has rung already was there for the end.
            self.handle.waiters().stop(&wait.id);
            wait.until = Some(now);
            return;
        }
        let Some(schedule) = self.stage.entropy.pick(&self.made).cloned() else { return };
        let is_task = self.handle.view(|state| {
            let call = state.schedule(&schedule).and_then(|it| it.schedule().payload.call());
            call.is_some_and(|call| call.purpose == CallPurpose::Task)
        });
        let waiter = if is_task { self.handle.waiters().await_end(&schedule, || {}) } else { None };
        if let Some(id) = waiter {
            self.waits.push(Wait { schedule, id, since: now, until: None });
        }
    }

    fn cancel(&self) {
        let Some(schedule) = self.stage.entropy.pick(&self.made).cloned() else { return };
        let by = if self.stage.entropy.one_in(2) { Scope::Session(session("s")) } else { Scope::Operator };
        let which = Which::any(by, schedule);
        let is_whole = self.stage.entropy.one_in(3);
        let command = if is_whole { Command::CancelSchedule(which) } else { Command::CancelCall(which) };
        // There may be nothing to cancel.
        let _ = self.handle.submit(Input::Command(command));
    }

    fn step(&mut self) {
        match self.stage.entropy.below(12) {
            0..=2 => self.create(),
            3 => self.wait_or_stop(),
            4 if self.stage.entropy.one_in(2) => self.cancel(),
            5 | 6 => {
                let busy = self.stage.entropy.one_in(2);
                let report = Report::Busy { session: session("s"), busy, by: None };
                self.handle.submit(Input::Report(report)).expect("it is open");
            }
            7 => _ = self.executor.answer_one(),
            _ => self.stage.run_for(&self.handle, self.seconds(30)),
        }
        self.executor.answer_due();
        self.handle.run_due();
    }

    /// Whether somebody waited for the end of this schedule when this fact was decided.
    fn is_awaited(&self, schedule: &ScheduleId, fact: usize) -> bool {
        let is_then = |wait: &&Wait| wait.since <= fact && wait.until.is_none_or(|until| fact < until);
        self.waits.iter().filter(|wait| wait.schedule == *schedule).any(|wait| is_then(&wait))
    }

    /// Goes through all that was decided.
    fn judge(&mut self, counts: &mut Counts) {
        let (mut out, mut ended, mut last) = (BTreeMap::new(), BTreeSet::new(), None);
        for (place, seen) in self.stage.history.after(0).into_iter().enumerate() {
            let Seen::Fact(Fact::Run(run, fact, _)) = seen.seen else { continue };
            let told = last.replace((run.schedule.clone(), is_told(&fact)));
            let told = told.is_some_and(|(schedule, is_told)| is_told && schedule == run.schedule);
            if let RunFact::Dispatched(Dispatch { phase: Phase::Call, .. }) = &fact
                && self.watches.contains_key(&run.schedule)
            {
                let other: Option<RunId> = out.insert(run.schedule.clone(), run.clone());
                assert_eq!(other, None, "{run} is called beside another check");
            }
            if let RunFact::Returned { outcome, check } = &fact {
                let awaited = self.is_awaited(&run.schedule, place);
                let expected = match check {
                    Some(check) => self.is_told_by_filter(&run, (outcome, check), seen.now),
                    None => !awaited,
                };
                assert_eq!(told, expected && self.has_listener(&run.schedule), "{run}: {fact:?}");
                counts.awaited += u64::from(awaited);
                counts.told += u64::from(told);
                counts.silent += u64::from(!told);
            }
            counts.folded += u64::from(matches!(fact, RunFact::Folded(_)));
            counts.cancelled += u64::from(matches!(fact, RunFact::Cancelled { .. }));
            if is_end(&fact) {
                if out.get(&run.schedule) == Some(&run) {
                    out.remove(&run.schedule);
                }
                assert!(ended.insert(run.clone()), "{run} ends twice");
            }
        }
    }

    fn has_listener(&self, schedule: &ScheduleId) -> bool {
        self.handle.view(|state| {
            let call = state.schedule(schedule).and_then(|record| record.schedule().payload.call());
            call.is_some_and(|call| call.sink == Sink::Session)
        })
    }

    /// What the filter says of a check, from a memory of this test; the engine has to say the same.
    fn is_told_by_filter(
        &mut self,
        run: &RunId,
        (outcome, check): (&Arc<Outcome>, &WatchCheck),
        now: Now,
    ) -> bool {
        let (watch, filter, since) = self.watches.get_mut(&run.schedule).expect("it is a watch");
        let reading = read_outcome(&Look::of(watch, Arc::clone(filter)), Arc::clone(outcome));
        let checked = Checked { since: *since, at: now.wall, is_last: false };
        let weighed = weigh(watch, filter, &reading, checked);
        assert_eq!(weighed, check.weighed, "{run}");
        let parts = |it: &reveille::domain::Reading| (it.digest, it.holds, it.is_known);
        assert_eq!(parts(&reading), parts(&check.reading), "{run}");
        remember_check(watch, filter, &reading, &weighed, now.wall);
        weighed.told.is_some()
    }
}

/// Whether the session is told something by this fact: by a bulletin of its own, or by one that waits.
fn is_told(fact: &RunFact) -> bool {
    matches!(fact, RunFact::Claimed(claim) if claim.telling.is_some()) || matches!(fact, RunFact::Folded(_))
}

fn is_end(fact: &RunFact) -> bool {
    matches!(
        fact,
        RunFact::Returned { .. } | RunFact::Cancelled { .. } | RunFact::Failed(_) | RunFact::Delivered
    )
}

/// T72: over many seeds. Beside what is told: one end for each run, no check of a watch beside another one, accounts that
/// balance, and no outcome of what was cancelled.
#[test]
fn a_session_is_told_of_what_nobody_has_heard_and_of_nothing_else() {
    let mut counts = Counts::default();
    for seed in 0..SEEDS {
        let mut world = World::new(seed);
        for _ in 0..STEPS {
            world.step();
            assert_eq!(world.handle.view(|state: &State| state.ledger().imbalance()), 0, "seed {seed}");
        }
        world.judge(&mut counts);
    }
    let Counts { told, silent, awaited, folded, cancelled } = counts;
    for (what, count) in [("told", told), ("silent", silent), ("folded", folded)] {
        assert!(count > 10 * SEEDS, "too little is {what}: {count}");
    }
    assert!(awaited > SEEDS && cancelled > SEEDS, "{awaited} awaited, {cancelled} cancelled");
}
