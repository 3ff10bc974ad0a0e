//! The attacks of the first security review, on a real daemon and over its real surfaces. Each test fails on the version that was
//! reviewed: `REVEILLE_BINARY=/path/to/reveille cargo test --test blackbox attacks::` runs them on another program.
//!
//! | finding | test | what the attacker did |
//! |---|---|---|
//! | 1 | `authority::a_session_opens_no_session` | opened any session over the stream |
//! | 1 | `past::an_id_that_is_used_again_opens_no_past` | read the past of a closed session by its id |
//! | 2 | `floods::fresh_sessions_of_one_session_have_a_bound` | opened fresh sessions by schedules, without end |
//! | 2 | `floods::the_texts_of_one_session_have_a_bound` | filled memory and disk with preloaded messages |
//! | 2 | `floods::a_transcript_has_a_bound_in_bytes` | filled memory with delivered messages |
//! | 3 | `authority::a_session_schedules_nothing_into_another` | woke another session with its own prompt |
//! | 3 | `authority::a_session_changes_no_job_of_another` | rewrote the job of another session |
//! | 3 | `authority::a_session_sends_nothing_by_a_channel_for_operators` | sent text by a channel through another's job |
//! | 4 | `authority::a_session_is_neither_a_person_nor_a_host` | spoke as a person, and ended its own turn |
//! | 4 | `authority::a_chain_of_turns_ends` | made its chain of turns endless by that |
//! | 5 | `authority::a_session_that_may_read_changes_nothing_on_any_surface` | changed things with a grant to read |
//! | 6 | `approvals::an_approval_shows_all_that_is_approved` | hid prompts and tools from who approves |
//! | 6 | `approvals::an_approval_is_not_written_by_the_message` | rewrote the screen of who approves |
//! | 6 | `approvals::a_guard_is_told_all_that_will_happen` | hid prompts and tools from the guard's program |
//! | 7 | `approvals::a_rule_by_tools_meets_what_is_inherited` | inherited a tool that a rule refuses |
//! | 8 | `past::the_past_is_told_as_it_was_or_not_at_all` | passed today's text off as the past |
//! | 8 | `past::edits_have_a_rate` | pushed the facts of all others out of the log |
//! | 9 | `budgets::a_short_query_has_no_endless_answer` | asked for 178 MB in sixty bytes |
//! | 9 | `budgets::answers_that_nobody_reads_do_not_pile_up` | asked for much, and read nothing |
//! | 10 | `budgets::the_past_is_asked_for_by_turns` | kept all threads busy with the past |
//! | 11 | `budgets::sockets_that_do_not_say_who_they_are_keep_nobody_out` | took the seats without a token |
//! | 11 | `budgets::one_token_that_takes_every_seat_leaves_those_of_operators` | took the seats with one token |
//! | 12 | `words::no_schedule_makes_the_lists_unprintable` | blinded the lists with the year 10000 |
//! | 13 | `process::an_address_from_the_environment_gets_no_operators_token` | listened, and was sent the token |
//! | 14 | `words::no_word_of_an_agent_is_the_systems` | spoke as the system, in a notice |
//! | 15 | `words::no_prompt_forges_the_lines_around_it` | forged the lines around a prompt |
//! | 16 | `budgets::one_token_does_not_take_every_subscription` | took all subscriptions |
//! | 17 | `process::a_stop_leaves_no_program_behind` | outlived the daemon, as a channel's program |
//! | 18 | `floods::one_session_leaves_places_on_a_channel` | took all places of a channel |
//! | 19 | `process::a_daemon_whose_driver_is_dead_is_not_ready` | nothing: a dead daemon called itself ready |
//! | 20 | `authority::a_session_does_not_take_the_place_of_its_harness` | hosted itself when its harness was away |
//! | 21 | `terminal::answers_of_all_commands_are_shown_and_read_back` | hid and turned text on terminals |
//! | 21 | `terminal::exported_files_are_shown_and_read_back` | the same, in exported files |
//! | 22 | `authority::each_word_about_a_session_has_its_author` | left no trace of who it was |
//! | 23 | `authority::no_answer_tells_which_sessions_there_are` | found out which sessions there are |
//!
//! `commands` takes every command of the program over texts that pretend to be its lines. More about finding 13 is in
//! `clients/token.rs`. `timing` compares how long answers take. `neighbour` has eight of the attackers at once, beside a
//! session that works.

mod agent;
mod approvals;
mod authority;
mod budgets;
mod commands;
mod floods;
mod greedy;
mod neighbour;
mod past;
mod process;
mod terminal;
mod timing;
// The ways of the matrix, which it takes in process.
#[path = "../../suite/admission/ways.rs"]
mod ways;
mod words;

/// The rows of the table above name tests that are there.
#[test]
fn every_finding_has_its_test() {
    let sources = [
        ("approvals", include_str!("approvals.rs")),
        ("authority", include_str!("authority.rs")),
        ("budgets", include_str!("budgets.rs")),
        ("floods", include_str!("floods.rs")),
        ("past", include_str!("past.rs")),
        ("process", include_str!("process.rs")),
        ("terminal", include_str!("terminal.rs")),
        ("words", include_str!("words.rs")),
    ];
    let rows = include_str!("mod.rs").lines().filter_map(|line| line.strip_prefix("//! | "));
    let rows: Vec<_> =
        rows.filter_map(|row| Some((row.split(" | ").next()?, row.split('`').nth(1)?))).collect();
    for finding in 1..=23_u32 {
        assert!(
            rows.iter().any(|(number, _)| *number == finding.to_string()),
            "finding {finding} has no test"
        );
    }
    for (_, test) in rows {
        let (file, name) = test.split_once("::").expect("a file and a test");
        let source = sources.iter().find(|(known, _)| *known == file).map(|(_, source)| *source);
        let is_there = source.is_some_and(|source| source.contains(&format!("#[test]\nfn {name}()")));
        assert!(is_there, "there is no test {test}");
    }
}
