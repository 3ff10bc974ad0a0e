//! Links to calendars, as the command prints them: good after a restart, until they are revoked.

use crate::harness::daemon::{Daemon, Home};

/// What the command prints: without an error, and one line.
fn says(home: &Home, args: &[&str]) -> String {
    let args = [&["calendar"], args, &["--data-dir", "state"]].concat();
    let ended = home.run(&mut home.command(&args));
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{args:?}");
    ended.out.trim_end().to_owned()
}

/// Whether a link shows a calendar with one entry, to somebody without a token; else it shows nothing.
fn is_shown(daemon: &Daemon, path: &str) -> bool {
    let reply = daemon.ask_openly(&format!("GET {path}"));
    let is_calendar = reply.body.starts_with("BEGIN:VCALENDAR\r\n");
    assert_eq!(is_calendar, reply.status == 200, "{reply:?}");
    assert!(is_calendar || reply.status == 404, "{reply:?}");
    assert!(!is_calendar || reply.body.matches("SUMMARY:nightly\r\n").count() == 1, "{reply:?}");
    is_calendar
}

#[test]
fn a_link_to_a_calendar_outlives_a_kill_and_no_revocation() {
    let home = Home::new("calendar");
    let daemon = Daemon::start(&home);
    daemon.eql("[(psi.agent-session/open {:session-id \"main\"})]");
    daemon.eql(
        "[(psi.scheduler/create {:kind :message :session-id \"main\" :message \"m\" :label \"nightly\" \
         :durability :durable :delay-ms 3600000})]",
    );
    let of = |daemon: &Daemon, args: &[&str]| {
        let link = says(&home, args);
        let path = link.strip_prefix(&format!("http://{}", daemon.address()));
        path.unwrap_or_else(|| panic!("{link}")).to_owned()
    };
    // By a label, as in every other command.
    let (of_session, of_label) = (of(&daemon, &["--session", "main"]), of(&daemon, &["nightly"]));
    assert!(is_shown(&daemon, &of_session) && is_shown(&daemon, &of_label));
    assert!(!daemon.log().contains(&of_session), "a link is in no log");
    daemon.kill();
    let daemon = Daemon::start(&home);
    assert!(is_shown(&daemon, &of_session) && is_shown(&daemon, &of_label));
    assert_eq!(says(&home, &["--revoke"]), "all links to calendars have ended");
    assert!(!is_shown(&daemon, &of_session) && !is_shown(&daemon, &of_label));
    daemon.kill();
    let daemon = Daemon::start(&home);
    assert!(!is_shown(&daemon, &of_session));
    assert!(is_shown(&daemon, &of(&daemon, &[])));
}
