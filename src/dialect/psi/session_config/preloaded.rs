//! Parses one preloaded message: role, content and timestamp.
//!
//! psi silently drops what is not a message; here it is an error. Printing is in `psi/message.rs`. Invariant: a
//! message read here has no provenance; only the engine sets it.

use super::text::text;
use crate::dialect::args::{Arg, ArgError, ArgErrorKind};
use crate::domain::{Content, Message, Moment, Role};
use crate::edn::{Inst, Value};
use crate::limits;

pub(super) fn message(arg: Arg<'_>) -> Result<Message, ArgError> {
    let args = arg.map(&KEYS)?;
    Ok(Message {
        role: args.or_nil("role", |role| role.one_of(Role::NAMES, Role::ALL))?,
        content: args.or_nil("content", content)?,
        timestamp: args.opt("timestamp", timestamp)?,
        provenance: None,
    })
}

/// Reads the content. A plain string stands for a single text.
fn content(arg: Arg<'_>) -> Result<Vec<Content>, ArgError> {
    if arg.value().as_str().is_some() {
        return Ok(vec![Content::Text(text(arg)?)]);
    }
    // Checked before `items`, whose error would not mention that a string is possible.
    arg.parse("a string or a vector of {:type :text :text \"…\"}", Value::as_items)?;
    arg.items(limits::CONFIG_ITEMS, piece)
}

fn piece(arg: Arg<'_>) -> Result<Content, ArgError> {
    let args = arg.map(&["type", "text"])?;
    args.or_nil("type", |kind| kind.one_of(&["text"], &[()]))?;
    args.or_nil("text", text).map(Content::Text)
}

/// Reads a timestamp. Instants that `#inst` cannot express are refused, because they would not be printed as they
/// were read.
fn timestamp(arg: Arg<'_>) -> Result<Moment, ArgError> {
    let moment = arg.instant().ok().filter(|it| Inst::new(it.seconds(), it.nanos()).is_some());
    moment.ok_or_else(|| arg.error(ArgErrorKind::NotAnInstant))
}

pub(super) const KEYS: [&str; 3] = ["role", "content", "timestamp"];

#[cfg(test)]
mod tests {
    use crate::dialect::psi::testing::{check_config as check, check_config_refused as check_refused};

    #[test]
    fn preloaded_messages_are_messages() {
        let full = r#":preloaded-messages [{:role "user" :content [{:type :text :text "hi"}]
                                             :timestamp #inst "2026-04-22T12:59:00.000-00:00"}]"#;
        check(full, full);
        check(&full.replace("\"user\"", ":user").replace(":type :text", ":type \"text\""), full);
        check(
            &full.replace(r#"#inst "2026-04-22T12:59:00.000-00:00""#, r#""2026-04-22T14:59:00+02:00""#),
            full,
        );
        check(
            r#":preloaded-messages [{:role :tool :content "hi"}]"#,
            r#":preloaded-messages [{:role "tool" :content [{:type :text :text "hi"}] :timestamp nil}]"#,
        );
    }

    #[test]
    fn what_is_no_message_is_refused() {
        #[track_caller]
        fn check_second(message: &str, words: &str, value: &str) {
            let entry = format!(r#":preloaded-messages [{{:role "user" :content []}} {message}]"#);
            let words = format!("preloaded-messages[1]{words}");
            check_refused(&entry, &words, &format!(":field :preloaded-messages {value}"));
        }
        check_second("5", " must be a map", ":value 5");
        check_second(r#"{:role "bot" :content "x"}"#, ".role must be one of :user", r#":value "bot""#);
        check_second("{:role :user}", ".content must be a string or a vector", ":value nil");
        check_second("{:role :user :content [5]}", ".content[0] must be a map", ":value 5");
        check_second(
            "{:role :user :content [{:type :image}]}",
            ".content[0].type must be one of :text",
            ":value :image",
        );
        check_second(
            "{:role :user :content [{:type :text}]}",
            ".content[0].text must be a string",
            ":value nil",
        );
        check_second("{:role :user :content [] :timestamp 5}", ".timestamp must be an instant", ":value 5");
        let far = r#""+12026-04-22T12:59:00Z""#;
        let message = format!("{{:role :user :content [] :timestamp {far}}}");
        check_second(&message, ".timestamp must be an instant", &format!(":value {far}"));
        // Only the engine sets provenance.
        let forged = r#"{:role "user" :content "x" :source :scheduled}"#;
        check_second(forged, " has unsupported keys: :source", ":unsupported-keys [:source]");
        let data = ":field :preloaded-messages :value {:role :user}";
        check_refused(":preloaded-messages {:role :user}", "preloaded-messages must be a vector", data);
    }
}
