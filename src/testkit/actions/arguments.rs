//! Random arguments for the tools of every dialect: mostly valid, one in six spoilt in one place.

use crate::domain::{Dialect, Span};
use crate::edn::{Map, Value};
use crate::port::Clock;
use crate::service::ToolInfo;
use crate::testkit::actions::calls::{ExpectedEffect, ToolCall, lists_all};
use crate::testkit::world::World;

impl World {
    /// A random call of this tool, with what it is expected to do.
    pub(in crate::testkit) fn any_call(&self, tool: &'static ToolInfo) -> ToolCall {
        let (deed, args) = match tool.dialect {
            Dialect::Psi => self.any_of_psi(),
            Dialect::Cron => self.any_of_cron(tool.name),
            Dialect::Reminder => self.any_of_reminders(tool.name),
            Dialect::SessionAction => self.any_of_actions(tool.name),
            Dialect::ClaudeCron => self.any_of_claude_cron(tool.name),
            Dialect::Native => self.any_of_native(tool.name),
            Dialect::Watch
            | Dialect::Scheduler
            | Dialect::Channels
            | Dialect::Memory
            | Dialect::Primitives => (ExpectedEffect::Read, Map::new()),
        };
        let is_spoilt = self.stage.entropy.one_in(6);
        let args = if is_spoilt { self.spoilt(args) } else { args };
        // A spoilt call may be valid in another way and change something else, so less is expected
        // of it. A create still creates at most one schedule.
        let deed = if is_spoilt && deed != ExpectedEffect::Create { ExpectedEffect::Change } else { deed };
        ToolCall { tool, deed, args: args.into() }
    }

    fn any_of_psi(&self) -> (ExpectedEffect, Map) {
        let entropy = &self.stage.entropy;
        let op = |op: &str| Map::new().with("action", "scheduler").with("op", op);
        match entropy.below(6) {
            0 => (listing(Dialect::Psi), op("list")),
            1 | 2 => (ExpectedEffect::Cancel, op("cancel").with("schedule-id", self.any_id())),
            3 => (ExpectedEffect::Read, Map::new().with("action", "query").with("query", QUERY)),
            _ => {
                let kind = if entropy.one_in(4) { "session" } else { "message" };
                let args = op("create").with("kind", kind).with("message", "a prompt of an agent");
                let args = if entropy.one_in(2) { args.with("label", "a label") } else { args };
                let args = if entropy.one_in(2) {
                    args.with("delay-ms", i64::try_from(1_000 + entropy.below(120_000)).unwrap_or(1_000))
                } else {
                    args.with("at", self.soon())
                };
                (ExpectedEffect::Create, args)
            }
        }
    }

    fn any_of_cron(&self, tool: &str) -> (ExpectedEffect, Map) {
        let job = || {
            let id = self.any_id();
            // Revisions 1 to 3: right often enough, and stale often enough to see the conflict.
            let revision = 1 + self.stage.entropy.below(3);
            Map::new().with("job_id", id).with("base_revision", i64::try_from(revision).unwrap_or(1))
        };
        match tool {
            "cron_create" => {
                let args = Map::new().with("name", "a job").with("prompt", "a prompt of a job");
                (ExpectedEffect::Create, self.with_policy(args.with("schedule", self.any_cron_schedule())))
            }
            "cron_list" => (listing(Dialect::Cron), Map::new().with("include_disabled", true)),
            "cron_get" => (ExpectedEffect::Read, Map::new().with("job_id", self.any_id())),
            "cron_update" => {
                let patch = if self.stage.entropy.one_in(2) {
                    Map::new().with("schedule", self.any_cron_schedule())
                } else {
                    Map::new().with("name", "another name").with("enabled", self.stage.entropy.one_in(2))
                };
                (ExpectedEffect::Change, job().with("patch", patch))
            }
            "cron_delete" => (ExpectedEffect::Cancel, job()),
            _ => (ExpectedEffect::Change, job()),
        }
    }

