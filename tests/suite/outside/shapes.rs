//! The bodies that each kind of receiver gets, byte for byte, and the pace at which they go.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use reveille::adapter::HostLocal;
use reveille::adapter::outbound::{
    ChannelRoute, Client, Endpoint, OutboundCourier, Pace, Shape, SigningKey, Trust,
};
use reveille::domain::{
    Attachment, Cause, Dialect, HostId, Moment, Route, RunId, ScheduleId, Scope, SessionConfig, SessionId,
    Settings, Span, Target, When,
};
use reveille::engine::{NewSchedule, Parcel};
use reveille::runtime::Handle;
use reveille::testkit::{SimHost, Stage};

use super::fixture;
use super::receiver::{Act, Receiver, Script};

fn parcel() -> Parcel {
    let slot = Moment::parse("2026-06-01T00:00:00Z").expect("an instant");
    let (conversation, thread) = ("-100200".into(), Some("17".into()));
    Parcel {
        run: RunId { schedule: ScheduleId::new("sch-1").expect("an id"), incarnation: 1, slot },
        route: Route { channel: "ops".into(), conversation, thread },
        at: slot,
        attempt: 1,
        cause: Cause::Slot,
        late: Span::ZERO,
        folded: 0,
        dialect: Dialect::Channels,
        session: SessionId::new("main").expect("an id"),
        family: SessionId::new("main").expect("an id"),
        is_operators: false,
        label: Some("Build <!channel>".into()),
        text: "failed & \"red\"\nü".into(),
        file: None,
    }
}

/// T61.
#[test]
fn every_shape_has_its_golden_body() {
    for shape in Shape::ALL {
        let golden =
            fs::read_to_string(fixture(&format!("shapes/{}.txt", shape.name()))).expect("it is there");
        assert_eq!(shape.print(&parcel()), golden, "{}", shape.name());
        let again = Parcel { attempt: 7, at: Moment::EPOCH, late: Span::from_millis(9), ..parcel() };
        assert_eq!(shape.print(&again), golden, "{}: equal on each attempt", shape.name());
    }
}

/// T61.
#[test]
fn a_long_text_is_cut_to_what_the_receiver_takes() {
    let long = Parcel { label: None, text: "<ü>".repeat(20_000).into(), ..parcel() };
    for (shape, most) in [
        (Shape::Slack, 4_000),
        (Shape::Discord, 2_000),
        (Shape::Telegram, 4_096),
        (Shape::Ntfy, 4_096),
        (Shape::Teams, 4_000),
    ] {
        let body = shape.print(&long);
        assert!(body.contains("more characters]"), "{}", shape.name());
        // The marks of Slack are written with several characters each, and count as one.
        let shown = body.replace("&lt;", "<").replace("&gt;", ">");
        let text = shown.chars().filter(|char| "<ü>".contains(*char)).count();
        assert!(text <= most && (shape == Shape::Ntfy || text > most - 60), "{}: {text}", shape.name());
        assert!(shape != Shape::Ntfy || body.len() <= most, "{} bytes", body.len());
        assert!((body.len() as u64) < reveille::limits::WEBHOOK_BYTES.value, "{}", shape.name());
    }
}

#[test]
fn a_file_alone_is_told_by_its_name() {
    let file = Some(Attachment { path: "/srv/report.pdf".into(), name: Some("report.pdf".into()) });
    let body = Shape::Slack.print(&Parcel { label: None, text: "".into(), file, ..parcel() });
    assert!(body.contains("report.pdf") && !body.contains("/srv"), "{body}");
}

/// An engine whose channel `ops` goes to this receiver.
fn scene(receiver: &Receiver, shape: Shape, pace: Option<Pace>) -> (Stage, Handle) {
    let stage = Stage::seeded(7);
    let host = Arc::new(SimHost::new(&stage, HostId::LOCAL).over(Arc::new(HostLocal::new())));
    let handle = Handle::new(stage.parts(host));
    let endpoint = Endpoint::parse("http://localhost:8080/in").expect("a URL");
    let network = Script::new(&[&[[127, 0, 0, 1].into()]], Some(receiver.address));
    let client = Client::new(network, Trust::none()).expect("a client").allowing(&endpoint).with_loopback();
    let keys: Vec<SigningKey> = Vec::new();
    let way = ChannelRoute::Webhook { shape, endpoint, keys, client };
    let channel = way.channel("ops".into(), true);
    let ways = BTreeMap::from([("ops".into(), way)]);
    let paces = pace.into_iter().map(|pace| ("ops".into(), pace)).collect();
    let courier = OutboundCourier::start_at(ways, paces).expect("a thread");
    assert!(handle.outside().open_channels(Arc::new(courier), vec![channel]));
    let session = SessionId::new("main").expect("an id");
    handle.open_session(Some(session), HostId::LOCAL, SessionConfig::default()).expect("it is new");
    (stage, handle)
}

fn send(handle: &Handle, text: &str) -> ScheduleId {
    let route = Route { channel: "ops".into(), conversation: "c".into(), thread: None };
    let settings = Settings { target: Target::Route(Box::new(route)), ..Settings::PLAIN };
    let session = SessionId::new("main").expect("an id");
    let new = NewSchedule::message(session, When::After(Span::ZERO), text);
    handle.schedule(NewSchedule { settings: Some(Box::new(settings)), ..new }).expect("it is created")
}

