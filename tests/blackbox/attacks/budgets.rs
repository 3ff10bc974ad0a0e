//! What one client may take: seats, subscriptions, the past, and answers that it does not read. A client that takes all that it
//! can get keeps nobody else out, and an operator least of all.

use std::io::Read;
use std::net::Ipv4Addr;
use std::time::Duration;

use reveille::limits;
use serde_json::json;

use crate::attacks::agent::Agent;
use crate::harness::ask::create_in;
use crate::harness::daemon::{Daemon, Home, PATIENCE, Reply, at, now, until};
use crate::harness::sockets::{STREAM, WEBSOCKET, connect, head, say, subscribe, websocket};
use crate::harness::stream::Stream;

#[test]
fn sockets_that_do_not_say_who_they_are_keep_nobody_out() {
    let home = Home::new("upgrade-flood");
    let daemon = Daemon::start(&home);
    let mut flood = Vec::new();
    for number in 0..400 {
        let Some(mut stream) = connect(&daemon, Ipv4Addr::LOCALHOST) else { continue };
        say(&mut stream, &daemon, "GET /graphql", "", WEBSOCKET);
        // Each of the first has left HTTP before the next comes.
        if number < 300 {
            assert_eq!(head(&mut stream).0, 101, "{number}");
        }
        flood.push(stream);
    }
    for _ in 0..50 {
        assert_eq!(daemon.ask("GET /readyz", &[], "").status, 200);
    }
    assert_eq!(flood[0].read(&mut [0; 16]).ok(), Some(0), "the oldest made room");
    assert_eq!(daemon.end("-TERM").code(), Some(0));
}

