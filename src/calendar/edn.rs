//! EDN notation of triggers: one map with a `:kind`, which parses back equal.
//!
//! Instants are texts in ISO 8601, because `#inst` ends with the year 9999 and triggers need not.
//! Unknown keys are refused: a misspelt `:zone` must not become UTC.

use super::cron::{CronError, parse_cron};
use crate::domain::{
    Calendar, CountFrom, Event, Every, JobId, Moment, Span, TimeOfDay, Trigger, Weekday, Weekdays, Zone,
    ZoneError,
};
use crate::edn::{Map, Value};
use crate::limits::{PERIOD_MS_MAX, PERIOD_MS_MIN};

/// Why a value is not a trigger.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TriggerError {
    /// The value is not a map, or its `:kind` is missing or unknown.
    #[error("not a trigger: a map with :kind :at, :every, :calendar, :cron or :event")]
    Kind,
    /// A key that the kind needs is missing, or its value has another type.
    #[error("{key} is missing, or is not {expected}")]
    Key {
        /// The key at fault.
        key: &'static str,
        /// What the key must hold.
        expected: &'static str,
    },
    /// The map has a key that its kind does not have.
    #[error("unknown key: {key}")]
    UnknownKey {
        /// The unknown key, printed.
        key: Box<str>,
    },
    /// The expression is not a cron expression.
    #[error(transparent)]
    Cron(#[from] CronError),
    /// The zone is not a time zone.
    #[error(transparent)]
    Zone(#[from] ZoneError),
}

/// Prints a trigger as EDN.
///
/// ```
/// use reveille::calendar::{from_edn, parse_cron, to_edn};
/// use reveille::domain::{Trigger, Zone};
/// let trigger = Trigger::Cron(parse_cron("0 9 * * MON-FRI")?.into(), Zone::parse("Europe/Berlin")?.into());
/// assert_eq!(to_edn(&trigger).to_string(), r#"{:kind :cron :expr "0 9 * * MON-FRI" :zone "Europe/Berlin"}"#);
/// assert_eq!(from_edn(&to_edn(&trigger))?, trigger);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn to_edn(trigger: &Trigger) -> Value {
    let kind = |name: &str| Map::new().with("kind", Value::keyword(name));
    let text = |text: String| Value::string(text);
    Value::Map(match trigger {
        Trigger::At(moment) => kind("at").with("at", text(moment.to_string())),
        // The longest period is ten years, so the milliseconds always fit.
        Trigger::Every(every) => kind("every")
            .with("period-ms", i64::try_from(every.period().millis()).unwrap_or(i64::MAX))
            .with("anchor", text(every.anchor().to_string()))
            .with("from", Value::keyword(every.from().name())),
        Trigger::Calendar(calendar) => {
            let days: Vec<Value> = calendar.weekdays.days().map(|day| Value::keyword(day.name())).collect();
            kind("calendar")
                .with("weekdays", Value::vector(days))
                .with("time", text(calendar.time.to_string()))
                .with("zone", text(calendar.zone.to_string()))
        }
        Trigger::Cron(cron, zone) => {
            kind("cron").with("expr", text(cron.to_string())).with("zone", text(zone.to_string()))
        }
        Trigger::Event(event) => {
            let map = kind("event").with("job", event.job.as_str());
            map.with_some("latest", event.latest.map(|latest| text(latest.to_string())))
        }
    })
}

