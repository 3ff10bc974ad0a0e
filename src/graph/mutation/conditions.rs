//! Policy and lifetime of a schedule: read from parameters, and printed as maps.
//!
//! Invariant: a printed map reads back equal. An unknown key is refused, so that a misspelt `:missed` does not become the
//! default.

use std::num::NonZeroU32;

use super::super::params::{CheckedParams, FromParam, OneOrMany, params};
use super::super::psi_terms;
use super::super::registry::{ParamFault, ParamType, Record};
use crate::domain::{EndsWith, Lifetime, Missed, Moment, Overlap, Policy, Recovery, Span, WhenBusy};
use crate::edn::{Map, Value};

params! {
    /// What happens when a slot is late, the session is busy, runs overlap, or a run fails.
    pub PolicyParams {
        /// What happens to a slot that is due while an earlier run has not ended. Skip if omitted.
        defaulted overlap: Overlap = "overlap",
        /// What happens to slots that passed while the process was down, the schedule paused, or everything held. Run-once if
        /// omitted.
        defaulted missed: Missed = "missed",
        /// How late a slot may be noticed, in milliseconds; a later one is skipped. No bound if omitted.
        optional max_late: Span = "max-late-ms",
        /// What happens to a slot that is due while the session is busy. Queue if omitted.
        defaulted when_busy: WhenBusy = "when-busy",
        /// What happens to a run that was with its host when the process ended or the host was lost: whether a durable run is
        /// handed over again. Redeliver if omitted.
        defaulted recovery: Recovery = "recovery",
        /// The event that ends a run: the host's receipt, or the end of the turn. Receipt if omitted.
        defaulted ends_with: EndsWith = "ends-with",
        /// The time limit of a run from its claim to its end, waiting included, in milliseconds. No limit if omitted.
        optional timeout: Span = "timeout-ms",
        /// The wait before each further attempt, in milliseconds: as many attempts as entries. None if omitted.
        defaulted backoff: OneOrMany<Span> = "backoff-ms",
    }
}

params! {
    /// What ends a schedule besides its trigger.
    pub LifetimeParams {
        /// The largest number of runs; manual runs do not count. No bound if omitted.
        optional max_runs: NonZeroU32 = "max-runs",
        /// The schedule has no slot at this instant or later. No bound if omitted.
        optional expires_at: Moment = "expires-at",
        /// Whether a person's message in the session cancels the schedule while its slot is ahead. False if omitted.
        defaulted cancel_on_user_activity: bool = "cancel-on-user-activity",
        /// Whether closing its session cancels the schedule; a volatile one is always cancelled. True if omitted.
        defaulted dies_with_session: bool = "dies-with-session",
    }
}

params! {
    /// Policy and lifetime of a schedule.
    pub Conditions {
        /// What happens when a slot is late, the session is busy, runs overlap, or a run fails.
        optional policy: Policy = "policy",
        /// What ends the schedule besides its trigger.
        optional lifetime: Lifetime = "lifetime",
    }
}

/// The record of a policy, both as a parameter and as an attribute.
pub(crate) const POLICY: Record = Record::of("policy", PolicyParams::GROUP);

/// The record of a lifetime, both as a parameter and as an attribute.
pub(crate) const LIFETIME: Record = Record::of("lifetime", LifetimeParams::GROUP);

/// Omitted parts of a policy have psi's values.
impl FromParam for Policy {
    const TYPE: ParamType = ParamType::Record(&POLICY);

    fn from_param(value: &Value, name: &'static str) -> Result<Policy, ParamFault> {
        let given = PolicyParams::read(&CheckedParams::inside(value, name, Self::TYPE)?)
            .map_err(|it| it.inside(name))?;
        // Not the policy that the schedule has: a change replaces all of it, so that equal parameters give equal policies.
        let mut policy = Policy::PLAIN;
        policy.overlap = given.overlap.unwrap_or(policy.overlap);
        policy.missed = given.missed.unwrap_or(policy.missed);
        policy.when_busy = given.when_busy.unwrap_or(policy.when_busy);
        policy.recovery = given.recovery.unwrap_or(policy.recovery);
        policy.ends_with = given.ends_with.unwrap_or(policy.ends_with);
        policy.max_late = given.max_late;
        policy.timeout = given.timeout;
        if let Some(OneOrMany(waits)) = given.backoff {
            policy.backoff = waits;
        }
        Ok(policy)
    }
}

/// Omitted parts of a lifetime have psi's values.
impl FromParam for Lifetime {
    const TYPE: ParamType = ParamType::Record(&LIFETIME);

    fn from_param(value: &Value, name: &'static str) -> Result<Lifetime, ParamFault> {
        let given = LifetimeParams::read(&CheckedParams::inside(value, name, Self::TYPE)?)
            .map_err(|it| it.inside(name))?;
        Ok(Lifetime {
            max_runs: given.max_runs,
            expires_at: given.expires_at,
            cancel_on_user_activity: given.cancel_on_user_activity.unwrap_or(false),
            dies_with_session: given.dies_with_session.unwrap_or(true),
        })
    }
}

/// Returns a policy as a map that reads back equal.
pub(crate) fn print_policy(policy: &Policy) -> Value {
    // Destructured, so that a part that is added has to be printed: approvals are given on what is shown here.
    let Policy { overlap, missed, max_late, when_busy, recovery, ends_with, timeout, backoff } = policy;
    // Values that equal the default are printed too: a caller that sends the map back must not depend on the defaults.
    let millis = |span: Span| i64::try_from(span.millis()).unwrap_or(i64::MAX);
    Map::new()
        .with("overlap", Value::keyword(overlap.name()))
        .with("missed", Value::keyword(missed.name()))
        .with("max-late-ms", max_late.map(millis))
        .with("when-busy", Value::keyword(when_busy.name()))
        .with("recovery", Value::keyword(recovery.name()))
        .with("ends-with", Value::keyword(ends_with.name()))
        .with("timeout-ms", timeout.map(millis))
        .with("backoff-ms", backoff.iter().map(|wait| millis(*wait).into()).collect::<Vec<Value>>())
        .into()
}

/// Returns a lifetime as a map that reads back equal.
pub(crate) fn print_lifetime(lifetime: &Lifetime) -> Value {
    let Lifetime { max_runs, expires_at, cancel_on_user_activity, dies_with_session } = lifetime;
    Map::new()
        .with("max-runs", max_runs.map(|runs| i64::from(runs.get())))
        .with("expires-at", expires_at.map(psi_terms::instant))
        .with("cancel-on-user-activity", *cancel_on_user_activity)
        .with("dies-with-session", *dies_with_session)
        .into()
}
