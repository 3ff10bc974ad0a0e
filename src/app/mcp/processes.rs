//! Processes of this machine: the one that has started this one, and when one began.

use std::fs;
use std::process::Command;

use rustix::process::getppid;

use crate::service::AgentProcess;

/// The process that has started this one; `None` if that one is gone.
pub(in crate::app) fn parent() -> Option<u32> {
    let parent = getppid().and_then(|pid| u32::try_from(pid.as_raw_nonzero().get()).ok());
    // The first process adopts those whose parent has ended.
    parent.filter(|pid| *pid > 1)
}

/// When a process began, in the words of the operating system; `None` if there is none of this number. With it, a number that
/// is used again is told apart from the process that had it before.
pub(in crate::app) fn started(pid: u32) -> Option<String> {
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => since_boot(&stat).map(str::to_owned),
        Err(_) => by_ps(pid),
    }
}

/// Whether a process still runs, and is not another one of its number.
pub(in crate::app) fn is_running(process: &AgentProcess) -> bool {
    started(process.pid).as_deref() == Some(&*process.started)
}

/// The ticks between the start of the machine and that of a process: the 22nd field. The second one is a name in
/// parentheses, which may have blanks and parentheses of its own. `None` for a process that has ended, and is listed because its
/// parent has not asked how.
fn since_boot(stat: &str) -> Option<&str> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let is_running = fields.next()? != ENDED;
    fields.nth(AFTER_STATE).filter(|_| is_running)
}

/// What `ps` prints, where there is no /proc.
fn by_ps(pid: u32) -> Option<String> {
    let printed = Command::new("ps").args(["-o", "lstart=", "-p", &pid.to_string()]).output().ok()?;
    let text = String::from_utf8(printed.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// The state of a process that has ended: a zombie.
const ENDED: &str = "Z";
/// The place of the 22nd field behind the third, which is the state.
const AFTER_STATE: usize = 18;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_hides_no_field() {
        let stat = "42 (a) b (c)) S 1 42 42 0 -1 4194304 1 0 0 0 1 1 0 0 20 0 1 0 987654 1 1";
        assert_eq!(since_boot(stat), Some("987654"));
        assert_eq!(since_boot("42"), None);
        assert_eq!(since_boot(&stat.replace(" S ", " Z ")), None, "it has ended");
    }

    #[test]
    fn this_process_has_a_start_and_one_that_is_none_has_not() {
        assert!(started(std::process::id()).is_some());
        assert_eq!(started(u32::MAX), None);
    }
}
