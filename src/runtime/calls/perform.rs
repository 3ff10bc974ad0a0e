//! Performs the engine's effects about calls: hands a run's call to its executor, and reports what it came to.

use std::sync::Arc;

use super::Calling;
use super::table::Done;
use crate::domain::{CallVia, ExecutorKind, Outcome, Reason, Ruling, RunId, Span};
use crate::engine::{Invocation, Look, SessionRecord};
use crate::runtime::kit::{KnownTool, Resolved, SessionKit};
use crate::runtime::shared::Shared;

impl Shared {
    /// Hands the call of a run to its executor, which reports the outcome later. It fails closed: a call whose way back is
    /// dropped, by a panic for instance, has failed.
    pub(in crate::runtime) fn call_tool(
        self: &Arc<Self>,
        run: &RunId,
        invocation: Invocation,
        look: Option<Box<Look>>,
    ) {
        let (engine, id, is_check) = (Arc::downgrade(self), run.clone(), look.is_some());
        let done: Done = Box::new(move |outcome| {
            let Some(shared) = engine.upgrade() else { return };
            let watch = look.as_ref().map(|_| id.schedule.clone());
            // In this order: while a check is under way its watch has no next slot, which a change could bring forward.
            shared.report_outcome(id, outcome, look.as_deref());
            if let Some(watch) = watch {
                shared.report_stirred_meanwhile(&watch);
            }
        });
        // A call that goes on as this run is with its executor already. It must not be made a second time.
        let Err(done) = self.adopt_call(run, done) else { return };
        match self.allowed_tool(run, &invocation) {
            Ok(tool) => {
                if is_check {
                    // Before the executor looks, so that no change after the look is missed. Without it the interval counts
                    // alone.
                    let _ = self.listen(&run.schedule, &tool, &invocation.args);
                }
                self.begin_call(Calling { tool, invocation }, done);
            }
            Err((reason, text)) => done(Outcome::of_failure(reason, text, Span::ZERO)),
        }
    }

    /// Tells the executor of a run's call that nobody waits for it any more. Its place is given to another one after the batch
    /// of effects, which may call that one off as well.
    pub(in crate::runtime) fn cancel_tool(&self, run: &RunId) {
        let id = run.to_string();
        self.call_off(&id);
        // Nothing else rings those who wait: the outcome of a call that was called off is dropped.
        self.ring_waiters(&run.schedule);
    }

    /// The tool of a scheduled call, if it may be called now by who scheduled it.
    fn allowed_tool(&self, run: &RunId, invocation: &Invocation) -> Result<KnownTool, (Reason, String)> {
        // Checked at the time of the call. The offer of tools may have changed since the schedule was created.
        let host = self.core().state.session(&invocation.session).map(SessionRecord::host);
        let kit: SessionKit = self.kit.of_session(&invocation.session, host);
        let kit = match invocation.via {
            CallVia::Any => kit,
            CallVia::Host => kit.of_host(),
        };
        let name = &invocation.tool;
        let Resolved::Known(tool) = kit.resolve(name.as_str()) else {
            return Err((Reason::ToolUnknown, format!("there is no tool {name}")));
        };
        if invocation.caller.is_bound() && !tool.is_open_to_agents() {
            return Err((Reason::ToolNotAllowed, format!("{name} is not open to sessions")));
        }
        // Fails closed: the guard has held a run only if one of its rules says so, and the policy may lack that rule.
        if tool.spec.approval && !self.is_held_by_rule(run) {
            return Err((Reason::ApprovalNeeded, format!("an operator approves each call of {name}")));
        }
        Ok(*tool)
    }

    /// Whether a rule lets this run wait for an operator: what comes here was approved then.
    fn is_held_by_rule(&self, run: &RunId) -> bool {
        let (now, core) = (self.now(), self.core());
        let state = &core.state;
        // What the guard has decided on, which a later change of the schedule does not affect.
        let Some(schedule) = state.run(run).and_then(|record| state.definition_of(record)) else {
            return false;
        };
        let rule = state.rule_of_run(schedule, core.zones(), now.wall);
        rule.is_some_and(|rule| rule.then == Ruling::Hold)
    }
}

impl KnownTool {
    /// Whether a session may call it with its own token. What its host offers, the session could do anyway.
    pub(crate) fn is_open_to_agents(&self) -> bool {
        self.spec.agents || self.kind == ExecutorKind::Host
    }
}
