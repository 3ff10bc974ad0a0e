//! The EDN that every competitor reads: a vector of schedules, as a list answers it.

use std::fmt::Write as _;

/// At least `bytes` bytes of EDN.
pub(crate) fn schedules(bytes: usize) -> String {
    let mut out = String::from("[");
    let mut number = 0_u64;
    while out.len() < bytes {
        number += 1;
        let _ = writeln!(
            out,
            "{{:schedule-id \"sch-6f9619ff-8b86-4d01-b42d-{number:012x}\" :kind :message :label \"check-build\" \
             :message \"Look at the build that was started an hour ago and report on it\" :status :pending \
             :created-at \"2026-03-01T09:00:00Z\" :fire-at \"2026-03-01T10:00:00Z\" \
             :origin-session-id \"s-{number}\" :created-session-id nil :delivery-phase nil :error-summary nil \
             :session-config-summary nil}}"
        );
    }
    out.push(']');
    out
}
