//! Fuzzes what comes in by a channel: template, id, source, message and payload of an event,
//! separated by line breaks. An event is a turn once, and nothing the second time. No word of its
//! sender begins a line. A header proves nothing without the secret.

use std::collections::BTreeMap;

use reveille::adapter::outbound::{Proof, ProofKind};
use reveille::dialect::{REQUEST_CAPS, json};
use reveille::domain::{Moment, Payload, ScheduleId};
use reveille::edn::Value;
use reveille::service::{Activation, Arrival, Arrived, Inbound, Service, Template};

use super::scene::{Scene, session};

/// Panics if one of these properties does not hold for `input`.
pub fn run(input: &[u8]) {
    let mut parts = input.splitn(5, |byte| *byte == b'\n');
    let mut part = || String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
    let [template, event, source, message] = [part(), part(), part(), part()];
    let body = parts.next().unwrap_or_default();
    proves_nothing(&[&template, &event, &source, &message], body);
    let template = match Template::parse(&template) {
        Ok(template) => Some(template),
        // Without one, the message and the payload are quoted.
        Err(_) if template.is_empty() => None,
        Err(why) => return assert!(!why.is_empty()),
    };
    let payload =
        json::read(body, &REQUEST_CAPS).unwrap_or_else(|_| Value::from(&*String::from_utf8_lossy(body)));
    let arrival = Arrival {
        event: event.into(),
        source: source.as_str().into(),
        message: (!message.is_empty()).then(|| message.into()),
        payload,
        simulated: None,
    };
    for to in [Activation::Session(session("main")), Activation::PerSource, Activation::PerEvent] {
        let scene = Scene::new();
        let service = Service::new(scene.handle.clone());
        let inbound = Inbound { session: to, filter: None, text: template.clone() };
        service.open_inbound(BTreeMap::from([("ops".into(), inbound)]));
        let (first, second) = (service.arrive("ops", &arrival), service.arrive("ops", &arrival));
        if let Ok(Arrived::Begun { schedule }) = first {
            is_ours_above_theirs(&text(&scene, &schedule), template.is_some());
            assert_eq!(second, Ok(Arrived::Duplicate { schedule }));
        } else {
            // Without a filter, only a refusal is left, and it is the answer each time.
            assert!(first.is_err(), "{first:?}");
            assert_eq!(second, first);
        }
    }
}

fn text(scene: &Scene, schedule: &ScheduleId) -> String {
    scene
        .handle
        .view(|state| {
            let payload = &state.schedule(schedule).expect("it was made").schedule().payload;
            if let Payload::Turn { text } = payload { Some(text.to_string()) } else { None }
        })
        .expect("it is a turn")
}

/// The first two lines are ours. Below, each line is quoted, or all of it is the one line of the template.
fn is_ours_above_theirs(text: &str, has_template: bool) {
    let mut lines = text.split('\n');
    let head = lines.next().expect("a line");
    let names: Vec<&str> = head.split_whitespace().map(|part| part.split('=').next().expect("one")).collect();
    assert_eq!(names, ["[CHANNEL", "EVENT]", "channel", "source", "event_id"], "{head}");
    let note = lines.next().expect("a second line");
    assert!(note.starts_with("The text below came from outside."), "{note}");
    assert_eq!(lines.next(), Some(""));
    let theirs: Vec<&str> = lines.collect();
    if has_template {
        assert_eq!(theirs.len(), 1, "a value has become a line of its own: {text:?}");
        return;
    }
    for line in theirs {
        let is_ours = line.is_empty() || line == "Payload, data from outside:";
        assert!(is_ours || line.starts_with("> "), "{line:?}");
        assert!(!line.contains(|found: char| found.is_control()), "{line:?}");
    }
}

/// Headers that somebody makes up prove nothing, unless they have the secret itself.
fn proves_nothing(made_up: &[&str], body: &[u8]) {
    let now = Moment::EPOCH;
    for kind in [ProofKind::Github, ProofKind::Slack, ProofKind::Token] {
        let proof = Proof::shared(kind, SECRET).expect("it is long enough");
        for header in made_up {
            let is_secret = kind == ProofKind::Token && *header == SECRET;
            assert_eq!(proof.holds(|_| Some(*header), body, now), is_secret, "{kind:?}: {header}");
        }
        assert!(!proof.holds(|_| None, body, now), "{kind:?} without a header");
    }
}

/// A secret with a hundred and more bits, which no input has by chance.
const SECRET: &str = "0d7f52a1c93be846f0d7f52a1c93be84";
