//! Every dialect through kills: what its tool acknowledged is there in the next life, comes once when its time has come, and no
//! further kill brings it back. What is in memory only is gone, and said to be.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use reveille::edn::Value;

use crate::faults::faketime::WallClock;
use crate::harness::ask::note_created;
use crate::harness::daemon::{Daemon, Home, at, text, until};
use crate::harness::load::Dice;
use crate::harness::stream::{Harness, Receipt, Stream};

/// How a dialect is asked for `TEXT` in ten minutes, and for what there is.
struct Dialect {
    name: &'static str,
    tool: &'static str,
    ask: &'static str,
    list: Option<(&'static str, &'static str)>,
}

const DIALECTS: [Dialect; 5] = [
    Dialect {
        name: "psi",
        tool: "psi-tool",
        ask: "{:action :scheduler :op :create :kind :message :message TEXT :delay-ms 600000}",
        list: None,
    },
    Dialect {
        name: "native",
        tool: "create",
        ask: "{:message TEXT :when \"in 10 minutes\" :key TEXT}",
        // By pages, and whatever the dialect.
        list: None,
    },
    Dialect {
        name: "cron",
        tool: "cron_create",
        ask: "{:name TEXT :prompt TEXT :schedule {:kind \"once\" :at AT}}",
        list: Some(("cron_list", "{}")),
    },
    Dialect {
        name: "reminder",
        tool: "reminderadd",
        ask: "{:interval_seconds 600 :type \"one-time\" :action_prompt TEXT :description TEXT}",
        list: Some(("reminderlist", "{}")),
    },
    Dialect {
        name: "session-action",
        tool: "schedule_session_action",
        ask: "{:action_kind \"run_later\" :instruction TEXT :original_summary TEXT :delay_seconds 600 :dedupe_key KEY}",
        list: Some(("schedule_session_action", "{:operation \"list\"}")),
    },
];

/// One call of a tool.
struct Asked {
    dialect: &'static str,
    text: String,
    /// What was asked before under the same key makes room for it.
    key: Option<u64>,
    /// Not, where the kill came first.
    answered: bool,
}

const LIVES: u64 = 8;
/// A session has room for fifty reminders.
const ROUNDS: u64 = 5;
/// Calls in one life.
const CALLS: u64 = ROUNDS * DIALECTS.len() as u64;
/// And for three delayed actions at a time.
const KEYS: u64 = 3;

#[test]
fn what_a_dialect_acknowledged_lives_through_kills_and_comes_once() {
    let home = Home::new("dialects");
    let Some(mut clock) = WallClock::new(&home) else { return };
    let serve = |clock: &WallClock| Daemon::start_with(&home, clock.on(&mut home.serve()));
    let sessions = ["main".to_owned()];
    let (mut dice, mut asked) = (Dice::new(5), Vec::new());
    for life in 0..LIVES {
        let daemon = serve(&clock);
        let harness = Harness::attach(&daemon.socket, &sessions).expect("it lives");
        let mut stream = Stream::connect(&daemon.socket).expect("it lives");
        let soon = clock.ahead(Duration::from_secs(600)).to_string();
        let (begin, begun) = channel();
        std::thread::scope(|scope| {
            let asked = &mut asked;
            scope.spawn(move || _ = ask_all(&mut stream, life, &soon, &begin, asked));
            // In the middle of a call, or once all are answered.
            let calls = 1 + usize::try_from(dice.below(2 * CALLS)).expect("it fits");
            let _ = begun.iter().take(calls).count();
            daemon.kill();
        });
        assert!(harness.finish().is_empty(), "nothing is due yet");
    }

    let daemon = serve(&clock);
    let harness = Harness::attach(&daemon.socket, &sessions).expect("it lives");
    let mut stream = Stream::connect(&daemon.socket).expect("it lives");
    let kept = kept(&mut stream);
    let all = call(&mut stream, "list", "{}").expect("it lives").expect("it is answered");
    let total = all.as_map().and_then(|all| at(all, &["total"])).and_then(Value::as_int);
    assert_eq!(total, i64::try_from(kept.len()).ok());
    assert_all_there(&asked, &kept);
    kept.keys().for_each(|id| note_created(&mut stream, id));
    for dialect in &DIALECTS {
        let Some((tool, args)) = dialect.list else { continue };
        let listed = call(&mut stream, tool, args).expect("it lives").expect("it is answered").to_string();
        for text in kept.values().filter(|(name, _)| name == dialect.name).map(|(_, text)| text) {
            assert!(listed.contains(text), "{text} is not in {listed}");
        }
    }

    clock.jump(700);
    let mut came: Vec<Receipt> = Vec::new();
    until("all have come", Duration::from_secs(60), || {
        came.extend(harness.next(Duration::from_millis(200)));
        came.len() >= kept.len()
    });
    daemon.kill();
    came.extend(harness.finish());
    // One more life, in which nothing is left to come.
    let daemon = serve(&clock);
    let harness = Harness::attach(&daemon.socket, &sessions).expect("it lives");
    let again: Vec<Receipt> = harness.next(Duration::from_secs(3)).into_iter().collect();
    let runs: BTreeSet<String> = came.iter().map(|receipt| receipt.run.to_string()).collect();
    let schedules: BTreeSet<String> = came.iter().map(|receipt| receipt.run.schedule.to_string()).collect();
    assert_eq!(schedules, kept.keys().cloned().collect(), "what was kept came, and nothing else");
    assert_eq!(runs.len(), kept.len(), "and once: {came:?}");
    // Of the last one the kill may have taken the receipt: then it comes again, and says that it is the same.
    assert!(came.len() <= kept.len() + 1, "{came:?}");
    assert!(again.iter().all(|receipt| receipt.run == came[came.len() - 1].run), "{again:?}");
    let answered = asked.iter().filter(|call| call.answered).count();
    println!("{} calls answered, {} not; {} kept, all came", answered, asked.len() - answered, kept.len());
    assert!(answered > 60, "this is no load");
    assert_eq!(daemon.end("-TERM").code(), Some(0));
    home.assert_sound();
    home.assert_history();
}

