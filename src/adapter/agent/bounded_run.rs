//! Runs a program that is to print something and end, and ends it if it takes too long.
//!
//! Invariant: the caller waits no longer than it has said, whatever the program does with its output and with itself.

use std::io::Read as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::channel;
use std::thread::Builder;
use std::time::Duration;

use rustix::io::retry_on_intr;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// Returns what a program prints, at most the first `most` bytes of it, and how it ended; `None` if it cannot be started, or has
/// not ended within `time`.
pub(crate) fn bounded_run(command: &mut Command, most: u64, time: Duration) -> Option<(Vec<u8>, ExitStatus)> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let printed = printed(&mut child, most, time);
    if printed.is_none() {
        // It may have ended by itself.
        let _ = child.kill();
    }
    // It has ended, so this only fetches its status.
    let ended = child.wait().ok()?;
    Some((printed?, ended))
}

/// Waits until a program has printed everything and has ended.
fn printed(child: &mut Child, most: u64, time: Duration) -> Option<Vec<u8>> {
    let output = child.stdout.take()?;
    let pid = Pid::from_raw(i32::try_from(child.id()).ok()?)?;
    let (done, printed) = channel();
    let read = move || {
        let mut text = Vec::new();
        // Closes the output afterwards: a program that prints more gets an error, and does not wait for a reader.
        let read = output.take(most).read_to_end(&mut text);
        // A program may close its output and live on. Its status stays for `Child::wait`, so its id is not given to another
        // process that would be killed then.
        let ended = retry_on_intr(|| waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT));
        let is_whole = read.is_ok() && ended.is_ok();
        // Nobody may wait any more.
        let _ = done.send(is_whole.then_some(text));
    };
    // On a thread of its own, because neither the read nor the wait has a time limit.
    Builder::new().name("reveille-output".into()).spawn(read).ok()?;
    printed.recv_timeout(time).ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asserts what is printed by a script that has a long time, or almost none.
    #[track_caller]
    fn check(script: &str, time: Duration, expected: Option<(&str, bool)>) {
        let found = bounded_run(Command::new("/bin/sh").args(["-c", script]), 5, time);
        let found = found.map(|(text, ended)| (String::from_utf8(text).expect("text"), ended.success()));
        assert_eq!(found.as_ref().map(|(text, is_good)| (&**text, *is_good)), expected, "{script}");
    }

    #[test]
    fn a_program_is_not_waited_for_longer_than_its_time() {
        let (long, short) = (Duration::from_secs(60), Duration::from_millis(100));
        check("echo 1234", long, Some(("1234\n", true)));
        check("echo 12345678", long, Some(("12345", true)));
        check("echo 1; exit 3", long, Some(("1\n", false)));
        check("exec sleep 10", short, None);
        check("exec >&-; exec sleep 10", short, None);
        assert!(bounded_run(&mut Command::new("/no/such/program"), 5, long).is_none());
    }
}
