//! Answers that mislead nobody: a typo is named, an end is no error, a key ends with its schedule, and what is stored says so.

use std::sync::Arc;

use reveille::adapter::HostLocal;
use reveille::dialect::{Notation, within_bound};
use reveille::domain::{Caller, CallerRole, HostId, Right, SessionConfig, Span, TokenName};
use reveille::edn::{Caps, Map, Value, read};
use reveille::engine::{Input, Report};
use reveille::runtime::Handle;
use reveille::service::Service;

use crate::durable::lives::Lives;
use crate::simulated::{self, ask, session, token};

fn id(answer: &str) -> String {
    answer.split('"').find(|part| part.starts_with("sch-")).expect(answer).to_owned()
}

/// A client may ask for all attributes of the root as they are listed, and no other one answers it from there.
#[test]
fn exactly_the_listed_attributes_of_the_root_answer_as_they_are() {
    let (handle, _) = simulated::engine(&["s"]);
    let callers = [
        ("an operator", Caller::OPERATOR),
        ("an observer", Caller { role: CallerRole::Observer, right: Right::Read, ..Caller::OPERATOR }),
        ("a host", Caller::host(TokenName::new("h").expect("a name"))),
        ("a host for a session", Caller::session(session("s"))),
        ("a session", token("s")),
    ];
    for (name, caller) in callers {
        let all = "[:psi.graph/root-queryable-attrs {:psi.graph/attributes [:reveille.attribute/ident]} :psi.graph/root-seeds]";
        let answer = ask(&handle, &caller, all, false);
        let answer = read(answer.as_bytes(), &Caps::DEFAULT).expect("EDN").as_map().cloned().expect("a map");
        let items =
            |key: &str| answer.keyword(key).and_then(Value::as_items).map(<[Value]>::to_vec).expect(key);
        let (listed, seeds) = (items("psi.graph/root-queryable-attrs"), items("psi.graph/root-seeds"));
        assert!(listed.len() > 20, "{name}: {}", listed.len());
        for attribute in items("psi.graph/attributes") {
            let attribute =
                attribute.as_map().and_then(|map| map.keyword("reveille.attribute/ident")).cloned();
            let attribute = attribute.expect("an ident");
            // What the caller's own session is named with is known, not read.
            if seeds.contains(&attribute) {
                continue;
            }
            for is_lenient in [false, true] {
                let answer = ask(&handle, &caller, &format!("[{attribute}]"), is_lenient);
                let is_answered =
                    answer.starts_with(&format!("{{{attribute} ")) && !answer.contains("error/");
                assert_eq!(is_answered, listed.contains(&attribute), "{name}: {attribute}: {answer}");
            }
        }
    }
}

/// The longest message that can be made can be read back, by the id or from the entity, and other texts are cut as ever.
#[test]
fn a_long_message_is_read_back_whole_by_its_id() {
    let (handle, _) = simulated::engine(&["s"]);
    let service = Service::new(handle);
    let call = |tool: &str, args: Map| {
        let answer = service.call_tool(tool, &token("s"), &args.into(), Notation::Edn);
        within_bound(answer.expect("admitted").expect("a tool")).value.to_string()
    };
    let text = "w".repeat(65_536);
    let create = Map::new().with("action", "scheduler").with("op", "create").with("kind", "message");
    let made = call("psi-tool", create.with("delay-ms", 60_000).with("message", text.as_str()));
    let id = id(&made);
    let query = |query: String| Map::new().with("action", "query").with("query", query);
    let by_id =
        format!("[{{[:psi.scheduler/schedule-id \"{id}\"] [:psi.scheduler/label :psi.scheduler/message]}}]");
    let entity = format!("{{:psi.scheduler/schedule-id \"{id}\"}}");
    let from_entity = query("[:psi.scheduler/message]".to_owned()).with("entity", entity);
    for answer in [call("psi-tool", query(by_id)), call("psi-tool", from_entity)] {
        assert!(answer.contains(&text) && !answer.contains("truncated"), "{} bytes", answer.len());
    }
    let list = call("psi-tool", query("[{:psi.scheduler/schedules [:psi.scheduler/message]}]".to_owned()));
    assert!(list.len() <= 16_384 && list.contains("a text is whole"), "{} bytes", list.len());
}

