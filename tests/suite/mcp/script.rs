//! Conversations as text: `main> LINE` is sent as it stands in the name of `main`, and the line below, after `< `, is what has to
//! come back. `# …` begins the next conversation, with an engine of its own.
//!
//! Of an object only what is expected is compared. `"_"` is anything, `"!"` is nothing at all, `"~x"` is a text that has x in it,
//! `"{x}"` is a text that holds JSON with that in it, and `"$x"` is the same wherever it stands; `$x` in what is sent is that.

use std::collections::BTreeMap;

use serde_json::Value;

/// Plays every conversation: `begin` makes what answers. The faults, one text each.
pub(crate) fn play<A: FnMut(&str, &str) -> Option<String>>(
    script: &str,
    mut begin: impl FnMut() -> A,
) -> Vec<String> {
    let (mut faults, mut says, mut bound) = (Vec::new(), "", BTreeMap::new());
    let (mut answer, mut came) = (None, None);
    for line in script.lines().filter(|line| !line.trim().is_empty() && !line.starts_with(";;")) {
        if let Some(title) = line.strip_prefix("# ") {
            (says, answer, came) = (title, Some(begin()), None);
            bound = BTreeMap::new();
        } else if let Some(expected) = line.strip_prefix("< ") {
            let came: Option<String> = came.take().expect("something was sent");
            if let Err(fault) = meets(expected, came.as_deref(), &mut bound) {
                faults.push(format!("{says}\n  {line}\n  came {came:?}\n  {fault}"));
            }
        } else {
            let (caller, sent) = line.split_once("> ").expect("a line is sent by somebody");
            let sent = filled(sent, &bound);
            came = Some(answer.as_mut().expect("a conversation has a title")(caller, &sent));
        }
    }
    faults
}

/// A text with what is known put in.
fn filled(text: &str, bound: &BTreeMap<String, Value>) -> String {
    bound.iter().fold(text.to_owned(), |text, (name, value)| {
        text.replace(&format!("${name}"), value.as_str().unwrap_or_default())
    })
}

fn meets(expected: &str, came: Option<&str>, bound: &mut BTreeMap<String, Value>) -> Result<(), String> {
    let Some(came) = came else {
        return if expected == "nothing" { Ok(()) } else { Err("nothing came".to_owned()) };
    };
    let came: Value = serde_json::from_str(came).map_err(|error| error.to_string())?;
    let expected: Value =
        serde_json::from_str(&filled(expected, bound)).map_err(|error| error.to_string())?;
    compare(&expected, Some(&came), bound)
}

fn compare(
    expected: &Value,
    came: Option<&Value>,
    bound: &mut BTreeMap<String, Value>,
) -> Result<(), String> {
    let wrong = || Err(format!("expected {expected}, came {}", came.unwrap_or(&Value::Null)));
    if expected == "!" {
        return if came.is_none() { Ok(()) } else { wrong() };
    }
    let Some(came) = came else { return wrong() };
    match expected {
        Value::String(word) if word == "_" => Ok(()),
        Value::String(word) if word.starts_with('$') => {
            let known = bound.entry(word[1..].to_owned()).or_insert_with(|| came.clone());
            if known == came { Ok(()) } else { wrong() }
        }
        Value::String(word) if word.starts_with('~') => {
            if came.as_str().is_some_and(|text| text.contains(&word[1..])) { Ok(()) } else { wrong() }
        }
        Value::String(word) if word.starts_with('{') => {
            let inner: Value = serde_json::from_str(word).map_err(|error| error.to_string())?;
            let held = came.as_str().and_then(|text| serde_json::from_str(text).ok());
            compare(&inner, held.as_ref(), bound)
        }
        Value::Object(parts) => {
            parts.iter().try_for_each(|(key, part)| compare(part, came.get(key.as_str()), bound))
        }
        Value::Array(items) => {
            let found = came.as_array().filter(|found| found.len() == items.len());
            let Some(found) = found else { return wrong() };
            items.iter().zip(found).try_for_each(|(item, found)| compare(item, Some(found), bound))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            if expected == came {
                Ok(())
            } else {
                wrong()
            }
        }
    }
}
