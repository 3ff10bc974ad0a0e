//! Pings over the lives of an engine: what was acknowledged is there, and is not said to have come earlier than it did.

use reveille::domain::{PingName, SessionId, Span};
use reveille::edn::Value;
use reveille::engine::{Command, Input};
use reveille::port::Clock;

use super::lives::{Life, Lives};
use super::past::ask;

const QUERY: &str = "[{[:psi.agent-session/session-id \"one\"] \
                     [{:psi.agent-session/pings [:reveille.ping/id :reveille.ping/name :reveille.ping/at]}]}]";

fn ping(life: &Life, session: &SessionId, name: &str) {
    let (session, name) = (session.clone(), PingName::new(name).expect("a name"));
    life.handle.submit(Input::Command(Command::Ping { session, name, by: None })).expect("there is room");
}

#[test]
fn pings_outlive_the_process() {
    let lives = Lives::new();
    let life = lives.next(0);
    let session = life.open("one");
    ping(&life, &session, "backup");
    let then = lives.stage.clock.now().wall;
    lives.stage.clock.advance(Span::from_millis(60_000));
    ping(&life, &session, "build");
    ping(&life, &session, "backup");
    let shown = Value::Map(ask(&life.handle, QUERY, None)).to_string();
    assert!(shown.contains("\"backup\"") && shown.contains("\"build\""), "{shown}");
    drop(life);
    let life = lives.next(0);
    assert_eq!(Value::Map(ask(&life.handle, QUERY, None)).to_string(), shown);
    let past = Value::Map(ask(&life.handle, QUERY, Some(then))).to_string();
    assert!(past.contains("\"backup\"") && !past.contains("\"build\""), "{past}");
    // A known name goes on, also in another life.
    lives.stage.clock.advance(Span::from_millis(60_000));
    ping(&life, &session, "backup");
    let later = Value::Map(ask(&life.handle, QUERY, None)).to_string();
    assert!(later != shown && later.matches(":reveille.ping/name").count() == 2, "{later}");
}