#[test]
fn a_misspelt_attribute_of_the_root_is_named_in_lenient_mode_too() {
    let (handle, _) = simulated::engine(&["s"]);
    let lenient = |query: &str| ask(&handle, &token("s"), query, true);
    let typo = lenient("[:psi.scheduler/pending-cont :psi.scheduler/pending-count]");
    assert!(typo.contains("did you mean :psi.scheduler/pending-count?"), "{typo}");
    assert!(typo.contains(":psi.scheduler/pending-count 0"), "the rest is answered: {typo}");
    let given = "{:pathom/eql [:psi.scheduler/pending-cont] :pathom/entity {:psi.scheduler/pending-cont 1}}";
    assert_eq!(lenient(given), "{:psi.scheduler/pending-cont 1}", "what the caller gives is no typo");
    assert!(!lenient("[:quite/other]").contains("faults"), "Pathom's rules apply to other unknown names");
}

#[test]
fn a_key_ends_with_its_schedule() {
    let (handle, clock) = simulated::engine(&["s"]);
    let create = |time: &str, message: &str| {
        let params =
            format!(":session-id \"s\" :kind :message :message {message:?} :idempotency-key \"k\" {time}");
        ask(&handle, &Caller::OPERATOR, &format!("[(psi.scheduler/create {{{params}}})]"), false)
    };
    let pass = |seconds: u64| {
        for _ in 0..seconds {
            clock.advance(Span::from_millis(1_000));
            handle.run_due();
        }
    };
    let day = || clock.advance(Span::from_millis(86_400_000));
    let (is_new, is_known) = (":psi.scheduler/created? true", ":psi.scheduler/created? false");
    for time in [":delay-ms 2000", ":when \"tomorrow at 9\"", ":when \"in 3 seconds\""] {
        let first = create(time, "m");
        assert!(first.contains(is_new), "{time}: {first}");
        let other = create(time, "n");
        assert!(other.contains(":code \"CONFLICT\""), "{time}: the key is in use: {other}");
        day();
        pass(40_000);
        day();
        pass(5);
        // The answer to the first call may have been lost: the request must not run twice.
        let again = create(time, "m");
        assert!(again.contains(is_known) && id(&again) == id(&first), "{time}: {again}");
        // Another request has another schedule, whose time is read as of now.
        let next = create(time, "n");
        assert!(next.contains(is_new) && id(&next) != id(&first), "{time}: {next}");
        let at = ask(
            &handle,
            &Caller::OPERATOR,
            &format!("[{{[:psi.scheduler/schedule-id {:?}] [:psi.scheduler/status]}}]", id(&next)),
            false,
        );
        assert!(at.contains(":pending"), "{time}: {at}");
        ask(
            &handle,
            &Caller::OPERATOR,
            &format!("[(psi.scheduler/cancel {{:schedule-id {:?}}})]", id(&next)),
            false,
        );
        // Now the second is the one that the key remembers; the first request is another one again.
        let third = create(time, "o");
        assert!(third.contains(is_new), "{time}: {third}");
        ask(
            &handle,
            &Caller::OPERATOR,
            &format!("[(psi.scheduler/cancel {{:schedule-id {:?}}})]", id(&third)),
            false,
        );
    }
}

/// No silent loss: what the graph creates survives a restart, where anything does.
#[test]
fn a_schedule_is_durable_where_there_is_a_store() {
    let create = "[{(psi.scheduler/create {:session-id \"s\" :kind :message :message \"m\" :delay-ms 60000 DURABILITY}) \
                  [:psi.scheduler/durability]}]";
    let made = |handle: &Handle, durability: &str| {
        let answer = ask(handle, &Caller::OPERATOR, &create.replace("DURABILITY", durability), false);
        answer.split(":psi.scheduler/durability ").nth(1).expect(&answer).trim_end_matches('}').to_owned()
    };
    let lives = Lives::new();
    let life = lives.next(0);
    life.open("s");
    assert_eq!(made(&life.handle, ""), ":durable");
    assert_eq!(made(&life.handle, ":durability :volatile"), ":volatile");
    let (without, _) = simulated::engine(&["s"]);
    assert_eq!(made(&without, ""), ":volatile");
}

fn tool(handle: &Handle, caller: &Caller, name: &str, args: &str) -> String {
    let args = read(args.as_bytes(), &Caps::DEFAULT).expect(args);
    let answer = Service::new(handle.clone()).call_tool(name, caller, &args, Notation::Edn);
    answer.expect("no limit is near").expect("it is a tool").value.to_string()
}

