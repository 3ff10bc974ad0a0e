//! The files of the dashboard and of the query page, which are parts of the program: nothing is built, and nothing comes from
//! elsewhere.
//!
//! What lives elsewhere: how the dashboard's modules become one script (`linked.rs`). Invariants: every file is in one of the
//! tables; the vendored ones are as their packages were published (`web/vendor/LOCK`).

use std::sync::LazyLock;

use sha2::{Digest as _, Sha256};

use super::linked::{Module, link};

/// A file of the dashboard or of the query page.
pub(super) struct Asset {
    /// Its name below `/app/` or `/graphql/`.
    pub(super) name: &'static str,
    /// Its media type.
    pub(super) kind: &'static str,
    pub(super) text: String,
    /// Changes with the text.
    pub(super) etag: String,
}

/// The page of the dashboard, which loads its other files.
pub(super) const DASHBOARD: &str = "index.html";
/// The query page, which loads its other files.
pub(super) const QUERY_PAGE: &str = "page.html";

/// Finds a file of the dashboard by its name.
pub(super) fn of_dashboard(name: &str) -> Option<&'static Asset> {
    static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
        let script = asset(SCRIPT, link(SCRIPT, MODULES, PACKAGES));
        DASHBOARD_FILES.iter().map(file).chain([script]).collect()
    });
    ASSETS.iter().find(|asset| asset.name == name)
}

/// Finds a file of the query page by its name.
pub(super) fn of_query_page(name: &str) -> Option<&'static Asset> {
    static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| QUERY_PAGE_FILES.iter().map(file).collect());
    ASSETS.iter().find(|asset| asset.name == name)
}

fn file(&(name, text): &Module) -> Asset {
    asset(name, text.to_owned())
}

fn asset(name: &'static str, text: String) -> Asset {
    let kind = match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "text/javascript; charset=utf-8",
    };
    let digest = Sha256::digest(text.as_bytes());
    let etag = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect::<String>();
    Asset { name, kind, text, etag: format!("\"{etag}\"") }
}

/// The names of packages in imports, and the files that they stand for.
const PACKAGES: &[Module] = &[
    ("preact", "preact.js"),
    ("preact/hooks", "hooks.js"),
    ("@preact/signals", "signals.js"),
    ("@preact/signals-core", "signals-core.js"),
    ("htm", "htm.js"),
];

macro_rules! files {
    ($($folder:literal: $($name:literal)+;)+) => {
        &[$($(($name, include_str!(concat!("../../../web/", $folder, "/", $name))),)+)+]
    };
}

const DASHBOARD_FILES: &[Module] = files! {
    "app": "index.html" "app.css" "icon.svg";
};

/// The module that imports all others, and the script that they are linked into.
const SCRIPT: &str = "main.js";

const MODULES: &[Module] = files! {
    "app": "actions.js" "approvals.js" "engine.js" "explain.js" "feed.js" "form.js" "graph.js" "lanes.js" "lib.js" "main.js";
    "app": "now.js" "over.js" "parts.js" "queries.js" "route.js" "schedule.js" "schedules.js" "text.js" "time.js" "timeline.js";
    "app": "whatif.js";
    "vendor": "preact.js" "hooks.js" "signals.js" "signals-core.js" "htm.js";
};

const QUERY_PAGE_FILES: &[Module] = files! {
    "graphql": "page.html" "page.css";
    "graphql": "page.js" "complete.js" "editor.js" "highlight.js" "language.js" "schema.js" "suggest.js" "visible.js";
};
