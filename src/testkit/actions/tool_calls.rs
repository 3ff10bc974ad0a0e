//! Calls of tools in a world: what is called and watched, what the executor answers, who waits for it, and what is cancelled.

use std::sync::Arc;

use crate::domain::{
    Call, CallPurpose, CallVia, Filter, Gaps, Lasting, NotifyWhen, Payload, Phase, Run, RunState, ScheduleId,
    Scope, Sink, Span, ToolName,
};
use crate::edn::Map;
use crate::engine::{Command, Input, ScheduleRecord, Which};
use crate::runtime::CallsInUse;
use crate::testkit::checks::budget_laws::no_more_calls_are_out_than_may_be;
use crate::testkit::laws::Broken;
use crate::testkit::sim::sim_courier::CHANNELS;
use crate::testkit::sim::sim_executor::TOOL;
use crate::testkit::world::World;

type Outcome = Result<(), Broken>;

impl World {
    pub(in crate::testkit) fn any_call_of_a_tool(&self) -> Payload {
        let entropy = &self.stage.entropy;
        // The name is fixed and right, so that a wrong one cannot be drawn.
        let Ok(tool) = ToolName::new(TOOL) else { return Payload::Turn { text: "no tool".into() } };
        let sink = match entropy.below(8) {
            0 => Sink::Nobody,
            1 => Sink::Channel(entropy.pick(&CHANNELS).copied().unwrap_or(CHANNELS[0]).into()),
            _ => Sink::Session,
        };
        let filter = entropy.one_in(3).then(|| Arc::new(self.any_filter()));
        let purpose = *entropy.pick(CallPurpose::ALL).unwrap_or(&CallPurpose::Task);
        Payload::Call(Box::new(Call {
            tool,
            args: Arc::new(Map::new().with("url", "somewhere").into()),
            via: if entropy.one_in(4) { CallVia::Host } else { CallVia::Any },
            purpose: if filter.is_some() { CallPurpose::Watch } else { purpose },
            sink,
            filter,
        }))
    }

    /// A filter without a condition and without silence, which worlds of watches have (`watches.rs`).
    fn any_filter(&self) -> Filter {
        let entropy = &self.stage.entropy;
        let whens = [NotifyWhen::Always, NotifyWhen::OnChange, NotifyWhen::OnError, NotifyWhen::Summary];
        let seconds = |most: u64| Span::from_millis(1_000 * entropy.below(most));
        let checks = u16::try_from(1 + entropy.below(3)).unwrap_or(1);
        Filter {
            batch: u16::try_from(1 + entropy.below(4)).unwrap_or(1),
            lasting: Lasting { checks: if entropy.one_in(3) { checks } else { 1 }, span: Span::ZERO },
            gaps: *entropy.pick(Gaps::ALL).unwrap_or(&Gaps::Keep),
            cooldown: if entropy.one_in(3) { seconds(300) } else { Span::ZERO },
            again: entropy.one_in(3).then(|| seconds(300)),
            recall: u8::try_from(entropy.below(3)).unwrap_or(0),
            backoff: entropy.one_in(3).then(|| seconds(600)),
            jitter: if entropy.one_in(3) { 500 } else { 0 },
            ..Filter::plain(*entropy.pick(&whens).unwrap_or(&NotifyWhen::Always))
        }
    }

    /// Waits for the end of a task that is in memory, as a call of `background_run` does, or stops waiting.
    pub(in crate::testkit) fn await_call(&mut self) -> Outcome {
        // What has happened so far happened before this.
        self.judge(false)?;
        let laws = &self.laws;
        self.waiting.retain(|(schedule, _)| laws.may_be_awaited(schedule));
        if self.stage.entropy.one_in(4)
            && let Some((schedule, waiter)) = self.waiting.pop()
        {
            let is_stopped = self.handle.waiters().stop(&waiter);
            self.say(format!("  nobody waits for {schedule} any more: {is_stopped}"));
            if is_stopped {
                self.laws.note_stopped_waiting(&schedule);
            }
            return Ok(());
        }
        let tasks = self.handle.view(|state| {
            let is_task = |record: &&ScheduleRecord| {
                let schedule = record.schedule();
                let is_call = schedule.payload.call().is_some_and(|call| call.filter.is_none());
                is_call && !schedule.is_durable() && !record.status().is_terminal()
            };
            let tasks = state.schedules().into_iter().filter(is_task);
            tasks.map(|record| record.schedule().id.clone()).collect::<Vec<_>>()
        });
        let is_awaited = |task: &&ScheduleId| self.waiting.iter().any(|(other, _)| other == *task);
        let tasks: Vec<&ScheduleId> = tasks.iter().filter(|task| !is_awaited(task)).collect();
        let Some(task) = self.stage.entropy.pick(&tasks).copied().cloned() else { return Ok(()) };
        let waiter = self.handle.waiters().await_end(&task, || ());
        self.say(format!("  somebody waits for {task}: {}", waiter.is_some()));
        if let Some(waiter) = waiter {
            self.laws.note_waiting(&task);
            self.waiting.push((task, waiter));
        }
        Ok(())
    }

    pub(in crate::testkit) fn executor_answers(&mut self) -> Outcome {
        // Those whose time has come, or any one, as if time went faster for it.
        let executor = self.executor.clone();
        let answered =
            if self.stage.entropy.one_in(2) { executor.answer_due() > 0 } else { executor.answer_one() };
        self.say(format!("  the executor answers: {answered}"));
        Ok(())
    }

    pub(in crate::testkit) fn cancel_call(&mut self) -> Outcome {
        let calls = self.handle.view(|state| {
            let calls =
                state.schedules().into_iter().filter(|record| record.schedule().payload.call().is_some());
            calls
                .map(|record| (record.schedule().id.clone(), record.schedule().owner.clone()))
                .collect::<Vec<_>>()
        });
        let Some((schedule, owner)) = self.stage.entropy.pick(&calls).cloned() else { return Ok(()) };
        let by = if self.stage.entropy.one_in(2) { Scope::Session(owner) } else { Scope::Operator };
        self.submit(Input::Command(Command::CancelCall(Which::any(by, schedule)))).map(|_| ())
    }

    /// Every call under way is the call of a run that is in flight: what ends a run ends its call.
    pub(in crate::testkit) fn calls_are_runs(&self, calls: &CallsInUse) -> Result<(), Broken> {
        let of_call = |run: &Run| run.state == RunState::InFlight && run.phase == Some(Phase::Call);
        let runs = self.handle.view(|state| {
            let records = state.schedules();
            records
                .iter()
                .flat_map(|record| state.runs_of(record))
                .filter(|(_, run)| of_call(run.run()))
                .count()
        });
        let under_way = calls.in_flight + calls.waiting;
        if under_way <= runs as u64 {
            return Ok(());
        }
        Err(Broken {
            law: "calls_are_runs",
            detail: format!("{under_way} calls are under way, and {runs} runs wait for one"),
        })
    }

    /// What is out has a place: calls with executors, and parcels with the courier where it has places.
    pub(in crate::testkit) fn places_are_kept(&self, calls: &CallsInUse) -> Result<(), Broken> {
        let broken = |law| move |detail| Broken { law, detail };
        no_more_calls_are_out_than_may_be(calls).map_err(broken("no_more_calls_are_out_than_may_be"))?;
        self.courier.judgement().map_err(broken("a_parcel_waits_while_a_bound_is_reached"))
    }
}
