//! Scheduled tasks from one data directory to another, with the commands; and what was, as of an instant, asked from outside.

use std::fs;

use reveille::domain::Moment;
use reveille::edn::Value;

use crate::harness::daemon::{Daemon, Home, read, wall};

/// A task that waits, made by the daemon's own tool. Each has a day of its own: the files tell milliseconds, and two that were
/// made within one would stand as their ids do.
fn task(daemon: &Daemon, name: &str, day: u8) {
    let call = format!(
        "{{:name \"{name}\" :prompt \"look\" :schedule {{:kind :once :at \"2999-01-{day:02}T00:00:00Z\"}} \
         :target {{:kind :session :session_id \"main\"}}}}"
    );
    let edn = "Content-Type: application/edn";
    let made = daemon.ask("POST /tools/cron_create", &[edn, "Reveille-Session: main"], &call);
    assert_eq!(made.status, 200, "{}", made.body);
}

const NAMES: &str = "[{:psi.scheduler/schedules [:psi.scheduler/schedule-id :psi.scheduler/label]}]";

#[test]
fn tasks_go_from_one_daemon_to_another() {
    let (from, to) = (Home::new("transfer-from"), Home::new("transfer-to"));
    let daemon = Daemon::start(&from);
    daemon.eql("[(psi.agent-session/open {:session-id \"main\" :listens? true})]");
    task(&daemon, "watch", 1);
    task(&daemon, "report", 2);
    let each = "{:kind :message :session-id \"main\" :message \"each\" :label \"native\" :every-ms 3600000}";
    daemon.eql(&format!("[(psi.scheduler/create {each})]"));
    let tasks = from.path().join("tasks");
    let tasks = tasks.to_str().expect("UTF-8");
    let export = || from.run(&mut from.command(&["export", "--data-dir", "state", tasks]));
    let exported = export();
    assert_eq!(exported.code, Some(0), "beside the daemon");
    assert_eq!(exported.err, "reveille: left out, because the files have no place for them: sessions (1)\n");
    assert_eq!(export().code, Some(1), "nothing is written over");
    assert_eq!(fs::read_to_string(format!("{tasks}/jobs.jsonl")).expect("written").lines().count(), 2);
    assert_eq!(fs::read_to_string(format!("{tasks}/schedules.jsonl")).expect("written").lines().count(), 1);
    let before = daemon.eql(NAMES);
    assert!(daemon.end("-TERM").success());

    let import = || to.run(&mut to.command(&["import", "--data-dir", "state", tasks]));
    let imported = import();
    assert_eq!((imported.code, imported.out.lines().count()), (Some(0), 3), "{}", imported.err);
    for said in ["a new store was made there", "main: opened"] {
        assert!(imported.err.contains(said), "{}", imported.err);
    }
    let daemon = Daemon::start(&to);
    let in_use = import();
    assert_eq!(in_use.code, Some(1));
    assert!(in_use.err.contains(&format!("process {}", daemon.id())), "{}", in_use.err);
    assert!(daemon.end("-TERM").success());
    let again = import();
    assert_eq!((again.code, again.out.as_str()), (Some(0), ""), "they are there already: {}", again.err);
    let daemon = Daemon::start(&to);
    assert_eq!(daemon.eql(NAMES), before, "under the ids that they had");
    assert!(daemon.end("-TERM").success());
    to.assert_sound();
}

/// Each change of a job is a line with its own time, and the export has no time of its own.
#[test]
fn a_history_is_exported_as_it_was() {
    let home = Home::new("transfer-history");
    let daemon = Daemon::start(&home);
    daemon.eql("[(psi.agent-session/open {:session-id \"main\" :listens? true})]");
    task(&daemon, "watch", 1);
    let edn = ["Content-Type: application/edn", "Reveille-Session: main"];
    let listed = daemon.ask("POST /tools/cron_list", &edn, "{}").body;
    let id = listed.split("job_").nth(1).map(|rest| format!("job_{}", &rest[..32])).expect("an id");
    for (tool, more) in
        [("pause", ""), ("resume", ""), ("update", " :patch {:prompt \"again\"}"), ("delete", "")]
    {
        let answer =
            daemon.ask(&format!("POST /tools/cron_{tool}"), &edn, &format!("{{:job_id \"{id}\"{more}}}"));
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
    let before = Moment::parse(&wall().to_string()).expect("an instant");
    let export = |name: &str| {
        let ended = home.run(&mut home.command(&["export", "--data-dir", "state", name]));
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        ["jobs.jsonl", "runs.jsonl", "schedules.jsonl"]
            .map(|file| fs::read_to_string(home.path().join(name).join(file)).expect("it is written"))
    };
    let files = export("first");
    assert_eq!(files, export("second"), "two exports are equal to the byte");
    assert!(daemon.end("-TERM").success());
    assert_eq!(files, export("third"), "without the daemon too");
    let lines = files[0].lines().map(|line| serde_json::from_str(line).expect("a line of JSON"));
    let lines: Vec<serde_json::Value> = lines.collect();
    let told: Vec<_> = lines
        .iter()
        .map(|line| {
            let revision = line.pointer("/revision").or_else(|| line.pointer("/job/revision"));
            (
                line["type"].as_str().expect("a type"),
                revision.and_then(serde_json::Value::as_u64).expect("a number"),
            )
        })
        .collect();
    let [updated @ .., deleted] = [2, 3, 4, 5].map(|revision| ("job_updated", revision));
    let deleted = ("job_deleted", deleted.1);
    assert_eq!(told, [&[("job_created", 1)][..], &updated, &[deleted]].concat());
    let times: Vec<Moment> = lines
        .iter()
        .map(|line| Moment::parse(line["timestamp"].as_str().expect("a text")).expect("an instant"))
        .collect();
    assert!(times.is_sorted() && times.iter().all(|time| *time <= before), "{times:?}");
    home.assert_sound();
}

#[test]
fn what_was_is_asked_from_outside() {
    let home = Home::new("as-of");
    let daemon = Daemon::start(&home);
    daemon.eql("[(psi.agent-session/open {:session-id \"main\" :listens? true})]");
    task(&daemon, "watch", 1);
    let then = wall();
    task(&daemon, "report", 2);
    let ask = |query: &str| {
        let url = format!("http://{}", daemon.address());
        let ended = home.run(&mut home.command(&[
            "eql",
            "--url",
            &url,
            "--token-file",
            "state/operator.token",
            "--as-of",
            &then.to_string(),
            query,
        ]));
        assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{}", ended.out);
        read(&ended.out)
    };
    let told = Value::Map(ask(NAMES)).to_string();
    assert!(told.contains("watch") && !told.contains("report"), "{told}");
    let body = format!(
        "{{\"query\": \"{{ schedules {{ totalCount }} }}\", \"extensions\": {{\"asOf\": \"{then}\"}}}}"
    );
    let reply = daemon.ask("POST /graphql", &["Content-Type: application/json"], &body);
    assert_eq!(reply.body.trim(), "{\"data\":{\"schedules\":{\"totalCount\":1}}}");
    assert!(daemon.end("-TERM").success());
}
