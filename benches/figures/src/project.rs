//! Figures of the repository rather than of its code: features, test programs, tracked files.
//!
//! Lives here: what `cargo metadata` and `git ls-files` say.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// What is counted once for the whole repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Project {
    /// Of the main package, `default` left out.
    pub(crate) features: usize,
    /// Programs of integration tests, each linked by itself.
    pub(crate) test_programs: usize,
    /// `None` outside a git checkout.
    pub(crate) tracked_files: Option<usize>,
}

/// Asks cargo and git.
pub(crate) fn project(root: &Path) -> Result<Project, String> {
    let metadata = output(root, "cargo", &["metadata", "--no-deps", "--format-version", "1"])?;
    let (features, test_programs) =
        package_figures(&metadata).ok_or("cargo metadata: no package `reveille`")?;
    let tracked = output(root, "git", &["ls-files", "-z"]).ok();
    let tracked_files = tracked.map(|names| names.matches('\0').count());
    Ok(Project { features, test_programs, tracked_files })
}

fn output(root: &Path, program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(arguments).current_dir(root).output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn package_figures(metadata: &str) -> Option<(usize, usize)> {
    let metadata: Value = serde_json::from_str(metadata).ok()?;
    let package = metadata["packages"].as_array()?.iter().find(|package| package["name"] == "reveille")?;
    let features = package["features"].as_object()?.keys().filter(|name| *name != "default").count();
    let targets = package["targets"].as_array()?;
    Some((features, targets.iter().filter(|target| target["kind"][0] == "test").count()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_main_package_counts() {
        let metadata = r#"{"packages": [
            {"name": "other", "features": {"a": []}, "targets": [{"kind": ["test"]}]},
            {"name": "reveille", "features": {"default": ["a"], "a": [], "b": []},
             "targets": [{"kind": ["lib"]}, {"kind": ["test"]}, {"kind": ["bench"]}]}]}"#;
        assert_eq!(package_figures(metadata), Some((2, 1)));
        assert_eq!(package_figures("{}"), None);
    }
}