    fn any_cron_schedule(&self) -> Map {
        let entropy = &self.stage.entropy;
        let kind = |kind: &str| Map::new().with("kind", kind);
        match entropy.below(4) {
            0 => kind("once").with("at", self.soon()),
            1 => kind("daily").with("time", "08:30").with("timezone", "America/New_York"),
            2 => kind("weekly")
                .with("weekdays", vec!["mon".into(), "sat".into()])
                .with("time", "02:30")
                .with("timezone", "UTC"),
            _ => {
                kind("interval").with("every_seconds", i64::try_from(60 + entropy.below(4_000)).unwrap_or(60))
            }
        }
    }

    fn with_policy(&self, args: Map) -> Map {
        let entropy = &self.stage.entropy;
        if entropy.one_in(2) {
            return args;
        }
        let pick = |words: &[&'static str]| entropy.pick(words).copied().unwrap_or_default();
        let policy = Map::new()
            .with("overlap", pick(&["skip", "parallel"]))
            .with("missed_run", pick(&["skip", "run_once"]))
            .with("timeout_seconds", i64::try_from(60 + entropy.below(2_000)).unwrap_or(60));
        args.with("policy", policy)
    }

    fn any_of_reminders(&self, tool: &str) -> (ExpectedEffect, Map) {
        let entropy = &self.stage.entropy;
        match tool {
            "reminderadd" => {
                // Reminders carry one of three descriptions, so that a pattern matches several of
                // them or none.
                let kind = if entropy.one_in(2) { "one-time" } else { "recurring" };
                let args = Map::new()
                    .with("interval_seconds", i64::try_from(30 + entropy.below(3_000)).unwrap_or(30))
                    .with("type", kind)
                    .with("action_prompt", "a prompt of a reminder")
                    .with("description", format!("remind of {}", entropy.below(3)));
                (ExpectedEffect::Create, args)
            }
            "reminderremove" => (
                ExpectedEffect::Cancel,
                Map::new().with("description_pattern", format!("of {}", entropy.below(4))),
            ),
            _ => (listing(Dialect::Reminder), Map::new()),
        }
    }

    fn any_of_actions(&self, tool: &str) -> (ExpectedEffect, Map) {
        let entropy = &self.stage.entropy;
        let job = || self.any_job().map_or_else(|| "build".to_owned(), |job| job.to_string());
        let of = |operation: &str| Map::new().with("operation", operation);
        if tool == "report_job_ready" {
            return (ExpectedEffect::Change, Map::new().with("job_id", job()));
        }
        match entropy.below(8) {
            0 => (listing(Dialect::SessionAction), of("list")),
            1 | 2 => (ExpectedEffect::Cancel, of("cancel").with("action_id", self.any_id())),
            3 => (ExpectedEffect::Change, of("run_now").with("action_id", self.any_id())),
            draw => {
                let args = match draw {
                    4 => Map::new().with("action_kind", "notify_job_ready").with("job_id", job()),
                    5 => Map::new().with("action_kind", "remind_later").with("message", "a word to the user"),
                    _ => Map::new()
                        .with("action_kind", "run_later")
                        .with("instruction", "a prompt of an action"),
                };
                let args = if draw == 4 && entropy.one_in(2) {
                    args
                } else {
                    args.with("delay_seconds", i64::try_from(1 + entropy.below(200)).unwrap_or(1))
                };
                let key = format!("key-{}", entropy.below(4));
                (ExpectedEffect::Create, if entropy.one_in(3) { args.with("dedupe_key", key) } else { args })
            }
        }
    }

    fn any_of_claude_cron(&self, tool: &str) -> (ExpectedEffect, Map) {
        let entropy = &self.stage.entropy;
        match tool {
            "CronCreate" => {
                let args = Map::new()
                    .with("cron", format!("*/{} * * * *", 1 + entropy.below(9)))
                    .with("prompt", "a prompt of a job of Claude Code");
                let args = if entropy.one_in(2) { args.with("recurring", entropy.one_in(2)) } else { args };
                let args = if entropy.one_in(2) { args.with("durable", entropy.one_in(2)) } else { args };
                (ExpectedEffect::Create, args)
            }
            "CronDelete" => (ExpectedEffect::Cancel, Map::new().with("id", self.any_id())),
            // There may be no wake-up to cancel.
            "ScheduleWakeup" if entropy.one_in(4) => (ExpectedEffect::Change, Map::new().with("stop", true)),
            "ScheduleWakeup" => {
                let args = Map::new()
                    .with("delaySeconds", i64::try_from(entropy.below(400)).unwrap_or(0))
                    .with("reason", "a reason")
                    .with("prompt", "a prompt of a loop");
                (ExpectedEffect::Create, args)
            }
            _ => (listing(Dialect::ClaudeCron), Map::new()),
        }
    }

    fn any_of_native(&self, tool: &str) -> (ExpectedEffect, Map) {
        let entropy = &self.stage.entropy;
        let when = *entropy.pick(&WHENS).unwrap_or(&WHENS[0]);
        let which = || Map::new().with("schedule_id", self.any_id());
        let name = tool.rsplit('_').next().unwrap_or(tool);
        match name {
            "create" => {
                let args = Map::new()
                    .with("message", "a prompt by the crate's own tool")
                    .with("when", when)
                    .with("zone", "UTC");
                // Four keys only, so that calls repeat one another and idempotency is exercised.
                let key = format!("key-{}", entropy.below(4));
                (ExpectedEffect::Create, if entropy.one_in(3) { args.with("key", key) } else { args })
            }
            "cancel" => (ExpectedEffect::Cancel, which()),
            "update" => {
                let args = if entropy.one_in(2) {
                    which().with("when", when)
                } else {
                    which().with("paused", entropy.one_in(2))
                };
                (ExpectedEffect::Change, args)
            }
            "list" => (ExpectedEffect::Read, Map::new().with("all", entropy.one_in(2))),
            "explain" => (ExpectedEffect::Read, which()),
            _ => (ExpectedEffect::Read, Map::new().with("query", QUERY)),
        }
    }

    /// The id of an existing schedule of any session; one in ten is unknown.
    fn any_id(&self) -> String {
        let known = self.any_schedule().filter(|_| !self.stage.entropy.one_in(10));
        known.map_or_else(|| "nobody-s".to_owned(), |id| id.to_string())
    }

    fn soon(&self) -> String {
        let now = self.stage.clock.now().wall;
        let soon = Span::from_millis(1_000 + self.stage.entropy.below(400_000));
        now.checked_add(soon).unwrap_or(now).to_string()
    }

    /// The arguments with one removed, one replaced by garbage, or an unknown one added.
    fn spoilt(&self, args: Map) -> Map {
        let entropy = &self.stage.entropy;
        let mut args: Vec<(Value, Value)> = args.into_iter().collect();
        let place = usize::try_from(entropy.below(args.len() as u64)).unwrap_or(0);
        let garbage = [
            Value::Nil,
            (-1).into(),
            "".into(),
            i64::MAX.into(),
            true.into(),
            Vec::new().into(),
            "\u{0}λ".into(),
        ];
        let garbage = entropy.pick(&garbage).cloned().unwrap_or(Value::Nil);
        if args.is_empty() || entropy.one_in(4) {
            args.push((Value::keyword("unheard_of"), garbage));
        } else if entropy.one_in(3) {
            args.swap_remove(place);
        } else {
            args[place].1 = garbage;
        }
        args.into_iter().collect()
    }
}

fn listing(dialect: Dialect) -> ExpectedEffect {
    if lists_all(dialect) { ExpectedEffect::List } else { ExpectedEffect::Read }
}

const WHENS: [&str; 6] = [
    "in 20 seconds",
    "in 3 minutes",
    "every 5 minutes",
    "every day at 8:30",
    "weekdays at 9",
    "tomorrow at 7",
];
const QUERY: &str = "[:psi.scheduler/pending-count \
                     {:psi.scheduler/schedules [:psi.scheduler/schedule-id :psi.scheduler/status]}]";
