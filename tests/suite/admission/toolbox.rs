//! Which tools a caller is shown, and that these are the ones it can call: by every switch, and by its grant.

use reveille::dialect::{Notation, names};
use reveille::domain::{
    Caller, Channel, ChannelKind, Dialect, Gate, Grant, Primitives, Right, Scope, SessionConfig, SessionId,
};
use reveille::edn::{Map, Value};
use reveille::engine::{Input, Report};
use reveille::runtime::{Handle, Parts, WithoutStore};
use reveille::service::{DenialReason, Service, TOOLBOX, ToolInfo};
use reveille::surface::mcp::{Features, Scheduler, ToolFilter};

use super::MANAGING;
use crate::simulated::{self, session, token};

/// Which switches are on, and which channels there are.
#[derive(Clone, Copy, Debug)]
struct Switches {
    watchers: bool,
    scheduler: bool,
    memory: bool,
    channel: Option<bool>,
    /// Whether sessions may manage the channel.
    managed: bool,
}

impl Switches {
    fn all() -> Vec<Switches> {
        let mut all = Vec::new();
        for (watchers, scheduler) in [(false, false), (true, false), (true, true)] {
            for memory in [false, true] {
                for channel in [None, Some(false), Some(true)] {
                    all.push(Switches { watchers, scheduler, memory, channel, managed: false });
                }
            }
        }
        let managed = Switches { channel: Some(true), managed: true, ..all[0] };
        all.push(managed);
        all
    }

    /// Whether a family of tools exists, in the words of the test.
    fn opens(self, dialect: Dialect, is_operator: bool) -> bool {
        match dialect.gate() {
            None => true,
            Some(Gate::Watchers) => self.watchers,
            Some(Gate::Scheduler) => self.scheduler,
            Some(Gate::Memory) => self.memory,
            Some(Gate::Channels) => self.channel.is_some_and(|is_open| is_open || is_operator),
        }
    }

    fn engine(self) -> Handle {
        let (handle, _clock) = simulated::engine(&["plain", "narrow", "read"]);
        let Switches { watchers, scheduler, memory, managed, .. } = self;
        handle.tools().switch(Primitives { watchers, scheduler, memory, ..Primitives::default() });
        if let Some(agents) = self.channel {
            let channel = Channel {
                name: "ops".into(),
                kind: ChannelKind::Webhook,
                goes_to: "x".into(),
                agents,
                agents_manage: managed,
            };
            handle.submit(Input::Report(Report::ChannelOpened(channel))).expect("it is a fact");
        }
        let grant = |id: &str, grant: Grant| handle.sessions().grant(&session(id), grant, Scope::Operator);
        let dialects = Some(vec![Dialect::Native, Dialect::Memory]);
        grant("narrow", Grant { dialects, ..Grant::FULL }).expect("it is open");
        grant("read", Grant { right: Some(Right::Read), ..Grant::FULL }).expect("it is open");
        handle
    }
}

/// The tools that a caller sees over MCP, with all dialects on offer.
fn over_mcp(service: &Service, caller: &Caller) -> Vec<String> {
    let all: Vec<&str> = Dialect::ALL.iter().map(|dialect| dialect.name()).collect();
    let offer = ToolFilter::parse(&all.join(",")).expect("dialects");
    let tools = Scheduler { service, caller, offer: &offer }.tools();
    tools.into_iter().map(|tool| tool.name).collect()
}

/// T75.
#[test]
fn a_caller_sees_exactly_the_tools_that_exist_for_it() {
    for switches in Switches::all() {
        let handle = switches.engine();
        let service = Service::new(handle.clone());
        let callers = [
            ("operator", Caller::OPERATOR, true, None),
            ("host", Caller::session(session("plain")), false, None),
            ("session", token("plain"), false, None),
            ("narrowed session", token("narrow"), false, Some([Dialect::Native, Dialect::Memory])),
        ];
        for (who, caller, is_operator, dialects) in callers {
            let exists = |tool: &ToolInfo| {
                let is_given = dialects.is_none_or(|given| given.contains(&tool.dialect));
                let is_managed = MANAGING.contains(&tool.name) && switches.managed;
                let is_operators = MANAGING.contains(&tool.name) || tool.name == "channels.test_send";
                let is_hidden = is_operators && !is_operator && !is_managed;
                // A monitor is a watch.
                let is_switched = tool.name != "Monitor" || switches.watchers;
                switches.opens(tool.dialect, is_operator) && is_switched && is_given && !is_hidden
            };
            let expected: Vec<&str> =
                TOOLBOX.iter().filter(|tool| exists(tool)).map(|tool| tool.name).collect();
            let shown: Vec<&str> = service.toolbox(&caller).into_iter().map(|tool| tool.name).collect();
            assert_eq!(shown, expected, "{who} {switches:?}");
            let undotted: Vec<String> = expected.iter().map(|name| names::undotted(name)).collect();
            assert_eq!(over_mcp(&service, &caller), undotted, "{who} {switches:?}");
            for tool in TOOLBOX {
                let called = service.call_tool(tool.name, &caller, &Map::new().into(), Notation::Edn);
                let is_there = expected.contains(&tool.name);
                assert_eq!(
                    matches!(called, Ok(None)),
                    !is_there,
                    "{who} {switches:?} {}: {called:?}",
                    tool.name
                );
            }
        }
        // Who may only read is shown what reads.
        let shown = service.toolbox(&token("read"));
        assert!(shown.iter().any(|tool| tool.name == "list"), "{switches:?}");
        assert!(!shown.iter().any(|tool| tool.name == "create" || tool.dialect == Dialect::Memory));
    }
}

