//! A daemon with the fake server `s`, which is told what to do.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::fake_http::FakeHttp;
use super::fake_server;
use super::scene::Scene;
use crate::harness::daemon::until;

pub(super) struct Fake {
    pub(super) scene: Scene,
    home: PathBuf,
    http: Option<FakeHttp>,
}

impl Fake {
    /// A server that is a program.
    pub(super) fn new(name: &str, mode: &str) -> Fake {
        let home = directory(name, mode);
        let program = std::env::current_exe().expect("a program");
        let place = format!(
            "command = [{program:?}, \"--exact\", \"primitives::fake_server::serve\", \"--nocapture\"]\n\
             env = {{ {variable} = {home:?} }}\n",
            variable = fake_server::FILES,
        );
        Fake { scene: scene(name, &place), home, http: None }
    }

    /// A server that is reached over HTTP.
    pub(super) fn over_http(name: &str, mode: &str) -> Fake {
        let home = directory(name, mode);
        let http = FakeHttp::listen(&home, SocketAddr::from(([127, 0, 0, 1], 0)));
        Fake { scene: scene(name, &endpoint(&home, http.address)), home, http: Some(http) }
    }

    /// Has the server over HTTP go away, and returns where it was.
    pub(super) fn leave(&mut self) -> SocketAddr {
        self.http.take().expect("it is there").address
    }

    /// Has a server over HTTP begin, which knows nothing of the one before.
    pub(super) fn come(&mut self, address: SocketAddr) {
        self.http = Some(FakeHttp::listen(&self.home, address));
    }

    /// The directory of the server's files.
    pub(super) fn home(&self) -> &Path {
        &self.home
    }

    /// Tells the server what to do from now on.
    pub(super) fn tell(&self, mode: &str) {
        fs::write(self.home.join("mode"), mode).expect("ours");
    }

    pub(super) fn lines(&self, name: &str) -> Vec<String> {
        fs::read_to_string(self.home.join(name)).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    /// The messages with this method that it was sent.
    pub(super) fn sent(&self, method: &str) -> Vec<String> {
        let method = format!("\"method\":\"{method}\"");
        self.lines("lines").into_iter().filter(|line| line.contains(&method)).collect()
    }

    /// The last line of a file, once it is there.
    pub(super) fn last(&self, name: &str) -> String {
        until(name, Duration::from_secs(20), || !self.lines(name).is_empty());
        self.lines(name).pop().unwrap_or_default()
    }

    pub(super) fn error(&self, tool: &str) -> String {
        let result = self.scene.result(tool, "{}");
        assert_eq!(result["success"], false, "{result}");
        result["error"].as_str().unwrap_or_default().to_owned()
    }

    pub(super) fn kit(&self) -> Vec<Value> {
        let reply = self.scene.daemon.ask("GET /kit", &["Accept: application/json"], "");
        let kit: Value = serde_json::from_str(&reply.body).expect("JSON");
        let of_server = |tool: &&Value| tool["name"].as_str().is_some_and(|name| name.starts_with("s."));
        kit["tools"].as_array().expect("tools").iter().filter(of_server).cloned().collect()
    }

    pub(super) fn has_tool(&self, name: &str) -> bool {
        self.kit().iter().any(|tool| tool["name"] == name)
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.home);
    }
}

fn directory(name: &str, mode: &str) -> PathBuf {
    let home = std::env::temp_dir().join(format!("reveille-fake-server-{name}-{}", std::process::id()));
    fs::create_dir_all(&home).expect("ours");
    fs::write(home.join("mode"), mode).expect("ours");
    home
}

fn endpoint(home: &Path, address: SocketAddr) -> String {
    fs::write(home.join("token"), "t0ken\n").expect("ours");
    let token = home.join("token");
    format!("url = \"http://{address}/mcp?x=1\"\ntoken-file = {token:?}\nheaders = {{ X-Team = \"core\" }}\n")
}

fn scene(name: &str, place: &str) -> Scene {
    let configuration = format!(
        "[primitives]\nwatchers = true\nscheduler = true\n[mcp.s]\n{place}agents = [\"e*\", \"fail\", \"text\", \"slow\", \
         \"die\", \"huge\", \"twice\", \"change\", \"fresh\", \"closed\", \"meet\"]\n[mcp.s.tools.closed]\nagents = false\n\
         [mcp.s.tools.slow]\ntimeout-ms = 1000\n[tools.\"s.taken\"]\ncommand = [\"/bin/cat\"]\nagents = true\n",
    );
    Scene::new(&format!("server-{name}"), &configuration)
}
