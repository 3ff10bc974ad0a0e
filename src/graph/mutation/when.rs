//! The time of a schedule as a call gives it, in one of six ways.
//!
//! Lives here: the parameters, and resolving them as of a moment. Does not live here: parsing a phrase
//! (`calendar/phrase`).
//!
//! Invariant: an instant that has passed is refused, with a later one as a suggestion, unless the call asks to fire now.

use super::super::echo;
use super::super::params::{FromParam, OneOrMany, enums, field, params};
use super::super::psi_terms;
use super::super::registry::{ParamFault, ParamFaultKind, ParamType, Record, ResolverError, name_of};
use crate::calendar::{
    PhraseContext, PhraseError, ZoneFault, Zones, brief_words, from_edn, parse_cron, understand,
};
use crate::domain::{
    Calendar, Code, CountFrom, Every, JobId, Moment, Span, Trigger, Weekday, When, Zone, names,
};
use crate::edn::{Keyword, Map, Value};
use crate::limits;

params! {
    /// The time of a schedule, given by one of `when`, `trigger`, `cron`, `every-ms`, `delay-ms` and `at`.
    pub WhenParams {
        /// The time as a phrase, such as weekdays at 8:30, in 2 hours, or every 5 minutes.
        optional when: Box<str> = "when",
        /// The time as a trigger, in the form of the attribute trigger.
        optional trigger: TriggerMap = "trigger",
        /// The time as a cron expression of five fields.
        optional cron: Box<str> = "cron",
        /// The time zone of the phrase or the cron expression. If omitted, in a change that of the schedule, else the session's,
        /// else the configured one, else the machine's. Alone in a change, it moves the schedule's own times to this zone.
        optional zone: Box<str> = "zone",
        /// The period of a recurring schedule in milliseconds, counted from now.
        optional every: Span = "every-ms",
        /// The delay from now, in milliseconds.
        optional delay: Span = "delay-ms",
        /// The instant.
        optional at: Moment = "at",
        /// What happens if the instant has already passed. Refuse if omitted.
        optional if_past: IfPast = "if-past",
    }
}

names! {
    /// What happens to an instant that has already passed.
    IfPast {
        /// The call is refused.
        Refuse = "refuse",
        /// The schedule fires now.
        FireNow = "fire-now",
    }
}

names! {
    /// The kinds of triggers, as a call names them.
    TriggerKind {
        /// Once, at an instant.
        At = "at",
        /// Repeatedly, after a period.
        Every = "every",
        /// At a time of day, on some weekdays.
        Calendar = "calendar",
        /// By five fields of cron.
        Cron = "cron",
        /// When a job reports that it is ready.
        Event = "event",
    }
}

enums! {
    IfPast = "if-past",
    TriggerKind = "trigger-kind",
}

params! {
    /// A trigger: its kind, and the parameters of that kind.
    pub TriggerParams {
        /// The kind of trigger.
        required kind: TriggerKind = "kind",
        /// For at: the instant.
        optional at: Moment = "at",
        /// For every: the period in milliseconds.
        optional period: Span = "period-ms",
        /// For every: the instant from which slots are counted.
        optional anchor: Moment = "anchor",
        /// For every: whether the period counts from slot to slot, or from the end of a run.
        optional from: CountFrom = "from",
        /// For calendar: the weekdays.
        optional weekdays: OneOrMany<Weekday> = "weekdays",
        /// For calendar: the time of day, such as 08:30.
        optional time: Box<str> = "time",
        /// For calendar and cron: the time zone. If omitted, as for the parameter zone.
        optional zone: Box<str> = "zone",
        /// For cron: the expression of five fields.
        optional expr: Box<str> = "expr",
        /// For event: the id of the job.
        optional job: JobId = "job",
        /// For event: the instant at which the schedule fires even if the job has not reported.
        optional latest: Moment = "latest",
    }
}

/// The record of a trigger, both as a parameter and as an attribute.
pub const TRIGGER: Record = Record::of("trigger", TriggerParams::GROUP);

/// A trigger as a map in the form that `calendar` reads: names are keywords, even if the call had strings.
#[derive(Clone, Debug, PartialEq)]
pub struct TriggerMap(Map);

