//! The codec of the attempts that a run has behind it: a part of the run in its schedule's row.

use super::FactError;
use super::form::Form;
use super::parse::failure;
use super::parts::{after, each_map, map, maybe, number};
use super::print::of_failure;
use super::printed::{After, Printed};
use crate::domain::{EarlierAttempts, FailedAttempt, HostId, Moment};

/// Prints the attempts before the current one, of a run of this slot.
pub(super) fn of_earlier(earlier: &EarlierAttempts, slot: Moment) -> Printed {
    let after = |at| After(slot, at);
    let of_attempt = |attempt: &FailedAttempt| {
        Printed::new()
            .with("number", u32::from(attempt.number))
            .with("started-at", attempt.started_at.map(after))
            .with("ended-at", After(slot, attempt.ended_at))
            .with("host", attempt.host.map(HostId::number))
            .with("failure", of_failure(&attempt.failure))
            .with("next-at", After(slot, attempt.next_at))
    };
    Printed::new()
        .with("failed", earlier.failed.iter().map(of_attempt).collect::<Vec<_>>())
        .with("started-at", earlier.current_started_at.map(after))
}

/// Parses the attempts before the current one, of a run of this slot.
pub(super) fn earlier(form: &Form<'_>, slot: Moment) -> Result<EarlierAttempts, FactError> {
    let after = |form: &Form<'_>, key| after(form, key, slot);
    let attempt = |form: &Form<'_>| {
        Ok(FailedAttempt {
            number: number(form, "number")?,
            started_at: maybe(form, "started-at", after)?,
            ended_at: after(form, "ended-at")?,
            host: maybe(form, "host", number::<u32>)?.map(HostId::new),
            failure: failure(map(form, "failure")?)?,
            next_at: after(form, "next-at")?,
        })
    };
    Ok(EarlierAttempts {
        failed: each_map(form, "failed", attempt)?,
        current_started_at: maybe(form, "started-at", after)?,
    })
}
