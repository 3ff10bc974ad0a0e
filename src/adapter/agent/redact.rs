//! What an agent wrote to its error output, without what looks like a secret.

use super::plan::Environment;

/// Returns the text with values of the environment, and words that look like keys, replaced by `…`.
pub(super) fn redacted(text: &str, environment: &Environment) -> String {
    let mut text: String =
        text.chars().map(|char| if char.is_control() && char != '\n' { ' ' } else { char }).collect();
    // Long ones first: a short value may be a part of a long one.
    let mut values: Vec<&str> = environment.0.iter().map(|(_, value)| value.as_str()).collect();
    values.retain(|value| value.len() >= SECRET_BYTES_MIN && !value.starts_with('/'));
    values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    for value in values {
        text = text.replace(value, "…");
    }
    let word = |word: &str| if looks_like_key(word) { "…".to_owned() } else { word.to_owned() };
    let lines = text.trim().split('\n');
    lines.map(|line| line.split(' ').map(word).collect::<Vec<_>>().join(" ")).collect::<Vec<_>>().join("\n")
}

/// Returns whether a word looks like a key: a known beginning, or a long mixture of letters and digits that is no path.
fn looks_like_key(word: &str) -> bool {
    let word = word.trim_matches(|char: char| !char.is_ascii_alphanumeric());
    let begins = ["sk-", "ghp_", "gho_", "xoxb-", "AIza", "whsec_", "eyJ"];
    if begins.iter().any(|begin| word.starts_with(begin)) {
        return true;
    }
    let is_token = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_=+".contains(&byte));
    let has = |is: fn(&u8) -> bool| word.as_bytes().iter().any(is);
    is_token && word.len() >= 32 && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
}

/// A shorter value is more likely a word of the text than a secret.
const SECRET_BYTES_MIN: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_left_out() {
        let environment = [("KEY", "tiger-lily"), ("HOME", "/home/u"), ("LANG", "C")];
        let environment = environment.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let environment = Environment(environment.to_vec());
        let text =
            "bad key tiger-lily in /home/u\nsk-ant-1 (eyJhbGciOi) 0123456789abcdef0123456789abcdef \u{1b}[1m";
        assert_eq!(redacted(text, &environment), "bad key … in /home/u\n… … …  [1m");
    }
}
