//! The log of the daemon: anybody on the machine can make requests without a token, and fills no disk with them.

use crate::harness::daemon::{Daemon, Home, PATIENCE, until};

#[test]
fn requests_without_a_token_are_counted_and_not_logged() {
    let home = Home::new("quiet-log");
    let daemon = Daemon::start(&home);
    for _ in 0..100 {
        for request in ["GET /metrics", "GET /nothing", "POST /eql"] {
            let status = daemon.ask_openly(request).status;
            assert!((400..500).contains(&status), "{request}: {status}");
        }
    }
    // The log is written in order, so the line about a request with a token comes after all others.
    let figures = daemon.ask("GET /metrics", &[], "").body;
    assert!(figures.contains("status=\"401\""), "{figures}");
    until("the request with a token is logged", PATIENCE, || daemon.log().contains("/metrics"));
    let log = daemon.log();
    let of_nobody = log.lines().filter(|line| line.contains("nobody")).count();
    assert_eq!((of_nobody, log.matches("/metrics").count()), (0, 1), "{log}");
    assert!(daemon.end("-TERM").success());
}
