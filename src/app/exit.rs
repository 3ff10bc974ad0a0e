//! The exit codes of the program: one table, which every command uses.
//!
//! What lives elsewhere: which error a command ends with (`fault.rs`). The one exception is `reveille hook --wait`, whose code
//! is a word of the agent's protocol (`hook/waiter.rs`).

use std::process::ExitCode;

use axum::http::StatusCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    /// It did what it was asked to do.
    Done,
    /// It was understood, and refused or failed.
    Failed,
    /// The call is invalid.
    Usage,
    /// No daemon answered.
    NoDaemon,
}

impl Exit {
    /// The table: the code of each way to end, and what it means.
    const fn row(self) -> (u8, &'static str) {
        match self {
            Exit::Done => (0, "done, or answered"),
            Exit::Failed => (1, "refused, failed, or about something that does not exist"),
            Exit::Usage => (2, "the call is invalid"),
            Exit::NoDaemon => (2, "no daemon answered; this is not an empty list"),
        }
    }

    /// The code for the shell.
    pub(super) const fn code(self) -> u8 {
        self.row().0
    }

    /// How a command ends that prints its answer, which says itself whether it is an error.
    pub(super) fn of_answer(is_error: bool) -> Exit {
        if is_error { Exit::Failed } else { Exit::Done }
    }

    /// How a command ends whose request got this status, with an error that is no answer of a tool or a query.
    pub(super) fn of_status(status: StatusCode) -> Exit {
        match status.as_u16() {
            200..300 => Exit::Done,
            // The request itself is wrong, so that it would be refused again.
            400 | 404 | 413 | 415 => Exit::Usage,
            _ => Exit::Failed,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Exit; 4] = [Exit::Done, Exit::Failed, Exit::Usage, Exit::NoDaemon];

    #[test]
    fn the_table_is_in_the_page_for_operators() {
        let page = include_str!("../../docs/OPERATIONS.md");
        for (code, meaning) in ALL.map(Exit::row) {
            assert!(page.contains(&format!("| {code} | {meaning} |\n")), "{code} {meaning}");
        }
    }

    #[test]
    fn a_status_says_whose_fault_it_is() {
        for (status, exit) in [
            (StatusCode::OK, Exit::Done),
            (StatusCode::BAD_REQUEST, Exit::Usage),
            (StatusCode::NOT_FOUND, Exit::Usage),
            (StatusCode::UNAUTHORIZED, Exit::Failed),
            (StatusCode::TOO_MANY_REQUESTS, Exit::Failed),
            (StatusCode::SERVICE_UNAVAILABLE, Exit::Failed),
        ] {
            assert_eq!(Exit::of_status(status), exit, "{status}");
        }
    }
}
