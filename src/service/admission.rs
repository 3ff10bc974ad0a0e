//! Decides whether a caller may ask for an operation at all, in [`Service::admit`]: every change passes it, and every read
//! that is not open to all roles.
//!
//! What lives elsewhere: the table of operations and roles (`domain::Op`), whether what the call names exists for the caller
//! (`engine`), what is wrong with the call (`dialect`). Invariant: a call counts as a change unless it is known to only read.

use super::Service;
use super::denial::{Denial, DenialReason};
use super::tools::TOOLBOX;
use crate::dialect::{
    channels, claude_cron, cron, memory, native, primitives, psi, reminder, scheduler, session_action, watch,
};
use crate::domain::{Caller, CallerRole, Dialect, Op, Refusal, ScheduleId, Scope, Target};
use crate::edn::{Keyword, Value};
use crate::engine::{SessionRecord, State};
use crate::runtime::Handle;

/// The proof that a caller may ask for an operation now. What carries an operation out takes one, and [`Service::admit`] alone
/// makes them: a surface that does not ask does not compile.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub(crate) struct Admitted<'a> {
    caller: &'a Caller,
    op: Op,
}

impl<'a> Admitted<'a> {
    /// Who was admitted.
    pub(crate) fn caller(&self) -> &'a Caller {
        self.caller
    }

    /// What for.
    pub(crate) fn op(&self) -> Op {
        self.op
    }
}

impl Service {
    /// Admits an operation of a caller, by a tool of this dialect if it comes through one.
    ///
    /// # Errors
    /// [`Denial`]; the operation must not be carried out then.
    pub(crate) fn admit<'a>(
        &self,
        caller: &'a Caller,
        op: Op,
        tool: Option<Dialect>,
    ) -> Result<Admitted<'a>, Denial> {
        let Err(reason) = self.check(caller, op, tool) else { return Ok(Admitted { caller, op }) };
        // A caller that is too fast may do it, only later; and nobody may what is switched off.
        if !matches!(reason, DenialReason::TooFast { .. } | DenialReason::SwitchedOff { .. }) {
            self.record_denial(caller, op, tool);
        }
        Err(Denial::new(reason, caller, op))
    }

    fn check(&self, caller: &Caller, op: Op, tool: Option<Dialect>) -> Result<(), DenialReason> {
        check_role(caller, op)?;
        let rule = op.rule();
        if let Some(gate) = rule.gate.filter(|gate| !self.is_open(*gate, caller)) {
            return Err(DenialReason::SwitchedOff { gate });
        }
        let Scope::Session(session) = &caller.scope else { return Ok(()) };
        // What changes something by no tool at all needs the grant of the crate's own tools.
        let dialect = tool.unwrap_or(Dialect::Native);
        // Only a session's own token has a rate: an operator who acts for a session has none.
        let rate = rule.rate.filter(|_| caller.role == CallerRole::Session);
        if !rule.is_granted && rate.is_none() {
            return Ok(());
        }
        let (is_granted, root) = self.handle().view(|state| {
            let root = || state.session(session).map_or(session, SessionRecord::root).clone();
            (state.may_act(session, dialect), rate.map(|_| root()))
        });
        if rule.is_granted && !is_granted {
            return Err(DenialReason::NotGranted { dialect });
        }
        let (Some(rate), Some(root)) = (rate, root) else { return Ok(()) };
        let taken = self.shared.rates.take(rate, root, self.handle().now().boot);
        taken.map_err(|wait| DenialReason::TooFast { rate, wait })
    }
}

/// Refuses an operation that is not for the caller's role and scope at all.
fn check_role(caller: &Caller, op: Op) -> Result<(), DenialReason> {
    let rule = op.rule();
    if rule.changes && !caller.may_change() {
        return Err(DenialReason::ReadOnly);
    }
    let is_of_hosts = rule.roles.contains(&CallerRole::Host);
    if !rule.roles.contains(&caller.role) {
        return Err(if is_of_hosts { DenialReason::HostsOnly } else { DenialReason::OperatorsOnly });
    }
    // An operator who acts for a session changes nothing beyond that session.
    if rule.changes && !is_of_hosts && caller.scope != Scope::Operator {
        return Err(DenialReason::OperatorsOnly);
    }
    Ok(())
}

