//! A kill while everything is out at once: watches in their checks and between them, a task and scheduled calls in their calls, a
//! bulletin and an event that wait for a busy session, a memory. The next daemon goes on with each of them, and a session
//! gets each message once.
//!
//! Programs wait for the file `go`, for two minutes at most, because a program outlives a daemon that is killed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

use reveille::edn::{Map, Value};

use super::scene::{JSON, Scene};
use crate::harness::ask::only;
use crate::harness::daemon::{Daemon, Home, Reply, at, text, until};
use crate::harness::stream::Stream;

const TOOLS: &str = r#"
[primitives]
watchers = true
scheduler = true
memory = true

[tools."t.seen"]
agents = true
command = ["/bin/sh", "-c", '''if [ -e HOME/hold ]; then echo x >> HOME/seen.held; WAIT; fi
  /bin/cat HOME/seen''']
risk = "read"

[tools."t.flaky"]
agents = true
command = ["/bin/sh", "-c", 'echo x >> HOME/flaky.calls; if [ -e HOME/well ]; then echo 1; else echo down >&2; exit 1; fi']
risk = "read"

[tools."t.still"]
agents = true
command = ["/bin/sh", "-c", 'echo x >> HOME/still.calls; echo 1']
risk = "read"

[tools."t.task"]
agents = true
command = ["/bin/sh", "-c", 'echo $REVEILLE_CALL_ID >> HOME/task.calls; WAIT; echo 1']

[tools."t.put"]
agents = true
command = ["/bin/sh", "-c", 'echo $REVEILLE_CALL_ID >> HOME/put.calls; WAIT; echo 1']
idempotent = true

[tools."t.post"]
agents = true
command = ["/bin/sh", "-c", 'echo $REVEILLE_CALL_ID >> HOME/post.calls; WAIT; echo 1']

[tools."t.quick"]
agents = true
command = ["/bin/sh", "-c", 'echo $REVEILLE_CALL_ID >> HOME/quick.calls; echo 7']
idempotent = true

[channels.bot]
command = ["/bin/true"]
[channels.bot.inbound]
verify = "token"
secret-file = "secret"
session = "busy"
"#;

const WAIT: &str = "n=0; while [ ! -e HOME/go ] && [ $n -lt 2400 ]; do /bin/sleep 0.05; n=$((n+1)); done";
const SECRET: &str = "a secret of sixteen";
const PATIENT: Duration = Duration::from_secs(30);

/// T41, T56.
#[test]
fn a_kill_with_everything_out_loses_nothing_and_repeats_nothing() {
    let mut night = Night::new("kill-all");
    night.begin_watches();
    let task = night.begin_calls();
    let before = night.watches();
    let still = night.lines("still.calls");

    let mut night = night.kill();
    night.assert_watches_go_on(&before);
    night.until("the calls that may be made again are, and each watch looks again", |night| {
        night.lines("put.calls").len() == 2
            && night.lines("seen.held").len() >= 2
            && night.watches()["flaky"].checks > before["flaky"].checks
            && night.host.count("main", "cron_default_post") == 1
            && night.host.count("main", "[BACKGROUND TASK FAILED]") == 1
    });
    assert_eq!(night.runs("cron_default_put"), [":slot :in-flight 2 nil"], "the same run, another attempt");
    assert_eq!(night.runs("cron_default_post")[0], ":slot :failed 1 :crashed");
    assert_eq!(night.host.count("main", "Recovered"), 0, "the checks still fail");

    night.write("go", "");
    let seen = night.watches()["same"].checks;
    night.until("the programs answer", |night| {
        night.host.count("main", "cron_default_put") == 1
            && night.host.count("busy", "cron_default_quick") == 1
            && night.host.count("busy", "event_id=e1") == 1
            && night.watches()["same"].checks >= seen + 2
    });
    assert_eq!(night.host.count("main", "label=\"same\""), 0, "it is as it was before the kill");
    night.write("well", "");
    night.write("seen", "2");
    night.until("the change and the recovery are delivered", |night| {
        night.host.count("main", "Recovered after") == 1 && night.host.count("main", "label=\"same\"") == 1
    });
    let made = night.watches();
    night.until("each has looked once more", |night| {
        let now = night.watches();
        ["same", "flaky"].into_iter().all(|label| now[label].checks > made[label].checks)
    });
    assert_eq!(night.lines("still.calls"), still, "a watch that is paused makes no check");
    night.assert_notified_once();
    night.assert_ends(&task);
    night.end();
}

