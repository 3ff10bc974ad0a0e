//! Prepares the measuring programs: builds them, or installs them below the target directory.
//!
//! Invariant: a failure to prepare one is a reason in words, printed below the table; it never ends
//! a run.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A measuring program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Program {
    /// A benchmark of Reveille that can run as a child.
    Bench(&'static str),
    /// A package of this workspace.
    Rust(&'static str),
    /// A file in `node/`.
    Node(&'static str),
    /// A server in `node/` that `peer-web` starts and queries.
    Asked(&'static str),
    /// A file in `python/`.
    Python(&'static str),
    /// A file in `clojure/`.
    Clojure(&'static str),
}

/// The command line that starts a program.
pub(crate) type Start = Vec<OsString>;

/// The directories, and the programs prepared so far.
pub(crate) struct Workshop {
    /// This workspace.
    peers: PathBuf,
    /// The product.
    product: PathBuf,
    /// The directory of installed environments.
    installed: PathBuf,
    ready: BTreeMap<Program, Result<Start, String>>,
    is_quick: bool,
}

impl Workshop {
    pub(crate) fn new(is_quick: bool) -> Workshop {
        let peers =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("it was built there");
        let product = peers.join("../..").canonicalize().expect("it is above its benches");
        let target = target().unwrap_or_else(|| peers.join("target"));
        Workshop { product, installed: target.join("peers"), peers, ready: BTreeMap::new(), is_quick }
    }

    /// Reveille's directory.
    pub(crate) fn product(&self) -> String {
        self.product.to_string_lossy().into_owned()
    }

    /// The path of the written table.
    pub(crate) fn result(&self) -> PathBuf {
        self.product.join("docs/bench/RESULT.md")
    }

    /// The command line of a program, or the reason why it cannot be prepared. Each is prepared
    /// once.
    pub(crate) fn ready(&mut self, program: Program) -> Result<Start, String> {
        if let Some(known) = self.ready.get(&program) {
            return known.clone();
        }
        eprintln!("making ready: {program:?}");
        let made = match program {
            Program::Bench(name) => built(&self.product, &["bench", "--no-run", "--bench", name], name),
            Program::Rust(name) => built(&self.peers, &["build", "--release", "--package", name], name),
            Program::Node(script) => self.node(script),
            Program::Asked(script) => self.asked(script),
            Program::Python(script) => self.python(script),
            Program::Clojure(script) => self.clojure(script),
        };
        self.ready.insert(program, made.clone());
        made
    }

    fn node(&self, script: &str) -> Result<Start, String> {
        has("node", "--version")?;
        // BullMQ stores its jobs in Redis.
        if script == "bullmq.mjs" {
            has("redis-server", "--version")?;
        }
        let dir = self.copied("node")?;
        let mut install = Command::new("npm");
        install.args(["install", "--no-package-lock", "--no-audit", "--no-fund"]).current_dir(&dir);
        done(install)?;
        Ok(vec!["node".into(), dir.join(script).into()])
    }

    /// Its own arguments come before the server's path.
    fn asked(&mut self, script: &str) -> Result<Start, String> {
        let mut start = self.ready(Program::Rust("peer-web"))?;
        let server = self.node(script)?.pop();
        start.push("http".into());
        start.push("mercurius".into());
        start.extend(server);
        Ok(start)
    }

    fn python(&self, script: &str) -> Result<Start, String> {
        has("python3", "--version")?;
        let dir = self.copied("python")?;
        let python = dir.join("venv/bin/python");
        if !python.exists() {
            let mut make = Command::new("python3");
            make.args(["-m", "venv", "venv"]).current_dir(&dir);
            done(make)?;
        }
        let mut install = Command::new(&python);
        let quietly =
            ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", "requirements.txt"];
        install.args(quietly).current_dir(&dir);
        done(install)?;
        Ok(vec![python.into(), dir.join(script).into()])
    }

    /// Clojure reads its text from a file; its first rounds warm up the JIT compiler.
    fn clojure(&mut self, script: &str) -> Result<Start, String> {
        has("clojure", "-e 1")?;
        let start = self.ready(Program::Rust("peer-notation"))?;
        let mut print = Command::new(&start[0]);
        print.arg("--text").args(self.is_quick.then_some("--quick"));
        let text = print.output().map_err(|fault| fault.to_string())?.stdout;
        let path = self.copied("clojure")?.join("schedules.edn");
        std::fs::write(&path, text).map_err(|fault| fault.to_string())?;
        let rounds = if self.is_quick { "20" } else { "50" };
        Ok(vec!["clojure".into(), self.peers.join("clojure").join(script).into(), path.into(), rounds.into()])
    }

    /// Copies a directory to where packages may be installed beside it: the sources stay clean.
    fn copied(&self, name: &str) -> Result<PathBuf, String> {
        let (from, to) = (self.peers.join(name), self.installed.join(name));
        let copy = || {
            std::fs::create_dir_all(&to)?;
            for file in std::fs::read_dir(&from)? {
                let file = file?;
                if file.file_type()?.is_file() {
                    std::fs::copy(file.path(), to.join(file.file_name()))?;
                }
            }
            Ok::<_, std::io::Error>(())
        };
        copy().map_err(|fault| format!("{name} cannot be copied: {fault}"))?;
        Ok(to)
    }
}

/// The target directory from the environment, if set. Made absolute, because it is relative to
/// where we were started.
fn target() -> Option<PathBuf> {
    std::path::absolute(std::env::var_os("CARGO_TARGET_DIR")?).ok()
}

/// Builds a program with cargo, and takes its path from cargo's messages.
fn built(workspace: &Path, words: &[&str], name: &str) -> Result<Start, String> {
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build.args(words).arg("--message-format=json-render-diagnostics").current_dir(workspace);
    build.envs(target().map(|path| ("CARGO_TARGET_DIR", path)));
    // Cargo set these variables for our own package. Build scripts that read them would run again,
    // with everything that depends on them.
    let ours = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_", "CARGO_PRIMARY_"];
    let told = std::env::vars_os().map(|(name, _)| name);
    for name in told.filter(|name| ours.iter().any(|start| name.to_string_lossy().starts_with(start))) {
        build.env_remove(name);
    }
    let output = build.stderr(Stdio::inherit()).output().map_err(|fault| format!("no cargo: {fault}"))?;
    if !output.status.success() {
        return Err(format!("`cargo {}` failed", words.join(" ")));
    }
    let found = String::from_utf8_lossy(&output.stdout).lines().find_map(|line| {
        let said: serde_json::Value = serde_json::from_str(line).ok()?;
        let is_it = said["target"]["name"] == name;
        said["executable"].as_str().filter(|_| is_it).map(OsString::from)
    });
    found.map(|path| vec![path]).ok_or_else(|| format!("cargo built no {name}"))
}

/// Checks that a program is installed.
///
/// # Errors
///
/// The reason, if it is not.
pub(crate) fn has(command: &str, words: &str) -> Result<(), String> {
    let mut ask = Command::new(command);
    ask.args(words.split(' ')).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // wrk exits with an error when asked for its version: that it starts is enough.
    ask.status().map(drop).map_err(|_| format!("`{command}` is not installed"))
}

fn done(mut command: Command) -> Result<(), String> {
    let shown = format!("{:?}", command.get_program()).replace('"', "");
    let output = command.stdin(Stdio::null()).output().map_err(|_| format!("`{shown}` is not installed"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned();
    Err(format!("`{shown}` failed: {last}"))
}
