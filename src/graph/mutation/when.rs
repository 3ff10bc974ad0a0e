//! The time of a schedule as a call gives it, in one of six ways.
//!
//! Lives here: the parameters, and resolving them as of a moment. Does not live here: parsing a phrase
//! (`calendar/phrase`).
//!
//! Invariant: an instant that has passed is refused, with a later one as a suggestion, unless the call asks to fire now.

use super::super::params::{FromParam, OneOrMany, enums, field, params};
use super::super::psi_terms;
use super::super::registry::{ParamFault, ParamFaultKind, ParamType, Record, ResolverError, name_of};
use crate::calendar::{
    PhraseContext, PhraseError, Slots, Understood, Zones, from_edn, parse_cron, understand,
};
use crate::domain::{Code, CountFrom, Every, JobId, Moment, Span, Trigger, Weekday, When, Zone, names};
use crate::edn::{Keyword, Map, Value};

params! {
    /// The time of a schedule, given by one of `when`, `trigger`, `cron`, `every-ms`, `delay-ms` and `at`.
    pub WhenParams {
        /// The time as a phrase, such as weekdays at 8:30, in 2 hours, or every 5 minutes.
        optional when: Box<str> = "when",
        /// The time as a trigger, in the form of the attribute trigger.
        optional trigger: TriggerMap = "trigger",
        /// The time as a cron expression of five fields.
        optional cron: Box<str> = "cron",
        /// The time zone of the phrase or the cron expression. UTC if omitted.
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
        /// For calendar and cron: the time zone.
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
    /// The meaning in words, with the zone and the next instants.
    pub echo: Value,
}

impl WhenParams {
    /// Resolves the time as of a moment; returns `None` if no time is given.
    ///
    /// # Errors
    /// Returns an error if the time is given in more than one way, is not understood, or has passed.
    pub fn parse(&self, now: Moment, zones: &Zones) -> Result<Option<ParsedWhen>, ResolverError> {
        let given = self.ways();
        // Two ways might contradict each other, and nothing says which of them the caller means.
        let [way] = given[..] else {
            let Some(first) = given.first() else { return Ok(None) };
            return Err(wrong(first, &format!("the only time given, not one of {}", given.join(" and "))));
        };
        // Checked even if the given way uses no zone: a misspelt one is an error that the caller wants to know.
        let zone = match self.zone.as_deref() {
            None => Zone::Utc,
            Some(name) => {
                Zone::parse(name).map_err(|error| hinted(&error.to_string(), error.code(), error.hint()))?
            }
        };
        let asked = PhraseContext { now, zone, zones };
        self.one_way(way, &asked).map(Some)
    }

    /// Returns the names of the ways that are given.
    fn ways(&self) -> Vec<&'static str> {
        let ways = [
            ("when", self.when.is_some()),
            ("trigger", self.trigger.is_some()),
            ("cron", self.cron.is_some()),
            ("every-ms", self.every.is_some()),
            ("delay-ms", self.delay.is_some()),
            ("at", self.at.is_some()),
        ];
        ways.into_iter().filter(|(_, is_given)| *is_given).map(|(name, _)| name).collect()
    }

    /// Resolves the one way that is given.
    fn one_way(&self, way: &'static str, asked: &PhraseContext<'_>) -> Result<ParsedWhen, ResolverError> {
        let fires_now = self.if_past == Some(IfPast::FireNow);
        if let Some(text) = &self.when {
            return phrase(text, asked, fires_now);
        }
        if let Some(TriggerMap(map)) = &self.trigger {
            let trigger = from_edn(&Value::Map(map.clone()));
            let trigger = trigger.map_err(|error| wrong(way, &error.to_string()))?;
            return Ok(plain(When::By(trigger), asked));
        }
        if let Some(fields) = &self.cron {
            let cron = parse_cron(fields);
            let cron = cron.map_err(|error| hinted(&error.to_string(), error.code(), error.hint()))?;
            return Ok(plain(When::By(Trigger::Cron(cron.into(), asked.zone.clone().into())), asked));
        }
        if let Some(period) = self.every {
            let every = Every::new(period, asked.now, CountFrom::Slot);
            let every = every.ok_or_else(|| wrong(way, "within period-ms-min and period-ms-max"))?;
            return Ok(plain(ahead(When::By(every.into()), asked.now), asked));
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
            Err(past(at, &next_day(asked.now, at)))
        }
    }
}

