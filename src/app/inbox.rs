//! `reveille inbox`: the messages that were left in a session in which nobody listens; with `--take`, they count as delivered.

use std::io;
use std::process::ExitCode;

use super::changed::messages;
use super::client::question::ask;
use super::control::Control;
use super::fault::AppFault;
use super::forecast_explain::print;
use crate::edn::{Map, Value};
use crate::graph::mutation::MutationName;
use crate::surface::cli::InboxArgs;

pub(super) fn inbox(args: &InboxArgs) -> io::Result<ExitCode> {
    let session = args.session.as_str();
    if args.take {
        let params = Map::new().with("session-id", session).with("first", args.first);
        return Control::of_operator(&args.operator).one(MutationName::TakeMessages, params);
    }
    let query = format!("[{{[:psi.agent-session/session-id {}] [{INBOX}]}}]", Value::from(session));
    let answer = match ask(&args.operator.daemon, None, &query) {
        Ok(answer) => answer,
        Err(AppFault::Absent(_)) => {
            return Ok(AppFault::Absent(format!("session not found: {session}")).tell());
        }
        Err(fault) => return Ok(fault.tell()),
    };
    let inbox =
        answer.iter().next().and_then(|(_, session)| session.as_map()?.keyword("psi.agent-session/inbox"));
    let inbox = inbox.and_then(Value::as_items).unwrap_or_default();
    let shown = usize::try_from(args.first).unwrap_or(usize::MAX).min(inbox.len());
    let (inbox, rest) = inbox.split_at(shown);
    let more = if rest.is_empty() { String::new() } else { format!("{} more in the inbox\n", rest.len()) };
    print(&args.operator.printing, &Value::vector(inbox.to_vec()), || messages(inbox) + &more)
}

const INBOX: &str = "{:psi.agent-session/inbox [:reveille.message/timestamp :reveille.message/label :reveille.message/text \
                     :reveille.message/file :reveille.message/turn? :reveille.message/schedule-id]}";
