//! A panic of any thread ends the daemon.
//!
//! A daemon that has lost a thread looks alive and wakes nobody. A restart is safe: that is what the store is for.

use std::panic::{set_hook, take_hook};
use std::process::abort;

use crate::adapter::end_groups;

/// Makes the first panic of any thread end the process, with its message in the log.
pub(in crate::app) fn end_the_process() {
    let print = take_hook();
    set_hook(Box::new(move |panic| {
        // On stderr first, which needs no thread but this one.
        print(panic);
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(target: "reveille", place, "a thread panicked; the daemon ends, and should be started again");
        end_groups();
        abort();
    }));
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// The name of the variable that makes this test's own program the one that panics.
    const CHILD: &str = "REVEILLE_TEST_PANICS";

    #[test]
    fn a_thread_that_panics_takes_the_process_with_it() {
        if std::env::var_os(CHILD).is_some() {
            end_the_process();
            // A panic of a thread that nobody joins would otherwise end that thread alone.
            let _ = std::thread::spawn(|| panic!("a defect")).join();
            return;
        }
        let program = std::env::current_exe().expect("this test's own program");
        let name = "app::serve::panics::tests::a_thread_that_panics_takes_the_process_with_it";
        let ended = Command::new(program).args(["--exact", name, "--nocapture"]).env(CHILD, "1").output();
        let ended = ended.expect("it starts");
        assert_eq!(ended.status.code(), None, "it ended by a signal: {:?}", ended.status);
        assert!(String::from_utf8_lossy(&ended.stderr).contains("a defect"), "{ended:?}");
    }
}
