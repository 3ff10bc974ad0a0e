//! The zone of a call that names none: the session's, or else the one of the configuration file, in this life and the next.

use std::fs;

use reveille::edn::Value;

use crate::harness::daemon::{Daemon, Home};

#[test]
fn the_configured_zone_and_that_of_a_session_outlive_the_daemon() {
    let home = Home::new("zones");
    fs::write(home.path().join("zone.toml"), "zone = \"asia/tokyo\"\n").expect("ours");
    let start = || Daemon::start_with(&home, home.serve().args(["--config", "zone.toml"]));
    let understood = |daemon: &Daemon, session: &str| {
        let time = ":when \"every day at 9\"";
        let made = daemon.eql(&format!(
            "[(psi.scheduler/create {{:kind :message :message \"m\" :session-id \"{session}\" {time}}})]"
        ));
        Value::Map(made).to_string()
    };
    let daemon = start();
    daemon.eql(
        "[(psi.agent-session/open {:session-id \"plain\"}) \
          (psi.agent-session/open {:session-id \"york\" :zone \"America/New_York\"})]",
    );
    let check = |daemon: &Daemon| {
        let plain = understood(daemon, "plain");
        assert!(plain.contains(":zone \"Asia/Tokyo\"") && plain.contains("T00:00:00"), "{plain}");
        let york = understood(daemon, "york");
        assert!(york.contains(":zone \"America/New_York\""), "{york}");
        let told = daemon.eql("[{[:psi.agent-session/session-id \"york\"] [:psi.agent-session/zone]}]");
        assert!(Value::Map(told).to_string().contains("\"America/New_York\""));
    };
    check(&daemon);
    assert!(daemon.end("-KILL").code().is_none());
    let daemon = start();
    check(&daemon);
    assert!(daemon.end("-TERM").success());
    home.assert_sound();
}
