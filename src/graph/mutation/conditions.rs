//! Policy and lifetime of a schedule, read from parameters and printed.
//!
//! Invariant: what is printed reads back equal, and a key that is not known is refused, so that a misspelt `:missed` does not
//! become the default.

use std::num::NonZeroU32;

use super::super::params::{CheckedParams, FromParam, OneOrMany, params};
use super::super::psi_terms;
use super::super::registry::{ParamFault, ParamType, Record};
use crate::domain::{EndsWith, Lifetime, Missed, Moment, Overlap, Policy, Recovery, Span, WhenBusy};
use crate::edn::{Map, Value};

params! {
    /// What a schedule does when it is late, when its session is busy, or when a run fails.
    pub PolicyParams {
        /// What happens to a slot that comes while an earlier run has not ended.
        defaulted overlap: Overlap = "overlap",
        /// What happens to slots that passed while nobody was there to see them.
        defaulted missed: Missed = "missed",
        /// How late a slot may be and still count, in milliseconds.
        optional max_late: Span = "max-late-ms",
        /// What happens to a slot that comes while the session is busy.
        defaulted when_busy: WhenBusy = "when-busy",
        /// What happens to a run that was with its host when the process or the host ended.
        defaulted recovery: Recovery = "recovery",
        /// What a run ends with.
        defaulted ends_with: EndsWith = "ends-with",
        /// How long a run may take, in milliseconds.
        optional timeout: Span = "timeout-ms",
        /// How long to wait before each further attempt, in milliseconds.
        defaulted backoff: OneOrMany<Span> = "backoff-ms",
    }
}

params! {
    /// What ends a schedule beside its trigger.
    pub LifetimeParams {
        /// After so many runs.
        optional max_runs: NonZeroU32 = "max-runs",
        /// At this instant.
        optional expires_at: Moment = "expires-at",
        /// As soon as a person speaks in the session. No if left out.
        defaulted cancel_on_user_activity: bool = "cancel-on-user-activity",
        /// When the session closes. Yes if left out.
        defaulted dies_with_session: bool = "dies-with-session",
    }
}

params! {
    /// Policy and lifetime.
    pub Conditions {
        /// What it does when it is late, when its session is busy, or when a run fails.
        optional policy: Policy = "policy",
        /// What ends it beside its trigger.
        optional lifetime: Lifetime = "lifetime",
    }
}

/// A policy, as it is given and shown.
pub const POLICY: Record = Record::of("policy", PolicyParams::GROUP);

/// A lifetime, as it is given and shown.
pub const LIFETIME: Record = Record::of("lifetime", LifetimeParams::GROUP);

/// What a policy leaves out is psi's.
impl FromParam for Policy {
    const TYPE: ParamType = ParamType::Record(&POLICY);

    fn from_param(value: &Value, name: &'static str) -> Result<Policy, ParamFault> {
        let given = PolicyParams::read(&CheckedParams::inside(value, name, Self::TYPE)?)
            .map_err(|it| it.inside(name))?;
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

/// What a lifetime leaves out is psi's.
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

/// A policy as a map that reads back equal.
pub fn print_policy(policy: &Policy) -> Value {
    let millis = |span: Span| i64::try_from(span.millis()).unwrap_or(i64::MAX);
    Map::new()
        .with("overlap", Value::keyword(policy.overlap.name()))
        .with("missed", Value::keyword(policy.missed.name()))
        .with("max-late-ms", policy.max_late.map(millis))
        .with("when-busy", Value::keyword(policy.when_busy.name()))
        .with("recovery", Value::keyword(policy.recovery.name()))
        .with("ends-with", Value::keyword(policy.ends_with.name()))
        .with("timeout-ms", policy.timeout.map(millis))
        .with("backoff-ms", policy.backoff.iter().map(|wait| millis(*wait).into()).collect::<Vec<Value>>())
        .into()
}

/// A lifetime as a map that reads back equal.
pub fn print_lifetime(lifetime: &Lifetime) -> Value {
    Map::new()
        .with("max-runs", lifetime.max_runs.map(|runs| i64::from(runs.get())))
        .with("expires-at", lifetime.expires_at.map(psi_terms::instant))
        .with("cancel-on-user-activity", lifetime.cancel_on_user_activity)
        .with("dies-with-session", lifetime.dies_with_session)
        .into()
}