/// A call of a tool in the session's name; `None`: the daemon is gone. Whatever a tool refuses is an error here.
fn call(stream: &mut Stream, tool: &str, args: &str) -> Option<Result<Value, String>> {
    let answer = stream.ask(&format!("{{:op :call :tool {tool:?} :session-id \"main\" :args {args}}}"))?;
    let ok = at(&answer, &["ok"]).cloned();
    Some(ok.ok_or_else(|| Value::from(answer).to_string()))
}

fn ask_all(
    stream: &mut Stream,
    life: u64,
    soon: &str,
    begin: &Sender<()>,
    asked: &mut Vec<Asked>,
) -> Option<()> {
    for round in 0..ROUNDS {
        for dialect in &DIALECTS {
            let text = format!("{} {life}-{round}", dialect.name);
            let key = (dialect.name == "session-action").then_some(round % KEYS);
            let args = dialect.ask.replace("TEXT", &format!("{text:?}")).replace("AT", &format!("{soon:?}"));
            let args = args.replace("KEY", &format!("{:?}", format!("k{}", key.unwrap_or_default())));
            let _ = begin.send(());
            asked.push(Asked { dialect: dialect.name, text, key, answered: false });
            call(stream, dialect.tool, &args)?.unwrap_or_else(|refused| panic!("{args}: {refused}"));
            asked.last_mut().expect("it was just asked").answered = true;
        }
    }
    Some(())
}

/// What is to come: dialect and text of each schedule, by its id.
fn kept(stream: &mut Stream) -> BTreeMap<String, (String, String)> {
    let query = "[{(:psi.scheduler/schedules {:status [:pending]}) [:psi.scheduler/schedule-id \
                 :psi.scheduler/dialect :psi.scheduler/message]}]";
    let found = stream.eql(query).expect("it lives").expect("it is answered");
    let list = at(&found, &["psi.scheduler/schedules"]).and_then(Value::as_items).expect("a list");
    let each = list.iter().filter_map(Value::as_map).map(|schedule| {
        let dialect = at(schedule, &["psi.scheduler/dialect"]).and_then(Value::as_keyword).expect("a word");
        let part = |key| text(schedule, &[key]).expect("text").to_owned();
        let (id, text) = (part("psi.scheduler/schedule-id"), part("psi.scheduler/message"));
        (id, (dialect.as_str().to_owned(), text))
    });
    each.collect()
}

/// Every answered call has what it asked for, once; what was not answered may be there, once; nothing else is.
fn assert_all_there(asked: &[Asked], kept: &BTreeMap<String, (String, String)>) {
    let times = |call: &Asked| {
        let is_it = |it: &&(String, String)| it.0 == call.dialect && it.1 == call.text;
        kept.values().filter(is_it).count()
    };
    let mut found = 0;
    for call in asked.iter().filter(|call| call.key.is_none()) {
        let times = times(call);
        found += times;
        if call.dialect == "psi" {
            assert_eq!(times, 0, "{} was in memory only", call.text);
        } else if call.answered {
            assert_eq!(times, 1, "{} was acknowledged", call.text);
        } else {
            assert!(times <= 1, "{} is there {times} times", call.text);
        }
    }
    for key in 0..KEYS {
        let under: Vec<&Asked> = asked.iter().filter(|call| call.key == Some(key)).collect();
        let Some(last) = under.iter().rposition(|call| call.answered) else { continue };
        let (before, since) = under.split_at(last);
        assert_eq!(before.iter().map(|call| times(call)).sum::<usize>(), 0, "they have made room");
        assert_eq!(since.iter().map(|call| times(call)).sum::<usize>(), 1, "one under each key");
        found += 1;
    }
    assert_eq!(found, kept.len(), "nothing else is there: {kept:?}");
}
