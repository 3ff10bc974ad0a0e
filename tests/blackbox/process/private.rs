//! What the daemon keeps and what commands write is this user's alone, whatever the umask is and whatever lies in its place.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use reveille::edn::Value;

use crate::harness::command::program;
use crate::harness::daemon::{Daemon, Home, PATIENCE, eventually, spawn, until};

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("ours");
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("it is there").permissions().mode() & 0o7777
}

/// The data directory, before the first start.
fn make_state(home: &Home) {
    fs::create_dir(home.state()).expect("ours");
    chmod(&home.state(), 0o700);
}

/// Starts a daemon that is to refuse what it finds, and returns what it says. One that hangs is ended.
fn refusal(home: &Home, what: &str) -> String {
    let log = home.path().join("refusal");
    let mut child = spawn(&mut home.serve(), &log);
    let mut code = None;
    let ended = eventually(PATIENCE, || {
        code = child.try_wait().expect("it is ours").map(|status| status.code());
        code.is_some()
    });
    if ended.is_none() {
        child.kill().expect("it is ours");
        child.wait().expect("it is ours");
    }
    let said = fs::read_to_string(&log).expect("it is there");
    fs::remove_file(&log).expect("ours");
    assert_eq!(code, Some(Some(1)), "{what}: {said}");
    said
}

/// The files that hold a secret.
const SECRETS: [&str; 4] = ["operator.token", "host.token", "observer.token", "calendar.key"];

/// What may lie where a secret is to be: how it comes there, and what the refusal says of it.
type Placed = (&'static str, fn(&Path), &'static str);
const PLACED: &[Placed] = &[
    ("one byte", |path| fs::write(path, "a").expect("ours"), "fewer than 32 characters"),
    ("nothing", |path| fs::write(path, "").expect("ours"), "fewer than 32 characters"),
    ("blanks", |path| fs::write(path, " ".repeat(64)).expect("ours"), "fewer than 32 characters"),
    ("a pipe", make_pipe, "regular file"),
    ("a directory", |path| fs::create_dir(path).expect("ours"), "regular file"),
];

fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo exists").success());
}

#[test]
fn what_is_no_secret_is_no_token_and_holds_up_no_start() {
    let home = Home::new("no-secret");
    make_state(&home);
    for name in SECRETS {
        let path = home.state().join(name);
        for (what, place, words) in PLACED {
            place(&path);
            chmod(&path, 0o600);
            let said = refusal(&home, &format!("{name} is {what}"));
            assert!(said.contains(words) && said.contains(name), "{name} is {what}: {said}");
            let removed = if path.is_dir() { fs::remove_dir(&path) } else { fs::remove_file(&path) };
            removed.expect("ours");
        }
    }
    let daemon = Daemon::start(&home);
    assert!(daemon.end("-TERM").success(), "nothing else was in its way");
}

#[test]
fn a_store_that_is_a_link_is_refused() {
    let home = Home::new("store-link");
    make_state(&home);
    let open = home.path().join("open");
    fs::create_dir(&open).expect("ours");
    for of_others in [0o777, 0o700] {
        chmod(&open, of_others);
        symlink(&open, home.state().join("store")).expect("a link");
        let said = refusal(&home, &format!("a directory of mode {of_others:o}"));
        assert!(said.contains("it is a link"), "{said}");
        assert_eq!(fs::read_dir(&open).expect("it is there").count(), 0, "nothing is written there");
        fs::remove_file(home.state().join("store")).expect("ours");
    }
}

/// A command under a umask, as a shell sets it.
fn under(umask: &str, home: &Home, arguments: &[&str]) -> Command {
    let mut command = home.command_of(Path::new("/bin/sh"), &["-c", "umask \"$0\" && exec \"$@\"", umask]);
    command.arg(program()).args(arguments);
    command
}

/// All files below a directory.
fn files_below(path: &Path) -> Vec<PathBuf> {
    let inside = fs::read_dir(path).expect("a directory").map(|entry| entry.expect("an entry").path());
    inside.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

#[test]
fn no_umask_opens_what_is_written() {
    let home = Home::new("umask");
    make_state(&home);
    let victim = home.path().join("victim");
    symlink(&victim, home.state().join("volatile.edn")).expect("a link");
    let serve = ["serve", "--listen", "127.0.0.1:0", "--data-dir", "state"];
    let daemon = Daemon::start_with(&home, &mut under("000", &home, &serve));
    daemon.eql("[(psi.agent-session/open {:session-id \"main\"})]");
    for durability in ["durable", "volatile"] {
        daemon.eql(&format!(
            "[(psi.scheduler/create {{:kind :message :message \"a secret\" :session-id \"main\" \
             :durability :{durability} :delay-ms 3600000}})]"
        ));
    }
    let note = home.state().join("volatile.edn");
    until("the note is written", PATIENCE, || fs::symlink_metadata(&note).is_ok_and(|found| found.is_file()));
    assert!(!victim.exists(), "the note took the place of the link");
    for umask in ["000", "022", "077"] {
        let [files, copy] = ["tasks", "copy"].map(|name| format!("{name}-{umask}"));
        for arguments in [["export", "--data-dir", "state", &files], ["backup", "--data-dir", "state", &copy]]
        {
            let ended = home.run(&mut under(umask, &home, &arguments));
            assert_eq!(ended.code, Some(0), "{arguments:?} under {umask}: {}", ended.err);
        }
        let mut written = files_below(&home.path().join(&files));
        written.push(home.path().join(&copy));
        assert_eq!(written.len(), 4, "{written:?}");
        for path in &written {
            assert_eq!(mode(path), 0o600, "{} under {umask}", path.display());
        }
    }
    for path in files_below(&home.state()) {
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
    assert_eq!((mode(&home.state()), mode(&home.state().join("store"))), (0o700, 0o700));
    assert!(daemon.end("-TERM").success());
}

/// The draft of the note is not written through a link either.
#[test]
fn a_link_leads_no_note_out_of_the_directory() {
    let home = Home::new("note-link");
    make_state(&home);
    let victim = home.path().join("victim");
    symlink(&victim, home.state().join("volatile.new")).expect("a link");
    let daemon = Daemon::start(&home);
    daemon.eql("[(psi.agent-session/open {:session-id \"main\"})]");
    daemon.eql(
        "[(psi.scheduler/create {:kind :message :message \"m\" :session-id \"main\" :durability :volatile \
         :delay-ms 3600000})]",
    );
    // The stop writes it, whether or not a second has passed.
    assert!(daemon.end("-TERM").success());
    assert!(!victim.exists());
}

/// The note is read as it lies there, so no number in it may break an account, and no text in it a start.
#[test]
fn a_note_of_any_number_breaks_no_account() {
    let home = Home::new("note-number");
    make_state(&home);
    let note = home.state().join("volatile.edn");
    for text in ["{:count -1}", "{:count 99999999999999999999}", "{:count", "{:count 9223372036854775807}"] {
        fs::write(&note, text).expect("ours");
        chmod(&note, 0o600);
        let daemon = Daemon::start(&home);
        let found = Value::Map(daemon.eql("[:reveille.engine/imbalance]")).to_string();
        assert_eq!(found, "{:reveille.engine/imbalance 0}", "{text}");
        assert!(daemon.end("-TERM").success(), "{text}");
    }
}
