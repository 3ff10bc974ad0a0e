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
        assert!(is_valid("createdAt") && !is_valid("__x") && !is_valid("1x") && !is_valid("a+b"));
    }
}
