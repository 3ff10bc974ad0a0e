//! The dashboard as it is sent, read without a browser: what it may do, that it is whole, and that what is vendored is as its
//! packages were published.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::client::{Answer, Site};

fn get(site: &Site, path: &str, header: &str) -> Answer {
    let port = site.port();
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{header}Connection: close\r\n\r\n");
    site.send(request.as_bytes())
}

fn files(folder: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("web").join(folder);
    let entries =
        fs::read_dir(&root).expect("the folder is there").map(|entry| entry.expect("an entry").path());
    let read = |path: &Path| fs::read_to_string(path).expect("UTF-8");
    let mut files: Vec<_> = entries
        .map(|path| (path.file_name().expect("a name").to_string_lossy().into_owned(), read(&path)))
        .collect();
    files.sort();
    files
}

#[test]
fn a_browser_loads_from_here_only_and_makes_no_script_of_a_text() {
    let site = Site::start();
    for path in ["/", "/enter", "/app/main.js", "/app/app.css", "/app/icon.svg"] {
        let file = get(&site, path, "");
        assert_eq!(file.status, 200, "{path}");
        assert_eq!(file.header("content-security-policy"), Some(POLICY), "{path}");
        assert_eq!(file.header("referrer-policy"), Some("no-referrer"), "{path}");
        assert_eq!(file.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(file.header("cache-control"), Some("no-cache"), "{path}");
        assert_eq!(file.header("set-cookie"), None, "{path}");
        let etag = file.header("etag").expect("an etag");
        let again = get(&site, path, &format!("If-None-Match: {etag}\r\n"));
        assert_eq!((again.status, again.body.as_str()), (304, ""), "{path}");
    }
    for (path, kind) in
        [("/", "text/html"), ("/app/app.css", "text/css"), ("/app/main.js", "text/javascript")]
    {
        assert_eq!(
            get(&site, path, "").header("content-type"),
            Some(format!("{kind}; charset=utf-8").as_str())
        );
    }
}

#[test]
fn the_pages_files_are_all_there_and_all_served() {
    let site = Site::start();
    let page = get(&site, "/", "").body;
    // Relative, so that the page works below any path.
    let named: Vec<_> = page.split("=\"app/").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert_eq!(named, ["icon.svg", "app.css", "main.js"]);
    assert!(!page.contains("=\"/") && !page.contains("//"), "{page}");
    assert!(!page.contains("style") || page.contains("rel=\"stylesheet\""), "{page}");
}

/// The one script has all of every module, and none before those that it imports.
#[test]
fn the_modules_are_linked_into_one_script() {
    let script = get(&Site::start(), "/app/main.js", "").body;
    let is_apart = |line: &str| ["import", "export"].iter().any(|word| line.starts_with(word));
    assert_eq!(script.lines().find(|line| is_apart(line)), None, "an import or export that is not linked");
    let (own, vendored) = (files("app"), files("vendor"));
    for (name, text) in own.iter().chain(&vendored).filter(|(name, _)| name.ends_with(".js")) {
        let variable = format!("${}", name.trim_end_matches(".js").replace('-', "_"));
        let (before, behind) = script.split_once(&format!("const {variable} = (() => {{\n")).expect(name);
        assert!(!before.contains(&format!("= {variable};")), "{name} stands behind what imports it");
        // What is vendored is on one line with its imports.
        let is_comment = |line: &str| line.trim().starts_with("//") || line.trim().starts_with("/**");
        let lines = text.lines().filter(|line| own.iter().any(|(own, _)| own == name) && !is_apart(line));
        // Types are left out of the lines that have some.
        for line in lines.map(str::trim).filter(|line| !is_comment(line) && !line.contains("/** @type")) {
            assert!(behind.contains(line), "{name} is there without {line}");
        }
    }
}

#[test]
fn our_scripts_make_no_markup_and_ask_nobody_else() {
    for (name, text) in files("app") {
        for word in [
            "innerHTML",
            "outerHTML",
            "insertAdjacent",
            "dangerously",
            "document.write",
            "eval(",
            "new Function",
            "@import",
        ] {
            assert!(!text.contains(word), "{word} in {name}");
        }
        let elsewhere = |scheme: &str| text.replace("http://www.w3.org/2000/svg", "").contains(scheme);
        assert!(!elsewhere("http://") && !elsewhere("https://"), "{name}");
    }
}

#[test]
fn what_is_vendored_is_as_it_was_published() {
    let all = files("vendor");
    let lock = &all.iter().find(|(name, _)| name == "LOCK").expect("there is a lock").1;
    let mut locked = BTreeSet::from(["LOCK"]);
    for line in lock.lines().filter(|line| !line.starts_with('#')) {
        let [name, _package, version, _path, licence, digest] = line.split(' ').collect::<Vec<_>>()[..]
        else {
            panic!("{line}");
        };
        assert!(["MIT", "Apache-2.0"].contains(&licence) && version.split('.').count() == 3, "{line}");
        let text = &all.iter().find(|(known, _)| known == name).expect(name).1;
        let found: String =
            Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(found, digest, "{name}");
        locked.insert(name);
    }
    assert_eq!(locked, all.iter().map(|(name, _)| name.as_str()).collect());
}

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      require-trusted-types-for 'script'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
