//! Decides whether a caller may ask for an operation at all, in [`Service::admit`]: every change and every read passes it.
//!
//! What lives elsewhere: the table of operations and roles (`domain::Op`), which operation a call of a tool is (`tools/op.rs`),
//! whether what the call names exists for the caller (`engine`), what is wrong with the call (`dialect`).

use super::Service;
use super::denial::{Denial, DenialReason};
use crate::domain::{Caller, CallerRole, Dialect, Op, Refusal, ScheduleId, Scope, SessionId, Target};
use crate::engine::State;
use crate::limits::Limit;
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
        let is_of_authority = match reason {
            DenialReason::TooFast { .. } | DenialReason::SwitchedOff { .. } | DenialReason::Absent => false,
            DenialReason::ReadOnly | DenialReason::HostsOnly | DenialReason::OperatorsOnly => true,
            DenialReason::NotGranted { .. } | DenialReason::NoSession => true,
        };
        if is_of_authority {
            self.record_denial(caller, op, tool);
        }
        Err(Denial::new(reason, caller, op))
    }

    /// Counts one more change by an operation of which the admission has counted the first; returns whether the rate of the
    /// caller's session allows it now.
    pub(super) fn take_another(&self, admitted: Admitted<'_>) -> bool {
        let Admitted { caller, op } = admitted;
        let (CallerRole::Session, Some(session)) = (caller.role, caller.scope.session()) else { return true };
        let Some(rate) = op.rule().rate else { return true };
        let root = self.handle().view(|state| state.root_of(session).clone());
        self.shared.rates.take(rate, root, self.handle().now().boot).is_ok()
    }

    fn check(&self, caller: &Caller, op: Op, tool: Option<Dialect>) -> Result<(), DenialReason> {
        // First, because a caller whose role never allows it must learn nothing of switches and grants.
        check_role(caller, op)?;
        let rule = op.rule();
        if let Some(gate) = rule.gate.filter(|gate| !self.is_open(*gate, caller)) {
            let is_operator = caller.role == CallerRole::Operator;
            return Err(if is_operator { DenialReason::SwitchedOff { gate } } else { DenialReason::Absent });
        }
        // Grants and rates belong to sessions. An operator that acts for none has neither.
        let Scope::Session(session) = &caller.scope else { return Ok(()) };
        // What changes something by no tool at all needs the grant of the crate's own tools, unless its operation says another.
        let dialect = rule.family.or(tool).unwrap_or(Dialect::Native);
        // Only a session's own token has a rate: an operator who acts for a session has none.
        let of_token = |limit: &Limit| (caller.role == CallerRole::Session).then_some(*limit);
        let (rate, time) = (rule.rate.as_ref().and_then(of_token), rule.time.as_ref().and_then(of_token));
        // Most reads need neither a grant nor a rate, so they do not take the engine's lock.
        if !rule.is_granted && rate.or(time).is_none() {
            return Ok(());
        }
        let (is_granted, root) = self.handle().view(|state| {
            let root = || state.root_of(session).clone();
            (state.effective_grant(session).covers(dialect), rate.or(time).map(|_| root()))
        });
        if rule.is_granted && !is_granted {
            return Err(DenialReason::NotGranted { dialect });
        }
        let Some(root) = root else { return Ok(()) };
        let (rates, now) = (&self.shared.rates, self.handle().now().boot);
        // Only checked here: what a query takes is known, and counted, after it has run.
        if let Some(rate) = time {
            let admitted = rates.admit_query(root.clone(), now);
            admitted.map_err(|wait| DenialReason::TooFast { rate, wait })?;
        }
        let Some(rate) = rate else { return Ok(()) };
        // Last, because it counts: an operation that is refused for another reason uses nothing up.
        rates.take(rate, root, now).map_err(|wait| DenialReason::TooFast { rate, wait })
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

/// Returns the session whose rights bound the caller. `None` for operators, even acting for a session, and for unbound callers
/// (`Caller::is_bound`).
fn bound_to(caller: &Caller) -> Option<&SessionId> {
    caller.scope.session().filter(|_| caller.is_bound())
}

/// Admits a target: the token of a session or a host may use only channels that are open to agents, and other sessions only if
/// its session is granted that. Whatever else there is does not exist for it.
pub(super) fn admit_target(handle: &Handle, caller: &Caller, target: Option<&Target>) -> Result<(), Refusal> {
    let (Some(own), Some(target)) = (bound_to(caller), target) else { return Ok(()) };
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

/// Admits a change of a schedule: the token of a session or a host changes those of its session, and shared ones of others only
/// if the session is granted that. Any other schedule is refused exactly like one that does not exist.
pub(super) fn admit_change(handle: &Handle, caller: &Caller, schedule: &ScheduleId) -> Result<(), Refusal> {
    let Some(own) = bound_to(caller) else { return Ok(()) };
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

#[cfg(test)]
mod tests {
    use super::*;

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
