//! What is built in: reading the web and files, within what the operator allows.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use crate::primitives::scene::Scene;

/// T17.
#[test]
fn files_are_read_below_one_directory_and_nothing_else() {
    let scene = Scene::new("files", "[tools.builtin]\nfiles = \"HOME/open\"\n");
    // The daemon opened it at its start, so it was there.
    let open = scene.path("open");
    fs::write(open.join("a.txt"), "hello").expect("ours");
    fs::write(scene.path("secret"), "secret").expect("ours");
    fs::create_dir(open.join("dir")).expect("ours");
    fs::write(open.join("dir/b.txt"), "b").expect("ours");
    symlink("../secret", open.join("out")).expect("ours");
    symlink("dir/b.txt", open.join("in")).expect("ours");
    let made = Command::new("mkfifo").arg(open.join("fifo")).status();
    assert!(made.expect("mkfifo exists").success());
    fs::write(open.join("huge"), "x".repeat(100_000)).expect("ours");
    let huge = fs::File::options().write(true).open(open.join("huge")).expect("ours");
    huge.set_len(1 << 30).expect("a sparse file");
    fs::write(open.join("zeros"), [0; 9]).expect("ours");
    let read = |path: &str| scene.result("filesystem.read", &format!("{{\"path\":{path:?}}}"));
    assert_eq!(read("a.txt")["data"]["content"], "hello");
    assert_eq!(read("dir/../a.txt")["data"]["content"], "hello");
    for (path, why) in [
        ("../secret", "leaves the directory"),
        ("dir/../../secret", "leaves the directory"),
        ("/etc/passwd", "leaves the directory"),
        ("/proc/self/mem", "leaves the directory"),
        ("out", "symbolic link"),
        ("in", "symbolic link"),
        ("fifo", "no regular file"),
        ("dir", "no regular file"),
        ("nothing", "No such file"),
        ("zeros", "no text"),
    ] {
        let result = read(path);
        assert!(result["error"].as_str().is_some_and(|error| error.contains(why)), "{path}: {result}");
    }
    let huge = read("huge");
    assert_eq!(
        (huge["data"]["truncated"].as_bool(), huge["data"]["size"].as_i64()),
        (Some(true), Some(1 << 30))
    );
    let listed = scene.result("filesystem.list", "{\"path\":\"\"}");
    let names: Vec<&str> = listed["data"]["entries"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|it| it["name"].as_str())
        .collect();
    assert_eq!(names, ["a.txt", "dir", "fifo", "huge", "in", "out", "zeros"], "{listed}");
    assert_eq!(scene.result("filesystem.stat", "{\"path\":\"dir\"}")["data"]["kind"], "directory");
}

/// T16.
#[test]
fn no_private_address_is_read_however_it_is_named() {
    let scene = Scene::new("web", "[tools.builtin]\nhttp = [\"public\", \"https://10.0.0.1\"]\n");
    for (url, why) in [
        ("http://169.254.169.254/latest/meta-data", "link-local"),
        ("https://10.0.0.1/", "private"),
        ("https://[::ffff:10.0.0.1]/", "private"),
        ("http://127.0.0.1:1/", "loopback"),
        ("https://localhost/", "loopback"),
        ("https://2130706433/", "unusual notation"),
        ("ftp://example.com/", "must begin with https://"),
    ] {
        let result = scene.result("http.get", &format!("{{\"url\":{url:?}}}"));
        assert!(result["error"].as_str().is_some_and(|error| error.contains(why)), "{url}: {result}");
    }
    let result = scene.result("http.get", r#"{"url":"https://example.com","headers":{"authorization":"x"}}"#);
    assert!(result["error"].as_str().is_some_and(|error| error.contains("headers may be")), "{result}");
    let closed = Scene::new("no-web", "");
    let reply = closed.call("run_parallel", r#"{"actions":[{"name":"http.get"}]}"#);
    assert!(reply.body.contains("not found"), "{}", reply.body);
}

/// T16.
#[test]
fn an_origin_that_is_allowed_is_read_and_its_redirects_are_not_followed() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let served = std::thread::spawn(move || {
        use std::io::{Read, Write};
        for answer in [
            "HTTP/1.1 200 OK\r\nETag: \"one\"\r\nX-Other: y\r\nContent-Length: 5\r\n\r\nhello",
            "HTTP/1.1 304 Not Modified\r\n\r\n",
            "HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n",
        ] {
            let (mut stream, _) = listener.accept().expect("a client");
            let mut head = [0; 2_048];
            let _ = stream.read(&mut head);
            stream.write_all(answer.as_bytes()).expect("it reads");
        }
    });
    let scene = Scene::new("origin", &format!("[tools.builtin]\nhttp = [\"http://127.0.0.1:{port}\"]\n"));
    let url = format!("\"url\":\"http://127.0.0.1:{port}/x\"");
    let first = scene.result("http.get", &format!("{{{url}}}"));
    let expected = serde_json::json!({
        "status_code": 200, "headers": {"etag": "\"one\"", "content-length": "5"}, "body": "hello",
        "truncated": false, "not_modified": false
    });
    assert_eq!(first["data"], expected, "{first}");
    let again =
        scene.result("http.get", &format!("{{{url},\"headers\":{{\"If-None-Match\":\"\\\"one\\\"\"}}}}"));
    assert_eq!(again["data"]["not_modified"], true, "{again}");
    let moved = scene.result("http.head", &format!("{{{url}}}"));
    assert_eq!(moved["data"]["headers"]["location"], "http://169.254.169.254/", "{moved}");
    let other = scene.result("http.get", "{\"url\":\"https://example.com/\"}");
    assert!(other["error"].as_str().is_some_and(|error| error.contains("not on the list")), "{other}");
    served.join().expect("three requests");
}