/// What cannot arrive as things are is said at once, and not when it has failed at night.
#[test]
fn what_would_reach_nobody_is_said_at_creation() {
    let (handle, _) = simulated::engine(&["s"]);
    let job = |target: &str| {
        let schedule = "{:kind \"daily\" :time \"09:00\" :timezone \"UTC\"}";
        let args = format!("{{:name \"News\" :prompt \"p\" :schedule {schedule} {target}}}");
        // An operator who acts for the session.
        tool(&handle, &Caller::session(session("s")), "cron_create", &args)
    };
    let nobody = job(":target {:kind \"session\" :session_id \"nosuch\"}");
    assert!(nobody.contains(":warnings [\"Each of its runs will fail as long as"), "{nobody}");
    assert!(nobody.contains("the session nosuch is not open.\"]"), "{nobody}");
    let there = job(":target {:kind \"session\" :session_id \"s\"}");
    assert!(there.contains(":status :created") && !there.contains("warnings"), "{there}");
    let create = "[(psi.scheduler/create {:session-id \"s\" :kind :message :message \"m\" :delay-ms 60000 :channel \"mail\" \
                  :conversation \"me\"})]";
    let by_channel = ask(&handle, &Caller::OPERATOR, create, false);
    let warning = ":warnings [\"Each of its runs will fail as long as there is no channel mail.\"]";
    assert!(by_channel.contains(warning), "{by_channel}");
}

/// A session whose host went away is served by nobody, and what is asked for there wakes nobody until it is back.
#[test]
fn that_a_host_is_gone_is_said_at_creation() {
    let (parts, clock) = simulated::parts();
    let handle = Handle::new(parts);
    let host = handle.hosts().attach(Arc::new(HostLocal::new()));
    handle.open_session(Some(session("s")), host, SessionConfig::default()).expect("it is new");
    let create =
        || tool(&handle, &Caller::session(session("s")), "create", "{:message \"m\" :when \"in 1 hour\"}");
    assert!(!create().contains("nobody would be woken"), "{}", create());
    handle.hosts().detach(host);
    clock.advance(Span::from_millis(1_000));
    assert!(create().contains("the host of its session is not connected. It will wait"), "{}", create());
}

/// Who waits for a session in a turn is told which run began it, and of a turn that nothing scheduled no run is named.
#[test]
fn the_run_that_began_a_turn_is_named_while_it_goes_on() {
    let (parts, clock) = simulated::parts();
    let handle = Handle::new(parts);
    let host = handle.hosts().attach(Arc::new(HostLocal::new()));
    handle.open_session(Some(session("s")), host, SessionConfig::default()).expect("it is new");
    let create = "[(psi.scheduler/create {:session-id \"s\" :kind :message :message \"m\" :label \"long\" :delay-ms 1000})]";
    ask(&handle, &Caller::OPERATOR, create, false);
    clock.advance(Span::from_millis(1_000));
    handle.run_due();
    let reports = |busy| {
        let report = Report::Busy { session: session("s"), busy, by: None };
        handle.submit(Input::Report(report)).expect("it is open");
    };
    let turn = || {
        let of = "{:psi.agent-session/turn-run [{:reveille.run/schedule [:psi.scheduler/label]}]}";
        let query = format!("[{{[:psi.agent-session/session-id \"s\"] [{of}]}}]");
        ask(&handle, &Caller::OPERATOR, &query, false)
    };
    let named = "turn-run {:reveille.run/schedule {:psi.scheduler/label \"long\"}}";
    // Nothing is known of a turn before the host has reported one.
    assert!(turn().contains("turn-run nil"), "{}", turn());
    reports(true);
    assert!(turn().contains(named), "{}", turn());
    for busy in [false, true] {
        reports(busy);
        assert!(turn().contains("turn-run nil"), "{}", turn());
    }
}

