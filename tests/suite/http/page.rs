//! The query page as it is sent, read without a browser: what it may do, and that its files fit each other.

use std::fs;

use super::client::{Answer, Site};

fn get(site: &Site, path: &str, accept: &str) -> Answer {
    let port = site.port();
    site.send(
        format!(
            "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: {accept}\r\nConnection: close\r\n\r\n"
        )
        .as_bytes(),
    )
}

/// The page, as a browser without a token asks for it.
fn page(site: &Site) -> Answer {
    get(site, "/graphql", "text/html,application/xhtml+xml,*/*;q=0.8")
}

/// Its scripts, each with its name: all that are in the folder.
fn scripts(site: &Site) -> Vec<(String, Answer)> {
    let folder = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/web/graphql")).expect("the folder");
    let names = folder.map(|entry| entry.expect("an entry").file_name().into_string().expect("text"));
    let scripts = names.filter(|name| name.ends_with(".js"));
    scripts.map(|name| (name.clone(), get(site, &format!("/graphql/{name}"), "*/*"))).collect()
}

/// What stands between two marks, each time.
fn between<'a>(text: &'a str, before: &'a str, after: char) -> impl Iterator<Item = &'a str> {
    text.split(before).skip(1).filter_map(move |rest| rest.split(after).next())
}

#[test]
fn a_browser_may_run_nothing_that_is_not_sent_from_here() {
    let site = Site::start();
    let style = get(&site, "/graphql/page.css", "text/css,*/*;q=0.1");
    let scripts = scripts(&site).into_iter().map(|(_, script)| (script, "text/javascript"));
    for (file, kind) in [(page(&site), "text/html"), (style, "text/css")].into_iter().chain(scripts) {
        assert_eq!(file.status, 200, "{kind}");
        assert_eq!(file.header("content-type"), Some(format!("{kind}; charset=utf-8").as_str()));
        assert_eq!(file.header("content-security-policy"), Some(POLICY), "{kind}");
        assert_eq!(file.header("referrer-policy"), Some("no-referrer"), "{kind}");
        assert_eq!(file.header("set-cookie"), None, "{kind}");
        for word in ["http://", "https://", "@import", "Storage", "cookie", "eval(", "innerHTML"] {
            assert!(!file.body.contains(word), "{word} in {kind}");
        }
    }
}

/// The policy would keep a browser from obeying these, and the page would be half dead.
#[test]
fn the_html_has_no_script_and_no_style_of_its_own() {
    let page = page(&Site::start());
    for tag in between(&page.body, "<", '>') {
        for attribute in tag.split_whitespace().skip(1) {
            assert!(!attribute.starts_with("on") && !attribute.starts_with("style="), "<{tag}>");
        }
        assert!(
            !tag.starts_with("style") && (!tag.starts_with("script") || tag.contains("src=\"/")),
            "<{tag}>"
        );
    }
}

#[test]
fn what_the_script_and_the_labels_name_is_in_the_html_once() {
    let site = Site::start();
    let (page, script) = (page(&site), get(&site, "/graphql/page.js", "*/*"));
    let ids: Vec<_> = between(&page.body, " id=\"", '"').collect();
    let once = |id: &str| ids.iter().filter(|known| **known == id).count() == 1;
    for (text, mark) in [
        (&script.body, "$(\""),
        (&page.body, " for=\""),
        (&page.body, "aria-labelledby=\""),
        (&page.body, "aria-describedby=\""),
    ] {
        let named: Vec<_> = between(text, mark, '"').collect();
        assert!(!named.is_empty(), "{mark}");
        assert!(named.iter().all(|id| once(id)), "{mark}: {named:?} of {ids:?}");
    }
    let labelled: Vec<_> = between(&page.body, " for=\"", '"').collect();
    for field in ["<input ", "<textarea ", "<select "].iter().flat_map(|tag| between(&page.body, tag, '>')) {
        assert!(between(field, "id=\"", '"').all(|id| labelled.contains(&id)), "{field} has no label");
    }
}

/// The page prints no text that it has not made visible: agents have written what is in an answer.
#[test]
fn the_script_prints_visible_text_only() {
    let scripts = scripts(&Site::start());
    let mut count = 0;
    for (name, script) in &scripts {
        for text in between(&script.body, ".textContent = ", ';') {
            assert!(text == "\"\"" || text.starts_with("visible("), "{name}: {text}");
            count += 1;
        }
    }
    assert!(scripts.len() > 5 && count > 5, "{count} in {}", scripts.len());
}

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      require-trusted-types-for 'script'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