/// A monitor is a watch, so a grant has to cover watches too. An operator who acts for the session reads what is left out.
#[test]
fn a_grant_without_watches_has_no_monitor() {
    let (handle, _clock) = simulated::engine(&["plain"]);
    handle.tools().switch(Primitives::all());
    let service = Service::new(handle.clone());
    let call = |caller: &Caller| service.call_tool("Monitor", caller, &Map::new().into(), Notation::Edn);
    for (dialects, is_there) in [
        (vec![Dialect::ClaudeCron], false),
        (vec![Dialect::Watch], false),
        (vec![Dialect::ClaudeCron, Dialect::Watch], true),
    ] {
        let grant = Grant { dialects: Some(dialects.clone()), ..Grant::FULL };
        handle.sessions().grant(&session("plain"), grant, Scope::Operator).expect("it is open");
        let shown = service.toolbox(&token("plain"));
        assert_eq!(shown.iter().any(|tool| tool.name == "Monitor"), is_there, "{dialects:?}");
        assert_eq!(call(&token("plain")) != Ok(None), is_there, "{dialects:?}");
    }
    let grant = Grant { dialects: Some(vec![Dialect::ClaudeCron]), ..Grant::FULL };
    handle.sessions().grant(&session("plain"), grant, Scope::Operator).expect("it is open");
    let operator = Caller { scope: Scope::Session(session("plain")), ..Caller::OPERATOR };
    let denial = call(&operator).expect_err("watches are left out");
    assert_eq!(denial.reason, DenialReason::NotGranted { dialect: Dialect::Watch });
}

#[test]
fn every_spelling_of_a_name_is_of_the_tool() {
    let (handle, _clock) = simulated::engine(&["plain"]);
    handle.tools().switch(Primitives::all());
    let service = Service::new(handle);
    for name in
        ["memory.remember", "Remember", "memory__remember", "memory_remember", "tools.memory.remember"]
    {
        let args = Map::new().with("content", format!("by {name}")).into();
        let answer = service.call_tool(name, &token("plain"), &args, Notation::Edn);
        let answer = answer.expect("admitted").unwrap_or_else(|| panic!("{name} is no tool"));
        assert!(!answer.is_error, "{name}: {}", answer.value);
    }
    assert_eq!(service.call_tool("remember", &token("plain"), &Value::Nil, Notation::Edn), Ok(None));
}

/// A session is closed and opened again: its grant stays, and so does its list.
#[test]
fn a_grant_outlives_its_session() {
    let (handle, _clock) = simulated::engine(&["plain"]);
    let id: SessionId = session("plain");
    let grant = Grant { dialects: Some(vec![Dialect::Psi]), ..Grant::FULL };
    handle.sessions().grant(&id, grant, Scope::Operator).expect("it is open");
    let service = Service::new(handle.clone());
    let shown = || service.toolbox(&token("plain")).into_iter().map(|tool| tool.name).collect::<Vec<_>>();
    assert_eq!(shown(), ["psi-tool"]);
    handle.close_session(&id).expect("it is open");
    simulated::open(&handle, "plain", SessionConfig::default());
    assert_eq!(shown(), ["psi-tool"]);
}

/// What would only refuse is not offered: a schedule of these families is durable, and nothing could persist it.
#[test]
fn without_a_store_tools_that_need_one_are_not_there() {
    let (parts, _clock) = simulated::parts();
    let handle = Handle::new(Parts { without_store: WithoutStore::Reject, ..parts });
    simulated::open(&handle, "plain", SessionConfig::default());
    handle.tools().switch(Primitives::all());
    let service = Service::new(handle);
    let (agent, operator) =
        (token("plain"), Caller { scope: Scope::Session(session("plain")), ..Caller::OPERATOR });
    let needs = [Dialect::Cron, Dialect::Reminder, Dialect::SessionAction, Dialect::Scheduler];
    for caller in [&agent, &operator] {
        let shown = service.toolbox(caller);
        for tool in TOOLBOX.iter().filter(|tool| needs.contains(&tool.dialect)) {
            assert!(!shown.iter().any(|it| it.name == tool.name), "{}", tool.name);
            let answer = service.call_tool(tool.name, caller, &Map::new().into(), Notation::Edn);
            assert_eq!(answer, Ok(None), "{}", tool.name);
        }
        for name in ["create", "psi-tool", "CronCreate", "background_run", "watch_start"] {
            assert!(shown.iter().any(|it| it.name == name), "{name}");
        }
    }
}
