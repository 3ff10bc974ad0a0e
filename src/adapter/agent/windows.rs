//! The windows of an agent: processes of its program that are not ours, by the directory in which they work.
//!
//! Only a system that shows its processes as files is looked at; elsewhere none is found, and neither is one of another user.

use std::fs;
use std::path::Path;

/// Returns whether this system shows its processes.
pub(super) fn can_be_seen() -> bool {
    Path::new("/proc/self/cwd").exists()
}

/// Returns a process of this program that is not one of ours and works in a directory.
pub(super) fn one_in(directory: &Path, program: &str, ours: &dyn Fn(u32) -> bool) -> Option<u32> {
    let directory = fs::canonicalize(directory).ok()?;
    let names = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.file_name());
    let mut processes = names.filter_map(|name| name.to_str()?.parse::<u32>().ok());
    processes.find(|&pid| {
        // The cheapest check comes first: most processes work elsewhere.
        fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|works_in| works_in == directory)
            && fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| runs(&line, program))
            && !ours(pid)
    })
}

/// Returns whether a command line, whose words end with a zero, runs a program, itself or by an interpreter.
fn runs(line: &[u8], program: &str) -> bool {
    let line = String::from_utf8_lossy(line).to_lowercase();
    let mut words = line.split('\0');
    let name = words.next().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
    let is_interpreter = INTERPRETERS.iter().any(|interpreter| name.starts_with(interpreter));
    // A script may have any name, in a folder that has the program's.
    let is_part = |script: &str| script.split('/').any(|part| part.starts_with(program));
    name.starts_with(program)
        || is_interpreter && words.find(|word| !word.starts_with('-')).is_some_and(is_part)
}

const INTERPRETERS: &[&str] = &["node", "bun", "deno", "python"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_by_its_command() {
        for (line, is_so) in [
            ("gemini\0--resume\0latest\0", true),
            ("/usr/bin/gemini\0", true),
            ("node\0--no-warnings\0/usr/lib/@google/gemini-cli/bundle/index.js\0", true),
            ("/opt/python3.12\0/home/u/.local/bin/gemini\0", true),
            ("Gemini CLI\0", true),
            ("vim\0gemini.md\0", false),
            ("node\0/srv/index.js\0gemini\0", false),
            ("\0", false),
        ] {
            assert_eq!(runs(line.as_bytes(), "gemini"), is_so, "{line}");
        }
    }
}
