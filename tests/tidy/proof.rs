//! Checks that the commands on `docs/PROOF.md` exist.

/// The commands of the page that are neither recipes nor tests, one per line.
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
                let missing = unknown_tests(&words.collect::<Vec<_>>(), &exists);
                let fault = |name| format!("docs/PROOF.md: `{command}`: there are no tests called {name}");
                faults.extend(missing.iter().map(fault));
            }
            _ => {}
        }
    }
    faults
}

/// The programs of tests, and their modules (`durable::`), that a command names and that there are not.
fn unknown_tests(words: &[&str], exists: impl Fn(&str) -> bool) -> Vec<String> {
    let programs: Vec<&str> =
        words.windows(2).filter(|pair| pair[0] == "--test").map(|pair| pair[1]).collect();
    let modules = words.iter().filter_map(|word| word.strip_suffix("::"));
    let is_no_program =
        |name: &&&str| !["", "/main"].iter().any(|end| exists(&format!("tests/{name}{end}.rs")));
    let is_no_module = |name: &&str| {
        let places = programs.iter().map(|program| format!("tests/{program}/{}", name.replace("::", "/")));
        !places
            .flat_map(|place| [format!("{place}.rs"), format!("{place}/mod.rs")])
            .any(|place| exists(&place))
    };
    let missing = programs.iter().filter(is_no_program).map(|name| (*name).to_owned());
    missing.chain(modules.filter(is_no_module).map(|name| format!("{name}::"))).collect()
}
