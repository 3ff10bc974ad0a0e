//! The files of the dashboard and of the query page, which are parts of the program.
//!
//! What lives elsewhere: how the modules of `web/app/` become one script and the style is minified (`tests/clients/pages.mjs`).
//! Invariants: every file that is served is in one of the tables; `web/built/` is made from the sources beside it
//! (`web/built/LOCK`), and the vendored ones are as their packages were published (`web/vendor/LOCK`).

use std::sync::LazyLock;

use sha2::{Digest as _, Sha256};

/// A file of the dashboard or of the query page.
pub(super) struct Asset {
    /// Its name below `/app/` or `/graphql/`.
    pub(super) name: &'static str,
    /// Its media type.
    pub(super) kind: &'static str,
    pub(super) text: &'static str,
    /// Changes with the text.
    pub(super) etag: String,
}

/// The page of the dashboard, which loads its other files.
pub(super) const DASHBOARD: &str = "index.html";
/// The query page, which loads its other files.
pub(super) const QUERY_PAGE: &str = "page.html";

/// Finds a file of the dashboard by its name.
pub(super) fn of_dashboard(name: &str) -> Option<&'static Asset> {
    static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| DASHBOARD_FILES.iter().map(asset).collect());
    ASSETS.iter().find(|asset| asset.name == name)
}

/// Finds a file of the query page by its name.
pub(super) fn of_query_page(name: &str) -> Option<&'static Asset> {
    static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| QUERY_PAGE_FILES.iter().map(asset).collect());
    ASSETS.iter().find(|asset| asset.name == name)
}

fn asset(&(name, text): &File) -> Asset {
    let kind = match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "text/javascript; charset=utf-8",
    };
    let digest = Sha256::digest(text.as_bytes());
    // 64 bits are enough: the tag only tells versions of one file apart.
    let etag = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect::<String>();
    Asset { name, kind, text, etag: format!("\"{etag}\"") }
}

/// A file: its name, and its text.
type File = (&'static str, &'static str);

macro_rules! files {
    ($($folder:literal: $($name:literal)+;)+) => {
        &[$($(($name, include_str!(concat!("../../../web/", $folder, "/", $name))),)+)+]
    };
}

const DASHBOARD_FILES: &[File] = files! {
    "app": "index.html" "icon.svg";
    "built": "app.css" "main.js" "licences.txt";
};

const QUERY_PAGE_FILES: &[File] = files! {
    "graphql": "page.html" "page.css";
    "graphql": "page.js" "complete.js" "editor.js" "highlight.js" "language.js" "schema.js" "suggest.js" "visible.js";
};
