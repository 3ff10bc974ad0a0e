//! The transcripts of `docs/first-ten-minutes.md`, played against the real binary: each section in a home of its own.
//!
//! A block marked `console` is played, one marked `console recorded` is not. In what a command prints, `…` stands for
//! anything, a line of its own for any lines; ids, instants, tokens and addresses are compared as such. A command that ends
//! in `&` is waited for until it has printed what is shown. `UPDATE=1` writes down what was printed instead, but for what
//! is still true and has a `…` in it.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

const PAGE: &str = "docs/first-ten-minutes.md";
const PATIENCE: Duration = Duration::from_secs(60);
const ENDED: &str = "=ended=";
const ADDRESS: &str = "127.0.0.1:7517";

#[test]
#[ignore = "needs bash, curl and sqlite3: .ci/check clients"]
#[expect(clippy::disallowed_methods, reason = "UPDATE=1 is how a person asks for the page to be written")]
fn the_first_ten_minutes_are_as_written() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    let page = fs::read_to_string(&file).expect("the page is there");
    let (mut played, mut faults, mut shell) = (String::new(), String::new(), None);
    let mut lines = page.lines().peekable();
    let mut commands = 0;
    while let Some(line) = lines.next() {
        let _ = writeln!(played, "{line}");
        if line.starts_with("## ") {
            shell = None;
        }
        if line != "```console" {
            continue;
        }
        let shell = shell.get_or_insert_with(Shell::start);
        while let Some(first) = lines.next_if(|line| line.starts_with("$ ")) {
            let (mut command, mut shown) = (vec![first], Vec::new());
            while let Some(more) = lines.next_if(|line| line.starts_with("> ")) {
                command.push(more);
            }
            while let Some(output) = lines.next_if(|line| !line.starts_with("$ ") && *line != "```") {
                shown.push(output.to_owned());
            }
            let printed = shell.run(&command, shown.len());
            commands += 1;
            if !agree(&shown, &printed) {
                let _ = writeln!(
                    faults,
                    "{}\nshown:\n{}\nprinted:\n{}\n",
                    first,
                    shown.join("\n"),
                    printed.join("\n")
                );
                shown = printed;
            } else if !shown.concat().contains('…') {
                // The page is of one run, so that an id is the same from line to line.
                shown = printed;
            }
            for line in command.into_iter().map(str::to_owned).chain(shown) {
                let _ = writeln!(played, "{line}");
            }
        }
    }
    assert!(commands > 20, "{commands} commands are few");
    if std::env::var("UPDATE").is_ok() {
        fs::write(&file, played).expect("the page can be written");
    } else {
        assert!(faults.is_empty(), "{PAGE} is out of date: see what changed, then UPDATE=1\n\n{faults}");
    }
}

/// A shell in an empty home, with a port of its own.
struct Shell {
    child: Child,
    input: ChildStdin,
    printed: Receiver<String>,
    address: String,
}

impl Shell {
    fn start() -> Shell {
        let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("first-ten-minutes");
        let _ = fs::remove_dir_all(&home);
        fs::create_dir_all(&home).expect("there is room");
        let free = TcpListener::bind("127.0.0.1:0").and_then(|port| port.local_addr()).expect("a free port");
        let binary = PathBuf::from(env!("CARGO_BIN_EXE_reveille"));
        let binaries = binary.parent().expect("a directory").display();
        let mut command = Command::new("bash");
        command.args(["--noprofile", "--norc"]).current_dir(&home).env_clear().env("HOME", &home);
        command.env("PATH", format!("{binaries}:/usr/local/bin:/usr/bin:/bin")).env("LC_ALL", "C.UTF-8");
        command.env("REVEILLE_LISTEN", free.to_string()).env("REVEILLE_URL", format!("http://{free}"));
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("there is a bash");
        let mut input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, printed) = channel();
        std::thread::spawn(move || {
            output.lines().map_while(Result::ok).all(|line| sender.send(line).is_ok())
        });
        // Both outputs are one screen; jobs are numbered as they are for a person.
        writeln!(input, "exec 2>&1; set -m").expect("it reads");
        Shell { child, input, printed, address: free.to_string() }
    }

    /// What a command prints up to its end; of one that goes on, as many lines as are shown.
    fn run(&mut self, command: &[&str], shown: usize) -> Vec<String> {
        let text: Vec<String> =
            command.iter().map(|line| line[2..].replace(ADDRESS, &self.address)).collect();
        let goes_on = text.last().is_some_and(|line| line.ends_with('&'));
        writeln!(self.input, "{}\nprintf '\\n{ENDED}\\n'", text.join("\n")).expect("it reads");
        let (mut printed, mut has_ended) = (Vec::new(), false);
        while !has_ended
            || (goes_on && printed.iter().filter(|line: &&String| !line.is_empty()).count() < shown)
        {
            match self.printed.recv_timeout(PATIENCE) {
                Ok(line) if line == ENDED => has_ended = true,
                Ok(line) => printed.push(line.replace(&self.address, ADDRESS)),
                Err(_) => {
                    printed.push(format!("(nothing more within {PATIENCE:?})"));
                    break;
                }
            }
        }
        if goes_on {
            printed.retain(|line| !line.is_empty());
        }
        while printed.last().is_some_and(String::is_empty) {
            printed.pop();
        }
        printed
    }
}

impl Drop for Shell {
    /// Whatever it left running ends with it.
    fn drop(&mut self) {
        let _ = writeln!(self.input, "kill -9 $(jobs -p); exit");
        let _ = self.child.wait();
    }
}

