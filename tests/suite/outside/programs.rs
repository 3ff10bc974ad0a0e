//! Programs of the system, run as an operator would have them run.

use std::path::PathBuf;
use std::time::Duration;

use reveille::adapter::outbound::{Ended, Program, ProgramFault, ProgramOutput};

use super::block_on;

/// A script, so that a test can say in a line what a program does; ours is started without any shell.
fn script(text: &str) -> Program {
    Program {
        argv: vec!["/bin/sh".to_owned(), "-c".to_owned(), text.to_owned()],
        environment: vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())],
        directory: PathBuf::from("/"),
        time: Duration::from_secs(20),
    }
}

fn run(program: &Program, input: &[u8]) -> Result<ProgramOutput, ProgramFault> {
    block_on(program.run(input))
}

fn output(program: &Program) -> String {
    let told = run(program, b"").expect("it runs");
    assert_eq!((told.ended, told.errors.as_slice()), (Ended::Code(0), &b""[..]));
    String::from_utf8(told.output).expect("text")
}

#[test]
fn the_input_comes_in_and_the_code_goes_out() {
    let told = run(&script("cat; echo no >&2; exit 3"), b"{\"a\": 1}").expect("it runs");
    assert_eq!(
        told,
        ProgramOutput { ended: Ended::Code(3), output: b"{\"a\": 1}".to_vec(), errors: b"no\n".to_vec() }
    );
    let told = run(&script("kill -TERM $$"), b"").expect("it runs");
    assert_eq!(told.ended, Ended::Signal(15));
}

/// Arguments are words, whatever stands in them.
#[test]
fn no_shell_reads_the_arguments() {
    let words = ["$HOME", "`id`", "a b", "; exit 7", "*", "--", "'\"\\", "\n"];
    let mut program = script("");
    program.argv = vec!["/usr/bin/printf".to_owned(), "[%s]".to_owned()];
    program.argv.extend(words.map(str::to_owned));
    assert_eq!(output(&program), words.map(|word| format!("[{word}]")).concat());
}

#[test]
fn the_environment_is_what_the_profile_names_and_no_more() {
    let mut program = script("");
    program.argv = vec!["/usr/bin/env".to_owned()];
    program.environment = vec![("ONE".to_owned(), "1".to_owned()), ("TWO".to_owned(), "a b=c".to_owned())];
    assert_eq!(output(&program), "ONE=1\nTWO=a b=c\n");
    program.environment.clear();
    assert_eq!(output(&program), "");
}

/// Descriptors that whoever started this process left open for all that it starts: not ours to close.
fn inherited() -> Vec<String> {
    let is_inherited = |number: &String| {
        let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{number}")).unwrap_or_default();
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
        let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
        flags.is_some_and(|flags| flags & 0o2_000_000 == 0)
    };
    let all = std::fs::read_dir("/proc/self/fd").expect("a list").flatten();
    all.map(|entry| entry.file_name().to_string_lossy().into_owned()).filter(is_inherited).collect()
}

#[test]
fn it_runs_where_the_profile_says_with_no_descriptor_of_ours() {
    // Held open on our side, as a store or a socket would be.
    let _held: Vec<_> = (0..9).map(|_| std::fs::File::open("/dev/null").expect("a file")).collect();
    let mut program = script("pwd; ls /proc/$$/fd");
    program.directory = PathBuf::from("/proc");
    let output = output(&program);
    let mut lines = output.lines();
    assert_eq!(lines.next(), Some("/proc"));
    let inherited = inherited();
    for number in lines {
        assert!(
            ["0", "1", "2"].contains(&number) || inherited.iter().any(|other| other == number),
            "{output}"
        );
    }
}

#[test]
fn much_is_read_and_little_is_kept() {
    let told = run(&script("head -c 3000000 /dev/zero; head -c 20000 /dev/zero >&2"), b"").expect("it runs");
    assert_eq!((told.ended, told.output.len(), told.errors.len()), (Ended::Code(0), 16_384, 16_384));
}

