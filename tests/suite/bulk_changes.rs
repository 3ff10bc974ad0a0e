//! A change of many schedules counts as many: a session changes no more at once than one by one, and is told how many are left.

use reveille::domain::{Caller, CallerRole, Span, When};
use reveille::engine::NewSchedule;
use reveille::limits;
use reveille::service::Service;

use crate::simulated::{self, session, token};

/// Every change of many schedules, which pauses, resumes or cancels each of them, and the count of those that are left.
const CHANGES: [(&str, &str); 4] = [
    ("[(psi.agent-session/pause-all {})]", "left-count"),
    ("[(psi.agent-session/resume-all {})]", "left-count"),
    ("[(psi.agent-session/cancel-all {})]", "left-count"),
    ("[(psi.scheduler/change-many {:action :pause :expect-count EXPECTED})]", "unchanged-count"),
];

/// How many are changed and left of more schedules than the rate allows, by each change of a service of its own.
fn changed(caller: &Caller, (change, left): (&str, &str), count: u64) -> (u64, u64) {
    let (handle, _clock) = simulated::engine(&["alice"]);
    for _ in 0..count {
        let later = When::After(Span::from_millis(3_600_000));
        handle.schedule(NewSchedule::message(session("alice"), later, "m")).expect("there is room");
    }
    if change.contains("resume") {
        let paused = simulated::ask(
            &handle,
            &Caller::OPERATOR,
            "[(psi.agent-session/pause-all {:session-id \"alice\"})]",
            false,
        );
        assert!(paused.contains(&format!("changed-count {count}")), "{paused}");
    }
    let change = change.replace("EXPECTED", &count.to_string());
    let answer = simulated::ask_service(&Service::new(handle), caller, &change, false);
    let number = |name: &str| {
        let text = answer.split(&format!("{name} ")).nth(1).unwrap_or_else(|| unreachable!("{answer}"));
        let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u64>().expect("a number")
    };
    (number("/changed-count"), number(left))
}

#[test]
fn a_change_of_many_schedules_counts_as_many() {
    let rate = limits::CHANGES_PER_MINUTE.value;
    let operator = Caller { role: CallerRole::Operator, ..Caller::session(session("alice")) };
    for change in CHANGES {
        assert_eq!(changed(&token("alice"), change, rate), (rate, 0), "{change:?}");
        assert_eq!(changed(&token("alice"), change, rate + 7), (rate, 7), "{change:?}");
        assert_eq!(changed(&operator, change, rate + 7), (rate + 7, 0), "{change:?} by an operator");
    }
}
