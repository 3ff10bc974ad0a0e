//! Agents' own conversations: a daemon, a fake agent that does as it is told, and what both show of it afterwards.

pub(crate) mod fake;
mod faults;
mod kills;
mod permissions;
mod reach;
mod traps;
mod trial;
mod turns;
mod window_kills;
mod windows;

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use reveille::edn::Value;

use crate::harness::ask::create_in;
use crate::harness::daemon::{Daemon, Home, until};
use crate::harness::stream::Stream;

const PATIENCE: Duration = Duration::from_secs(20);

/// A daemon with the fake agent.
pub(crate) struct Scene {
    pub(crate) home: Home,
    pub(crate) daemon: Daemon,
    pub(crate) stream: Stream,
}

impl Scene {
    /// Starts a daemon whose agent `fake` is configured with these lines as well.
    pub(crate) fn new(name: &str, mode: &str, lines: &str) -> Scene {
        let home = Home::new(&format!("agents-{name}"));
        fs::create_dir_all(home.path().join("agent")).expect("a directory");
        fs::create_dir_all(home.path().join("work")).expect("a directory");
        let program = std::env::current_exe().expect("a program");
        let configuration = format!(
            "[agents.fake]\ncommand = [{program:?}, \"--exact\", \"agents::fake::serve\", \"--nocapture\"]\n\
             env = {{ {variable} = {agent:?}, API_KEY = \"sk-of-the-test\" }}\nenvironment = [\"PATH\", \"ABSENT\"]\n\
             start = \"5s\"\nopen = \"2s\"\nsilence = \"1s\"\nturn = \"5s\"\ngrace = \"500ms\"\nidle = \"300ms\"\n\
             probe = \"100ms\"\n\
             backoff = \"50ms\"\nmode = \"ask\"\nresume = \"when-unknown\"\n{lines}\n",
            variable = fake::HOME,
            agent = home.path().join("agent"),
        );
        fs::write(home.path().join("agents.toml"), configuration).expect("ours");
        fs::write(home.path().join("agent/mode"), mode).expect("ours");
        let daemon = Scene::start(&home);
        let stream = Stream::connect(&daemon.socket).expect("it lives");
        Scene { home, daemon, stream }
    }

    fn start(home: &Home) -> Daemon {
        let mut serve = home.serve();
        Daemon::start_with(
            home,
            serve
                .env("PATH", "/usr/bin:/bin")
                .env("SECRET_OF_THE_DAEMON", "x")
                .args(["--config", "agents.toml"]),
        )
    }

    /// Kills the daemon as `kill -9` does, and starts it again.
    pub(crate) fn kill_and_start(self) -> Scene {
        let Scene { home, daemon, stream } = self;
        drop(stream);
        daemon.kill();
        let daemon = Scene::start(&home);
        let stream = Stream::connect(&daemon.socket).expect("it lives");
        Scene { home, daemon, stream }
    }

    /// Starts the daemon again, with patience for an agent that says nothing for a while.
    pub(crate) fn patient(self) -> Scene {
        let file = self.home.path().join("agents.toml");
        let text = fs::read_to_string(&file).expect("ours");
        fs::write(&file, text.replace("silence = \"1s\"", "silence = \"60s\"")).expect("ours");
        self.kill_and_start()
    }

    /// Opens a session whose conversation exists, with this in it.
    pub(crate) fn open(&mut self, session: &str, said: &str) {
        let conversation = format!("old-{session}");
        let lines = [("user_message_chunk", said), ("agent_message_chunk", "Noted.")];
        let lines = lines.map(|(by, text)| serde_json::json!({ "by": by, "text": text }).to_string() + "\n");
        fs::write(self.file(&format!("{conversation}.jsonl")), lines.concat()).expect("ours");
        self.open_at(session, &format!("fake:{conversation}"));
    }

    pub(crate) fn open_at(&mut self, session: &str, address: &str) {
        let work = self.home.path().join("work");
        let open =
            format!("{{:op :session/open :session-id {session:?} :address {address:?} :directory {work:?}}}");
        let answer = self.stream.ask(&open).expect("it lives");
        assert!(answer.keyword("ok").is_some(), "{answer:?}");
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.home.path().join("agent").join(name)
    }

    pub(crate) fn lines(&self, name: &str) -> Vec<String> {
        fs::read_to_string(self.file(name)).unwrap_or_default().lines().map(ToOwned::to_owned).collect()
    }

    pub(crate) fn mode(&self, mode: &str) {
        fs::write(self.file("mode"), mode).expect("ours");
    }

    /// A durable one-shot that is due in a moment; its id.
    pub(crate) fn create(&mut self, session: &str, text: &str) -> String {
        let rest = format!(":message {text:?} :durability :durable :delay-ms 1000");
        create_in(&mut self.stream, session, &rest).expect("it is created")
    }

    /// Status, reason, and the state and reason of the last run of a schedule.
    pub(crate) fn shown(&self, schedule: &str) -> String {
        let query = format!(
            "[{{[:psi.scheduler/schedule-id {schedule:?}] [:psi.scheduler/status :psi.scheduler/reason \
             {{:psi.scheduler/runs [:reveille.run/state :reveille.run/reason :reveille.run/error]}}]}}]"
        );
        Value::from(self.daemon.eql(&query)).to_string()
    }

    pub(crate) fn session(&self, session: &str, attribute: &str) -> String {
        let query = format!("[{{[:psi.agent-session/session-id {session:?}] [{attribute}]}}]");
        Value::from(self.daemon.eql(&query)).to_string()
    }

    pub(crate) fn await_shown(&self, schedule: &str, part: &str) {
        let mut last = String::new();
        let found = crate::harness::daemon::eventually(PATIENCE, || {
            last = self.shown(schedule);
            last.contains(part)
        });
        assert!(
            found.is_some(),
            "{part} is not in {last}\n{}\nlines: {:#?}",
            self.daemon.log(),
            self.lines("lines")
        );
    }

    /// How often the agent got a prompt with this text.
    pub(crate) fn prompted(&self, text: &str) -> usize {
        self.lines("prompts").iter().filter(|prompt| prompt.contains(text)).count()
    }

    pub(crate) fn await_processes_gone(&self) {
        let processes: Vec<String> = self
            .lines("starts")
            .iter()
            .filter_map(|line| line.split(' ').next().map(ToOwned::to_owned))
            .chain(self.lines("children"))
            .collect();
        assert!(!processes.is_empty(), "none was started");
        until("all processes are gone", PATIENCE, || !processes.iter().any(|process| is_alive(process)));
    }
}

/// Whether a process lives, and is not merely not waited for.
pub(crate) fn is_alive(process: &str) -> bool {
    let state = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = state.rsplit(") ").next().unwrap_or_default();
    !state.is_empty() && !state.starts_with('Z')
}
