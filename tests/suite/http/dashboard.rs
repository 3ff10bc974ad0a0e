//! The dashboard as it is sent, read without a browser: what it may do, that it is built from its sources, and that what is
//! vendored is as its packages were published.

use std::collections::{BTreeMap, BTreeSet};
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

fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_browser_loads_from_here_only_and_makes_no_script_of_a_text() {
    let site = Site::start();
    for path in ["/", "/enter", "/app/main.js", "/app/app.css", "/app/icon.svg", "/app/licences.txt"] {
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
    for (path, kind) in [
        ("/", "text/html"),
        ("/app/app.css", "text/css"),
        ("/app/main.js", "text/javascript"),
        ("/app/licences.txt", "text/plain"),
    ] {
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

/// Without node, nobody can build the files again; whether their sources have changed since can be told.
#[test]
fn what_is_built_is_made_from_these_sources() {
    let texts = ["app", "vendor", "built"].into_iter().flat_map(|folder| {
        files(folder).into_iter().map(move |(name, text)| (format!("{folder}/{name}"), text))
    });
    let (locks, texts): (Vec<_>, Vec<_>) = texts.partition(|(name, _)| name == "built/LOCK");
    let found: BTreeMap<_, _> = texts.iter().map(|(name, text)| (name.as_str(), sha256(text))).collect();
    let [(_, lock)] = &locks[..] else { panic!("there is no web/built/LOCK: run `just pages`") };
    let lines = lock.lines().filter(|line| !line.starts_with('#'));
    let locked: BTreeMap<_, _> = lines.filter_map(|line| line.split_once(' ')).collect();
    let names: BTreeSet<_> = found.keys().chain(locked.keys()).copied().collect();
    let is_changed = |name: &&str| found.get(name).map(String::as_str) != locked.get(name).copied();
    let changed: Vec<_> = names.into_iter().filter(is_changed).collect();
    assert!(changed.is_empty(), "not as web/built/ was made from them: {changed:?}; run `just pages`");
    assert!(found.len() > 30, "{found:?}");
}

#[test]
fn what_is_built_is_what_is_sent_and_has_its_licences() {
    let site = Site::start();
    for (name, text) in files("built").iter().filter(|(name, _)| name != "LOCK") {
        assert_eq!(get(&site, &format!("/app/{name}"), "").body, *text, "{name}");
    }
    let script = get(&site, "/app/main.js", "").body;
    let head = script.lines().next().expect("a line");
    assert!(head.starts_with("/*! With preact ") && head.ends_with(" see licences.txt */"), "{head}");
    let (licences, vendored) = (get(&site, "/app/licences.txt", "").body, files("vendor"));
    for name in ["preact.LICENSE", "signals.LICENSE"] {
        let licence = &vendored.iter().find(|(known, _)| known == name).expect(name).1;
        assert!(licences.contains(licence.trim()), "{name}");
    }
    // The policy would forbid the first two; an import would be a request that nothing answers.
    for word in ["eval(", "new Function", "import ", "import(", "import{", "sourceMappingURL"] {
        assert!(!script.contains(word), "{word} in the script");
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
        assert_eq!(sha256(text), digest, "{name}");
        locked.insert(name);
    }
    assert_eq!(locked, all.iter().map(|(name, _)| name.as_str()).collect());
}

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      require-trusted-types-for 'script'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
