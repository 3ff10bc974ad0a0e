//! The rules themselves: each finds its violations in the text of one file.

use crate::files::{module_of, rank};
use crate::rust::{Named, paths, tokens};
use crate::*;

/// Imports of `path` from the same or a higher layer. `lib.rs` declares the layers and `main.rs`
/// wires them: both may name any.
pub(crate) fn layer_faults(path: &str, text: &str) -> Vec<String> {
    let module = module_of(path);
    let own = module[0].as_str();
    if module.len() == 1 && ["lib", "main"].contains(&own) {
        return Vec::new();
    }
    let Some(own_rank) = rank(own) else {
        return vec![format!("1: `{own}` is no layer; give it a row in LAYERS")];
    };
    let mut faults = Vec::new();
    for Named { segments, line } in paths(&module, &tokens(text)) {
        if segments[0] != "crate" {
            continue;
        }
        let name = segments.get(1).map_or("*", String::as_str);
        let fault = match rank(name) {
            // A glob of the root would import every layer.
            _ if name == "*" => "names the crate root; name the module that is meant".to_owned(),
            Some(_) if name == own => match other_room(&module, &segments) {
                Some(room) => format!("one adapter names another, `{room}`"),
                None => continue,
            },
            Some(rank) if rank < own_rank => continue,
            Some(_) => format!("`{own}` may not name `{name}`"),
            None => format!("`crate::{name}` is no layer; name the module that it lives in"),
        };
        faults.push(format!("{line}: {fault}"));
    }
    faults
}

/// The module of what adapters share.
const SHARED_BY_ADAPTERS: &str = "process_group";

/// The other adapter that an adapter's file names, if it does: adapters must not know each other.
pub(crate) fn other_room<'a>(module: &[String], named: &'a [String]) -> Option<&'a str> {
    let own = module.get(1).filter(|_| module[0] == "adapter")?;
    let other = named.get(2).map_or("*", String::as_str);
    // What adapters share is no adapter, and names none.
    (other != own && other != SHARED_BY_ADAPTERS).then_some(other)
}

pub(crate) fn impurities(text: &str) -> Vec<String> {
    let tokens = tokens(text);
    let mut faults = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        let printed = ["println", "eprintln", "print", "eprint"].contains(&token.text.as_str())
            && tokens.get(i + 1).is_some_and(|next| next.text == "!");
        if printed || IMPURE_WORDS.split(' ').any(|word| word == token.text) {
            faults.push(format!("{}: `{}`", token.line, token.text));
        }
    }
    for Named { segments, line } in paths(&["here".to_owned()], &tokens) {
        let second = segments.get(1).map_or("", String::as_str);
        let outer = ["std", "core", "alloc"].contains(&segments[0].as_str());
        let is_time_type =
            matches!(&segments[1..], [time, name] if time == "time" && TIME_TYPES.contains(&name.as_str()));
        // A glob import of `std` could hide any of the impure modules.
        let is_impure = outer && !is_time_type && (second == "*" || IMPURE_MODULES.contains(&second));
        if segments[0] == "rand" || is_impure {
            faults.push(format!("{line}: `{}`", segments.join("::")));
        }
    }
    faults
}

pub(crate) fn line_faults(text: &str) -> Vec<String> {
    // Split, so that this file does not break its own rule.
    let todo = concat!("TO", "DO");
    let mut faults = Vec::new();
    for (number, line) in text.lines().enumerate().map(|(i, line)| (i + 1, line)) {
        let open_end = line.split(todo).skip(1).any(|rest| !has_issue_number(rest));
        let checks = [
            (line.ends_with([' ', '\t', '\r']), "trailing blank"),
            (line.contains('\t'), "tab"),
            (line.chars().count() > LINE_CHARS_MAX, "more than 130 characters"),
            (open_end, "open end without an issue number, as in (#12)"),
        ];
        let broken = checks.into_iter().filter(|(broken, _)| *broken);
        faults.extend(broken.map(|(_, fault)| format!("{number}: {fault}")));
    }
    let tokens = tokens(text);
    for window in tokens.windows(3) {
        match [0, 1, 2].map(|i| window[i].text.as_str()) {
            // Only a test that needs another program may be ignored, and its reason names the
            // command that runs it.
            ["#", "[", "ignore"] if !names_a_command(text, window[0].line) => {
                faults.push(format!("{}: ignored test; assert what holds today", window[0].line));
            }
            ["dbg", "!", _] => faults.push(format!("{}: dbg!", window[0].line)),
            _ => {}
        }
    }
    faults
}