#[test]
fn one_token_that_takes_every_seat_leaves_those_of_operators() {
    let home = Home::new("seats");
    let daemon = Daemon::start(&home);
    let main = Agent::open(&daemon, "main");
    let token = main.token();
    let (mut streams, mut refused) = (Vec::new(), 0);
    for number in 0..40 {
        let from = Ipv4Addr::new(127, 0, 0, 1 + number % 2);
        let mut stream = connect(&daemon, from).expect("it listens");
        say(&mut stream, &daemon, "GET /stream", token, STREAM);
        match head(&mut stream) {
            (101, _) => streams.push(stream),
            (429, body) => {
                assert!(body.contains(limits::HTTP_SESSION_UPGRADES.name), "{body}");
                refused += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    let most = limits::HTTP_SESSION_UPGRADES.value;
    assert_eq!((streams.len() as u64, refused), (most, 40 - most));
    assert!(websocket(&daemon, token).is_err_and(|why| why.contains("4429 Too many connections")));
    // Bodies that do not end keep few connections, and those make room for who has something to ask.
    let mut slow = Vec::new();
    let headers = "Content-Type: application/edn\r\nContent-Length: 1000\r\n\r\n[";
    for number in 0..limits::HTTP_CONNECTIONS.value {
        let from = Ipv4Addr::new(127, 0, 0, 1 + u8::from(number % 2 == 0));
        let Some(mut stream) = connect(&daemon, from) else { continue };
        say(&mut stream, &daemon, "POST /eql", token, headers);
        slow.push(stream);
    }
    let mut refused = slow.swap_remove(40);
    let (status, body) = head(&mut refused);
    assert!(status == 429 && body.contains(limits::HTTP_SESSION_BODIES.name), "{status} {body}");
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let most = limits::HTTP_SESSION_BODIES.value as f64;
    let bodies = daemon.metric("reveille_budget_used{budget=\"bodies\",scope=\"session\"}");
    assert!(bodies <= most, "{bodies}");
    assert!(at(&daemon.eql("[:reveille.engine/now]"), &["reveille.engine/now"]).is_some());
    let mut stream = Stream::connect(&daemon.socket).expect("the socket has seats of its own");
    assert!(stream.eql("[:reveille.engine/now]").expect("it lives").is_ok());
    let other = Agent::open(&daemon, "other");
    let mut good = connect(&daemon, Ipv4Addr::LOCALHOST).expect("it listens");
    say(&mut good, &daemon, "GET /tools", other.token(), "\r\n");
    let (status, body) = head(&mut good);
    assert_eq!(status, 200, "{body}");
    assert!(stream.ask("{:op :session/close :session-id \"main\"}").is_some(), "the operator can end it");
    drop((streams, slow));
    assert_eq!(daemon.end("-TERM").code(), Some(0));
}

#[test]
fn one_token_does_not_take_every_subscription() {
    let home = Home::new("subscriptions");
    let daemon = Daemon::start(&home);
    let (greedy, other) = (Agent::open(&daemon, "greedy"), Agent::open(&daemon, "other"));
    let (mut sockets, mut started) = (Vec::new(), 0);
    for _ in 0..17 {
        let mut socket = match websocket(&daemon, greedy.token()) {
            Ok(socket) => socket,
            Err(why) => {
                assert!(why.contains(limits::HTTP_SESSION_UPGRADES.name), "{why}");
                continue;
            }
        };
        for id in 0..16 {
            match subscribe(&mut socket, id) {
                Ok(()) => started += 1,
                Err(why) => assert!(
                    why.contains(limits::GRAPHQL_SESSION_SUBSCRIPTIONS.name),
                    "after {started}: {why}"
                ),
            }
        }
        sockets.push(socket);
    }
    assert_eq!(started, limits::GRAPHQL_SESSION_SUBSCRIPTIONS.value);
    for token in [other.token(), daemon.token()] {
        let mut socket = websocket(&daemon, token).expect("there are seats");
        subscribe(&mut socket, 1).expect("there is room");
        sockets.push(socket);
    }
    drop(sockets);
    until("all are free again", PATIENCE, || {
        // Exactly: a place that is not returned would be missing for ever.
        daemon.metric("reveille_graphql_subscriptions") < 0.5 && daemon.metric("reveille_http_upgrades") < 0.5
    });
    assert_eq!(daemon.end("-TERM").code(), Some(0));
}

/// Schedules with long messages: what the log and the answers weigh.
fn fill(stream: &mut Stream, session: &str, count: usize) {
    let message = "m".repeat(60_000);
    for _ in 0..count {
        let rest = format!(":durability :durable :delay-ms 80000000 :message {message:?}");
        create_in(stream, session, &rest).expect("there is room");
    }
}

#[test]
fn the_past_is_asked_for_by_turns() {
    let home = Home::new("as-of-flood");
    let daemon = Daemon::start(&home);
    let mut stream = Stream::connect(&daemon.socket).expect("it lives");
    let (greedy, other) = (Agent::open(&daemon, "greedy"), Agent::open(&daemon, "other"));
    fill(&mut stream, "greedy", 500);
    let wall = daemon.eql("[:reveille.engine/now]");
    let wall = at(&wall, &["reveille.engine/now"]).expect("an instant").as_inst().expect("an instant");
    let (seconds, millis) = (wall.seconds(), wall.nanos() / 1_000_000);
    // An instant of its own for each, so that no one's past is another's.
    let ask = |token: &str, number: u32| {
        let at = reveille::domain::Moment::new(seconds, millis * 1_000_000 + number).expect("in range");
        let query = format!("{{:pathom/eql [:psi.scheduler/pending-count] :reveille/as-of \"{at}\"}}");
        daemon.ask_by(token, "POST /eql", &["Content-Type: application/edn"], &query)
    };
    let began = now();
    assert_eq!(ask(greedy.token(), 0).status, 200);
    let alone = began.elapsed_here();
    let (answers, took) = std::thread::scope(|scope| {
        let (ask, greedy) = (&ask, &greedy);
        let flood: Vec<_> = (1..25).map(|number| scope.spawn(move || ask(greedy.token(), number))).collect();
        let began = now();
        let args = json!({"action": "scheduler", "op": "create", "kind": "message", "message": "m", "delay-ms": 60000});
        let created = other.tool("psi-tool", &args);
        let took = began.elapsed_here();
        assert_eq!(created.status, 200, "{}", created.body);
        assert_eq!(ask(daemon.token(), 30).status, 200, "an operator has a turn of its own");
        let answers = flood.into_iter().map(|asked| asked.join().expect("answered"));
        (answers.collect::<Vec<Reply>>(), took)
    });
    let name = limits::SESSION_AS_OF_WAITING.name;
    let is_refused = |reply: &&Reply| reply.status == 400 && reply.body.contains(name);
    let refused = answers.iter().filter(is_refused).count();
    let done = answers.iter().filter(|reply| reply.status == 200).count();
    println!("{alone:?} alone, {done} of 24 answered, {refused} refused; a create took {took:?} meanwhile");
    assert!(refused > 0 && done > 0, "{refused} refused, {done} done");
    assert_eq!(refused + done, 24, "{answers:?}");
    assert!(took < Duration::from_secs(1).max(4 * alone), "{took:?}, while one alone takes {alone:?}");
}

/// A session asks for the most that there is, again and again.
#[test]
fn one_token_does_not_use_up_the_processors_by_queries() {
    let home = Home::new("attack-queries");
    let daemon = Daemon::start(&home);
    let (greedy, other) = (Agent::open(&daemon, "greedy"), Agent::open(&daemon, "other"));
    for _ in 0..60 {
        greedy.create(":kind :message :message \"m\" :every-ms 1000");
    }
    let heavy = "[{(:psi.scheduler/schedules {:first 50}) [(:psi.scheduler/upcoming {:first 300})]}]";
    let refused = (0..20_000).map(|_| greedy.eql(heavy)).find(|reply| reply.status != 200);
    let refused = refused.expect("a second of queries does not last for ever");
    assert_eq!(refused.status, 429, "{}", refused.body);
    assert!(refused.body.contains(limits::QUERY_MS_PER_MINUTE.name), "{}", refused.body);
    assert!(refused.body.contains("wait-ms"), "{}", refused.body);
    // A tool is refused as the query is that it asks.
    let query = json!({"query": "[:psi.scheduler/pending-count]"});
    let of_psi = json!({"action": "query", "query": "[:psi.scheduler/pending-count]"});
    for (tool, args) in [("list", json!({})), ("query", query), ("psi-tool", of_psi)] {
        // Time goes by meanwhile, and brings some of the budget back.
        let refused = (0..2_000).find_map(|_| {
            greedy.eql(heavy);
            Some(greedy.tool(tool, &args)).filter(|reply| reply.status != 200)
        });
        let refused = refused.unwrap_or_else(|| panic!("{tool} has a budget of its own"));
        assert_eq!(refused.status, 429, "{tool}: {}", refused.body);
        assert!(refused.head.contains("\r\nretry-after: "), "{tool}: {}", refused.head);
        let wait =
            refused.body.split_once("wait ").and_then(|(_, rest)| rest.split_once(" ms")).map(|it| it.0);
        assert!(wait.and_then(|wait| wait.parse().ok()) > Some(0_u64), "{tool}: {}", refused.body);
    }
    let short = "{ pendingCount }";
    let asked = |_| greedy.eql(heavy).status;
    assert!((0..20_000).map(asked).any(|status| status != 200), "it goes on being greedy");
    assert!(greedy.graphql(short).to_string().contains(limits::QUERY_MS_PER_MINUTE.name));
    let args =
        json!({"action": "scheduler", "op": "create", "kind": "message", "message": "m", "delay-ms": 60000});
    assert_eq!(greedy.tool("psi-tool", &args).status, 200, "creating has a rate of its own");
    assert_eq!(other.eql(heavy).status, 200, "another session has its own time");
    assert_eq!(
        daemon.ask_by(daemon.token(), "POST /eql", &["Content-Type: application/edn"], heavy).status,
        200
    );
}

/// A query of a few bytes asks for ten thousand slots of each schedule.
#[test]
fn a_short_query_has_no_endless_answer() {
    let home = Home::new("attack-answer");
    let daemon = Daemon::start(&home);
    let greedy = Agent::open(&daemon, "greedy");
    for _ in 0..60 {
        greedy.create(":kind :message :message \"m\" :every-ms 1000");
    }
    let all = "[{:psi.scheduler/schedules [(:psi.scheduler/upcoming {:first 10000})]}]";
    let many = "{ schedules(first: 60) { nodes { upcoming(first: 10000) } } }";
    let name = "x".repeat(200_000);
    // A long name stands in the answer once for each schedule.
    let named = format!("[{{:psi.scheduler/schedules [{{:>/{name} [:psi.scheduler/status]}}]}}]");
    let alias = format!("{{ schedules(first: 60) {{ nodes {{ {name}: status }} }} }}");
    let answers = [
        greedy.eql(all).body.len(),
        greedy.graphql(many).to_string().len(),
        greedy.eql(&named).body.len(),
        greedy.graphql(&alias).to_string().len(),
    ];
    // What an answer weighs is counted before it is written, and names and marks of the notation come on top.
    let most = usize::try_from(limits::SESSION_QUERY_BYTES.value).expect("it fits") * 5 / 4;
    assert!(answers.iter().all(|bytes| *bytes <= most), "answers of {answers:?} bytes");
}

#[test]
fn answers_that_nobody_reads_do_not_pile_up() {
    let home = Home::new("unread");
    let daemon = Daemon::start(&home);
    let mut stream = Stream::connect(&daemon.socket).expect("it lives");
    let (greedy, other) = (Agent::open(&daemon, "greedy"), Agent::open(&daemon, "other"));
    fill(&mut stream, "greedy", 17);
    let query = "[{:psi.scheduler/schedules [:psi.scheduler/message]}]";
    let rest = format!("Content-Type: application/edn\r\nContent-Length: {}\r\n\r\n{query}", query.len());
    let (mut unread, mut refused) = (Vec::new(), 0);
    for _ in 0..40 {
        let mut stream = connect(&daemon, Ipv4Addr::LOCALHOST).expect("it listens");
        say(&mut stream, &daemon, "POST /eql", greedy.token(), &rest);
        match head(&mut stream) {
            (200, _) => unread.push(stream),
            (429, body) => {
                assert!(body.contains(limits::SESSION_ANSWERS_BYTES.name), "{body}");
                refused += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(refused > 0, "{} answers of 1 MB wait for one client, and none is refused", unread.len());
    let held = daemon.metric("reveille_answers_bytes");
    println!("{} answers unread, {refused} refused, {held} bytes held", unread.len());
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let most = limits::SESSION_ANSWERS_BYTES.value as f64;
    assert!(held > 0.0 && held <= most, "{held} bytes");
    // A short answer always arrives, and others have their own part.
    let own = greedy.eql("[:psi.scheduler/pending-count]");
    assert_eq!(own.status, 200, "{}", own.body);
    let tools = other.ask("GET /tools", &[], "");
    assert!(tools.status == 200 && tools.body.len() as u64 > limits::ANSWER_BYTES_COUNTED.value);
    drop(unread);
    until("all are dropped", PATIENCE, || daemon.metric("reveille_answers_bytes") < 0.5);
    assert_eq!(daemon.end("-TERM").code(), Some(0));
}
