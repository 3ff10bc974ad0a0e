//! The codec of the row of paused channels.

use std::collections::BTreeMap;

use super::form::Form;
use super::parts::{check_version, map, maybe, part, text, wrong};
use super::printed::Printed;
use super::row::{of_pause, pause};
use super::{FactError, VERSION};
use crate::engine::ChannelPauses;

/// Prints the row of the channels that are paused.
pub(crate) fn print_channel_pauses(paused: &BTreeMap<Box<str>, ChannelPauses>) -> Printed {
    let channels = paused.iter().map(|(name, pauses)| {
        Printed::new()
            .with("channel", &**name)
            .with("inbound", pauses.inbound.as_ref().map(of_pause))
            .with("outbound", pauses.outbound.as_ref().map(of_pause))
    });
    Printed::new().with("v", VERSION).with("paused", channels.collect::<Vec<_>>())
}

/// Parses the row of the channels that are paused.
///
/// # Errors
/// [`FactError`], for the first thing that is wrong with it.
pub(in crate::runtime::durable) fn parse_channel_pauses(
    form: &Form<'_>,
) -> Result<BTreeMap<Box<str>, ChannelPauses>, FactError> {
    check_version(form)?;
    let found = part(form, "paused");
    let items = found.as_items().ok_or_else(|| wrong("paused", "a vector", found))?;
    let way = |item: &Form<'_>, key| maybe(item, key, |form, key| pause(map(form, key)?));
    let channel = |item: &Form<'_>| {
        let pauses = ChannelPauses { inbound: way(item, "inbound")?, outbound: way(item, "outbound")? };
        Ok((text(item, "channel")?.into(), pauses))
    };
    items.iter().map(channel).collect()
}
