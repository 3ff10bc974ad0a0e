//! The command lines of README.md, in their order: with a daemon each does its work, and without one each says so or needs none.

use std::fs;
use std::path::Path;

use crate::harness::command::program;
use crate::harness::daemon::{Daemon, Ended, Home};

/// The command lines of the page's `sh` blocks, without the comments behind them.
fn lines() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let page = fs::read_to_string(page).expect("it is there").replace("\\\n", "");
    let blocks = page.split("```sh\n").skip(1).map(|rest| rest.split("```").next().expect("an end"));
    let lines = blocks.flat_map(str::lines).map(|line| line.split("  #").next().unwrap_or(line).trim());
    lines.filter(|line| line.starts_with("reveille ")).map(str::to_owned).collect()
}

/// Runs a line in a shell that finds the program by its name.
fn run(home: &Home, line: &str) -> Ended {
    let mut command = home.command_of(Path::new("/bin/sh"), &["-c", line]);
    let directory = program().parent().expect("it is in one").display().to_string();
    command.env("PATH", format!("{directory}:/usr/bin:/bin")).env("REVEILLE_DATA_DIR", home.state());
    home.run(&mut command)
}

#[track_caller]
fn ok(home: &Home, line: &str) -> String {
    let ended = run(home, line);
    assert_eq!(ended.code, Some(0), "{line}: {}{}", ended.out, ended.err);
    ended.out
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    text.split_once(before).and_then(|(_, rest)| rest.split_once(after)).expect(text).0
}

#[test]
fn the_lines_of_the_readme_work_in_their_order() {
    let (home, lines) = (Home::new("readme"), lines());
    assert!(lines.len() > 10, "{lines:?}");
    let rule = "[[guard.rules]]\nname = \"look\"\nthen = \"hold\"\nwhy = \"someone should look\"\n";
    fs::write(home.path().join("reveille.toml"), rule).expect("it is ours");
    let daemon = Daemon::start_with(&home, home.serve().args(["--config", "reveille.toml"]));
    // What the page speaks of: a schedule, and a run that waits for an operator.
    let create = "reveille eql '[(psi.agent-session/open {:session-id \"other\"}) (psi.scheduler/create {:session-id \"other\" \
                  :kind :message :label \"look\" :message \"m\" :delay-ms 3600000})]'";
    let made = ok(&home, create);
    let schedule = between(&made, ":psi.scheduler/schedule-id \"", "\"").to_owned();
    ok(&home, &format!("reveille run-now {schedule}"));
    let held = ok(&home, "reveille approvals --edn");
    let run_id = between(&held, ":reveille.run/id \"", "\"");
    let digest = between(&held, ":digest \"", "\"");
    let full = |line: &str| {
        line.replace("SCHEDULE-ID", &schedule)
            .replace("RUN-ID", run_id)
            .replace("--digest DIGEST", &format!("--digest {digest}"))
    };
    for line in lines.iter().filter(|line| *line != "reveille serve") {
        ok(&home, &full(line));
    }
    assert_eq!(daemon.end("-TERM").code(), Some(0));
    let mut asked = 0;
    for line in lines.iter().filter(|line| *line != "reveille serve") {
        let ended = run(&home, &full(line).replace("./tasks", "./later"));
        let says_so = ended.err.contains("there is no daemon to ask; start one with `reveille serve`");
        assert!(
            ended.code == Some(0) || ended.code == Some(2) && says_so,
            "{line}: {}{}",
            ended.out,
            ended.err
        );
        asked += usize::from(says_so);
    }
    assert!(asked > 8, "few of the lines ask a daemon: {asked}");
}
