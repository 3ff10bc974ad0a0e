//! Runs one measurement: a process that prints lines of a name and a number, within a time limit.

use std::ffi::OsString;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A figure, and its peer if the line names one: `limit/durable-1 9255`.
pub(crate) struct Line {
    pub(crate) peer: Option<String>,
    pub(crate) figure: String,
    pub(crate) value: f64,
}

/// The time limit, more than four times what any measurement takes.
const TIME_MAX: Duration = Duration::from_secs(180);

/// Runs a measurement to its end.
///
/// # Errors
///
/// The reason why there are no figures, in words.
pub(crate) fn run(start: &[OsString], words: &[&str], is_quick: bool) -> Result<Vec<Line>, String> {
    let mut command = Command::new(&start[0]);
    command.args(&start[1..]).args(words).args(is_quick.then_some("--quick"));
    // stderr is inherited: what a child complains about shows at once.
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|fault| format!("it does not start: {fault}"))?;
    let began = Instant::now();
    let status = loop {
        match child.try_wait().map_err(|fault| fault.to_string())? {
            Some(status) => break status,
            None if began.elapsed() > TIME_MAX => {
                stop(&mut child);
                return Err(format!("it took more than {} s", TIME_MAX.as_secs()));
            }
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    };
    let mut said = String::new();
    // A few lines fit into the pipe, so reading them after the end cannot block the child.
    let output = child.stdout.as_mut().expect("it was asked for");
    output.read_to_string(&mut said).map_err(|fault| fault.to_string())?;
    if !status.success() {
        return Err(format!("it ended with {status}"));
    }
    let lines: Vec<Line> = said.lines().filter_map(line).collect();
    match lines.iter().find(|line| !line.value.is_finite()) {
        Some(line) => Err(format!("its {} is {}", line.figure, line.value)),
        None if lines.is_empty() => Err("it printed no figure".to_owned()),
        None => Ok(lines),
    }
}

/// Sends SIGTERM, so that the child can end its own children, and kills it if that does not help.
fn stop(child: &mut Child) {
    let _ = Command::new("kill").arg(child.id().to_string()).status();
    std::thread::sleep(Duration::from_secs(2));
    let _ = child.kill();
    let _ = child.wait();
}

fn line(text: &str) -> Option<Line> {
    let (name, value) = text.rsplit_once(' ')?;
    let (peer, figure) = match name.split_once('/') {
        Some((peer, figure)) => (Some(peer.to_owned()), figure),
        None => (None, name),
    };
    Some(Line { peer, figure: figure.to_owned(), value: value.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_name_and_a_number() {
        let of = |text| line(text).map(|line| (line.peer.unwrap_or_default(), line.figure, line.value));
        let known = |peer: &str, figure: &str, value| Some((peer.to_owned(), figure.to_owned(), value));
        assert_eq!(of("create 1.25"), known("", "create", 1.25));
        assert_eq!(of("limit/durable-1 9255"), known("limit", "durable-1", 9_255.0));
        assert_eq!(of("Listening on 1.2.3.4:80"), None);
        assert_eq!(of("create"), None);
    }

    #[test]
    fn a_child_without_figures_is_a_reason() {
        let of = |words: &[&str]| {
            let start: Vec<OsString> = words.iter().map(Into::into).collect();
            run(&start, &[], false).map(|lines| lines.len())
        };
        assert_eq!(of(&["echo", "create 1"]), Ok(1));
        assert_eq!(of(&["echo", "nothing"]), Err("it printed no figure".to_owned()));
        assert_eq!(of(&["echo", "create inf"]), Err("its create is inf".to_owned()));
        assert!(of(&["false"]).is_err_and(|why| why.starts_with("it ended with")));
        assert!(of(&["no-such-program-of-ours"]).is_err_and(|why| why.starts_with("it does not start")));
    }
}