/// Waits in the real world until a run is at this attempt or has ended.
fn settled(handle: &Handle, id: &ScheduleId) -> (&'static str, u16, u64) {
    loop {
        let seen = handle.view(|state| {
            let run = state.newest_run(state.schedule(id)?)?.run();
            let wait = run.retry_at.map_or(0, |at| at.millis_since(run.claimed_at));
            Some((run.state.name(), run.attempt, wait))
        });
        match seen {
            Some(seen @ ("delivered" | "failed", ..)) => return seen,
            Some(seen @ ("queued", _, wait)) if wait > 0 => return seen,
            _ => std::thread::yield_now(),
        }
    }
}

/// T62.
#[test]
fn the_pace_of_a_channel_burns_no_attempt() {
    const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
    let receiver = Receiver::playing(&[Act::Say(OK); 4]);
    let (stage, handle) = scene(&receiver, Shape::Slack, Pace::parse("1/s", 2));
    let sent: Vec<ScheduleId> = (0..4).map(|at| send(&handle, &format!("message {at}"))).collect();
    handle.run_due();
    let seen: Vec<_> = sent.iter().map(|id| settled(&handle, id)).collect();
    assert_eq!(seen, [("delivered", 1, 0), ("delivered", 1, 0), ("queued", 1, 1_000), ("queued", 1, 2_000)]);
    for _ in 0..2 {
        stage.clock.advance(Span::from_millis(1_000));
        handle.run_due();
    }
    let ended: Vec<_> = loop {
        let seen: Vec<_> = sent.iter().map(|id| settled(&handle, id)).collect();
        if seen.iter().all(|(state, ..)| *state == "delivered") {
            break seen;
        }
    };
    assert!(ended.iter().all(|(_, attempt, _)| *attempt == 1), "{ended:?}");
}

/// What was cancelled while it waited for the pace keeps nothing else waiting.
#[test]
fn a_cancelled_message_uses_up_no_pace() {
    const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
    let receiver = Receiver::playing(&[Act::Say(OK)]);
    let (_stage, handle) = scene(&receiver, Shape::Slack, Pace::parse("1/s", 1));
    let sent: Vec<ScheduleId> = (0..5).map(|at| send(&handle, &format!("message {at}"))).collect();
    handle.run_due();
    let seen: Vec<_> = sent.iter().map(|id| settled(&handle, id)).collect();
    assert_eq!((seen[0], seen[4]), (("delivered", 1, 0), ("queued", 1, 4_000)));
    for id in &sent[1..] {
        handle.cancel(Scope::Operator, id.clone()).expect("it waits");
    }
    let next = send(&handle, "the next one");
    handle.run_due();
    assert_eq!(settled(&handle, &next), ("queued", 1, 1_000));
}

#[test]
fn a_receiver_that_says_in_its_body_how_long_to_wait_is_heard() {
    const SLOW: &str = "HTTP/1.1 429 Too Many\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n\
                        {\"ok\":false,\"parameters\":{\"retry_after\":    600 }}";
    let receiver = Receiver::playing(&[Act::Say(SLOW)]);
    let (_stage, handle) = scene(&receiver, Shape::Telegram, None);
    let id = send(&handle, "to a bot");
    handle.run_due();
    assert_eq!(settled(&handle, &id), ("queued", 2, 600_000));
}

/// T64.
#[test]
fn secrets_of_a_session_do_not_go_out() {
    const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
    let receiver = Receiver::playing(&[Act::Say(OK)]);
    let (_stage, handle) = scene(&receiver, Shape::Discord, None);
    let id = send(&handle, "use ghp_abcdefghijklmnopqrst for it");
    handle.run_due();
    assert_eq!(settled(&handle, &id).0, "delivered");
    let received = receiver.received();
    let body = String::from_utf8_lossy(&received[0].body).into_owned();
    assert!(body.contains("use [REDACTED] for it") && !body.contains("ghp_"), "{body}");
}

/// T62: whatever the form of a post, the answer is judged alike. Source of the rows: Slack, "Incoming webhooks", handling errors.
#[test]
fn what_a_receiver_answers_decides_in_every_shape() {
    let rows: [(Act, &str, u64); 8] = [
        (Act::Say("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"), "delivered", 0),
        (Act::Say("HTTP/1.1 400 Bad\r\ncontent-length: 15\r\n\r\ninvalid_payload"), "queued", 5_000),
        (Act::Say("HTTP/1.1 403 No\r\ncontent-length: 17\r\n\r\naction_prohibited"), "queued", 5_000),
        (Act::Say("HTTP/1.1 404 None\r\ncontent-length: 10\r\n\r\nno_service"), "queued", 5_000),
        (Act::Say("HTTP/1.1 410 Gone\r\ncontent-length: 19\r\n\r\nchannel_is_archived"), "failed", 0),
        (Act::Say("HTTP/1.1 429 Slow\r\nretry-after: 120\r\ncontent-length: 0\r\n\r\n"), "queued", 120_000),
        (Act::Say("HTTP/1.1 500 Broken\r\ncontent-length: 12\r\n\r\nrollup_error"), "queued", 5_000),
        // It may have arrived, and what is in memory only is not sent twice.
        (Act::HangUp, "failed", 0),
    ];
    for shape in [Shape::Json, Shape::Slack, Shape::Discord, Shape::Telegram, Shape::Ntfy, Shape::Teams] {
        for (act, state, wait) in rows {
            let receiver = Receiver::playing(&[act]);
            let (_stage, handle) = scene(&receiver, shape, None);
            let id = send(&handle, "text");
            handle.run_due();
            let (seen, _, waits) = settled(&handle, &id);
            assert_eq!((seen, waits), (state, wait), "{} {act:?}", shape.name());
        }
    }
}
