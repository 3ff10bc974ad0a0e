//! What the system says of a process: its memory, its descriptors, and what its files take up.

use std::fs;
use std::path::Path;

/// Resident memory, in bytes.
pub(crate) fn rss(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib: u64 = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or(0);
    kib * 1_024
}

/// The processor time that the machine's host has taken from it since it began, in seconds. Zero where it does not say so.
pub(crate) fn stolen() -> f64 {
    let all = fs::read_to_string("/proc/stat").unwrap_or_default();
    let hundredths = all.lines().next().and_then(|line| line.split_whitespace().nth(8)?.parse().ok());
    hundredths.map_or(0.0, |hundredths: u32| f64::from(hundredths) / 100.0)
}

/// Open descriptors.
pub(crate) fn descriptors(process: u32) -> usize {
    fs::read_dir(format!("/proc/{process}/fd")).map_or(0, Iterator::count)
}

/// The bytes of all files in a directory.
pub(crate) fn disk(directory: &Path) -> u64 {
    let files = fs::read_dir(directory).into_iter().flatten().flatten();
    files.filter_map(|file| file.metadata().ok()).filter(fs::Metadata::is_file).map(|file| file.len()).sum()
}

/// As people read it.
pub(crate) fn mib(bytes: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a figure to look at")]
    let bytes = bytes as f64;
    bytes / f64::from(1 << 20)
}

/// A length that the environment may say, as `MINUTES=15`.
pub(crate) fn said(variable: &str) -> Option<u64> {
    let text = said_text(variable)?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is a number, not {text}")))
}

/// What the environment may say about a test.
#[expect(clippy::disallowed_methods, reason = "how long a test is to run is said in the environment")]
pub(crate) fn said_text(variable: &str) -> Option<String> {
    std::env::var(variable).ok()
}