/// The same request again, of what was cancelled: it is found, and what it says of it is so.
#[test]
fn what_a_key_stands_for_is_told_as_it_stands() {
    let (handle, _) = simulated::engine(&[]);
    handle.open_session(Some(session("s")), HostId::INBOX, SessionConfig::default()).expect("it is new");
    let call = |name: &str, args: &str| tool(&handle, &Caller::session(session("s")), name, args);
    let create = || call("create", "{:message \"m\" :when \"in 1 hour\" :key \"k\"}");
    assert!(create().contains("it will wait in the inbox"), "{}", create());
    call("cancel", "{:key \"k\"}");
    let again = create();
    assert!(again.contains("its status is cancelled. Another key asks for it anew."), "{again}");
    assert!(!again.contains("inbox"), "{again}");
}

/// A name without its namespace, and one that only looks like ours, are named in lenient mode too, also below an empty list.
#[test]
fn a_bare_attribute_is_named_in_lenient_mode_too() {
    let (handle, _) = simulated::engine(&["s"]);
    let lenient = |query: &str| ask(&handle, &token("s"), query, true);
    let bare = lenient("[{:psi.scheduler/schedules [:label :status]}]");
    assert!(bare.contains("did you mean :psi.scheduler/label?"), "{bare}");
    assert!(bare.contains("did you mean :psi.scheduler/status?"), "{bare}");
    let ours = lenient("[{:psi.scheduler/schedules [:psi.scheduler/quite-other]}]");
    assert!(ours.contains("there is no attribute :psi.scheduler/quite-other"), "{ours}");
    let inner = ask(&handle, &Caller::OPERATOR, "[{:reveille.engine/accounting [:expected]}]", true);
    assert!(!inner.contains("faults"), "a field of a record is bare: {inner}");
}

#[test]
fn a_time_that_has_passed_is_told_with_how_long_ago() {
    let (handle, clock) = simulated::engine(&["s"]);
    clock.advance(Span::from_millis(3 * 86_400_000));
    let args = "{:action_kind \"run_later\" :instruction \"Look.\" :run_at \"2026-01-01T12:00:00Z\"}";
    let made = tool(&handle, &token("s"), "schedule_session_action", args);
    assert!(
        made.contains("scheduled for 2026-01-01T12:00:00Z, which was 2 d 12 h ago: it runs at once"),
        "{made}"
    );
    handle.run_due();
    let messages =
        "[{[:psi.agent-session/session-id \"s\"] [{:psi.agent-session/messages [:reveille.message/text]}]}]";
    let told = ask(&handle, &Caller::OPERATOR, messages, false);
    assert!(told.contains("Late by: 2 d 12 h (216000 s)"), "{told}");
}

/// What a change leaves out stays: also the zone in which the times are read; and a zone alone moves them.
#[test]
fn a_change_of_the_time_keeps_the_zone() {
    let (handle, _) = simulated::engine(&["s"]);
    let caller = token("s");
    let made = tool(
        &handle,
        &caller,
        "create",
        "{:message \"m\" :when \"every day at 9\" :zone \"America/New_York\"}",
    );
    let id = id(&made);
    let update =
        |change: &str| tool(&handle, &caller, "update", &format!("{{:schedule_id {id:?} {change}}}"));
    let later = update(":when \"every day at 10\"");
    assert!(later.contains("every day at 10:00 America/New_York"), "{later}");
    let moved = update(":zone \"Europe/Berlin\"");
    assert!(moved.contains("every day at 10:00 Europe/Berlin"), "{moved}");
    let unknown = update(":zone \"Europe/Berlim\"");
    assert!(unknown.contains(":status :error") && unknown.contains("Europe/Berlin"), "{unknown}");
    let query = |zone: &str| format!("[(psi.scheduler/reschedule {{:schedule-id {id:?} {zone}}})]");
    let nothing = ask(&handle, &caller, &query(""), false);
    assert!(nothing.contains("mutation-error") && nothing.contains("changes nothing"), "{nothing}");
    let once = tool(&handle, &caller, "create", "{:message \"m\" :when \"in 2 hours\"}");
    let id = self::id(&once);
    let alone = tool(&handle, &caller, "update", &format!("{{:schedule_id {id:?} :zone \"Europe/Berlin\"}}"));
    assert!(alone.contains("on no clock"), "{alone}");
}

