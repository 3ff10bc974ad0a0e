//! The EDN stream over an upgraded connection, and the Unix socket (T47).

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Command;

use reveille::domain::SessionId;
use reveille::surface::http::{Config, Socket, SocketError};

use super::client::{Answer, OBSERVER, OPERATOR, PATIENCE, Site, read_to_end};

const LIST: &str = r#"{:action "scheduler" :op "list"}"#;

/// An upgraded connection of this token.
pub(super) fn upgrade(site: &Site, token: &str, headers: &str) -> (Answer, TcpStream) {
    let mut stream = site.connect();
    let request = format!(
        "GET /stream HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {token}\r\n{headers}\
         Connection: Upgrade\r\nUpgrade: reveille-edn\r\n\r\n",
        site.port()
    );
    stream.write_all(request.as_bytes()).expect("it is open");
    (Answer::read(&mut stream), stream)
}

pub(super) fn ask(stream: &mut TcpStream, request: &str) -> String {
    writeln!(stream, "{request}").expect("it is open");
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).expect("it answers");
    line
}

#[test]
fn a_connection_becomes_a_stream() {
    let site = Site::start();
    let (answer, mut stream) = upgrade(&site, OPERATOR, "");
    assert_eq!((answer.status, answer.header("upgrade")), (101, Some("reveille-edn")), "{answer:?}");
    let opened = ask(&mut stream, r#"{:id 1 :op :session/open :session-id "main"}"#);
    assert!(opened.starts_with(r#"{:id 1 :ok {:session-id "main" :token ""#), "{opened}");
    let called =
        ask(&mut stream, &format!(r#"{{:id 2 :op :call :tool "psi-tool" :session-id "main" :args {LIST}}}"#));
    assert!(called.contains(":schedule-count 0"), "{called}");
    // The input's end is the stream's, and what was asked before it is answered.
    writeln!(stream, "{{:id 3 :op :nonsense}}").expect("it is open");
    stream.shutdown(Shutdown::Write).expect("it is open");
    let rest = String::from_utf8(read_to_end(&mut stream)).expect("UTF-8");
    assert!(rest.starts_with("{:id 3 :error"), "{rest}");
}

#[test]
fn bytes_that_come_with_the_request_belong_to_the_stream() {
    let site = Site::start();
    let token = site.open("main");
    let request = format!(
        "GET /stream HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\nConnection: upgrade\r\n\
         Upgrade: reveille-edn\r\n\r\n{LIST}\n",
        site.port(),
        token.reveal()
    );
    let mut stream = site.connect();
    stream.write_all(request.as_bytes()).expect("it is open");
    stream.shutdown(Shutdown::Write).expect("it is open");
    let said = String::from_utf8(read_to_end(&mut stream)).expect("UTF-8");
    assert!(said.contains(":schedule-count 0"), "{said}");
}

#[test]
fn a_sessions_stream_is_that_session_and_ends_with_it() {
    let site = Site::start();
    let token = site.open("main");
    site.open("other");
    let (answer, mut stream) = upgrade(&site, token.reveal(), "");
    assert_eq!(answer.status, 101);
    assert!(ask(&mut stream, LIST).contains(":schedule-count 0"));
    let call = format!(r#"{{:id 1 :op :call :tool "psi-tool" :session-id "other" :args {LIST}}}"#);
    let other = ask(&mut stream, &call);
    assert!(other.contains("session not found: other"), "{other}");
    for request in [
        r#"{:id 1 :op :session/open :session-id "third"}"#,
        r#"{:id 1 :op :session/close :session-id "main"}"#,
        r#"{:id 1 :op :session/busy :session-id "main" :busy? false}"#,
        r#"{:id 1 :op :session/user-message :session-id "main" :text "hi"}"#,
        r#"{:id 1 :op :session/job-ready :session-id "main" :job-id "build"}"#,
        r#"{:id 1 :op :host/attach :sessions ["main"]}"#,
    ] {
        let answer = ask(&mut stream, request);
        assert!(answer.contains("for hosts and operators"), "{request}: {answer}");
    }
    let main = SessionId::new("main").expect("an id");
    site.handle().close_session(&main).expect("it is open");
    // Nothing is sent: the stream ends by itself, because its token has.
    assert_eq!(read_to_end(&mut stream), b"");
}

#[test]
fn an_operators_stream_for_a_session_opens_it() {
    let site = Site::start();
    let (_, mut stream) = upgrade(&site, OPERATOR, "Reveille-Session: fresh\r\n");
    assert!(ask(&mut stream, LIST).contains(":schedule-count 0"));
}

#[test]
fn an_observers_stream_changes_nothing() {
    let site = Site::start();
    site.open("main");
    let (answer, mut stream) = upgrade(&site, OBSERVER, "");
    assert_eq!(answer.status, 101);
    for request in [
        "{:id 1 :op :session/open}",
        r#"{:id 1 :op :session/close :session-id "main"}"#,
        r#"{:id 1 :op :session/busy :session-id "main" :busy? true}"#,
        "{:id 1 :op :host/attach}",
        r#"{:id 1 :op :call :tool "psi-tool" :session-id "main" :args {:action "scheduler" :op "create"}}"#,
        r#"{:action "scheduler" :op "cancel" :schedule-id "x"}"#,
    ] {
        let answer = ask(&mut stream, request);
        assert!(answer.contains("\"FORBIDDEN\""), "{request}: {answer}");
    }
    let list = format!(r#"{{:id 2 :op :call :tool "psi-tool" :session-id "main" :args {LIST}}}"#);
    assert!(ask(&mut stream, &list).contains(":schedule-count 0"));
    assert!(ask(&mut stream, "{:id 3 :op :subscribe}").contains(":ok"));
}

#[test]
fn a_server_that_stops_ends_its_streams_after_their_answers() {
    let mut site = Site::start();
    let (_, mut stream) = upgrade(&site, OPERATOR, "");
    assert!(ask(&mut stream, "{:id 1 :op :session/open}").contains(":ok"));
    site.server.stop();
    assert_eq!(read_to_end(&mut stream), b"");
}

/// A directory of this test's own, closed to others.
fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("socket-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a directory");
    fs::set_permissions(&path, Permissions::from_mode(0o700)).expect("ours");
    path
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("it is there").permissions().mode() & 0o7777
}

#[test]
fn a_socket_is_its_users_alone_and_speaks_edn() {
    let directory = directory("speaks");
    let path = directory.join("reveille.sock");
    let mut site = Site::start();
    site.server.serve_socket(Socket::bind(&path).expect("it binds")).expect("it is served");
    assert_eq!(mode(&path), 0o600);
    let mut stream = UnixStream::connect(&path).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
    stream
        .write_all(b"{:id 1 :op :session/open :session-id \"s\"}\n{:id 2 :op :subscribe}")
        .expect("it is open");
    stream.shutdown(Shutdown::Write).expect("it is open");
    let mut said = String::new();
    stream.read_to_string(&mut said).expect("it answers");
    assert!(
        said.contains("{:id 1 :ok {:session-id \"s\"") && said.contains("{:id 2 :ok {:cursor 1}}"),
        "{said}"
    );
    let idle = UnixStream::connect(&path).expect("it listens");
    site.server.stop();
    drop((site, idle));
    fs::remove_dir_all(&directory).expect("ours");
}

/// They come in a burst, before the first of them is served.
#[test]
fn no_more_than_so_many_clients_of_a_socket_are_served() {
    let directory = directory("burst");
    let path = directory.join("reveille.sock");
    let mut site = Site::start();
    let socket = Socket::bind(&path).expect("it binds");
    let most = usize::try_from(reveille::limits::SOCKET_STREAMS.value).expect("few");
    let clients: Vec<UnixStream> =
        (0..most + 64).map(|_| UnixStream::connect(&path).expect("it listens")).collect();
    site.server.serve_socket(socket).expect("it is served");
    let is_served = |mut client: &UnixStream| {
        client.set_read_timeout(Some(PATIENCE)).expect("a time-out");
        // One that is refused may be closed before it has asked.
        let asked = client.write_all(b"{:id 1 :op :none}\n");
        asked.is_ok() && client.read(&mut [0; 1]).is_ok_and(|length| length > 0)
    };
    assert!(clients.iter().filter(|client| is_served(client)).count() <= most);
    drop(clients);
    site.server.stop();
    fs::remove_dir_all(&directory).expect("ours");
}

#[test]
fn a_socket_is_bound_in_a_closed_directory_only() {
    let directory = directory("modes");
    let path = directory.join("reveille.sock");
    for open in [0o755, 0o750, 0o701, 0o1777, 0o710] {
        fs::set_permissions(&directory, Permissions::from_mode(open)).expect("ours");
        let refused = Socket::bind(&path).expect_err("others can reach it");
        assert!(matches!(refused, SocketError::OpenDirectory { mode, .. } if mode == open), "{refused}");
        assert!(!path.exists());
    }
    assert!(matches!(Socket::bind(Path::new("/proc/reveille.sock")), Err(SocketError::OpenDirectory { .. })));
    fs::remove_dir_all(&directory).expect("ours");
}

#[test]
fn only_a_socket_at_which_nobody_listens_is_replaced() {
    let directory = directory("stale");
    let path = directory.join("reveille.sock");
    drop(UnixListener::bind(&path).expect("it binds"));
    assert!(path.exists(), "what a crash leaves");
    let socket = Socket::bind(&path).expect("nobody listens");
    assert_eq!(mode(&path), 0o600);
    assert!(matches!(Socket::bind(&path), Err(SocketError::InUse { .. })));
    drop(socket);
    assert!(!path.exists(), "its file goes with it");

    fs::write(&path, "precious").expect("ours");
    assert!(matches!(Socket::bind(&path), Err(SocketError::Occupied { .. })));
    assert_eq!(fs::read_to_string(&path).expect("still there"), "precious");
    fs::remove_file(&path).expect("ours");

    let elsewhere = directory.join("elsewhere.sock");
    let _listener = UnixListener::bind(&elsewhere).expect("it binds");
    for target in [&elsewhere, &directory.join("nowhere"), &directory] {
        symlink(target, &path).expect("a link");
        assert!(matches!(Socket::bind(&path), Err(SocketError::Occupied { .. })), "{}", target.display());
        fs::remove_file(&path).expect("ours");
    }
    fs::remove_dir_all(&directory).expect("ours");
}

/// Another user, where this test may become one: the directory stops it, and so does the socket's own mode.
#[test]
fn another_user_does_not_get_in() {
    let is_root =
        fs::metadata("/proc/self").is_ok_and(|found| std::os::unix::fs::MetadataExt::uid(&found) == 0);
    let directory = directory("nobody");
    let path = directory.join("reveille.sock");
    let mut site = Site::with(&Config::local());
    site.server.serve_socket(Socket::bind(&path).expect("it binds")).expect("it is served");
    let as_nobody = |script: &str| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "sh", "-c", script, "sh"]);
        command.arg(&path).output().map(|output| output.status.success())
    };
    if is_root && as_nobody("true").is_ok_and(|works| works) {
        assert_eq!(as_nobody("test -e \"$1\"").ok(), Some(false), "the directory is closed");
        assert_eq!(as_nobody("cat \"$1\"").ok(), Some(false));
    }
    site.server.stop();
    fs::remove_dir_all(&directory).expect("ours");
}