/// Parses a trigger.
///
/// # Errors
/// [`TriggerError`], which names the key at fault.
pub fn from_edn(value: &Value) -> Result<Trigger, TriggerError> {
    let map = value.as_map().ok_or(TriggerError::Kind)?;
    let kind = map.keyword("kind").and_then(Value::as_keyword).ok_or(TriggerError::Kind)?;
    match kind.as_str() {
        "at" => {
            only(map, &["at"])?;
            Ok(Trigger::At(moment(map, "at")?))
        }
        "every" => {
            only(map, &["period-ms", "anchor", "from"])?;
            every(map)
        }
        "calendar" => {
            only(map, &["weekdays", "time", "zone"])?;
            let expected = "a time such as \"08:30\"";
            let time =
                TimeOfDay::parse(string(map, "time")?).ok_or(TriggerError::Key { key: "time", expected })?;
            let zone = Zone::parse(string(map, "zone")?)?;
            Ok(Trigger::Calendar(Box::new(Calendar { weekdays: weekdays(map)?, time, zone })))
        }
        "cron" => {
            only(map, &["expr", "zone"])?;
            let cron = parse_cron(string(map, "expr")?)?;
            Ok(Trigger::Cron(cron.into(), Zone::parse(string(map, "zone")?)?.into()))
        }
        "event" => {
            only(map, &["job", "latest"])?;
            let expected = "the id of a job: text that is not blank";
            let job = JobId::new(string(map, "job")?);
            let job = job.map_err(|_| TriggerError::Key { key: "job", expected })?;
            // Nil counts as absent: a program that prints every key writes `:latest nil`.
            let is_given = map.keyword("latest").is_some_and(|latest| !latest.is_nil());
            let latest = is_given.then(|| moment(map, "latest")).transpose()?;
            Ok(Trigger::Event(Box::new(Event { job, latest })))
        }
        _ => Err(TriggerError::Kind),
    }
}

fn every(map: &Map) -> Result<Trigger, TriggerError> {
    let fault = |key, expected| move || TriggerError::Key { key, expected };
    let millis =
        map.keyword("period-ms").and_then(Value::as_int).and_then(|millis| u64::try_from(millis).ok());
    let millis = millis.ok_or_else(fault("period-ms", "a number of milliseconds"))?;
    let from =
        map.keyword("from").and_then(Value::as_keyword).and_then(|from| CountFrom::parse(from.as_str()));
    let from = from.ok_or_else(fault("from", ":slot or :finish"))?;
    let every = Every::new(Span::from_millis(millis), moment(map, "anchor")?, from);
    every.map(Trigger::from).ok_or_else(fault("period-ms", PERIOD))
}

/// What a period must be; the assertion keeps the numbers true.
const PERIOD: &str = "from 1000 to 315360000000 ms";
const _: () = assert!(PERIOD_MS_MIN.value == 1_000 && PERIOD_MS_MAX.value == 315_360_000_000);

fn weekdays(map: &Map) -> Result<Weekdays, TriggerError> {
    let fault = || TriggerError::Key { key: "weekdays", expected: "a vector of days such as [:monday]" };
    let items = map.keyword("weekdays").and_then(Value::as_items).ok_or_else(fault)?;
    let day = |item: &Value| item.as_keyword().and_then(|day| Weekday::parse(day.as_str()));
    let days: Option<Vec<Weekday>> = items.iter().map(day).collect();
    days.and_then(Weekdays::new).ok_or_else(fault)
}

fn moment(map: &Map, key: &'static str) -> Result<Moment, TriggerError> {
    let expected = "an instant such as \"2026-04-22T13:00:00Z\"";
    Moment::parse(string(map, key)?).map_err(|_| TriggerError::Key { key, expected })
}

fn string<'a>(map: &'a Map, key: &'static str) -> Result<&'a str, TriggerError> {
    map.keyword(key).and_then(Value::as_str).ok_or(TriggerError::Key { key, expected: "a string" })
}

fn only(map: &Map, known: &[&str]) -> Result<(), TriggerError> {
    let is_known = |key: &Value| {
        key.as_keyword().is_some_and(|key| key.as_str() == "kind" || known.contains(&key.as_str()))
    };
    match map.keys().find(|key| !is_known(key)) {
        Some(key) => {
            // Cut, because the error echoes what a caller wrote.
            Err(TriggerError::UnknownKey { key: key.to_string().chars().take(64).collect::<String>().into() })
        }
        None => Ok(()),
    }
}
