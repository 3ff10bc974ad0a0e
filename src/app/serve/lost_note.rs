//! The data directory's note of the volatile schedules, for the next start to say what was lost.
//!
//! Written once a second if something happened, without the engine's write lock, and never flushed: it is for information only,
//! and what was made in the last second may be missing. It has ids, labels, sessions and slots, the names of the tools that tasks
//! call and how these calls ended, and no prompt, no arguments and no result: volatile work was to touch no disk. What earlier
//! starts found lost stays in it. An orderly stop cancels what is to come: it leaves the names, and counts as lost only what was
//! in an inbox.

use std::fs;
use std::path::{Path, PathBuf};

use super::data_dir::write_private;
use crate::domain::{Cursor, LostEnd, LostSchedule, Moment, ScheduleId, SessionId, TaskEnd, ToolName};
use crate::edn::{self, Caps, Map, Value};
use crate::engine::State;
use crate::limits;
use crate::runtime::Handle;

/// What a process that ended had in memory.
#[derive(Debug, Default)]
pub(in crate::app) struct Lost {
    /// The number of its volatile schedules that it has not accounted for.
    pub(in crate::app) count: u64,
    /// The first of them, and those that earlier processes had.
    pub(in crate::app) named: Box<[LostSchedule]>,
}

impl Lost {
    /// What this process has in memory.
    pub(in crate::app) fn now(handle: &Handle) -> Lost {
        handle.view(|state| Lost {
            count: state.volatile_count() + state.volatile_left_count(),
            named: state.losable(),
        })
    }
}

/// The note of this process.
pub(in crate::app) struct LostNote {
    path: PathBuf,
    /// What starts found lost, this one included.
    earlier: Vec<LostSchedule>,
    /// The engine's last fact when the note was made.
    seen: Option<Cursor>,
    written: String,
}

impl LostNote {
    /// Reads what the earlier process left.
    pub(in crate::app) fn open(data_dir: &Path) -> (LostNote, Lost) {
        let path = data_dir.join(NOTE);
        let text = fs::read(&path).unwrap_or_default();
        let found = edn::read(&text, &CAPS).ok();
        let lost = found.and_then(|note| note.as_map().map(lost_of)).unwrap_or_default();
        // Without a note there is no need to write that nothing is volatile.
        let written = if text.is_empty() { line(0, &[], &[]) } else { String::new() };
        (LostNote { path, earlier: Vec::new(), seen: None, written }, lost)
    }

    /// Writes the note if something happened since the last one.
    pub(in crate::app) fn note(&mut self, handle: &Handle) {
        let cursor = handle.view(State::cursor);
        if self.seen == Some(cursor) {
            return;
        }
        // By this time the engine has the losses of earlier processes. Only a start adds to them.
        if self.seen.is_none() {
            self.earlier = handle.view(|state| state.losses().to_vec());
        }
        let Lost { count, named } = Lost::now(handle);
        let text = line(count, &named, &self.earlier);
        // Not counted as seen if it could not be written: the next second tries again.
        if text == self.written || write_private(&self.path, &text).is_ok() {
            (self.written, self.seen) = (text, Some(cursor));
        }
    }

    /// Notes what an orderly stop has left. `last` is what was in memory before it cancelled the schedules that were to come.
    pub(in crate::app) fn end(self, last: &Lost, left: u64) {
        // If this fails, the next start reports losses that never happened. No schedule is affected.
        let _ = if last.named.is_empty() && self.earlier.is_empty() {
            fs::remove_file(&self.path)
        } else {
            write_private(&self.path, &line(left, &last.named, &self.earlier))
        };
    }
}

fn line(count: u64, named: &[LostSchedule], earlier: &[LostSchedule]) -> String {
    let schedule = |it: &LostSchedule| {
        let map = Map::new().with("id", it.id.to_string()).with("session", it.session.as_str());
        let time = |at: Option<Moment>| at.map(|at| at.to_string());
        let map = map.with("label", it.label.as_deref()).with("due", time(it.due));
        let map = map.with("task", it.task.as_ref().map(ToolName::as_str));
        let map = map.with("end", it.end.map(|end| end.how.name()));
        let map = map.with("ended-at", time(it.end.map(|end| end.at)));
        Value::from(map.with("left-at", time(it.left_at)).with("lost-at", time(it.lost_at)))
    };
    let most = usize::try_from(limits::LOST_NAMED.value).unwrap_or(usize::MAX);
    let named: Vec<Value> = named.iter().chain(earlier).take(most).map(schedule).collect();
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    format!("{}\n", Value::from(Map::new().with("count", count).with("named", named)))
}

fn lost_of(note: &Map) -> Lost {
    let count = note.keyword("count").and_then(Value::as_int).and_then(|count| u64::try_from(count).ok());
    let items = note.keyword("named").and_then(Value::as_items).unwrap_or_default();
    let schedule = |item: &Value| {
        let text = |key: &str| item.as_map()?.keyword(key)?.as_str();
        let time = |key: &str| Moment::parse(text(key)?).ok();
        Some(LostSchedule {
            id: ScheduleId::new(text("id")?).ok()?,
            label: text("label").map(Into::into),
            session: SessionId::new(text("session")?).ok()?,
            due: time("due"),
            left_at: time("left-at"),
            task: text("task").and_then(|name| ToolName::new(name).ok()),
            end: text("end")
                .and_then(TaskEnd::parse)
                .zip(time("ended-at"))
                .map(|(how, at)| LostEnd { how, at }),
            lost_at: time("lost-at"),
        })
    };
    Lost { count: count.unwrap_or(0), named: items.iter().filter_map(schedule).collect() }
}

const NOTE: &str = "volatile.edn";
/// The labels are as long as any text may be.
const CAPS: Caps = Caps { bytes_max: 32 << 20, depth_max: 8, digits_max: 20, forms_max: 10_000 };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_of_a_task_is_read_again() {
        let lost = LostSchedule {
            id: ScheduleId::new("a1b2c3d4e5f6").expect("an id"),
            label: None,
            session: SessionId::new("s").expect("a name"),
            due: Some(Moment::EPOCH),
            left_at: None,
            task: ToolName::new("ci.build").ok(),
            end: None,
            lost_at: None,
        };
        let ends = TaskEnd::ALL.iter().map(|how| Some(LostEnd { how: *how, at: Moment::EPOCH }));
        for end in ends.chain([None]) {
            let lost = LostSchedule { end, ..lost.clone() };
            let note = edn::read(line(1, std::slice::from_ref(&lost), &[]).as_bytes(), &CAPS).expect("EDN");
            let Lost { count, named } = note.as_map().map(lost_of).unwrap_or_default();
            assert_eq!((count, &*named), (1, &[lost][..]));
        }
    }
}