impl FromParam for TriggerMap {
    const TYPE: ParamType = ParamType::Record(&TRIGGER);

    fn from_value(value: &Value) -> Option<Self> {
        // The names are checked against the table. Which of them a kind takes is left to `calendar`, when the time is resolved.
        value.as_map().map(|map| TriggerMap(map.iter().map(keyed).collect()))
    }
}

impl Default for WhenParams {
    /// Gives no time.
    fn default() -> WhenParams {
        WhenParams {
            when: None,
            trigger: None,
            cron: None,
            zone: None,
            every: None,
            delay: None,
            at: None,
            if_past: None,
        }
    }
}

/// The record of a time as understood.
pub const UNDERSTOOD: Record = Record {
    name: "understood",
    doc: "The time as understood.",
    params: &[
        field::<Box<str>>("words", "The meaning in words."),
        field::<Box<str>>("zone", "The time zone that was applied."),
        field::<OneOrMany<Moment>>("next", "The next instants."),
        field::<OneOrMany<Box<str>>>(
            "warnings",
            "What may be surprising, also about the destination. Nil if there is nothing.",
        )
        .or_nil(),
    ],
};

/// The time as understood.
pub struct ParsedWhen {
    /// The time.
    pub when: When,
    words: String,
    zone: Zone,
    warnings: Option<Vec<String>>,
}

impl ParsedWhen {
    /// Returns the echo for the caller, in the form of [`UNDERSTOOD`]. The next instants are those of the schedule that has
    /// this time.
    pub fn echo(&self, next: Vec<Moment>) -> Value {
        let echo = Map::new()
            .with("words", brief_words(&self.words))
            .with("zone", self.zone.to_string())
            .with("next", next.into_iter().map(psi_terms::instant).collect::<Vec<Value>>());
        let warnings = self.warnings.as_ref().map(|all| all.iter().map(|it| Value::string(it.as_str())));
        match warnings {
            Some(warnings) => echo.with("warnings", warnings.collect::<Vec<Value>>()).into(),
            None => echo.into(),
        }
    }
}

impl WhenParams {
    /// Resolves the time as of a moment; returns `None` if no time is given. `usual` is the zone of a call that names none.
    ///
    /// # Errors
    /// Returns an error if the time is given in more than one way, is not understood, or has passed, or if nobody knows its
    /// zone.
    pub(crate) fn parse(
        &self,
        now: Moment,
        zones: &Zones,
        usual: &Zone,
    ) -> Result<Option<ParsedWhen>, ResolverError> {
        let given = self.ways();
        // Two ways might contradict each other, and nothing says which of them the caller means.
        let [(way, _)] = given[..] else {
            let Some((first, value)) = given.first() else { return Ok(None) };
            let all = given.iter().map(|(way, _)| format!(":{way}")).collect::<Vec<String>>().join(" and ");
            return Err(wrong(first, value, &format!("the only time given, not one of {all}")));
        };
        // Checked even if the given way uses no zone: a misspelt one is an error that the caller wants to know.
        let zone = match self.zone.as_deref() {
            None => usual.clone(),
            Some(name) => zones.named(name).map_err(|fault| unknown_zone(&fault))?,
        };
        let asked = PhraseContext { now, zone, zones };
        let parsed = self.one_way(way, &asked)?;
        // Compared as resolved: `local` and the name of the machine's zone mean one clock.
        let meant = zones.resolved(&asked.zone);
        if way == "when" && self.zone.is_some() && parsed.zone != *meant {
            let message = format!("the phrase is in {}, and the zone given is {meant}", parsed.zone);
            return Err(hinted(&message, "zone-twice", "name one zone, in the phrase or beside it"));
        }
        Ok(Some(parsed))
    }

    /// The times of a schedule on the clock of another zone; `None` if no zone is given. Not for a call that gives a time.
    ///
    /// # Errors
    /// Returns an error if nobody knows the zone, or if the schedule's times are on no clock.
    pub(super) fn moved(
        &self,
        present: Option<&Trigger>,
        now: Moment,
        zones: &Zones,
    ) -> Result<Option<ParsedWhen>, ResolverError> {
        let (Some(name), Some(present)) = (self.zone.as_deref(), present) else { return Ok(None) };
        let zone = zones.named(name).map_err(|fault| unknown_zone(&fault))?;
        let Some(trigger) = present.in_zone(&zone) else {
            let message = "the schedule's times are on no clock, so a zone changes nothing";
            return Err(hinted(message, "zone-alone", "give the time together with its zone"));
        };
        Ok(Some(plain(When::By(trigger), &PhraseContext { now, zone, zones })))
    }