/// Whether what is shown is what was printed.
fn agree(shown: &[String], printed: &[String]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((line, rest)) if line == "…" => (0..=printed.len()).any(|skip| agree(rest, &printed[skip..])),
        Some((line, rest)) => {
            let same = |found: &String| fits(line, found) || fits(&masked(line), &masked(found));
            printed.split_first().is_some_and(|(found, others)| same(found) && agree(rest, others))
        }
    }
}

/// Whether a line is as shown, where `…` is anything.
fn fits(shown: &str, line: &str) -> bool {
    match shown.split_once('…') {
        None => shown == line,
        Some((start, rest)) => line.strip_prefix(start).is_some_and(|line| {
            line.char_indices().map(|(at, _)| at).chain([line.len()]).any(|at| fits(rest, &line[at..]))
        }),
    }
}

/// A line with everything that is another one each time under the name of its kind, and with single spaces.
fn masked(line: &str) -> String {
    let (mut text, mut rest) = (String::new(), line);
    while let Some(first) = rest.chars().next() {
        let kinds = [
            (id(rest), "ID"),
            (brief_run(rest), "RUN"),
            (instant(rest), "INSTANT"),
            (day(rest), "DAY"),
            (lateness(rest), "LATENESS"),
            (token(rest), "TOKEN"),
            (address(rest), "ADDRESS"),
        ];
        let kind = kinds.into_iter().find(|(length, _)| *length > 0);
        let (length, name) = kind.unwrap_or_else(|| (first.len_utf8(), &rest[..first.len_utf8()]));
        if name != " " || !text.ends_with(' ') {
            text.push_str(name);
        }
        rest = &rest[length..];
    }
    text
}

fn leading(text: &str, is_such: impl Fn(char) -> bool) -> usize {
    text.find(|found| !is_such(found)).unwrap_or(text.len())
}

fn id(text: &str) -> usize {
    text.strip_prefix("sch-").map_or(0, |rest| {
        match leading(rest, |it| it.is_ascii_hexdigit() || it == '-') {
            36 => 40,
            _ => 0,
        }
    })
}

/// A run's id in its short form: `sch.`, then letters and digits with `~` and `.` between them.
fn brief_run(text: &str) -> usize {
    let is_part = |it: char| it.is_ascii_alphanumeric() || it == '~' || it == '.';
    text.strip_prefix("sch.").map_or(0, |rest| 4 + leading(rest, is_part))
}

fn instant(text: &str) -> usize {
    let shape = "0000-00-00T00:00:00";
    let digit = |it: char| if it.is_ascii_digit() { '0' } else { it };
    if !text.chars().map(digit).take(shape.len()).eq(shape.chars()) {
        return 0;
    }
    let end = shape.len() + leading(&text[shape.len()..], |it| it.is_ascii_digit() || it == '.');
    let zone = ["Z", "-00:00"].into_iter().find(|zone| text[end..].starts_with(zone));
    end + zone.map_or(0, str::len)
}

/// `sunday 22 November 2026 at 11:42:08`, up to the zone.
fn day(text: &str) -> usize {
    let days = ["monday ", "tuesday ", "wednesday ", "thursday ", "friday ", "saturday ", "sunday "];
    let is_date = |rest: &str| rest.starts_with(|it: char| it.is_ascii_digit());
    match days.iter().any(|day| text.strip_prefix(day).is_some_and(is_date)) {
        true => text.find(" (").unwrap_or(0),
        false => 0,
    }
}

/// `1.024 s late`, `"late_ms":1024`.
fn lateness(text: &str) -> usize {
    let key = "\"late_ms\":";
    if let Some(number) = text.strip_prefix(key) {
        return key.len() + leading(number, |it| it.is_ascii_digit());
    }
    let number = leading(text, |it| it.is_ascii_digit() || it == '.');
    if number > 0 && text[number..].starts_with(" s late") { number } else { 0 }
}

fn token(text: &str) -> usize {
    match leading(text, |it| it.is_ascii_hexdigit()) {
        64 => 64,
        _ => 0,
    }
}

fn address(text: &str) -> usize {
    let host = "127.0.0.1:";
    text.strip_prefix(host).map_or(0, |port| host.len() + leading(port, |it| it.is_ascii_digit()))
}

#[test]
fn what_is_shown_is_compared_as_it_should_be() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let same = |shown: &str, printed: &str| agree(&lines(shown), &lines(printed));
    assert!(same("a\n…\nd", "a\nb\nc\nd") && same("…\nd", "d") && !same("a\n…\nd", "a\nb"));
    assert!(
        same("at 2026-11-22T11:00:00Z", "at   2025-01-02T03:04:05.678Z")
            && !same("at 2026-11-22", "at 2025-01-02")
    );
    assert!(same("ready http://127.0.0.1:7517", "ready http://127.0.0.1:40123"));
    assert!(same("x … z", "x y z") && !same("x … z", "x y") && !same("1 pending", "2 pending"));
    assert!(same(
        "1.024 s late, on sunday 22 November 2026 at 11:42:08 (UTC)",
        "0.9 s late, on monday 1 May 2027 at 9 (UTC)"
    ));
    assert!(same("\"late_ms\":5,", "\"late_ms\":1024,") && !same("5 s early", "6 s early"));
    let id = "sch-0198c2f4-0000-7000-8000-000000000001";
    assert!(same(id, &id.replace('1', "2")) && !same(id, "sch-none"));
}
