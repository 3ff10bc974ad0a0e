//! Puts right what models have wrong in calls of these tools: names from other tools, and words of a time.

use super::field::{REVISION, WHEN, ZONE, names};
use super::tool::Tool;
use crate::calendar::{PhraseContext, print_duration, repair_phrase, repair_zone};
use crate::dialect::Notation;
use crate::dialect::args::{ArgError, ArgErrorKind, Repair, Style};
use crate::domain::Span;
use crate::edn::Value;

/// A refused call.
pub(super) struct RefusedCall<'a> {
    tool: Tool,
    repair: Repair<'a>,
    style: Style,
}

impl<'a> RefusedCall<'a> {
    pub(super) fn new(tool: Tool, args: &'a Value, notation: Notation) -> RefusedCall<'a> {
        let style = Style::tools(notation);
        RefusedCall { tool, repair: Repair::new(args, style), style }
    }

    /// The call without the fault in one of its arguments, if the correction is certain.
    pub(super) fn without(&self, error: &ArgError) -> Option<Value> {
        // The number of a zone may be hours or minutes, and that of a time anything.
        let is_of_time = [ZONE.name, WHEN.name].contains(&error.path());
        if matches!(error.kind(), ArgErrorKind::NotText { .. }) && is_of_time {
            return None;
        }
        let is_unknown = matches!(error.kind(), ArgErrorKind::UnknownKeys { .. });
        let own = if is_unknown { self.translated() } else { None };
        own.or_else(|| self.repair.without(error))
    }

    /// The call with its first unknown field under the name that these tools have for it.
    fn translated(&self) -> Option<Value> {
        let known = names(self.tool);
        let (key, name) = self.repair.keys().find(|(_, name)| !known.contains(&&**name))?;
        let rename = |meant: &str, change: &dyn Fn(&Value) -> Option<Value>| {
            // Only under a name that this tool has.
            self.repair.replaced("", key, meant, change).filter(|_| known.contains(&meant))
        };
        if let Some((lead, unit_ms)) = length(&name) {
            return rename(WHEN.name, &|value| {
                let count = u64::try_from(value.as_int()?).ok().filter(|count| *count > 0)?;
                let span = Span::from_millis(count.checked_mul(unit_ms)?);
                Some(Value::string(format!("{lead} {}", print_duration(span))))
            });
        }
        rename(synonym(&name)?, &|value| Some(value.clone()))
    }

    /// The value of a field, if it was given.
    pub(super) fn given(&self, name: &str) -> Option<&'a Value> {
        self.repair.field(name).filter(|value| !value.is_nil())
    }

    /// The call with its zone or the words of its time put right, according to the kind of error.
    pub(super) fn rephrased(&self, kind: &str, asked: &PhraseContext<'_>) -> Option<Value> {
        let zone = self.given(ZONE.name).map(Value::as_str);
        let meant = |zone: &str| repair_zone(zone, asked.zones).filter(|_| kind.starts_with("zone"));
        if let Some(zone) = zone.flatten().and_then(meant) {
            return self.repair.with_field(ZONE.name, zone.into());
        }
        let fixed = repair_phrase(self.given(WHEN.name)?.as_str()?, asked)?;
        let call = self.repair.with_field(WHEN.name, fixed.when.into())?;
        match (fixed.zone, zone) {
            (None, _) => Some(call),
            (Some(named), None) => Repair::new(&call, self.style).with_field(ZONE.name, named.into()),
            // Two zones: nothing says which is meant.
            (Some(_), Some(_)) => None,
        }
    }

    /// The call on another revision.
    pub(super) fn rebased(&self, revision: &Value) -> Option<Value> {
        self.repair.with(REVISION.name, |_| Some(revision.clone()))
    }
}

/// The field for which models use another tool's name.
fn synonym(name: &str) -> Option<&'static str> {
    Some(match name {
        "at" | "time" | "schedule" | "cron" | "run_at" => "when",
        "name" | "title" => "label",
        "idempotency_key" | "dedupe_key" => "key",
        "session" => "session_id",
        // A wrong guess would turn a fault into another call.
        _ => return None,
    })
}

/// The words before a length of time that other tools take as a number, and its unit.
fn length(name: &str) -> Option<(&'static str, u64)> {
    Some(match name {
        "delay_seconds" => ("in", 1_000),
        "delay_ms" => ("in", 1),
        "every_seconds" => ("every", 1_000),
        "every_ms" => ("every", 1),
        _ => return None,
    })
}
