//! Calls of tools in a world: what is called, what the executor answers, and what is cancelled.

use std::sync::Arc;

use crate::domain::{Call, CallPurpose, CallVia, Payload, Scope, Sink, ToolName};
use crate::edn::Map;
use crate::engine::{Command, Input, Which};
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
        Payload::Call(Box::new(Call {
            tool,
            args: Arc::new(Map::new().with("url", "somewhere").into()),
            via: if entropy.one_in(4) { CallVia::Host } else { CallVia::Any },
            purpose: *entropy.pick(CallPurpose::ALL).unwrap_or(&CallPurpose::Task),
            sink,
            filter: None,
        }))
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
}
