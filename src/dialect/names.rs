//! What a tool is called: one canonical name each, and the further spellings that are understood.
//!
//! Programs that know SEED-001 write `memory.remember`, `Remember`, `memory__remember` or `tools.memory.remember`; clients of the
//! Model Context Protocol that allow no dot write `memory_remember`. All are resolved here, before the toolbox looks a name up.
//! Invariant: no spelling is of two tools, and nothing is guessed: a name that is not in the table stays as it is.

/// A tool of SEED-001 that has more than one name.
#[derive(Clone, Copy)]
struct Known {
    /// The name in the toolbox.
    name: &'static str,
    /// The module of the tool in the seed.
    module: &'static str,
    /// What the tool is called in its module.
    action: &'static str,
    /// What agents call it for short.
    short: Option<&'static str>,
}

const fn known(name: &'static str, module: &'static str, action: &'static str) -> Known {
    Known { name, module, action, short: None }
}

const fn shortened(known: Known, short: &'static str) -> Known {
    Known { short: Some(short), ..known }
}

/// The table of names.
const NAMES: &[Known] = &[
    known("run_parallel", "context_builder", "run_parallel"),
    shortened(known("background_run", "context_builder", "background_run"), "BackgroundRun"),
    known("watch_start", "context_builder", "watch_start"),
    known("watch_stop", "context_builder", "watch_stop"),
    known("watch_pause", "context_builder", "watch_pause"),
    known("watch_resume", "context_builder", "watch_resume"),
    known("watch_status", "context_builder", "watch_status"),
    known("watch_list", "context_builder", "watch_list"),
    known("watch_history", "context_builder", "watch_history"),
    known("ping.age", "ping", "age"),
    known("schedule", "cron_native", "schedule"),
    known("cancel_schedule", "cron_native", "cancel_schedule"),
    known("remind", "cron_native", "remind"),
    shortened(known("memory.remember", "memory", "remember"), "Remember"),
    known("memory.set_goal", "memory", "set_goal"),
    shortened(known("memory.task_create", "memory", "task_create"), "TaskCreate"),
    shortened(known("memory.task_update", "memory", "task_update"), "TaskUpdate"),
    known("channels.send_message", "channels", "send_message"),
    known("channels.reply", "channels", "reply"),
    known("channels.broadcast", "channels", "broadcast"),
    known("channels.list_providers", "channels", "list_providers"),
    known("channels.provider_status", "channels", "provider_status"),
    known("channels.pause_provider", "channels", "pause_provider"),
    known("channels.resume_provider", "channels", "resume_provider"),
    known("channels.provider_history", "channels", "provider_history"),
    known("channels.stats", "channels", "stats"),
    known("channels.simulate_event", "channels", "simulate_event"),
    known("channels.test_send", "channels", "test_send"),
];

impl Known {
    fn is_called(&self, name: &str) -> bool {
        if self.name == name || self.short == Some(name) {
            return true;
        }
        let written = name.strip_prefix("tools.").or_else(|| name.strip_prefix("tools__")).unwrap_or(name);
        let in_module = |rest: &str| {
            let rest = rest.strip_prefix('.').or_else(|| rest.strip_prefix("__"));
            rest == Some(self.action)
        };
        written.strip_prefix(self.module).is_some_and(in_module) || is_undotted(self.name, name)
    }
}

/// Whether `written` is this name as MCP shows it.
fn is_undotted(name: &str, written: &str) -> bool {
    let is_same = |(a, b): (u8, u8)| a == b || (a == b'.' && b == b'_');
    name.len() == written.len() && name.bytes().zip(written.bytes()).all(is_same)
}

/// Returns the name of a tool in the toolbox, from any of its spellings. A name without further spellings is returned as it is.
pub(crate) fn canonical(name: &str) -> &str {
    NAMES.iter().find(|known| known.is_called(name)).map_or(name, |known| known.name)
}

/// Returns the name of a tool as clients of the Model Context Protocol can take it: several of them allow no dot.
pub fn undotted(name: &str) -> String {
    name.replace('.', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_is_of_one_tool() {
        for known in NAMES {
            let (module, action) = (known.module, known.action);
            let spellings = [
                known.name.to_owned(),
                undotted(known.name),
                format!("{module}.{action}"),
                format!("{module}__{action}"),
                format!("tools.{module}.{action}"),
                format!("tools__{module}__{action}"),
                known.short.unwrap_or(known.name).to_owned(),
            ];
            for spelling in spellings {
                let called: Vec<&str> =
                    NAMES.iter().filter(|it| it.is_called(&spelling)).map(|it| it.name).collect();
                assert_eq!(called, [known.name], "{spelling}");
                assert_eq!(canonical(&spelling), known.name);
            }
        }
    }

    #[test]
    fn nothing_is_guessed() {
        for name in [
            "",
            ".",
            "remember",
            "memory",
            "memory.",
            "memory.remembers",
            "tools.create",
            "create",
            "other.remember",
        ] {
            assert_eq!(canonical(name), name);
        }
        assert_eq!(canonical("watch.start"), "watch.start");
    }
}
