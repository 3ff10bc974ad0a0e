//! Reveille's own tools, as other tools call them: in a session's name, metered as its calls are.
//!
//! What lives elsewhere: the tools (beside this file), who may call them (`admission`). Invariant: what creates schedules or
//! calls tools is not among them, so no call makes another one by itself.

use std::sync::{Arc, OnceLock, Weak};

use super::super::{Service, Shared};
use super::catalog::{TOOLBOX, ToolEffect, ToolInfo};
use super::tool::Tool;
use crate::dialect::{Answer, Notation, channels, watch};
use crate::domain::{Caller, Dialect, Outcome, Risk, SessionId, Span, ToolName, ToolSpec};
use crate::engine::Invocation;
use crate::port::{Executor, Returned};
use crate::runtime::WeakHandle;

/// The own tools of one engine.
pub(in crate::service) struct OwnTools {
    // Weak, because the engine has it.
    handle: WeakHandle,
    shared: Weak<Shared>,
    /// All of them, with their tools. Their texts do not change.
    all: OnceLock<Vec<(ToolSpec, &'static ToolInfo)>>,
}

impl OwnTools {
    pub(in crate::service) fn of(service: &Service) -> OwnTools {
        let (handle, shared) = (WeakHandle::of(service.handle()), Arc::downgrade(&service.shared));
        OwnTools { handle, shared, all: OnceLock::new() }
    }

    fn service(&self) -> Option<Service> {
        Some(Service { handle: self.handle.upgrade()?, shared: self.shared.upgrade()? })
    }

    fn all(&self) -> &[(ToolSpec, &'static ToolInfo)] {
        self.all.get_or_init(|| TOOLBOX.iter().filter_map(|tool| Some((spec(tool)?, tool))).collect())
    }
}

impl Executor for OwnTools {
    fn specs(&self, session: &SessionId) -> Arc<[ToolSpec]> {
        let Some(service) = self.service() else { return Arc::default() };
        // Such a call has the rights of the session's model, also if an operator has asked for it.
        let caller = Caller::session(session.clone()).as_model();
        let is_there = |tool: &ToolInfo| service.tool(&caller, tool.name).is_some();
        self.all().iter().filter(|(_, tool)| is_there(tool)).map(|(spec, _)| spec.clone()).collect()
    }

    fn call(&self, invocation: Invocation, returned: Returned) {
        let tool = self.all().iter().find(|(spec, _)| spec.name == invocation.tool).map(|(_, tool)| *tool);
        // Dropped without an outcome, which says that there is none.
        let (Some(service), Some(tool)) = (self.service(), tool) else { return };
        // It looks up one value in a short list, so it needs no thread, however many watches ask for it.
        let is_short = tool.tool == Tool::Watch(watch::Tool::PingAge);
        let work = move || {
            let caller = Caller::session(invocation.session.clone()).as_model();
            let called = service.call_tool(tool.name, &caller, &invocation.args, Notation::Json);
            returned.give(match called {
                Ok(Some(answer)) => outcome(answer),
                Ok(None) => Outcome::of_error(format!("there is no tool {}", tool.name), Span::ZERO),
                Err(denial) => Outcome::of_error(denial.to_string(), Span::ZERO),
            });
        };
        if is_short {
            return work();
        }
        // A query may take long and a change waits for the disk, and the caller of an executor waits for nothing. As many threads
        // at a time as there are places for own calls.
        let thread = std::thread::Builder::new().name("reveille-own".into());
        // If the system has none, the way back is dropped, and the call has failed.
        let _ = thread.spawn(work);
    }

    /// Own calls are short; one that nobody waits for ends by itself.
    fn cancel(&self, _id: &str) {}
}

/// What a tool of ours is to others, if they may call it.
fn spec(tool: &ToolInfo) -> Option<ToolSpec> {
    let name = match (tool.dialect, tool.effect) {
        // An event begins a turn, and by a schedule's call that turn would be nobody's chain.
        (Dialect::Channels, _) if tool.tool == Tool::Channels(channels::Tool::SimulateEvent) => return None,
        (Dialect::Memory | Dialect::Channels, _) => tool.name.to_owned(),
        // The only one of this family that is not about watches.
        (Dialect::Watch, _) if tool.tool == Tool::Watch(watch::Tool::PingAge) => tool.name.to_owned(),
        // The names of the crate's own tools have no module.
        (Dialect::Native, ToolEffect::Reads) => format!("reveille.{}", tool.name),
        (
            Dialect::Psi
            | Dialect::Cron
            | Dialect::Reminder
            | Dialect::SessionAction
            | Dialect::ClaudeCron
            | Dialect::Native
            | Dialect::Primitives
            // What schedules is refused inside a call.
            | Dialect::Watch
            | Dialect::Scheduler,
            _,
        ) => return None,
    };
    let reads = tool.effect == ToolEffect::Reads;
    Some(ToolSpec {
        name: ToolName::new(&name).ok()?,
        description: tool.description().into(),
        input_schema: Arc::new(tool.input_schema()),
        risk: if reads { Risk::Read } else { Risk::Change },
        approval: false,
        idempotent: reads,
        agents: true,
        time_max: None,
    })
}

fn outcome(answer: Answer) -> Outcome {
    if !answer.is_error {
        return Outcome::of_value(answer.value, 0, Span::ZERO);
    }
    let error = answer.value.as_map().and_then(|map| map.keyword("error")?.as_map());
    let message = error.and_then(|error| error.keyword("message")?.as_str());
    let message = message.unwrap_or("the tool has refused the call").to_owned();
    Outcome { value: Some(Arc::new(answer.value)), ..Outcome::of_error(message, Span::ZERO) }
}