/// Admits a target: a session's token may use only channels that are open to agents, and other sessions only if it is granted.
/// Whatever else there is does not exist for it.
pub(super) fn admit_target(handle: &Handle, caller: &Caller, target: Option<&Target>) -> Result<(), Refusal> {
    // An operator may use any channel and any session, also on behalf of a session.
    let (CallerRole::Session, Scope::Session(own), Some(target)) = (caller.role, &caller.scope, target)
    else {
        return Ok(());
    };
    match target {
        Target::Owner | Target::Fresh => Ok(()),
        Target::Session(session) if session == own => Ok(()),
        Target::Session(session) => {
            if handle.view(|state| state.effective_grant(own).cron_others) {
                return Ok(());
            }
            Err(Refusal::UnknownSession { session: session.clone() })
        }
        Target::Route(route) => {
            let is_open =
                handle.view(|state| state.channel(&route.channel).is_some_and(|it| it.channel.agents));
            if is_open { Ok(()) } else { Err(Refusal::ChannelNotAllowed { channel: route.channel.clone() }) }
        }
    }
}

/// Admits a change of a schedule: a session's token changes its own, and shared ones of others only if it is granted. Those it
/// may not change do not exist for it, and are refused where those are that never were.
pub(super) fn admit_change(handle: &Handle, caller: &Caller, schedule: &ScheduleId) -> Result<(), Refusal> {
    let (CallerRole::Session, Scope::Session(own)) = (caller.role, &caller.scope) else { return Ok(()) };
    let exists = |state: &State| {
        // Looked up in either case: one answer must not take longer than the other.
        let lost = state.lost(schedule).is_some_and(|(_, lost)| lost.session == *own);
        let owner = state.schedule(schedule).map(|record| &record.schedule().owner);
        owner.map_or(lost, |owner| owner == own || state.effective_grant(own).cron_others)
    };
    if handle.view(exists) { Ok(()) } else { Err(Refusal::UnknownSchedule { schedule: schedule.clone() }) }
}

/// Admits a change of what a schedule delivers, or a run of it: what goes where the caller may not send anything must not be
/// changed or set off by the caller either. `target` is the new target, if the change gives one.
pub(super) fn admit_delivery(
    handle: &Handle,
    caller: &Caller,
    schedule: &ScheduleId,
    target: Option<&Target>,
) -> Result<(), Refusal> {
    admit_change(handle, caller, schedule)?;
    let present = || handle.view(|state| Some(state.schedule(schedule)?.schedule().target().clone()));
    match target {
        Some(target) => admit_target(handle, caller, Some(target)),
        None => admit_target(handle, caller, present().as_ref()),
    }
}

/// Returns the operation that a call of a tool is, and the dialect of the tool. A call that no tool would accept is a change.
pub(super) fn op_of(tool: &str, args: &Value) -> (Op, Option<Dialect>) {
    let dialect = TOOLBOX.iter().find(|known| known.name == tool).map(|known| known.dialect);
    if tool == psi::TOOL {
        return (of_psi(args), dialect);
    }
    let of_action = || session_action::Tool::parse(tool).map(|tool| of_action(tool, args));
    let op = cron::Tool::parse(tool).map(of_cron).or_else(|| reminder::Tool::parse(tool).map(of_reminder));
    let op = op.or_else(of_action).or_else(|| native::Tool::parse(tool).map(of_native));
    let op = op.or_else(|| channels::Tool::parse(tool).map(of_channels));
    let op = op.or_else(|| memory::Tool::parse(tool).map(|_| Op::Remember));
    let op = op.or_else(|| claude_cron::Tool::parse(tool).map(|tool| of_claude_cron(tool, args)));
    let op = op.or_else(|| primitives::Tool::parse(tool).map(|tool| of_primitives(tool, args)));
    let op = op.or_else(|| watch::Tool::parse(tool).map(of_watch));
    let op = op.or_else(|| scheduler::Tool::parse(tool).map(of_scheduler));
    (op.unwrap_or(Op::Change), dialect)
}

fn of_primitives(tool: primitives::Tool, args: &Value) -> Op {
    let is = |key| given(args, key).and_then(Value::as_bool) == Some(true);
    match tool {
        primitives::Tool::RunParallel => Op::Call,
        // As the tool reads it: the first that fits counts.
        primitives::Tool::BackgroundRun if is("list_tasks") || is("list-tasks") => Op::Query,
        primitives::Tool::BackgroundRun if is("cancel") => Op::Cancel,
        primitives::Tool::BackgroundRun if word(args, "task_id").or(word(args, "task-id")).is_some() => {
            Op::Query
        }
        primitives::Tool::BackgroundRun => Op::Call,
    }
}

fn of_watch(tool: watch::Tool) -> Op {
    match tool {
        watch::Tool::Start => Op::Create,
        watch::Tool::Stop => Op::Cancel,
        watch::Tool::Pause | watch::Tool::Resume => Op::Change,
        watch::Tool::Status | watch::Tool::List | watch::Tool::History => Op::Query,
    }
}

