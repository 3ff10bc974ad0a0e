//! When a schedule is due, as an embedder gives it.

use std::time::{Duration, SystemTime};

use super::error::Error;
use crate::calendar::{PhraseContext, Zones, understand};
use crate::domain::{Moment, Refusal, Span, Trigger, When, Zone};

/// When a schedule is due: a phrase, or a typed time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Due {
    /// A phrase such as `every day at 9`, to be read on the clock of a zone.
    Phrase(Box<str>),
    /// A time that needs no reading.
    Typed(When),
    /// An instant of the system's clock.
    System(SystemTime),
}

impl Due {
    /// What it means now. `zone` is read by phrases only; `usual` is the zone of a phrase without one.
    pub(super) fn resolve(
        self,
        zone: Option<&str>,
        now: Moment,
        (zones, usual): (&Zones, &Zone),
    ) -> Result<When, Error> {
        let phrase = match (self, zone) {
            // A zone without effect is refused, because the program expects one.
            (Due::Typed(_) | Due::System(_), Some(_)) => return Err(Error::ZoneWithoutPhrase),
            (Due::Typed(when), None) => return known(when, zones),
            (Due::System(instant), None) => {
                let instant = Moment::try_from(instant).map_err(|_| Refusal::BeyondCalendar)?;
                return Ok(When::At(instant));
            }
            (Due::Phrase(phrase), _) => phrase,
        };
        let zone = zone.map_or_else(|| Ok(usual.clone()), |name| zones.named(name))?;
        Ok(understand(&phrase, &PhraseContext { now, zone, zones })?.meant)
    }
}

/// A typed time, unless nobody knows its zone: the engine would read it as the machine's own.
fn known(when: When, zones: &Zones) -> Result<When, Error> {
    if let When::By(Trigger::Calendar(calendar)) = &when {
        zones.known(calendar.zone.clone())?;
    }
    if let When::By(Trigger::Cron(_, zone)) = &when {
        zones.known((**zone).clone())?;
    }
    Ok(when)
}

impl From<&str> for Due {
    fn from(phrase: &str) -> Due {
        Due::Phrase(phrase.into())
    }
}

impl From<String> for Due {
    fn from(phrase: String) -> Due {
        Due::Phrase(phrase.into())
    }
}

impl From<When> for Due {
    fn from(when: When) -> Due {
        Due::Typed(when)
    }
}

impl From<Span> for Due {
    fn from(delay: Span) -> Due {
        Due::Typed(When::After(delay))
    }
}

impl From<Duration> for Due {
    fn from(delay: Duration) -> Due {
        Due::Typed(When::After(delay.into()))
    }
}

impl From<Moment> for Due {
    fn from(instant: Moment) -> Due {
        Due::Typed(When::At(instant))
    }
}

impl From<SystemTime> for Due {
    fn from(instant: SystemTime) -> Due {
        Due::System(instant)
    }
}

impl From<Trigger> for Due {
    fn from(trigger: Trigger) -> Due {
        Due::Typed(When::By(trigger))
    }
}