/// A part of a call that would have no effect is refused, and not dropped.
#[test]
fn nothing_of_a_call_is_dropped() {
    let (handle, clock) = simulated::engine(&["s"]);
    clock.advance(Span::from_millis(327 * 86_400_000));
    for (call, message, hint) in [
        (
            ":when \"tomorrow at 9 Asia/Tokyo\" :zone \"Europe/Berlin\"",
            "the phrase is in Asia/Tokyo",
            "name one zone",
        ),
        (":when \"in 5 minutes\" :max_runs 3", "is for what recurs", "say how often"),
        // Another day would be another wish: the same date is the nearest one.
        (":when \"2025-12-24T09:00:00Z\"", "has passed", "2026-12-24T09:00:00Z"),
        (":when \"2024-02-29T09:00:00Z\"", "has passed", "2028-02-29T09:00:00Z"),
        (":when \"2026-11-24T00:00:00Z\"", "has passed", "2026-11-25T00:00:00Z"),
    ] {
        let answer = tool(&handle, &token("s"), "create", &format!("{{:message \"m\" {call}}}"));
        assert!(answer.contains(message) && answer.contains(hint), "{call}: {answer}");
    }
    for (job, said) in [("nope", "ready; nothing waits for it yet"), ("build", "The job build is ready\"")] {
        let waits = "{:action_kind \"notify_job_ready\" :job_id \"build\" :message \"Done.\"}";
        tool(&handle, &token("s"), "schedule_session_action", waits);
        let answer = tool(&handle, &token("s"), "report_job_ready", &format!("{{:job_id {job:?}}}"));
        assert!(answer.contains(said), "{answer}");
    }
}

/// An operator who acts for a session that there is not has misspelt it: nothing there looks like a quiet session.
#[test]
fn a_misspelt_session_is_no_empty_list() {
    let (handle, _) = simulated::engine(&["s"]);
    let service = Service::new(handle);
    let list = |tool: &str, of: &str| {
        let caller = Caller::OPERATOR.acting_for(session(of));
        let answer = service.call_tool(tool, &caller, &Value::Map(Map::new()), Notation::Edn);
        answer.expect("admitted").expect("a tool").value.to_string()
    };
    assert!(list("list", "s").contains(":schedules []"));
    assert!(list("list", "t").contains("session not found: t"), "{}", list("list", "t"));
    assert!(list("cron_list", "s").contains(":warnings []"));
    assert!(list("cron_list", "t").contains("there is no session t"), "{}", list("cron_list", "t"));
}

/// What held everything, or paused the schedule, is named when a slot of that time is explained later.
#[test]
fn a_slot_that_stood_still_says_why_after_the_release() {
    let (handle, clock) = simulated::engine(&["s"]);
    let asked = |query: &str| ask(&handle, &Caller::OPERATOR, query, false);
    let pass = |seconds: u64| {
        for _ in 0..seconds {
            clock.advance(Span::from_millis(1_000));
            handle.run_due();
        }
    };
    for policy in ["", ":policy {:missed :skip}"] {
        let params = format!(":session-id \"s\" :kind :message :message \"m\" :every-ms 10000 {policy}");
        let id = id(&asked(&format!("[(psi.scheduler/create {{{params}}})]")));
        let explain = |at| {
            let params = format!("{{:schedule-id \"{id}\" :at \"{at}\"}}");
            asked(&format!("[{{(:reveille/explain {params}) [:reveille.explanation/sentence]}}]"))
        };
        let began = handle.now().wall;
        let slot = |number: u64| began.checked_add(Span::from_millis(number * 10_000)).expect("in range");
        pass(5);
        asked("[(psi.scheduler/hold-all {:reason \"an incident\"})]");
        pass(10);
        asked("[(psi.scheduler/release-all {})]");
        pass(10);
        asked(&format!("[(psi.scheduler/pause {{:schedule-id \"{id}\" :reason \"too noisy\"}})]"));
        pass(10);
        asked(&format!("[(psi.scheduler/resume {{:schedule-id \"{id}\"}})]"));
        pass(1);
        let (held, free, paused) = (explain(slot(1)), explain(slot(2)), explain(slot(3)));
        let brief = |seconds: u64| {
            let at = began.checked_add(Span::from_millis(seconds * 1_000)).expect("in range");
            format!("{}Z", &at.to_string()[..19])
        };
        let from_to = |from, to| format!("from {} to {}", brief(from), brief(to));
        let stood = format!("Everything was held {} (an incident).", from_to(5, 15));
        assert!(held.contains(&stood), "{policy}: {held}");
        assert!(!free.contains("was held") && !free.contains("was paused"), "{policy}: {free}");
        let stood = format!("The schedule was paused {} (too noisy).", from_to(25, 35));
        assert!(paused.contains(&stood), "{policy}: {paused}");
        // Both at a time, and not over yet: neither the resumption nor the release is enough.
        asked(&format!("[(psi.scheduler/pause {{:schedule-id \"{id}\"}})]"));
        asked("[(psi.scheduler/hold-all {:reason \"an incident\"})]");
        let both = explain(slot(9));
        assert!(
            both.contains("as long as the schedule is paused")
                && both.contains("Everything is held as well, since ")
                && both.contains(" (an incident)."),
            "{policy}: {both}"
        );
        asked("[(psi.scheduler/release-all {})]");
    }
}

