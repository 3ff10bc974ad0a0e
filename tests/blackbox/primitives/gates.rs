//! T75: what `GET /tools` and MCP's `tools/list` show to a caller is exactly what it can call, with each switch on and off.

use std::collections::BTreeSet;
use std::fs;

use reveille::edn::Value as Printed;
use serde_json::Value;

use super::scene::JSON;
use crate::harness::daemon::{Daemon, Home};

/// The switches of a daemon, and what only they open.
const GATES: [(&str, &str, &[&str]); 4] = [
    ("nothing", "", &[]),
    ("memory", "memory = true", &["memory."]),
    ("watchers", "watchers = true", &["watch_", "ping."]),
    (
        "all",
        "memory = true\nwatchers = true\nscheduler = true",
        &["memory.", "watch_", "ping.", "schedule", "cancel_", "remind"],
    ),
];
/// The families that a switch opens.
const SWITCHED: [&str; 3] = ["memory", "watch", "scheduler"];

#[test]
fn what_is_shown_can_be_called_and_nothing_else() {
    // A daemon with everything on names all tools that there are.
    let everything = Gate::open(GATES[3]).shown(None).into_iter().collect::<BTreeSet<_>>();
    assert!(everything.len() > 35, "{everything:?}");
    for (name, switches, opened) in GATES {
        let gate = Gate::open((name, switches, opened));
        let plain = gate.session("plain");
        let narrow = gate.session("narrow");
        gate.daemon
            .eql("[(psi.agent-session/set-grant {:session-id \"narrow\" :dialects [:native :memory]})]");
        for (who, token) in
            [("operator", None), ("session", Some(&*plain)), ("narrowed session", Some(&*narrow))]
        {
            let shown = gate.shown(token);
            let names: Vec<String> = shown.iter().map(|(tool, _)| undotted(tool)).collect();
            assert_eq!(gate.over_mcp(token), names, "{name}: {who}");
            for (tool, dialect) in &everything {
                let is_shown = shown.iter().any(|(shown, _)| shown == tool);
                let reply = gate.call(token, tool);
                assert_eq!(reply == 404, !is_shown, "{name}: {who}: {tool} is answered with {reply}");
                let is_behind = SWITCHED.contains(&dialect.as_str());
                let is_open = opened.iter().any(|prefix| tool.starts_with(prefix));
                assert!(!is_shown || !is_behind || is_open, "{name}: {who} is shown {tool}");
                let is_given = ["native", "memory"].contains(&dialect.as_str());
                assert!(!is_shown || who != "narrowed session" || is_given, "{name}: {tool}");
            }
        }
        // What the grant withholds answers as what nobody has, and an operator can see that it was tried.
        let tried = "[{(:reveille.engine/decisions {:kind :operation-refused :by \"narrow\"}) [:reveille.decision/by]}]";
        let tried = Printed::from(gate.daemon.eql(tried)).to_string();
        assert!(tried.contains("session narrow"), "{name}: {tried}");
        assert_eq!(gate.daemon.end("-TERM").code(), Some(0));
    }
}

struct Gate {
    daemon: Daemon,
    // Its directory is there as long as this.
    _home: Home,
}

impl Gate {
    fn open((name, switches, _): (&str, &str, &[&str])) -> Gate {
        let home = Home::new(&format!("gate-{name}"));
        fs::write(home.path().join("gate.toml"), format!("[primitives]\n{switches}\n")).expect("ours");
        let daemon = Daemon::start_with(&home, home.serve().args(["--config", "gate.toml"]));
        Gate { daemon, _home: home }
    }

    /// Opens a session, and returns its token.
    fn session(&self, id: &str) -> String {
        let opened = self.daemon.eql(&format!("[(psi.agent-session/open {{:session-id \"{id}\"}})]"));
        let opened = Printed::from(opened).to_string();
        opened.split('"').find(|part| part.len() == 64).expect(&opened).to_owned()
    }

    fn ask(&self, token: Option<&str>, request: &str, body: &str) -> (u16, String) {
        let reply = match token {
            Some(token) => self.daemon.ask_by(token, request, JSON, body),
            None => self.daemon.ask(request, JSON, body),
        };
        (reply.status, reply.body)
    }

    /// The tools that `GET /tools` shows, and their families.
    fn shown(&self, token: Option<&str>) -> Vec<(String, String)> {
        let (status, body) = self.ask(token, "GET /tools", "");
        assert_eq!(status, 200, "{body}");
        let tools: Value = serde_json::from_str(&body).expect("JSON");
        let text = |tool: &Value, key: &str| tool[key].as_str().expect("a text").to_owned();
        let tools = tools["tools"].as_array().expect("a list");
        tools.iter().map(|tool| (text(tool, "name"), text(tool, "dialect"))).collect()
    }

    /// The names of the tools that MCP shows, with all families on offer.
    fn over_mcp(&self, token: Option<&str>) -> Vec<String> {
        let offer: Vec<&str> = reveille::domain::Dialect::ALL.iter().map(|dialect| dialect.name()).collect();
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        let (_, body) = self.ask(token, &format!("POST /mcp?tools={}", offer.join(",")), body);
        let listed: Value = serde_json::from_str(&body).expect("JSON");
        let tools = listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{body}"));
        tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
    }

    /// The status of a call without arguments, which is no error of the caller's rights.
    fn call(&self, token: Option<&str>, tool: &str) -> u16 {
        self.ask(token, &format!("POST /tools/{tool}"), "{}").0
    }
}

/// The name of a tool as MCP's clients accept it.
fn undotted(name: &str) -> String {
    name.replace('.', "_")
}
