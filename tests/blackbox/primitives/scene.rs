//! A daemon with tools, and a session whose own token calls them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::harness::daemon::{Daemon, Home, Posted, Reply, text};
use crate::harness::stream::Stream;

pub(super) struct Scene {
    pub(super) home: Home,
    pub(super) daemon: Daemon,
    /// The host of the session `main`.
    pub(super) host: Stream,
    token: String,
}

pub(super) const JSON: &[&str] = &["Content-Type: application/json"];

impl Scene {
    /// A daemon with these tools in its configuration, where `HOME` is its directory.
    pub(super) fn new(name: &str, tools: &str) -> Scene {
        Scene::living_in(Home::new(name), tools, &[])
    }

    /// The same in a directory that is there already, with this environment.
    pub(super) fn living_in(home: Home, tools: &str, environment: &[(&str, &Path)]) -> Scene {
        let directory = home.path().display().to_string();
        fs::write(home.path().join("tools.toml"), tools.replace("HOME", &directory)).expect("ours");
        fs::create_dir(home.path().join("open")).expect("ours");
        let mut serve = home.serve();
        serve.args(["--config", "tools.toml"]).envs(environment.iter().copied());
        let daemon = Daemon::start_with(&home, &mut serve);
        let mut host = Stream::connect(&daemon.socket).expect("it listens");
        host.ask("{:op :host/attach :sessions []}").expect("it lives");
        let opened = host.ask("{:op :session/open :session-id \"main\"}").expect("it lives");
        let token = text(&opened, &["ok", "token"]).expect("a token").to_owned();
        Scene { home, daemon, host, token }
    }

    /// A call by the session's own token.
    pub(super) fn call(&self, tool: &str, body: &str) -> Reply {
        self.daemon.ask_by(&self.token, &format!("POST /tools/{tool}"), JSON, body)
    }

    /// A call by an operator for the session, whose answer is not read yet.
    pub(super) fn begin(&self, tool: &str, body: &str) -> Posted {
        let headers = [JSON[0], "Reveille-Session: main"];
        self.daemon.post(&format!("POST /tools/{tool}"), &headers, body)
    }

    /// Calls one tool, and returns its result as JSON.
    pub(super) fn result(&self, tool: &str, params: &str) -> serde_json::Value {
        let body = format!("{{\"actions\":[{{\"name\":{tool:?},\"params\":{params}}}]}}");
        let reply = self.call("run_parallel", &body);
        assert_eq!(reply.status, 200, "{}", reply.body);
        let answer: serde_json::Value = serde_json::from_str(&reply.body).expect("JSON");
        answer["results"][0].clone()
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }
}
