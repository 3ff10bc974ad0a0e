//! Tells the daemon which prompts of ours an agent shows, which is their receipt.

use std::io;

use super::input::HookInput;
use super::link::{Link, request};
use super::words;
use crate::domain::BootTime;
use crate::edn::Value;

/// Tells the daemon which prompts of ours the agent shows, which is their receipt. Returns whether one of them is for another
/// conversation: the process has gone on with this one since it was woken.
pub(super) fn is_misplaced(link: &mut Link, input: &HookInput, until: BootTime) -> io::Result<bool> {
    let mut is_misplaced = false;
    for run in input.prompt.as_deref().into_iter().flat_map(words::runs) {
        is_misplaced |= tell_shown(link, (&input.address.to_string(), run), until)?;
    }
    Ok(is_misplaced)
}

/// Tells the daemon that the agent shows the prompt of a run, which is its receipt. Returns whether it is for another
/// conversation.
pub(super) fn tell_shown(link: &mut Link, (session, run): (&str, &str), until: BootTime) -> io::Result<bool> {
    let shown = request("agent/shown").with("session-id", session).with("delivery-id", run);
    // A receipt that is refused came too late: the engine has counted the run as failed.
    let told = link.ask(shown, until)?;
    Ok(told.is_ok_and(|shown| shown.keyword("elsewhere?").and_then(Value::as_bool) == Some(true)))
}