/// A slot of the time of a hold that was skipped after it for another reason is explained by both.
#[test]
fn a_slot_under_a_hold_that_overlapped_says_both() {
    let (handle, clock) = simulated::engine(&["s"]);
    let asked = |query: &str| ask(&handle, &Caller::OPERATOR, query, false);
    let pass = |seconds: u64| {
        for _ in 0..seconds {
            clock.advance(Span::from_millis(1_000));
            handle.run_due();
        }
    };
    asked("[(psi.agent-session/set-busy {:session-id \"s\" :busy? true})]");
    let params = ":session-id \"s\" :kind :message :message \"m\" :every-ms 10000 \
                  :policy {:overlap :skip :when-busy :queue}";
    let id = id(&asked(&format!("[(psi.scheduler/create {{{params}}})]")));
    let slot = handle.now().wall.checked_add(Span::from_millis(20_000)).expect("in range");
    pass(15);
    asked("[(psi.scheduler/hold-all {:reason \"an incident\"})]");
    let explain = || {
        let params = format!("{{:schedule-id \"{id}\" :at \"{slot}\"}}");
        asked(&format!("[{{(:reveille/explain {params}) [:reveille.explanation/sentence]}}]"))
    };
    pass(10);
    assert!(explain().contains("as long as everything is held"), "{}", explain());
    asked("[(psi.scheduler/release-all {})]");
    pass(1);
    let told = explain();
    assert!(told.contains("an earlier run of the schedule had not ended"), "{told}");
    assert!(told.contains("Everything was held from ") && told.contains("(an incident)"), "{told}");
}

/// Of a hold and a pause at once, what is over is told as over, and what goes on as going on.
#[test]
fn a_slot_under_a_pause_and_a_hold_says_which_of_them_goes_on() {
    let (handle, clock) = simulated::engine(&["s"]);
    let asked = |query: &str| ask(&handle, &Caller::OPERATOR, query, false);
    let pass = |seconds: u64| {
        for _ in 0..seconds {
            clock.advance(Span::from_millis(1_000));
            handle.run_due();
        }
    };
    let params = ":session-id \"s\" :kind :message :message \"m\" :every-ms 10000";
    let id = id(&asked(&format!("[(psi.scheduler/create {{{params}}})]")));
    let pause = |name: &str| asked(&format!("[(psi.scheduler/{name} {{:schedule-id \"{id}\"}})]"));
    let slot = handle.now().wall.checked_add(Span::from_millis(10_000)).expect("in range");
    let explain = || {
        let params = format!("{{:schedule-id \"{id}\" :at \"{slot}\"}}");
        asked(&format!("[{{(:reveille/explain {params}) [:reveille.explanation/sentence]}}]"))
    };
    asked(&format!("[(psi.scheduler/pause {{:schedule-id \"{id}\" :reason \"too noisy\"}})]"));
    asked("[(psi.scheduler/hold-all {:reason \"an incident\"})]");
    pass(12);
    asked("[(psi.scheduler/release-all {})]");
    let told = explain();
    assert!(told.contains("as long as the schedule is paused (too noisy)"), "{told}");
    assert!(told.contains("Everything was held from ") && told.contains(":12Z (an incident)."), "{told}");
    asked("[(psi.scheduler/hold-all {:reason \"another one\"})]");
    pass(1);
    pause("resume");
    let told = explain();
    assert!(told.contains("as long as everything is held (another one)"), "{told}");
    assert!(told.contains("The schedule was paused from ") && told.contains(":13Z (too noisy)."), "{told}");
    assert!(!told.contains("as well"), "{told}");
}
