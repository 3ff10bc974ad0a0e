//! Qwen Code: each window listens at a socket, and gives the processes that it starts a token for it.
//!
//! The waiter was started by a hook, so it has both in its environment. What comes with that token goes to the model at once,
//! marked as coming from a process of the window and not from the user. A message names the conversation that it is for: a
//! window that has gone on with another one refuses it. No hook is shown it; the window writes it down in the conversation when
//! the model gets it, and that is the receipt.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use super::words;

use crate::app::config::environment::Environment;
use crate::app::mcp::processes;
use crate::dialect::REQUEST_CAPS;
use crate::edn::{Map, Value};
use crate::surface::json;

/// Sends a prompt to the window. The error says why that failed.
pub(super) fn send(conversation: &str, prompt: &str) -> Result<(), String> {
    let (Some(socket), Some(token)) = (Environment::value(SOCKET), Environment::value(TOKEN)) else {
        return Err("its window listens at no socket: agents.crossSessionMessaging may be off".to_owned());
    };
    let auth = frame("auth").with("token", token);
    let message = Map::new().with("role", "user").with("content", prompt);
    let message = frame("user")
        .with("msgId", id())
        .with("toSessionId", conversation)
        .with("priority", "next")
        .with("message", message);
    let mut lines = String::new();
    for line in [auth, message] {
        json::write(&Value::from(line), &mut lines);
        lines.push('\n');
    }
    exchange(&socket, &lines).map_err(|error| format!("its window does not listen: {error}"))
}

/// The runs whose prompts are at the end of a conversation, the newest last: a line of JSON for each message.
pub(super) fn shown(transcript: &Path) -> Vec<String> {
    let lines = end_of(transcript).unwrap_or_default();
    lines.lines().filter(|line| line.contains(words::MARK)).filter_map(runs).flatten().collect()
}

fn runs(line: &str) -> Option<Vec<String>> {
    let line = json::read(line.as_bytes(), &REQUEST_CAPS).ok()?;
    let line = line.as_map()?;
    // What the model says about a prompt is no prompt.
    line.text("type").and_then(Value::as_str).filter(|by| *by == "user")?;
    let parts = line.text("message")?.as_map()?.text("parts")?.as_items()?;
    let texts = parts.iter().filter_map(|part| part.as_map()?.text("text")?.as_str());
    // A window writes what could end the envelope in another way.
    Some(texts.flat_map(words::runs).map(|run| run.replace("&lt;", "<")).collect())
}

/// The end of a file, and maybe a part of a line before it.
fn end_of(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let start = file.metadata()?.len().saturating_sub(END_BYTES);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    // Bounded, because the window may write on meanwhile.
    file.take(END_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn frame(kind: &str) -> Map {
    Map::new().with("msgV", 1).with("type", kind)
}

/// The id of the message: a waiter sends one.
fn id() -> String {
    let pid = std::process::id();
    let started = processes::started(pid).unwrap_or_default();
    let plain = started.chars().filter(char::is_ascii_alphanumeric);
    format!("reveille-{pid}-{}", plain.collect::<String>())
}

/// Says the lines, and waits until the window has read them.
fn exchange(socket: &str, lines: &str) -> io::Result<()> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(lines.as_bytes())?;
    stream.shutdown(Shutdown::Write)?;
    // It never answers; it closes the connection.
    stream.read_to_end(&mut Vec::new()).map(drop)
}

const SOCKET: &str = "QWEN_CODE_MESSAGING_SOCKET";
const TOKEN: &str = "QWEN_CODE_MESSAGING_TOKEN";
const PATIENCE: Duration = Duration::from_secs(10);
/// What is read of a conversation: the longest prompt, many times.
const END_BYTES: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_are_found_in_what_a_window_writes_and_the_models_words_are_not() {
        let line = |by: &str, text: &str| {
            let part = Map::new().with("text", text);
            let message = Map::new().with("parts", vec![Value::from(part)]);
            let mut line = String::new();
            json::write(&Map::new().with("type", by).with("message", message).into(), &mut line);
            line
        };
        let shown = "<cross_session_message from=\"own process\">\n[Reveille] run a&lt;b~1~x\n\nLook.";
        assert_eq!(runs(&line("user", shown)), Some(vec!["a<b~1~x".to_owned()]));
        assert_eq!(runs(&line("assistant", shown)), None);
        assert_eq!(runs("rest of a line\"}"), None);
    }
}
