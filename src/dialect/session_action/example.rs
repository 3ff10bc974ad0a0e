//! Examples of correct calls, for error answers.
//!
//! Invariant: every example is a complete, valid call of its tool, and shows the faulty field.

use super::tool::Tool;
use crate::edn::Map;

/// A call of the tool that shows the field.
pub(super) fn example(tool: Tool, field: &str) -> Map {
    let reminder =
        || Map::new().with("action_kind", "remind_later").with("message", "Check the build status");
    match (tool, field) {
        (Tool::ReportReady, _) => Map::new().with("job_id", "build-7"),
        (Tool::Schedule, "action_id") => {
            Map::new().with("operation", "cancel").with("action_id", "delay-1a2b3c4d")
        }
        (Tool::Schedule, "run_at") => reminder().with("run_at", "2100-04-11T09:00:00Z"),
        (Tool::Schedule, "instruction") => Map::new()
            .with("action_kind", "run_later")
            .with("instruction", "Look at the build and tell the user how it went.")
            .with("delay_seconds", 600),
        (Tool::Schedule, "job_id" | "artifact_path" | "artifact_name") => Map::new()
            .with("action_kind", "notify_job_ready")
            .with("job_id", "build-7")
            .with("artifact_path", "/tmp/build.log"),
        (Tool::Schedule, _) => reminder().with("delay_seconds", 3_600),
    }
}
