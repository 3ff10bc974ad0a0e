//! Converts names of the graph to their GraphQL spellings.
//!
//! Invariant: a GraphQL name is derived from the attribute's name, never typed a second time.

/// Converts an ident to a field name: `task/created-at` to `createdAt`, `busy?` to `busy`.
pub(in crate::surface::graphql) fn field(ident: &str) -> String {
    let mut words = words(ident);
    let mut name = words.next().unwrap_or_default().to_owned();
    for word in words {
        capitalise(word, &mut name);
    }
    name
}

/// Converts a name to a type name: `session-config` to `SessionConfig`.
pub(in crate::surface::graphql) fn object(name: &str) -> String {
    let mut out = String::new();
    for word in words(name) {
        capitalise(word, &mut out);
    }
    out
}

/// Converts a keyword to an enum constant: `create-session` to `CREATE_SESSION`.
pub(in crate::surface::graphql) fn constant(keyword: &str) -> String {
    words(keyword).map(str::to_uppercase).collect::<Vec<_>>().join("_")
}

/// Converts a field name to a keyword's name: `toolIds` to `tool-ids`.
pub(in crate::surface::graphql) fn kebab(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for char in name.chars() {
        // A capital begins a word, except at the start, where there is nothing to separate.
        if char.is_ascii_uppercase() && !out.is_empty() {
            out.push('-');
        }
        out.push(char.to_ascii_lowercase());
    }
    out
}

/// Rewrites the parameters in a message of the graph: each keyword without a namespace, and `named`, which may stand there
/// without a colon. `:delay-ms` becomes `delayMs`.
pub(in crate::surface::graphql) fn in_camel_case(message: &str, named: &str) -> String {
    let is_part = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '?' | '/' | '.' | ':');
    let mut out = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(start) = rest.find(is_part) {
        out.push_str(&rest[..start]);
        let (word, behind) =
            rest[start..].split_at(rest[start..].find(|it| !is_part(it)).unwrap_or(rest.len() - start));
        // A mark behind a word is none of its letters.
        let bare = word.trim_end_matches(['.', ':']);
        let keyword = bare.strip_prefix(':').or_else(|| (bare == named).then_some(bare));
        match keyword.filter(|name| is_name(name)) {
            Some(name) => {
                out.push_str(&field(name));
                out.push_str(&word[bare.len()..]);
            }
            None => out.push_str(word),
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// Returns whether a word is the name of a parameter: in kebab case, without a namespace.
fn is_name(word: &str) -> bool {
    let letters = word.trim_end_matches('?');
    letters.starts_with(|first: char| first.is_ascii_lowercase())
        && letters.chars().all(|char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '-')
}

/// Returns whether a name is valid for a schema: letters, digits and `_`, with no digit first. Names that begin with
/// `__` are reserved for introspection.
pub(super) fn is_valid(name: &str) -> bool {
    let starts = name.chars().next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    starts && !name.starts_with("__") && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_')
}

/// Returns the words of a name, without its namespace and without `?` and `!`.
fn words(ident: &str) -> impl Iterator<Item = &str> {
    let name = ident.rsplit('/').next().unwrap_or(ident);
    name.split(['-', '.', '_']).map(|word| word.trim_end_matches(['?', '!'])).filter(|word| !word.is_empty())
}

fn capitalise(word: &str, out: &mut String) {
    let mut chars = word.chars();
    out.extend(chars.next().map(|first| first.to_ascii_uppercase()));
    out.push_str(chars.as_str());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_spelled_for_graphql() {
        assert_eq!(field("psi.scheduler/created-at"), "createdAt");
        assert_eq!(field("psi.agent-session/busy?"), "busy");
        assert_eq!(field("tasks"), "tasks");
        assert_eq!(object("schedule"), "Schedule");
        assert_eq!(object("session-config"), "SessionConfig");
        assert_eq!((kebab("toolIds"), kebab("tool-ids")), ("tool-ids".into(), "tool-ids".into()));
        assert_eq!(constant("create-session"), "CREATE_SESSION");
        let camel = |message| in_camel_case(message, "session-config");
        assert_eq!(
            camel("parameter :delay-ms must be a whole number: 1"),
            "parameter delayMs must be a whole number: 1"
        );
        assert_eq!(camel("session-config must be left out."), "sessionConfig must be left out.");
        assert_eq!(camel(":agents-md? or :when; at 12:30, é"), "agentsMd or when; at 12:30, é");
        assert_eq!(camel(":trigger of psi.scheduler/create: :a/b"), "trigger of psi.scheduler/create: :a/b");
        assert!(is_valid("createdAt") && !is_valid("__x") && !is_valid("1x") && !is_valid("a+b"));
    }
}
