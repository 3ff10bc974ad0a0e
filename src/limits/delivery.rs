//! The bounds of deliveries: receipts, guards, approvals, and what is retained of conversations.

use super::declare::{Limit, limits};

limits! { OF_DELIVERY:
    /// How long a host may take to acknowledge a delivery before the delivery counts as failed.
    RECEIPT_MS = 30_000 "ms" as "receipt-ms";
    /// How long an attached host may take, after it acknowledged a prompt, to report that the turn
    /// began. Until then nothing more is pushed to that session: one delivery per idle transition.
    TURN_START_MS = 2_000 "ms" as "turn-start-ms";
    /// How long a session remembers that a job reported ready. A schedule created for that job meanwhile is due at once.
    JOB_REMEMBERED_MS = 600_000 "ms" as "job-remembered-ms";
    /// Ready jobs that one session remembers; the oldest is dropped first.
    JOBS_REMEMBERED = 16 "jobs" as "jobs-remembered";
    /// Default time that an external guard has to answer whether a run may be handed over.
    GUARD_MS = 5_000 "ms" as "guard-ms";
    /// Longest time that an external guard can be given to answer. A decision by a person is an approval, and takes longer.
    GUARD_MS_MAX = 30_000 "ms" as "guard-ms-max";
    /// How long the permission of an external guard is valid while the run waits for its session;
    /// after that the guard is asked again.
    GUARD_ALLOWANCE_MS = 30_000 "ms" as "guard-allowance-ms";
    /// Questions that an external guard is asked at the same time; further questions wait, within their own time.
    GUARD_QUESTIONS = 16 "questions" as "guard-questions";
    /// Longest answer of an external guard.
    GUARD_ANSWER_BYTES = 16_384 "bytes" as "guard-answer-bytes";
    /// Rules of one guard policy; each hand-over may evaluate all of them.
    GUARD_RULES = 256 "rules" as "guard-rules";
    /// Default time that a run waits for an operator's approval: one day, so that an operator has been at a desk meanwhile.
    APPROVAL_MS = 86_400_000 "ms" as "approval-ms";
    /// Longest time that a run can be made to wait for an approval: 30 days, the age to which the log is retained.
    APPROVAL_MS_MAX = 2_592_000_000 "ms" as "approval-ms-max";
    /// Approvals that one run remembers; a run is not held by more rules than that.
    APPROVALS_KEPT = 8 "approvals" as "approvals-kept";
    /// Size of the texts of an approved run, its fresh session included, that are stored once per schedule, so that the next
    /// approval can show the differences. For longer texts, the approval says that the difference is unknown.
    APPROVED_BYTES = 16_384 "bytes" as "approved-bytes";
    /// Deliveries that wait for one receiver in an embedding program. The oldest are dropped first,
    /// and counted; the transcript has them.
    DELIVERIES_QUEUED = 10_000 "deliveries" as "deliveries-queued";
    /// Messages retained in the transcript of a built-in session. The oldest are dropped first, and counted.
    TRANSCRIPT_MESSAGES = 10_000 "messages" as "transcript-messages";
    /// Size of one transcript of the built-in host. The oldest messages are dropped first, and counted.
    TRANSCRIPT_BYTES = 8_388_608 "bytes" as "transcript-bytes";
}
