//! The page that says what proves each promise, `docs/PROOF.md`: whether its commands are there.

/// The commands of the page that are no recipes and no tests, one line each.
pub(crate) fn unknown_commands(page: &str, justfile: &str, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let is_recipe = |name: &str| {
        let heads = justfile.lines().filter(|line| !line.starts_with([' ', '#']));
        heads.filter_map(|head| head.split([' ', ':']).next()).any(|recipe| recipe == name)
    };
    let mut faults = Vec::new();
    for command in page.split('`').skip(1).step_by(2) {
        let mut words = command.split_whitespace();
        match words.next() {
            Some("just") => {
                let name = words.next().unwrap_or_default();
                if !is_recipe(name) {
                    faults.push(format!("docs/PROOF.md: `{command}`: there is no recipe {name}"));
                }
            }
            Some("cargo") => {
                let words: Vec<&str> = words.collect();
                let named = words.windows(2).filter(|pair| pair[0] == "--test").map(|pair| pair[1]);
                for suite in named.filter(|suite| {
                    !["", "/main"].iter().any(|end| exists(&format!("tests/{suite}{end}.rs")))
                }) {
                    faults.push(format!("docs/PROOF.md: `{command}`: there are no tests called {suite}"));
                }
            }
            _ => {}
        }
    }
    faults
}