fn names_a_command(text: &str, line: usize) -> bool {
    let line = text.lines().nth(line - 1).unwrap_or_default();
    line.contains("#[ignore = \"needs ") && line.contains(": .ci/check ")
}

pub(crate) fn has_issue_number(rest: &str) -> bool {
    rest.strip_prefix("(#").is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
}

pub(crate) fn waits(text: &str) -> Vec<String> {
    let tokens = tokens(text);
    let mut faults = Vec::new();
    for Named { segments, line } in paths(&["here".to_owned()], &tokens) {
        if segments
            .windows(2)
            .any(|pair| ["thread", "time"].contains(&pair[0].as_str()) && pair[1] == "sleep")
        {
            faults.push(format!("{line}: `{}`", segments.join("::")));
        }
    }
    let timeouts = tokens.iter().filter(|token| token.text == "recv_timeout");
    faults.extend(timeouts.map(|token| format!("{}: `recv_timeout`", token.line)));
    faults
}

/// Work on results in a transition: it is done before the lock is taken, and a transition gets what came of it.
pub(crate) fn work_under_the_lock(path: &str, text: &str) -> Vec<String> {
    let named = paths(&module_of(path), &tokens(text));
    let heavy = named.into_iter().filter(|named| {
        let of_engine = named.segments.iter().skip_while(|segment| *segment != "engine").skip(1);
        of_engine.clone().any(|segment| WORK_ON_RESULTS.contains(&segment.as_str()))
    });
    heavy.map(|named| format!("{}: `{}`", named.line, named.segments.join("::"))).collect()
}

/// Modules of the engine that walk results, and what they offer.
const WORK_ON_RESULTS: [&str; 8] = [
    "condition",
    "reading",
    "plain",
    "result_line",
    "judge",
    "parse_condition",
    "parse_path",
    "read_outcome",
];

/// Lengths over `max` without an entry, and entries that are higher than needed: entries may only
/// shrink, and then disappear.
pub(crate) fn ratchet(lengths: &[(String, usize)], max: usize, allowed: &[(&str, usize)]) -> Vec<String> {
    let mut faults = Vec::new();
    for (place, lines) in lengths.iter().filter(|(_, lines)| *lines > max) {
        match allowed.iter().find(|(name, _)| name == place) {
            None => faults.push(format!("{place}: {lines} lines, at most {max}")),
            Some((_, was)) if lines > was => {
                faults.push(format!("{place}: grew from {was} to {lines} lines"));
            }
            Some((_, was)) if lines < was => {
                faults.push(format!("{place}: now {lines} lines; lower its entry"));
            }
            Some(_) => {}
        }
    }
    // An entry that is no longer needed would let its function grow back in silence.
    for (name, _) in allowed {
        if !lengths.iter().any(|(place, lines)| place == name && *lines > max) {
            faults.push(format!("{name}: no longer over {max} lines; remove its entry"));
        }
    }
    faults
}

/// Calls that change or follow the engine without the service, which admits the caller.
pub(crate) fn past_the_service(text: &str) -> Vec<String> {
    let tokens = tokens(text);
    let mut faults = Vec::new();
    for window in tokens.windows(3) {
        let [dot, name, open] = window else { continue };
        let is_call = dot.text == "." && open.text == "(";
        // `HostAttached` is a host that a client has become; that it may is asked of the service.
        if is_call && PAST_THE_SERVICE.contains(&name.text.as_str()) {
            faults.push(format!("{}: `{}`", name.line, name.text));
        }
    }
    faults
}

/// The handle's methods, and those of its groups, that change something, or follow everything.
const PAST_THE_SERVICE: [&str; 8] = [
    "submit",
    "submit_with",
    "submit_unawaited",
    "open_session",
    "close_session",
    "open_by",
    "close_by",
    "set_guard",
];
