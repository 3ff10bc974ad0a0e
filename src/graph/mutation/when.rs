//! When something is to happen, as a call says it: one of six ways.
//!
//! Lives here: the parameters and what they mean at a moment. Does not live here: what a phrase means (`calendar/phrase`).
//!
//! Invariant: an instant that has passed is refused with one that could be said instead, unless the call says that it shall
//! fire now.

use super::super::params::{FromParam, OneOrMany, enums, field, params};
use super::super::psi_terms;
use super::super::registry::{ParamFault, ParamFaultKind, ParamType, Record, ResolverError, name_of};
use crate::calendar::{
    PhraseContext, PhraseError, Slots, Understood, Zones, from_edn, parse_cron, understand,
};
use crate::domain::{Code, CountFrom, Every, JobId, Moment, Span, Trigger, Weekday, When, Zone, names};
use crate::edn::{Keyword, Map, Value};

params! {
    /// When something is to happen. One of `when`, `trigger`, `cron`, `every-ms`, `delay-ms` and `at` says it.
    pub WhenParams {
        /// When, in a phrase: weekdays at 8:30, in 2 hours, every 5 minutes.
        optional when: Box<str> = "when",
        /// When, as the attribute trigger shows it.
        optional trigger: TriggerMap = "trigger",
        /// When, by five fields of cron.
        optional cron: Box<str> = "cron",
        /// The time zone in which a phrase or cron is read. UTC if left out.
        optional zone: Box<str> = "zone",
        /// Every so many milliseconds, from now on.
        optional every: Span = "every-ms",
        /// How long from now, in milliseconds.
        optional delay: Span = "delay-ms",
        /// The instant.
        optional at: Moment = "at",
        /// What happens if the instant has passed. It is refused if left out.
        optional if_past: IfPast = "if-past",
    }
}

names! {
    /// What becomes of an instant that has passed already.
    IfPast {
        /// It is refused.
        Refuse = "refuse",
        /// It fires now.
        FireNow = "fire-now",
    }
}

names! {
    /// The kinds of a trigger, as a call names them.
    TriggerKind {
        /// Once, at an instant.
        At = "at",
        /// Again and again, after a period.
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
    /// A trigger: its kind, and what that kind takes.
    pub TriggerParams {
        /// What kind of trigger it is.
        required kind: TriggerKind = "kind",
        /// Of at: the instant.
        optional at: Moment = "at",
        /// Of every: the period in milliseconds.
        optional period: Span = "period-ms",
        /// Of every: the instant that slots are counted from.
        optional anchor: Moment = "anchor",
        /// Of every: whether the period counts from slot to slot, or from the end of a run.
        optional from: CountFrom = "from",
        /// Of calendar: the days.
        optional weekdays: OneOrMany<Weekday> = "weekdays",
        /// Of calendar: the time of day, such as 08:30.
        optional time: Box<str> = "time",
        /// Of calendar and cron: the time zone.
        optional zone: Box<str> = "zone",
        /// Of cron: the five fields.
        optional expr: Box<str> = "expr",
        /// Of event: the job.
        optional job: JobId = "job",
        /// Of event: the latest time at which it happens all the same.
        optional latest: Moment = "latest",
    }
}

/// A trigger, as it is given and shown.
pub const TRIGGER: Record = Record::of("trigger", TriggerParams::GROUP);

/// A trigger as a map, in the form that `calendar` reads: names are keywords, in whatever notation they came.
#[derive(Clone, Debug, PartialEq)]
pub struct TriggerMap(Map);

impl FromParam for TriggerMap {
    const TYPE: ParamType = ParamType::Record(&TRIGGER);

    fn from_value(value: &Value) -> Option<Self> {
        value.as_map().map(|map| TriggerMap(map.iter().map(keyed).collect()))
    }
}

impl Default for WhenParams {
    /// Nothing said.
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

/// What was understood of a phrase, as it is shown.
pub const UNDERSTOOD: Record = Record {
    name: "understood",
    doc: "When, as understood.",
    params: &[
        field::<Box<str>>("words", "The meaning in words."),
        field::<Box<str>>("zone", "The time zone in which it was read."),
        field::<OneOrMany<Moment>>("next", "The next instants."),
        field::<OneOrMany<Box<str>>>("warnings", "What may surprise about it; nil where it was no phrase.")
            .or_nil(),
    ],
};

/// When, as understood.
pub struct ParsedWhen {
    /// What it means.
    pub when: When,
    /// The meaning in words, with the zone and the next instants.
    pub echo: Value,
}

impl WhenParams {
    /// What they mean at this moment; `None` if none of them says when.
    ///
    /// # Errors
    /// More than one way of saying it, one that is not understood, or an instant that has passed.
    pub fn parse(&self, now: Moment, zones: &Zones) -> Result<Option<ParsedWhen>, ResolverError> {
        let given = self.ways();
        let [way] = given[..] else {
            let Some(first) = given.first() else { return Ok(None) };
            return Err(wrong(first, &format!("said in one way, not in {}", given.join(" and "))));
        };
        let zone = match self.zone.as_deref() {
            None => Zone::Utc,
            Some(name) => {
                Zone::parse(name).map_err(|error| hinted(&error.to_string(), error.code(), error.hint()))?
            }
        };
        let asked = PhraseContext { now, zone, zones };
        self.one_way(way, &asked).map(Some)
    }

    /// Which of the six ways are given.
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
            return Ok(plain(When::By(every.into()), asked));
        }
        let Some(at) = self.at else {
            return Ok(plain(When::After(self.delay.unwrap_or_default()), asked));
        };
        if at >= asked.now {
            Ok(plain(When::At(at), asked))
        } else if fires_now {
            Ok(plain(When::After(Span::ZERO), asked))
        } else {
            Err(past(at, &next_day(asked.now, at)))
        }
    }
}