/// Resolves a phrase.
fn phrase(phrase: &str, asked: &PhraseContext<'_>, fires_now: bool) -> Result<ParsedWhen, ResolverError> {
    match understand(phrase, asked) {
        Ok(understood) => {
            Ok(ParsedWhen { echo: echo(&understood), when: ahead(understood.meant, asked.now) })
        }
        // The phrase was understood, and the caller accepts that its instant has passed.
        Err(PhraseError::Past { .. }) if fires_now => Ok(plain(When::After(Span::ZERO), asked)),
        Err(error) => {
            let mut refused = hinted(&error.to_string(), error.code(), &error.hint());
            if let (PhraseError::Past { fix, .. }, Some(data)) = (&error, refused.data.as_map()) {
                // A program can send the suggestion back without parsing the hint.
                refused.data = data.clone().with("fix", &**fix).into();
            }
            Err(refused)
        }
    }
}

/// Moves the first slot of a period that counts from now to the end of that period: the engine takes a slot at the very moment
/// of creation, and whether its clock has moved on since the call was read is chance.
fn ahead(when: When, now: Moment) -> When {
    let When::By(Trigger::Every(every)) = &when else { return when };
    let anchor = now.checked_add(every.period()).filter(|_| every.anchor() == now);
    let moved = anchor.and_then(|anchor| Every::new(every.period(), anchor, every.from()));
    moved.map_or(when, |every| When::By(every.into()))
}

/// Returns the next instant at that time of day, as text. A day has 24 hours here, because an instant has no zone.
fn next_day(now: Moment, at: Moment) -> String {
    // One day more than the full days that have passed, so the result is always ahead.
    let days = now.since(at).nanos() / DAY_NS + 1;
    let next = at.checked_add(Span::from_nanos(days.saturating_mul(DAY_NS)));
    next.map_or_else(|| now.to_string(), |next| next.to_string())
}

fn past(at: Moment, fix: &str) -> ResolverError {
    let hint = format!("the next such time is {fix}; or say :if-past :fire-now");
    let data = Map::new().with("reason", Value::keyword("past")).with("hint", hint).with("fix", fix);
    ResolverError::new(format!("{at} has passed"), data).coded(Code::Validation)
}

/// Returns a time that was not given as a phrase, with its echo.
fn plain(when: When, asked: &PhraseContext<'_>) -> ParsedWhen {
    let trigger = when.clone().resolve(asked.now);
    // A single instant is listed even if it is now: `upcoming` would leave it out.
    let next: Vec<Moment> = match &trigger {
        Some(Trigger::At(at)) => vec![*at],
        Some(trigger) => Slots::new(trigger, asked.zones).upcoming(asked.now, 3),
        None => Vec::new(),
    };
    let words = match &trigger {
        Some(Trigger::At(at)) => at.to_string(),
        Some(trigger) => crate::calendar::print(trigger),
        // A delay that leads beyond the calendar. The engine refuses it.
        None => String::new(),
    };
    let echo = Map::new()
        .with("words", words)
        .with("zone", asked.zone.to_string())
        .with("next", next.into_iter().map(psi_terms::instant).collect::<Vec<Value>>());
    ParsedWhen { when, echo: echo.into() }
}

/// Returns the echo of a phrase, in the form of [`UNDERSTOOD`].
fn echo(understood: &Understood) -> Value {
    let warnings: Vec<Value> = understood.warnings.iter().map(|it| Value::string(it.to_string())).collect();
    Map::new()
        .with("words", understood.words.as_str())
        .with("zone", understood.zone.to_string())
        .with("next", understood.next.iter().map(|next| psi_terms::instant(*next)).collect::<Vec<Value>>())
        .with("warnings", warnings)
        .into()
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

fn wrong(name: &'static str, expected: &str) -> ResolverError {
    let kind = ParamFaultKind::Wrong { name, value: Value::Nil, expected: expected.to_owned() };
    ParamFault { path: Vec::new(), kind }.into_error(&"the call")
}

fn hinted(message: &str, code: &str, hint: &str) -> ResolverError {
    let data = Map::new().with("reason", Value::keyword(code)).with("hint", hint);
    ResolverError::new(message, data).coded(Code::Validation)
}

const DAY_NS: u64 = 86_400_000_000_000;
