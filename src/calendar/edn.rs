//! Rules as EDN: one map with a `:kind`, which reads back equal.
//!
//! Instants are texts in ISO 8601, because `#inst` ends with the year 9999 and rules need not. Keys that are not known
//! are refused: a misspelt `:zone` must not become UTC.

use super::cron::{CronError, parse_cron};
use crate::domain::{
    Calendar, CountFrom, Every, Moment, Rule, Span, TimeOfDay, Weekday, Weekdays, Zone, ZoneError,
};
use crate::edn::{Map, Value};

/// Why a value is no rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// Not a map, or without a `:kind` that is known.
    #[error("not a rule: a map with :kind :at, :every, :calendar or :cron")]
    Kind,
    /// A key that the kind needs, missing or not of its type.
    #[error("{key} is missing, or is not {expected}")]
    Key {
        /// The key.
        key: &'static str,
        /// What it holds.
        expected: &'static str,
    },
    /// A key that the kind does not have.
    #[error("unknown key: {key}")]
    UnknownKey {
        /// The key, printed.
        key: Box<str>,
    },
    /// Its expression is no cron.
    #[error(transparent)]
    Cron(#[from] CronError),
    /// Its zone is none.
    #[error(transparent)]
    Zone(#[from] ZoneError),
}

/// A rule as EDN.
///
/// ```
/// use reveille::calendar::{from_edn, parse_cron, to_edn};
/// use reveille::domain::{Rule, Zone};
/// let rule = Rule::Cron(parse_cron("0 9 * * MON-FRI")?.into(), Zone::parse("Europe/Berlin")?.into());
/// assert_eq!(to_edn(&rule).to_string(), r#"{:kind :cron :expr "0 9 * * MON-FRI" :zone "Europe/Berlin"}"#);
/// assert_eq!(from_edn(&to_edn(&rule))?, rule);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn to_edn(rule: &Rule) -> Value {
    let kind = |name: &str| Map::new().with("kind", Value::keyword(name));
    let text = |text: String| Value::string(text);
    Value::Map(match rule {
        Rule::At(moment) => kind("at").with("at", text(moment.to_string())),
        Rule::Every(every) => kind("every")
            .with("period-ms", i64::try_from(every.period().millis()).unwrap_or(i64::MAX))
            .with("anchor", text(every.anchor().to_string()))
            .with("from", Value::keyword(every.from().name())),
        Rule::Calendar(calendar) => {
            let days: Vec<Value> = calendar.weekdays.days().map(|day| Value::keyword(day.name())).collect();
            kind("calendar")
                .with("weekdays", Value::vector(days))
                .with("time", text(calendar.time.to_string()))
                .with("zone", text(calendar.zone.to_string()))
        }
        Rule::Cron(cron, zone) => {
            kind("cron").with("expr", text(cron.to_string())).with("zone", text(zone.to_string()))
        }
    })
}

/// Reads a rule.
///
/// # Errors
/// [`RuleError`], which names the key at fault.
pub fn from_edn(value: &Value) -> Result<Rule, RuleError> {
    let map = value.as_map().ok_or(RuleError::Kind)?;
    let kind = map.keyword("kind").and_then(Value::as_keyword).ok_or(RuleError::Kind)?;
    match kind.as_str() {
        "at" => {
            only(map, &["at"])?;
            Ok(Rule::At(moment(map, "at")?))
        }
        "every" => {
            only(map, &["period-ms", "anchor", "from"])?;
            every(map)
        }
        "calendar" => {
            only(map, &["weekdays", "time", "zone"])?;
            let expected = "a time such as \"08:30\"";
            let time =
                TimeOfDay::parse(string(map, "time")?).ok_or(RuleError::Key { key: "time", expected })?;
            let zone = Zone::parse(string(map, "zone")?)?;
            Ok(Rule::Calendar(Box::new(Calendar { weekdays: weekdays(map)?, time, zone })))
        }
        "cron" => {
            only(map, &["expr", "zone"])?;
            let cron = parse_cron(string(map, "expr")?)?;
            Ok(Rule::Cron(cron.into(), Zone::parse(string(map, "zone")?)?.into()))
        }
        _ => Err(RuleError::Kind),
    }
}

fn every(map: &Map) -> Result<Rule, RuleError> {
    let fault = |key, expected| move || RuleError::Key { key, expected };
    let millis =
        map.keyword("period-ms").and_then(Value::as_int).and_then(|millis| u64::try_from(millis).ok());
    let millis = millis.ok_or_else(fault("period-ms", "a number of milliseconds"))?;
    let from =
        map.keyword("from").and_then(Value::as_keyword).and_then(|from| CountFrom::parse(from.as_str()));
    let from = from.ok_or_else(fault("from", ":slot or :finish"))?;
    let every = Every::new(Span::from_millis(millis), moment(map, "anchor")?, from);
    every.map(Rule::Every).ok_or_else(fault("period-ms", "within the limits period-ms-min and period-ms-max"))
}

fn weekdays(map: &Map) -> Result<Weekdays, RuleError> {
    let fault = || RuleError::Key { key: "weekdays", expected: "a vector of days such as [:monday]" };
    let items = map.keyword("weekdays").and_then(Value::as_items).ok_or_else(fault)?;
    let day = |item: &Value| item.as_keyword().and_then(|day| Weekday::parse(day.as_str()));
    let days: Option<Vec<Weekday>> = items.iter().map(day).collect();
    days.and_then(Weekdays::new).ok_or_else(fault)
}

fn moment(map: &Map, key: &'static str) -> Result<Moment, RuleError> {
    let expected = "an instant such as \"2026-04-22T13:00:00Z\"";
    Moment::parse(string(map, key)?).map_err(|_| RuleError::Key { key, expected })
}

fn string<'a>(map: &'a Map, key: &'static str) -> Result<&'a str, RuleError> {
    map.keyword(key).and_then(Value::as_str).ok_or(RuleError::Key { key, expected: "a string" })
}

fn only(map: &Map, known: &[&str]) -> Result<(), RuleError> {
    let is_known = |key: &Value| {
        key.as_keyword().is_some_and(|key| key.as_str() == "kind" || known.contains(&key.as_str()))
    };
    match map.keys().find(|key| !is_known(key)) {
        Some(key) => {
            Err(RuleError::UnknownKey { key: key.to_string().chars().take(64).collect::<String>().into() })
        }
        None => Ok(()),
    }
}
