//! The schedules that an agent holds itself for the conversation, as it names them to the hook at the end of a turn.
//!
//! Source: Claude Code 2.1.330, `session_crons`: a list of maps with `id`, `schedule` (a cron expression), `recurring` and
//! `prompt`, which ends in `… [+N chars]` where Claude Code has cut it. Invariant: a list in which one entry has another shape is
//! ignored as a whole, because a part of it would look like all of it.

use std::io;

use super::link::{Link, request};
use crate::domain::{Address, AgentSchedule, AgentSchedules, BootTime};
use crate::edn::{Map, Value};

/// Reads the schedules from the input of a hook; `None` if the agent does not name them, or not in this shape. Other members of
/// an entry are ignored.
pub(super) fn parse(input: &Map) -> Option<AgentSchedules> {
    let all = input.text("session_crons")?.as_items()?;
    let schedules = all.iter().map(schedule).collect::<Option<Vec<AgentSchedule>>>()?;
    Some(AgentSchedules::new(schedules, u32::try_from(all.len()).ok()?))
}

fn schedule(entry: &Value) -> Option<AgentSchedule> {
    let entry = entry.as_map()?;
    let text = |name: &str| entry.text(name).and_then(Value::as_str);
    let recurring = entry.text("recurring")?.as_bool()?;
    Some(AgentSchedule::new(text("id")?, text("schedule")?, recurring, text("prompt")?))
}

/// Tells the daemon which schedules the agent holds itself, if the agent has named them.
///
/// # Errors
/// The operating system's; `TimedOut` at the deadline.
pub(super) fn tell_schedules(
    link: &mut Link,
    address: &Address,
    said: Option<&AgentSchedules>,
    until: BootTime,
) -> io::Result<()> {
    let Some(said) = said else { return Ok(()) };
    let first: Vec<Value> = said.first().iter().map(told).collect();
    let schedules = request("agent/schedules")
        .with("session-id", address.to_string())
        .with("schedules", first)
        .with("count", i64::from(said.count()));
    // A daemon that is older than this program does not know the request. The turn ends all the same.
    link.ask(schedules, until).map(drop)
}

fn told(schedule: &AgentSchedule) -> Value {
    Map::new()
        .with("id", &*schedule.id)
        .with("cron", &*schedule.cron)
        .with("recurring?", schedule.recurring)
        .with("prompt", &*schedule.prompt)
        .with("truncated?", schedule.truncated)
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::REQUEST_CAPS;
    use crate::limits;
    use crate::surface::json;

    fn parsed(crons: &str) -> Option<AgentSchedules> {
        let text = format!("{{\"session_crons\":{crons}}}");
        parse(json::read(text.as_bytes(), &REQUEST_CAPS).expect("JSON").as_map().expect("a map"))
    }

    #[test]
    fn what_claude_code_says_is_read_and_a_member_that_is_unknown_is_ignored() {
        let said = parsed(
            r#"[{"id":"3f9a","schedule":"*/5 * * * *","recurring":true,"prompt":"Look.","kind":"loop"},
                {"id":"77","schedule":"30 14 28 2 *","recurring":false,"prompt":"Once."}]"#,
        )
        .expect("it has the shape");
        let look = AgentSchedule::new("3f9a", "*/5 * * * *", true, "Look.");
        let once = AgentSchedule::new("77", "30 14 28 2 *", false, "Once.");
        assert_eq!(said, AgentSchedules::new([look, once], 2));
        assert_eq!(parsed("[]"), Some(AgentSchedules::new([], 0)));
    }

    #[test]
    fn a_list_of_another_shape_is_ignored_whole() {
        let good = r#"{"id":"1","schedule":"* * * * *","recurring":true,"prompt":"p"}"#;
        for bad in [
            "null".to_owned(),
            "{}".to_owned(),
            "7".to_owned(),
            format!("[{good},{{}}]"),
            format!("[{good},7]"),
            format!("[{good},{}]", good.replace("true", "\"yes\"")),
            format!("[{}]", good.replace("\"* * * * *\"", "null")),
            format!("[{}]", good.replace("\"1\"", "1")),
        ] {
            assert_eq!(parsed(&bad), None, "{bad}");
        }
        assert_eq!(parse(&Map::new()), None);
    }

    #[test]
    fn more_than_are_shown_are_counted() {
        let most = limits::AGENT_SCHEDULES.value;
        let one = r#"{"id":"1","schedule":"* * * * *","recurring":true,"prompt":"p"}"#;
        let all = vec![one; usize::try_from(most + 1).expect("it is small")].join(",");
        let said = parsed(&format!("[{all}]")).expect("it has the shape");
        assert_eq!((said.first().len() as u64, u64::from(said.count())), (most, most + 1));
    }
}