fn phrase(phrase: &str, asked: &PhraseContext<'_>, fires_now: bool) -> Result<ParsedWhen, ResolverError> {
    match understand(phrase, asked) {
        Ok(understood) => Ok(ParsedWhen { echo: echo(&understood), when: understood.meant }),
        Err(PhraseError::Past { .. }) if fires_now => Ok(plain(When::After(Span::ZERO), asked)),
        Err(error) => {
            let mut refused = hinted(&error.to_string(), error.code(), &error.hint());
            if let (PhraseError::Past { fix, .. }, Some(data)) = (&error, refused.data.as_map()) {
                refused.data = data.clone().with("fix", &**fix).into();
            }
            Err(refused)
        }
    }
}

/// The next instant at the same time of day, as one may say it.
fn next_day(now: Moment, at: Moment) -> String {
    let days = now.since(at).nanos() / DAY_NS + 1;
    let next = at.checked_add(Span::from_nanos(days.saturating_mul(DAY_NS)));
    next.map_or_else(|| now.to_string(), |next| next.to_string())
}

fn past(at: Moment, fix: &str) -> ResolverError {
    let hint = format!("the next such time is {fix}; or say :if-past :fire-now");
    let data = Map::new().with("reason", Value::keyword("past")).with("hint", hint).with("fix", fix);
    ResolverError::new(format!("{at} has passed"), data).coded(Code::Validation)
}

/// The echo of something that was not said in a phrase.
fn plain(when: When, asked: &PhraseContext<'_>) -> ParsedWhen {
    let trigger = when.clone().resolve(asked.now);
    let next: Vec<Moment> = match &trigger {
        Some(Trigger::At(at)) => vec![*at],
        Some(trigger) => Slots::new(trigger, asked.zones).upcoming(asked.now, 3),
        None => Vec::new(),
    };
    let words = match &trigger {
        Some(Trigger::At(at)) => at.to_string(),
        Some(trigger) => crate::calendar::print(trigger),
        None => String::new(),
    };
    let echo = Map::new()
        .with("words", words)
        .with("zone", asked.zone.to_string())
        .with("next", next.into_iter().map(psi_terms::instant).collect::<Vec<Value>>());
    ParsedWhen { when, echo: echo.into() }
}

fn echo(understood: &Understood) -> Value {
    let warnings: Vec<Value> = understood.warnings.iter().map(|it| Value::string(it.to_string())).collect();
    Map::new()
        .with("words", understood.words.as_str())
        .with("zone", understood.zone.to_string())
        .with("next", understood.next.iter().map(|next| psi_terms::instant(*next)).collect::<Vec<Value>>())
        .with("warnings", warnings)
        .into()
}

/// An entry of a trigger with names as keywords: JSON has texts where EDN has keywords, and a key may be qualified.
fn keyed((key, value): (&Value, &Value)) -> (Value, Value) {
    let keyword = |value: &Value| match value.as_str() {
        Some(text) if Keyword::new(text).is_ok() => Value::keyword(text),
        Some(_) | None => value.clone(),
    };
    let name = name_of(key).unwrap_or_default();
    let value = match (name, value.as_items()) {
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