#[test]
fn an_input_that_is_not_read_is_no_failure() {
    let input = vec![b'x'; 1_000_000];
    let told = run(&script("exit 0"), &input).expect("it runs");
    assert_eq!(told.ended, Ended::Code(0));
    let told = run(&script("exec <&-; echo done"), &input).expect("it runs");
    assert_eq!((told.ended, told.output.as_slice()), (Ended::Code(0), &b"done\n"[..]));
}

/// Whether a process lives that has not been killed; one that nobody has waited for yet counts as gone.
fn lives(number: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{number}/stat"));
    status.is_ok_and(|status| !status.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z')))
}

fn until_gone(number: &str) {
    while lives(number) {
        std::thread::yield_now();
    }
}

#[test]
fn what_takes_too_long_is_killed_with_all_that_it_started() {
    let directory = std::env::temp_dir().join(format!("reveille-program-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let mut program = script("sleep 1000 & echo $! > child; echo $$ > own; wait");
    program.directory.clone_from(&directory);
    program.time = Duration::from_millis(300);
    let fault = run(&program, b"").expect_err("it does not end");
    assert_eq!(fault, ProgramFault::TimedOut { time: program.time });
    for name in ["child", "own"] {
        let number = std::fs::read_to_string(directory.join(name)).expect("it was written");
        until_gone(number.trim());
    }
    std::fs::remove_dir_all(&directory).expect("it is ours");
}

/// A program that has ended leaves nobody behind, and is not waited for because somebody holds its output.
#[test]
fn what_it_leaves_behind_is_killed() {
    let told = run(&script("sleep 1000 & echo $!"), b"").expect("it runs");
    assert_eq!(told.ended, Ended::Code(0));
    until_gone(String::from_utf8(told.output).expect("text").trim());
}

#[test]
fn who_has_left_the_group_holds_nobody_up() {
    let told = run(&script("setsid sleep 5 & echo gone"), b"").expect("it runs");
    assert_eq!((told.ended, told.output.as_slice()), (Ended::Code(0), &b"gone\n"[..]));
}

#[test]
fn a_run_that_is_given_up_is_killed() {
    let directory = std::env::temp_dir().join(format!("reveille-given-up-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let mut program = script("echo $$ > own.new; mv own.new own; sleep 1000");
    program.directory.clone_from(&directory);
    let own = directory.join("own");
    block_on(async {
        let mut running = Box::pin(program.run(b""));
        while !own.exists() {
            // The program is given its time, and we look again.
            let _ = tokio::time::timeout(Duration::from_millis(1), &mut running).await;
        }
        drop(running);
    });
    until_gone(std::fs::read_to_string(own).expect("it was written").trim());
    std::fs::remove_dir_all(&directory).expect("it is ours");
}

#[test]
fn what_cannot_be_started_says_so() {
    let relative = Program { argv: vec!["true".to_owned()], ..script("") };
    assert_eq!(run(&relative, b""), Err(ProgramFault::NotAbsolute));
    assert_eq!(run(&Program { argv: Vec::new(), ..script("") }, b""), Err(ProgramFault::NotAbsolute));
    assert_eq!(
        run(&Program { directory: PathBuf::from("here"), ..script("") }, b""),
        Err(ProgramFault::NotAbsolute)
    );
    let missing = Program { argv: vec!["/no/such/program".to_owned()], ..script("") };
    assert!(matches!(run(&missing, b""), Err(ProgramFault::Unstarted { .. })));
    let no_program = Program { argv: vec!["/etc/passwd".to_owned()], ..script("") };
    assert!(matches!(run(&no_program, b""), Err(ProgramFault::Unstarted { .. })));
    let nowhere = Program { directory: PathBuf::from("/no/such/directory"), ..script("exit 0") };
    assert!(matches!(run(&nowhere, b""), Err(ProgramFault::Unstarted { .. })));
}

#[test]
fn a_profile_is_printed_without_its_values() {
    let mut program = script("secret argument");
    program.environment.push(("TOKEN".to_owned(), "secret value".to_owned()));
    let printed = format!("{program:?}");
    assert!(
        printed.contains("TOKEN") && printed.contains("/bin/sh") && !printed.contains("secret"),
        "{printed}"
    );
}
