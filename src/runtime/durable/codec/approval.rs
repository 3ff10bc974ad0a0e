//! The codec of the last approval of a run of a schedule, a part of the schedule's row.

use std::sync::Arc;

use super::actor::actor;
use super::form::Form;
use super::parts::{flag_or, instant, map, maybe, number};
use super::printed::{Instant, Printed};
use super::{FactError, definition, session_config};
use crate::engine::{Approved, LastApproval};

pub(super) fn of_approval(approval: &LastApproval) -> Printed {
    let LastApproval { incarnation, slot, at, by, what, config } = approval;
    // The definition that the schedule still has is in its row already.
    let (former, is_too_large) = match what {
        Approved::Present => (None, false),
        Approved::Former(schedule) => (Some(schedule), false),
        Approved::TooLarge => (None, true),
    };
    Printed::new()
        .with("incarnation", *incarnation)
        .with("slot", Instant(*slot))
        .with("at", Instant(*at))
        .with("by", by)
        .with("too-large?", is_too_large.then_some(true))
        .with("asked", former.map(|schedule| definition::print(schedule)))
        .with("config", config.as_deref().map(session_config::print))
}

pub(super) fn approval(form: &Form<'_>) -> Result<LastApproval, FactError> {
    let former = maybe(form, "asked", |form, key| definition::parse(map(form, key)?))?;
    let is_too_large = flag_or(false, form, "too-large?")?;
    let absent = if is_too_large { Approved::TooLarge } else { Approved::Present };
    Ok(LastApproval {
        incarnation: number(form, "incarnation")?,
        slot: instant(form, "slot")?,
        at: instant(form, "at")?,
        by: actor(form, "by")?,
        what: former.map_or(absent, |schedule| Approved::Former(Arc::new(schedule))),
        config: maybe(form, "config", |form, _| session_config::parse(form))?.map(Arc::new),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::REQUEST_CAPS;
    use crate::edn;

    const BEGINS: &str = "{:incarnation 2 :slot \"2026-04-22T12:00:00Z\" :at \"2026-04-22T12:05:00Z\" \
                          :by {:scope :operator :entry :operator :token \"alice\"}";
    const DEFINITION: &str = "{:id \"sch-1\" :dialect :psi :durability :durable :owner \"s\" \
                              :trigger {:kind :at :at \"2026-04-22T13:00:00Z\"} \
                              :payload {:kind :session :text \"Check.\" :config {}} :created-at \"2026-04-22T12:00:00Z\"}";

    /// What was approved is another thing if any of these differs, and each is read as it was printed.
    #[test]
    fn each_form_of_an_approval_is_read_as_it_was_printed() {
        let rest = [
            String::new(),
            " :too-large? true".to_owned(),
            format!(" :asked {DEFINITION}"),
            " :config {}".to_owned(),
            format!(" :asked {DEFINITION} :config {{:system-prompt \"Be brief.\" :tool-ids [\"read\"]}}"),
        ];
        for rest in rest {
            let text = format!("{BEGINS}{rest}}}");
            let value = edn::read(text.as_bytes(), &REQUEST_CAPS).expect("EDN");
            let read = approval(&Form::of(&value)).expect("an approval");
            assert_eq!(of_approval(&read).into_text(), text);
        }
    }
}