fn of_scheduler(tool: scheduler::Tool) -> Op {
    match tool {
        scheduler::Tool::Schedule | scheduler::Tool::Remind => Op::Create,
        scheduler::Tool::Cancel => Op::Cancel,
    }
}

fn of_channels(tool: channels::Tool) -> Op {
    match tool {
        channels::Tool::SendMessage
        | channels::Tool::Broadcast
        | channels::Tool::Reply
        | channels::Tool::SimulateEvent
        | channels::Tool::TestSend => Op::Create,
        channels::Tool::PauseProvider | channels::Tool::ResumeProvider => Op::Change,
        channels::Tool::ListProviders
        | channels::Tool::ProviderStatus
        | channels::Tool::ProviderHistory
        | channels::Tool::Stats => Op::Query,
    }
}

fn of_psi(args: &Value) -> Op {
    match (word(args, "action"), word(args, "op")) {
        (Some("query"), _) | (Some("scheduler"), Some("list")) => Op::Query,
        (None, _) if given(args, "query").is_some() => Op::Query,
        (Some("scheduler"), Some("create")) => Op::Create,
        (Some("scheduler"), Some("cancel")) => Op::Cancel,
        _ => Op::Change,
    }
}

fn of_cron(tool: cron::Tool) -> Op {
    match tool {
        cron::Tool::List | cron::Tool::Get => Op::Query,
        cron::Tool::Create => Op::Create,
        cron::Tool::Update | cron::Tool::Pause | cron::Tool::Resume => Op::Change,
        cron::Tool::Delete => Op::Cancel,
    }
}

fn of_reminder(tool: reminder::Tool) -> Op {
    match tool {
        reminder::Tool::Add => Op::Create,
        reminder::Tool::List => Op::Query,
        reminder::Tool::Remove => Op::Cancel,
    }
}

fn of_claude_cron(tool: claude_cron::Tool, args: &Value) -> Op {
    match tool {
        claude_cron::Tool::Create => Op::Create,
        claude_cron::Tool::List => Op::Query,
        claude_cron::Tool::Delete => Op::Cancel,
        // As the tool reads it: with stop, it only ends a loop.
        claude_cron::Tool::Wakeup if given(args, "stop").and_then(Value::as_bool) == Some(true) => Op::Cancel,
        claude_cron::Tool::Wakeup => Op::Create,
    }
}

fn of_native(tool: native::Tool) -> Op {
    match tool {
        native::Tool::List | native::Tool::Explain | native::Tool::Query => Op::Query,
        native::Tool::Inbox => Op::Take,
        native::Tool::Create => Op::Create,
        native::Tool::Update => Op::Change,
        native::Tool::Cancel => Op::Cancel,
    }
}

fn of_action(tool: session_action::Tool, args: &Value) -> Op {
    if tool == session_action::Tool::ReportReady {
        return Op::ReportJob;
    }
    // As lenient as the tool itself: what it would accept must not pass as something else here.
    let operation = word(args, "operation").map(|word| word.trim().to_lowercase().replace('-', "_"));
    match operation.as_deref() {
        // Without an operation, the tool creates.
        None => Op::Create,
        Some(word) => match session_action::Operation::parse(word) {
            Some(session_action::Operation::Create) => Op::Create,
            Some(session_action::Operation::List) => Op::Query,
            Some(session_action::Operation::Cancel) => Op::Cancel,
            Some(session_action::Operation::RunNow) | None => Op::Change,
        },
    }
}

/// A name, given as a string or a keyword, under a key that is a string or a keyword.
fn word<'a>(args: &'a Value, key: &str) -> Option<&'a str> {
    let value = given(args, key)?;
    value.as_keyword().map(Keyword::as_str).or_else(|| value.as_str())
}

fn given<'a>(args: &'a Value, key: &str) -> Option<&'a Value> {
    let map = args.as_map()?;
    map.keyword(key).or_else(|| map.text(key)).filter(|value| !value.is_nil())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::SessionId;

    /// Mutations of the whole do not exist for who acts for a session. Admission does not rest on that.
    #[test]
    fn who_acts_for_a_session_does_not_act_on_the_whole() {
        let session = SessionId::new("one").expect("an id");
        let for_session = Caller { role: CallerRole::Operator, ..Caller::session(session) };
        for op in [Op::Hold, Op::Approve, Op::SetGrant] {
            assert_eq!(check_role(&Caller::OPERATOR, op), Ok(()), "{}", op.name());
            assert_eq!(check_role(&for_session, op), Err(DenialReason::OperatorsOnly), "{}", op.name());
        }
        assert_eq!(check_role(&for_session, Op::CloseSession), Ok(()));
    }
}
