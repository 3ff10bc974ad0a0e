//! The codec of pings: each is a fact, and the last ones of all names are a part of the session's row.

use super::FactError;
use super::form::Form;
use super::parts::{each_map, instant, part, text, wrong};
use super::printed::{Instant, Printed};
use crate::domain::{Moment, Ping, PingName, Pings};

/// Prints the last ping of each name; `None` if there is none.
pub(super) fn print(pings: &Pings) -> Option<Vec<Printed>> {
    let ping = |ping: &Ping| with_ping(Printed::new(), &ping.name, ping.at);
    let printed: Vec<Printed> = pings.all().iter().map(ping).collect();
    (!printed.is_empty()).then_some(printed)
}

/// Adds the parts of one ping.
pub(super) fn with_ping(form: Printed, name: &PingName, at: Moment) -> Printed {
    form.with("name", name.as_str()).with("at", Instant(at))
}

/// Parses the last ping of each name.
pub(super) fn parse(form: &Form<'_>, key: &'static str) -> Result<Pings, FactError> {
    let mut pings = Pings::default();
    for (name, at) in each_map(form, key, ping)? {
        pings.note(name, at);
    }
    Ok(pings)
}

/// Parses the parts of one ping.
pub(super) fn ping(form: &Form<'_>) -> Result<(PingName, Moment), FactError> {
    let name = PingName::new(text(form, "name")?);
    let name = name.map_err(|_| wrong("name", "the name of a ping", part(form, "name")))?;
    Ok((name, instant(form, "at")?))
}