    /// Returns the ways that are given: the name of each, and its value.
    fn ways(&self) -> Vec<(&'static str, Value)> {
        let ways = [
            ("when", self.when.as_deref().map(Value::string)),
            ("trigger", self.trigger.as_ref().map(|TriggerMap(map)| map.clone().into())),
            ("cron", self.cron.as_deref().map(Value::string)),
            ("every-ms", self.every.map(millis)),
            ("delay-ms", self.delay.map(millis)),
            ("at", self.at.map(psi_terms::instant)),
        ];
        ways.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    /// Resolves the one way that is given.
    fn one_way(&self, way: &'static str, asked: &PhraseContext<'_>) -> Result<ParsedWhen, ResolverError> {
        let fires_now = self.if_past == Some(IfPast::FireNow);
        if let Some(text) = &self.when {
            return phrase(text, asked, fires_now);
        }
        if let Some(TriggerMap(map)) = &self.trigger {
            return Ok(plain(When::By(read_trigger(way, map, asked)?), asked));
        }
        if let Some(fields) = &self.cron {
            let cron = parse_cron(fields);
            let cron = cron.map_err(|error| hinted(&error.to_string(), error.code(), error.hint()))?;
            return Ok(plain(When::By(Trigger::Cron(cron.into(), asked.zone.clone().into())), asked));
        }
        if let Some(period) = self.every {
            // The first slot comes one period from now, and the others are counted from there.
            let every = asked.now.checked_add(period);
            let every = every.and_then(|first| Every::new(period, first, CountFrom::Slot));
            let every = every.ok_or_else(|| {
                let (least, most) = (limits::PERIOD_MS_MIN.value, limits::PERIOD_MS_MAX.value);
                wrong(way, &millis(period), &format!("a whole number from {least} to {most}"))
            })?;
            return Ok(plain(When::By(every.into()), asked));
        }
        // All other ways are handled above, so without an instant there is a delay.
        let Some(at) = self.at else {
            return Ok(plain(When::After(self.delay.unwrap_or_default()), asked));
        };
        // An instant that is exactly now has not passed.
        if at >= asked.now {
            Ok(plain(When::At(at), asked))
        } else if fires_now {
            Ok(plain(When::After(Span::ZERO), asked))
        } else {
            Err(past(at, asked.now, &next_such(at, asked)))
        }
    }
}

/// Resolves a trigger in the form of the attribute. Without a zone it is read in that of the call.
fn read_trigger(way: &'static str, map: &Map, asked: &PhraseContext<'_>) -> Result<Trigger, ResolverError> {
    let kind = map.keyword("kind").and_then(Value::as_keyword);
    let is_on_a_clock = kind.is_some_and(|kind| {
        [TriggerKind::Calendar, TriggerKind::Cron].iter().any(|known| known.name() == kind.as_str())
    });
    let is_silent = map.keyword("zone").is_none_or(Value::is_nil);
    let map = match is_on_a_clock && is_silent {
        true => map.clone().with("zone", asked.zone.to_string()),
        false => map.clone(),
    };
    let trigger =
        from_edn(&Value::Map(map.clone())).map_err(|error| wrong(way, &map.into(), &error.to_string()))?;
    let known = |zone: Zone| asked.zones.known(zone).map_err(|fault| unknown_zone(&fault));
    Ok(match trigger {
        Trigger::Calendar(calendar) => {
            Trigger::Calendar(Box::new(Calendar { zone: known(calendar.zone.clone())?, ..*calendar }))
        }
        Trigger::Cron(cron, zone) => Trigger::Cron(cron, known(*zone)?.into()),
        Trigger::At(_) | Trigger::Every(_) | Trigger::Event(_) => trigger,
    })
}

/// Resolves a phrase.
fn phrase(phrase: &str, asked: &PhraseContext<'_>, fires_now: bool) -> Result<ParsedWhen, ResolverError> {
    match understand(phrase, asked) {
        Ok(understood) => Ok(ParsedWhen {
            when: understood.meant,
            words: understood.words,
            zone: asked.zones.resolved(&understood.zone).clone(),
            warnings: Some(understood.warnings.iter().map(ToString::to_string).collect()),
        }),
        // The phrase was understood, and the caller accepts that its instant has passed.
        Err(PhraseError::Past { .. }) if fires_now => Ok(plain(When::After(Span::ZERO), asked)),
        Err(PhraseError::Zone { fault, fix: None }) => Err(unknown_zone(&fault)),
        Err(error) => {
            let mut refused = hinted(&error.to_string(), error.code(), &error.hint());
            if let (Some(fix), Some(data)) = (error.fix(), refused.data.as_map()) {
                // A program can send the suggestion back without parsing the hint.
                refused.data = data.clone().with("fix", fix).into();
            }
            Err(refused)
        }
    }
}

/// The error of a zone that nobody knows, with the one that is meant, if that is clear.
pub(crate) fn unknown_zone(fault: &ZoneFault) -> ResolverError {
    let mut refused = hinted(&fault.to_string(), fault.code(), &fault.hint());
    if let (Some(zone), Some(data)) = (fault.meant(), refused.data.as_map()) {
        refused.data = data.clone().with("zone", zone).into();
    }
    refused
}

/// The next such instant as text, by the rule of phrases; an instant has no zone, so by the clock of UTC.
fn next_such(at: Moment, asked: &PhraseContext<'_>) -> String {
    let asked = PhraseContext { zone: Zone::Utc, ..asked.clone() };
    // The instant has passed, so the phrase is refused, and the refusal has the suggestion.
    let read = understand(&at.to_string(), &asked);
    read.err().and_then(|error| error.fix().map(str::to_owned)).unwrap_or_else(|| asked.now.to_string())
}

fn past(at: Moment, now: Moment, fix: &str) -> ResolverError {
    let hint = format!(
        "it is {} now: say a time that lies ahead, such as {fix}, or :if-past :fire-now",
        now.brief()
    );
    let data = Map::new().with("reason", Value::keyword("past")).with("hint", hint).with("fix", fix);
    ResolverError::new(format!("{at} has passed"), data).coded(Code::Validation)
}

/// Returns a time that was not given as a phrase, with its meaning in words.
fn plain(when: When, asked: &PhraseContext<'_>) -> ParsedWhen {
    // A delay that leads beyond the calendar has no words. The engine refuses it.
    let words = when.clone().resolve(asked.now).map(|trigger| crate::calendar::print(&trigger));
    let zone = asked.zones.resolved(&asked.zone).clone();
    ParsedWhen { when, words: words.unwrap_or_default(), zone, warnings: None }
}

/// Returns an entry of a trigger with names as keywords. JSON has strings where EDN has keywords, and keys may be qualified.
fn keyed((key, value): (&Value, &Value)) -> (Value, Value) {
    let keyword = |value: &Value| match value.as_str() {
        Some(text) if Keyword::new(text).is_ok() => Value::keyword(text),
        Some(_) | None => value.clone(),
    };
    let name = name_of(key).unwrap_or_default();
    let value = match (name, value.as_items()) {
        // Only these have names as values. In all others a string is a string, such as an id.
        ("kind" | "from", _) => keyword(value),
        ("weekdays", Some(days)) => Value::vector(days.iter().map(keyword).collect::<Vec<Value>>()),
        _ => value.clone(),
    };
    (Value::keyword(name), value)
}

fn millis(span: Span) -> Value {
    i64::try_from(span.millis()).unwrap_or(i64::MAX).into()
}

fn wrong(name: &'static str, value: &Value, expected: &str) -> ResolverError {
    let kind =
        ParamFaultKind::Wrong { name, value: echo(value), expected: expected.to_owned(), nearest: None };
    ParamFault { path: Vec::new(), kind }.into_error(&"the call")
}

fn hinted(message: &str, code: &str, hint: &str) -> ResolverError {
    let data = Map::new().with("reason", Value::keyword(code)).with("hint", hint);
    ResolverError::new(message, data).coded(Code::Validation)
}