/// T56: the daemon dies again and again, and a call that may be made again has one id and one end.
#[test]
fn a_call_that_is_made_again_after_each_kill_ends_once() {
    let mut night = Night::new("kill-again");
    night.begin_watches();
    night.begin_calls();
    for kills in 1..=3 {
        night = night.kill();
        let made = kills + 1;
        night.until("the call is made again", |night| night.lines("put.calls").len() == made);
        assert_eq!(night.runs("cron_default_put"), [format!(":slot :in-flight {made} nil")]);
    }
    night.write("go", "");
    night.until("everything is delivered", |night| {
        let count = |session: &str, part: &str| night.host.count(session, part);
        count("main", "cron_default_put") == 1
            && count("main", "cron_default_post") == 1
            && count("busy", "cron_default_quick") == 1
            && count("busy", "event_id=e1") == 1
    });
    let ids = night.lines("put.calls");
    assert!(ids.len() == 4 && ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    assert_eq!(night.host.count("main", "[BACKGROUND TASK FAILED]"), 1, "once, whatever follows");
    let calls = ["post.calls", "quick.calls", "task.calls"].map(|name| night.lines(name).len());
    assert_eq!(calls, [1, 1, 1], "none of these is made again");
    assert_eq!(night.runs("cron_default_put"), [":slot :delivered 4 nil", ":bulletin :delivered 1 nil"]);
    night.end();
}

/// T56: a bulletin that was with the host at the kill comes again under its id, and its call is not made again.
#[test]
fn a_bulletin_that_was_with_the_host_comes_again_under_its_id() {
    let mut night = Night::new("kill-bulletin");
    night.call("main", "schedule", r#"{"when":"in 1s","action":"t.quick","name":"quick"}"#);
    let stream = &mut night.host.stream;
    let delivery = |push: Map| text(&push, &["delivery-id"]).map(str::to_owned);
    let id = std::iter::from_fn(|| stream.pushed()).find_map(delivery).expect("it comes");
    assert_eq!(night.runs("cron_default_quick"), [":slot :delivered 1 nil", ":bulletin :in-flight 1 nil"]);
    let mut night = night.kill();
    night.until("it comes again", |night| night.host.known.contains(&id));
    assert_eq!(night.runs("cron_default_quick"), [":slot :delivered 1 nil", ":bulletin :delivered 2 nil"]);
    assert_eq!((night.lines("quick.calls").len(), night.host.count("main", "Result: 7")), (1, 1));
    night.end();
}

/// A daemon, and the host of its sessions `main` and `busy`.
struct Night {
    home: Home,
    daemon: Daemon,
    host: Host,
}

/// What is counted of a watch, and its id.
#[derive(Debug)]
struct Watched {
    id: String,
    status: String,
    checks: u64,
    notified: u64,
}

impl Night {
    fn new(name: &str) -> Night {
        let home = Home::new(name);
        fs::write(home.path().join("secret"), SECRET).expect("ours");
        let scene = Scene::living_in(home, &TOOLS.replace("WAIT", WAIT), &[]);
        let Scene { home, daemon, host, .. } = scene;
        let mut host = Host { stream: host, known: BTreeSet::new(), texts: Vec::new(), repeats: 0 };
        host.ask("{:op :session/open :session-id \"busy\"}");
        host.ask("{:op :session/busy :session-id \"busy\" :busy? true}");
        Night { home, daemon, host }
    }

    /// Kills the daemon and starts it again on what it has left. The host comes back.
    fn kill(self) -> Night {
        let Night { home, daemon, host } = self;
        daemon.kill();
        let daemon = Daemon::start_with(&home, home.serve().args(["--config", "tools.toml"]));
        let stream = Stream::connect(&daemon.socket).expect("it listens");
        let mut host = Host { stream, ..host };
        host.ask("{:op :host/attach :sessions [\"main\" \"busy\"]}");
        Night { home, daemon, host }
    }

    /// Starts three watches, each of which makes a check. Then `same` is in its next check, the failure of `flaky` was
    /// delivered, and `still` is paused.
    fn begin_watches(&mut self) {
        self.write("seen", "1");
        for (tool, rest) in [
            ("t.seen", r#""label":"same""#),
            ("t.still", r#""label":"still""#),
            ("t.flaky", r#""label":"flaky","notify_when":"on_error","notify_config":{"again":"1h"}"#),
        ] {
            self.call("main", "watch_start", &format!("{{\"name\":{tool:?},\"interval\":5,{rest}}}"));
        }
        self.until("each watch has made a check", |night| {
            night.watches().values().all(|watch| watch.checks >= 1)
                && night.host.count("main", "Error: down") == 1
        });
        let id = self.watches()["still"].id.clone();
        self.call("main", "watch_pause", &format!("{{\"watcher_id\":{id:?}}}"));
        self.write("hold", "");
        self.until("a check is in its program", |night| !night.lines("seen.held").is_empty());
    }

    /// Begins everything else, and returns the id of the task.
    fn begin_calls(&mut self) -> String {
        let launched = self.call("main", "background_run", r#"{"name":"t.task"}"#);
        assert_eq!(launched["status"], "running", "{launched}");
        for (session, job) in [("main", "put"), ("main", "post"), ("busy", "quick")] {
            let job = format!("{{\"when\":\"in 1s\",\"action\":\"t.{job}\",\"name\":{job:?}}}");
            self.call(session, "schedule", &job);
        }
        self.call("main", "memory.remember", r#"{"content":"The key is under the mat."}"#);
        let event = self.event();
        assert_eq!(event.status, 202, "{}", event.body);
        let task = launched["task_id"].as_str().expect("an id").to_owned();
        let note = self.home.state().join("volatile.edn");
        self.until("everything is out", |night| {
            let is_out = |tool: &str| night.lines(&format!("{tool}.calls")).len() == 1;
            let waits = [":slot :delivered 1 nil", ":bulletin :queued 1 :session-busy"];
            ["task", "put", "post", "quick"].into_iter().all(is_out)
                && night.runs("cron_default_quick") == waits
                && fs::read_to_string(&note).is_ok_and(|note| note.contains(&task))
        });
        assert_eq!(self.host.count("busy", ""), 0, "it is at work");
        task
    }

    /// T41: the number of notifications is exact, the number of checks is known at least as of the first check, and a pause goes
    /// on.
    fn assert_watches_go_on(&self, before: &BTreeMap<String, Watched>) {
        let after = self.watches();
        for (label, before) in before {
            let after = &after[label];
            assert_eq!((&after.status, after.notified), (&before.status, before.notified), "{label}");
            // It may have looked again meanwhile.
            assert!((1..=before.checks + 1).contains(&after.checks), "{label}: {before:?} {after:?}");
        }
        assert_eq!(after["still"].status, "paused");
    }

    /// The texts of both lives together.
    fn assert_notified_once(&self) {
        for (session, part, times) in [
            ("main", "job_id=cron_default_put name=\"put\" run=1 status=ok\nResult: 1", 1),
            (
                "main",
                "job_id=cron_default_post name=\"post\" run=1 status=error\nError: the process ended",
                1,
            ),
            ("busy", "job_id=cron_default_quick name=\"quick\" run=1 status=ok\nResult: 7", 1),
            ("main", "[SCHEDULED JOB]", 2),
            ("main", "[BACKGROUND TASK FAILED] task_id=", 1),
            ("main", "Error: lost at the restart of", 1),
            ("busy", "[SCHEDULED JOB]", 1),
            ("busy", "[CHANNEL EVENT] channel=bot source=token event_id=e1", 1),
            ("main", "label=\"same\"", 1),
            ("main", "Result: 2\nChanged: result: 1 -> 2", 1),
            ("main", "label=\"flaky\"", 2),
            ("main", "Error: down", 1),
            ("main", "Recovered after", 1),
            ("main", "label=\"still\"", 0),
            ("busy", "[WATCHER UPDATE]", 0),
        ] {
            assert_eq!(self.host.count(session, part), times, "{session}: {part}: {:#?}", self.host.texts);
        }
        assert_eq!(self.host.repeats, 0, "nothing was with the host at the kill");
    }

    /// Each call has one end, and what was accepted is known.
    fn assert_ends(&self, task: &str) {
        let ids = self.lines("put.calls");
        assert!(ids.len() == 2 && ids[0] == ids[1], "the program knows the call again: {ids:?}");
        let calls = ["post.calls", "quick.calls", "task.calls"].map(|name| self.lines(name).len());
        assert_eq!(calls, [1, 1, 1], "none of these is made again");
        let bulletin = ":bulletin :delivered 1 nil";
        assert_eq!(self.runs("cron_default_put"), [":slot :delivered 2 nil", bulletin]);
        assert_eq!(self.runs("cron_default_post"), [":slot :failed 1 :crashed", bulletin]);
        assert_eq!(self.runs("cron_default_quick"), [":slot :delivered 1 nil", bulletin]);
        let event = self.event();
        assert!(event.status == 200 && event.body.contains("\"duplicate\":true"), "{event:?}");
        let memory = "[{[:psi.agent-session/session-id \"main\"] [:psi.agent-session/memory-block]}]";
        let memory = Value::from(self.daemon.eql(memory)).to_string();
        assert_eq!(memory.matches("The key is under the mat.").count(), 1, "{memory}");
        // A task is in memory only: it is counted as lost, and its session was told, and can ask.
        let lost =
            Value::from(self.daemon.eql("[{:reveille.engine/lost-schedules [:schedule-id]}]")).to_string();
        assert!(lost.matches(":schedule-id").count() == 1 && lost.contains(task), "{lost}");
        for mode in ["", ",\"wait\":true", ",\"cancel\":true"] {
            let asked = self.ask("main", "background_run", &format!("{{\"task_id\":{task:?}{mode}}}"));
            assert!(asked.body.contains("was lost at the restart of"), "{mode}: {}", asked.body);
        }
        let foreign = self.ask("busy", "background_run", &format!("{{\"task_id\":{task:?}}}"));
        assert!(foreign.body.contains("not found"), "{}", foreign.body);
        assert!(self.accounts().contains(":lost 1 "), "{}", self.accounts());
    }

    fn accounts(&self) -> String {
        Value::from(self.daemon.eql("[:reveille.engine/accounting]")).to_string()
    }

    fn end(self) {
        assert!(self.accounts().contains(":imbalance 0"), "{}", self.accounts());
        assert_eq!(self.daemon.end("-TERM").code(), Some(0));
        self.home.assert_sound();
    }

    /// The event that comes in, always the same.
    fn event(&self) -> Reply {
        let proof = format!("X-Reveille-Token: {SECRET}");
        let headers = [JSON[0], &*proof];
        self.daemon.ask("POST /v1/channels/bot/in", &headers, r#"{"message":"hello","event_id":"e1"}"#)
    }

    /// A call by an operator for a session.
    fn ask(&self, session: &str, tool: &str, body: &str) -> Reply {
        let session = format!("Reveille-Session: {session}");
        let headers = [JSON[0], &*session];
        self.daemon.ask(&format!("POST /tools/{tool}"), &headers, body)
    }

    fn call(&self, session: &str, tool: &str, body: &str) -> serde_json::Value {
        let reply = self.ask(session, tool, body);
        assert_eq!(reply.status, 200, "{tool} {body}: {}", reply.body);
        serde_json::from_str(&reply.body).expect("JSON")
    }

    /// The watches of `main` by their labels.
    fn watches(&self) -> BTreeMap<String, Watched> {
        let list = self.call("main", "watch_list", "{}");
        let watch = |it: &serde_json::Value| {
            let text = |key: &str| it[key].as_str().unwrap_or_else(|| panic!("{key}: {list}")).to_owned();
            let count = |key: &str| it[key].as_u64().unwrap_or_else(|| panic!("{key}: {list}"));
            let (checks, notified) = (count("check_count"), count("notify_count"));
            (text("label"), Watched { id: text("watcher_id"), status: text("status"), checks, notified })
        };
        list["watchers"].as_array().expect("a list").iter().map(watch).collect()
    }

    /// Cause, state, attempt and reason of each run of a schedule.
    fn runs(&self, schedule: &str) -> Vec<String> {
        let answer = self.daemon.eql(&format!(
            "[{{[:psi.scheduler/schedule-id {schedule:?}] [{{:psi.scheduler/runs [:reveille.run/cause \
             :reveille.run/state :reveille.run/attempt :reveille.run/reason]}}]}}]"
        ));
        let runs = at(only(&answer), &["psi.scheduler/runs"]).and_then(Value::as_items).unwrap_or_default();
        let words = |run: &Value| {
            let run = run.as_map().expect("a run");
            let keys =
                ["reveille.run/cause", "reveille.run/state", "reveille.run/attempt", "reveille.run/reason"];
            keys.map(|key| at(run, &[key]).expect(key).to_string()).join(" ")
        };
        runs.iter().map(words).collect()
    }

    fn lines(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.home.path().join(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// A file that no program finds half written.
    fn write(&self, name: &str, content: &str) {
        let [new, file] = ["new", name].map(|name| self.home.path().join(name));
        fs::write(&new, content).expect("ours");
        fs::rename(new, file).expect("ours");
    }

    /// Takes what comes until it is so.
    fn until(&mut self, what: &str, mut is_so: impl FnMut(&Night) -> bool) {
        until(what, PATIENT, || {
            self.host.look();
            is_so(self)
        });
    }
}

/// It takes what comes, and is idle again at once.
struct Host {
    stream: Stream,
    /// The ids of all deliveries, in all lives.
    known: BTreeSet<String>,
    /// The session and the text of all that came, in all lives.
    texts: Vec<(String, String)>,
    /// How many deliveries came again under their ids.
    repeats: u64,
}

impl Host {
    fn ask(&mut self, request: &str) {
        let answer = self.stream.ask(request).expect("it lives");
        assert!(at(&answer, &["ok"]).is_some(), "{request}: {answer:?}");
    }

    /// Takes what has come.
    fn look(&mut self) {
        self.ask("{:op :eql :query [:psi.scheduler/pending-count]}");
        while let Some(push) = self.stream.take_pushed() {
            let Some(id) = text(&push, &["delivery-id"]) else { continue };
            let session = text(&push, &["session-id"]).expect("a session").to_owned();
            let pieces = at(&push, &["message", "content"]).and_then(Value::as_items).expect("pieces");
            let pieces = pieces.iter().filter_map(|piece| text(piece.as_map()?, &["text"]));
            if self.known.insert(id.to_owned()) {
                self.texts.extend(pieces.map(|text| (session.clone(), text.to_owned())));
            } else {
                self.repeats += 1;
            }
            self.ask(&format!("{{:op :delivery/ack :delivery-id {id:?}}}"));
            self.ask(&format!("{{:op :session/busy :session-id {session:?} :busy? false}}"));
        }
    }

    /// How many texts of a session have this part.
    fn count(&self, session: &str, part: &str) -> usize {
        self.texts.iter().filter(|(of, text)| of == session && text.contains(part)).count()
    }
}
