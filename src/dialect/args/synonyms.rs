//! Names that tools have for one thing, so that a name of one leads to that of another.

/// Names that tools have for one thing. A model that has read of one tool calls another with its words.
const SYNONYMS: [&[&str]; 10] = [
    &["message", "prompt", "text", "task", "instruction", "instructions", "action_prompt"],
    &["zone", "timezone", "time_zone", "timeZone", "tz"],
    &["id", "schedule_id", "scheduleId", "job_id", "action_id", "actionId", "task_id", "watcher_id"],
    &["kind", "action_kind"],
    &["pattern", "description_pattern"],
    &["revision", "base_revision"],
    &["actions", "calls"],
    &["params", "args", "arguments"],
    // All in seconds, as `interval` and `timeout` are where a tool has them.
    &["every_seconds", "interval_seconds", "seconds", "interval", "every"],
    &["timeout_seconds", "timeout"],
];

/// The field that has this name elsewhere, if there is just one.
pub(super) fn synonym(known: &[&'static str], name: &str) -> Option<&'static str> {
    let names = SYNONYMS.iter().find(|names| names.contains(&name))?;
    // With two fields of this meaning, nothing says which one is meant.
    let mut meant = known.iter().copied().filter(|known| names.contains(known));
    meant.next().filter(|_| meant.next().is_none())
}
