//! Puts right what only calls about jobs can have wrong.

use super::policy::FIELDS;
use super::words::NO_WEEKDAYS;
use crate::calendar::repair_offset;
use crate::dialect::Notation;
use crate::dialect::args::{ArgError, ArgErrorKind, Repair, Style, Wording};
use crate::domain::Weekday;
use crate::edn::{Keyword, Map, Value};

/// The call without the fault, if its correction is certain.
pub(super) fn repaired(args: &Value, style: Style, error: &ArgError) -> Option<Value> {
    let repair = Repair::new(args, style);
    let (path, kind) = (error.path(), error.kind());
    let is_own = |rule: Wording| matches!(kind, ArgErrorKind::Own { words, .. } if *words == rule);
    // Any text is the name of a zone here, so a guess would be accepted.
    let is_of_zone = matches!(kind, ArgErrorKind::Own { .. } | ArgErrorKind::NotText { .. });
    if is_of_zone && path.ends_with("timezone") {
        return repair.with(path, |zone| Some(Value::string(repair_offset(zone.as_str()?)?)));
    }
    let own = if is_own(NO_WEEKDAYS) {
        repair.with(path, single)
    } else if matches!(kind, ArgErrorKind::NotOneOf { .. }) && path.ends_with("weekdays") {
        repair.with_each(path, error.value()?, short_day)
    } else {
        moved(args, style, error)
    };
    own.or_else(|| repair.without(error))
}

/// The call with a field of the policy that stands beside it moved into it.
fn moved(args: &Value, style: Style, error: &ArgError) -> Option<Value> {
    let ArgErrorKind::UnknownKeys { known, .. } = error.kind() else { return None };
    let map = args.as_map().filter(|_| error.place().is_empty() && known.contains(&"policy"))?;
    let repair = Repair::new(args, style);
    let (key, name) = repair.keys().find(|(_, name)| FIELDS.contains(&&**name))?;
    let policy = repair.field("policy").cloned().unwrap_or_else(|| Map::new().into());
    // Two values for one field: nothing says which is meant.
    if policy.as_map().is_none() || Repair::new(&policy, style).field(&name).is_some() {
        return None;
    }
    let policy = Repair::new(&policy, style).with_field(&name, map.get(key)?.clone())?;
    let others = map.iter().filter(|(given, _)| *given != key);
    let call = Value::Map(others.map(|(key, value)| (key.clone(), value.clone())).collect());
    Repair::new(&call, style).with_field("policy", policy)
}

/// The same call on another revision of the job.
pub(super) fn rebased(args: &Value, revision: Value) -> Option<Value> {
    // EDN has every spelling of JSON, and the call has been read already.
    Repair::new(args, Style::tools(Notation::Edn)).with_field("base_revision", revision)
}

/// A list of the one day that was given instead of a list.
fn single(day: &Value) -> Option<Value> {
    name(day).filter(|name| !name.trim().is_empty()).map(|_| Value::vector(vec![day.clone()]))
}

/// A day of the week that is written out.
fn short_day(value: &Value) -> Option<Value> {
    let given = name(value)?.trim().to_lowercase();
    let day = Weekday::ALL.iter().find(|day| day.name() == given)?;
    let short = day.name().get(..3)?;
    Some(if value.as_str().is_some() { Value::string(short) } else { Value::keyword(short) })
}

fn name(value: &Value) -> Option<&str> {
    value.as_str().or_else(|| value.as_keyword().map(Keyword::as_str))
}
