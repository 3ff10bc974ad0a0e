//! What one session may make: fresh sessions, bytes in memory and on disk, and programs at work on the operator's machine.

use std::fs;
use std::time::Duration;

use reveille::edn::Value;
use reveille::limits;

use crate::attacks::agent::Agent;
use crate::harness::ask::only;
use crate::harness::daemon::{Daemon, Home, PATIENCE, PROMPT, at, until};

fn nothing_is_pending(daemon: &Daemon) -> bool {
    let count = daemon.eql("[:psi.scheduler/pending-count]");
    at(&count, &["psi.scheduler/pending-count"]).and_then(Value::as_int) == Some(0)
}

/// Schedules of one session open fresh sessions without end, up to the bound of the whole daemon, and nobody else can open one.
#[test]
fn fresh_sessions_of_one_session_have_a_bound() {
    let home = Home::new("attack-fresh");
    let daemon = Daemon::start(&home);
    let alice = Agent::open(&daemon, "alice");
    let most = limits::FRESH_SESSIONS.value;
    for number in 0..most + 16 {
        alice.create(&format!(
            ":kind :session :message \"m{number}\" :session-config {{}} :when \"in 1 second\""
        ));
    }
    until("all of them are over", PATIENCE, || nothing_is_pending(&daemon));
    let open = daemon.eql("[{:psi.agent-session/sessions [:psi.agent-session/session-id]}]");
    let open = at(&open, &["psi.agent-session/sessions"]).and_then(Value::as_items).expect("a list").len();
    assert!(open as u64 <= most + 1, "one session has {open} sessions open");
}

/// Schedules for fresh sessions with long preloaded messages weigh a quarter of a megabyte each, and a session may have two
/// thousand of them.
#[test]
fn the_texts_of_one_session_have_a_bound() {
    let home = Home::new("attack-bytes");
    let daemon = Daemon::start(&home);
    let alice = Agent::open(&daemon, "alice");
    let text = "x".repeat(60_000);
    let preloaded = format!("{{:role \"user\" :content [{{:type :text :text {text:?}}}]}} ").repeat(3);
    let create = format!(
        "[(psi.scheduler/create {{:kind :session :session-id \"alice\" :message {text:?} :when \"in 20 hours\" \
         :session-config {{:preloaded-messages [{preloaded}]}}}})]"
    );
    let bound = limits::SESSION_BYTES.value;
    let most = bound / (4 * text.len() as u64) + 1;
    let refused = (0..=most).map(|_| alice.eql(&create).body).find(|body| body.contains("reveille.error"));
    let refused = refused.unwrap_or_else(|| panic!("more than {bound} bytes in schedules of one session"));
    assert!(refused.contains(limits::SESSION_BYTES.name), "{refused}");
}

/// Long messages fill the transcript of a session, which a built-in host keeps in memory.
#[test]
fn a_transcript_has_a_bound_in_bytes() {
    let home = Home::new("attack-transcript");
    let daemon = Daemon::start(&home);
    let alice = Agent::open(&daemon, "alice");
    let text = "x".repeat(60_000);
    let most = limits::TRANSCRIPT_BYTES.value / text.len() as u64;
    for _ in 0..most + 10 {
        // Volatile, so that no share of the disk holds them up.
        alice
            .create(&format!(":kind :message :message {text:?} :when \"in 1 second\" :durability :volatile"));
    }
    until("all of them are over", PATIENCE, || nothing_is_pending(&daemon));
    let query = "[{[:psi.agent-session/session-id \"alice\"] \
                 [{(:psi.agent-session/messages {:last 1000}) [:reveille.message/id]}]}]";
    let answer = daemon.eql(query);
    let messages = at(only(&answer), &["psi.agent-session/messages"]).and_then(Value::as_items);
    let count = messages.unwrap_or_else(|| panic!("{answer:?}")).len() as u64;
    assert!(0 < count && count <= most, "{count} messages of {} bytes stay in memory", text.len());
}

const SLOW: &str = r#"
[channels.slow]
command = ["/bin/sh", "-c", """
read line
echo $$ >> started
case "$line" in *'"session-id":"bob"'*) : > bob;; *) sleep 10; true;; esac
"""]
inherit = ["PATH"]
cwd = "HOME"
agents = true
"#;

/// One session's runs are with a slow program, each holding a process and a place; the delivery of another finds none.
#[test]
fn one_session_leaves_places_on_a_channel() {
    let home = Home::new("attack-places");
    let place = home.path().to_str().expect("UTF-8");
    fs::write(home.path().join("channels.toml"), SLOW.replace("HOME", place)).expect("ours");
    let mut serve = home.serve();
    let serve = serve.env("PATH", "/usr/bin:/bin").args(["--config", "channels.toml"]);
    let daemon = Daemon::start_with(&home, serve);
    let (alice, bob) = (Agent::open(&daemon, "alice"), Agent::open(&daemon, "bob"));
    let by_channel = ":kind :message :message \"m\" :when \"in 1 second\" :channel \"slow\" :conversation \"c\" \
                      :policy {:overlap :parallel}";
    let started = || fs::read_to_string(home.path().join("started")).map_or(0, |text| text.lines().count());
    for _ in 0..limits::OUTSIDE_IN_FLIGHT.value + 20 {
        alice.create(by_channel);
    }
    until("the programs run", PATIENCE, || started() as u64 >= limits::OUTSIDE_OF_SESSION.value);
    bob.create(by_channel);
    until("the delivery of another has a place", PROMPT.min(Duration::from_secs(5)), || {
        home.path().join("bob").exists()
    });
    let most = limits::OUTSIDE_OF_SESSION.value + 1;
    assert!(started() as u64 <= most, "{} programs of one session at work", started());
    assert_eq!(daemon.end("-TERM").code(), Some(0), "and the programs with it");
}
