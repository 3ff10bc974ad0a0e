//! The bodies of posts, in the form that each kind of receiver takes.
//!
//! Nothing in a body depends on the attempt, so a repetition is equal to the first. Invariant: a text that is longer than the
//! receiver takes is cut, and a mark says so; what a receiver would take for a command, such as a mention of everybody, is text.

use super::parcel_json::envelope;
use crate::dialect::json;
use crate::domain::names;
use crate::edn::{Map, Value};
use crate::engine::Parcel;

names! {
    /// The form of a post.
    Shape {
        /// Our own envelope, signed by the headers of Standard Webhooks.
        Signed = "signed",
        /// Our own envelope; signed if the channel has a key.
        Json = "json",
        /// An incoming webhook of Slack.
        Slack = "slack",
        /// A webhook of Discord.
        Discord = "discord",
        /// The method sendMessage of a bot of Telegram; the conversation is the chat.
        Telegram = "telegram",
        /// A topic of ntfy, as plain text.
        Ntfy = "ntfy",
        /// A webhook of Teams workflows, as a card.
        Teams = "teams",
    }
}

impl Shape {
    /// Whether posts of this form are signed, and so need a key.
    pub const fn is_signed(self) -> bool {
        matches!(self, Shape::Signed)
    }

    /// Whether posts of this form may be signed.
    pub const fn takes_keys(self) -> bool {
        matches!(self, Shape::Signed | Shape::Json)
    }

    /// The media type of the bodies.
    pub(super) const fn media_type(self) -> &'static str {
        match self {
            Shape::Ntfy => "text/plain; charset=utf-8",
            Shape::Signed | Shape::Json | Shape::Slack | Shape::Discord | Shape::Telegram | Shape::Teams => {
                "application/json"
            }
        }
    }

    /// Prints the body for a parcel.
    pub fn print(self, parcel: &Parcel) -> String {
        let text = |most: usize| cut(&words(parcel), most);
        let body = match self {
            Shape::Signed | Shape::Json => return envelope(parcel),
            // Its bound counts bytes.
            Shape::Ntfy => return cut_bytes(&words(parcel), NTFY_BYTES),
            Shape::Slack => {
                let body = Map::new().with("text", without_marks(&text(SLACK_CHARS)));
                body.with_some("thread_ts", parcel.route.thread.as_deref())
            }
            Shape::Discord => Map::new()
                .with("content", text(DISCORD_CHARS))
                // Without it, Discord takes a text such as `@everyone` for a mention.
                .with("allowed_mentions", Map::new().with("parse", Vec::<Value>::new())),
            Shape::Telegram => {
                let body = Map::new()
                    .with("chat_id", &*parcel.route.conversation)
                    .with("text", text(TELEGRAM_CHARS));
                // Telegram numbers its threads (`message_thread_id`), so one that is no number is left out.
                let thread = parcel.route.thread.as_deref().and_then(|thread| thread.parse::<i64>().ok());
                body.with_some("message_thread_id", thread)
            }
            Shape::Teams => card(&text(TEAMS_CHARS)),
        };
        let mut out = String::new();
        json::write(&body.into(), &mut out);
        out
    }
}

/// What a person reads: the subject, if there is one, and the text; or the name of the file.
pub(super) fn words(parcel: &Parcel) -> String {
    let file_name = |path: &'_ str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let file = parcel
        .file
        .as_ref()
        .map(|file| file.name.as_deref().map_or_else(|| file_name(&file.path), str::to_owned));
    let text = if parcel.text.is_empty() { file.unwrap_or_default() } else { parcel.text.to_string() };
    match &parcel.label {
        Some(label) => format!("{label}\n\n{text}"),
        None => text,
    }
}

/// A card with one text.
fn card(text: &str) -> Map {
    let block = Map::new().with("type", "TextBlock").with("text", text).with("wrap", true);
    let content = Map::new()
        .with("$schema", "http://adaptivecards.io/schemas/adaptive-card.json")
        .with("type", "AdaptiveCard")
        .with("version", "1.4")
        .with("body", vec![Value::from(block)]);
    let attachment =
        Map::new().with("contentType", "application/vnd.microsoft.card.adaptive").with("content", content);
    Map::new().with("type", "message").with("attachments", vec![Value::from(attachment)])
}

/// Slack reads `<…>` as links and mentions. Source: Slack, "Formatting text", escaping.
fn without_marks(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A text of at most so many characters, which ends in a mark if it was longer.
fn cut(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let mark = |left: usize| format!("\n… [{left} more characters]");
    // The mark may get a digit more with what it takes away, which the room for it covers.
    let room = most.saturating_sub(mark(length).chars().count());
    let kept: String = text.chars().take(room).collect();
    format!("{kept}{}", mark(length - room))
}

/// A text of at most so many bytes, which ends in a mark if it was longer.
fn cut_bytes(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let mark = |left: usize| format!("\n… [{left} more characters]");
    // The room covers the longest mark: no text has more characters than bytes.
    let room = most.saturating_sub(mark(text.len()).len());
    let kept = &text[..text.floor_char_boundary(room)];
    format!("{kept}{}", mark(text.chars().count() - kept.chars().count()))
}

/// Longest texts that the receivers take. Slack cuts longer ones; the others refuse them.
const SLACK_CHARS: usize = 4_000;
const DISCORD_CHARS: usize = 2_000;
const TELEGRAM_CHARS: usize = 4_096;
const TEAMS_CHARS: usize = 4_000;
/// A longer one becomes an attachment.
const NTFY_BYTES: usize = 4_096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_at_its_bound_and_says_so() {
        for most in [60, 100, 2_000] {
            for length in [most - 1, most, most + 1, most * 7] {
                check(&"x".repeat(length), most);
                check(&"ü".repeat(length), most);
            }
        }
    }

    fn check(text: &str, most: usize) {
        let (short, length) = (cut(text, most), text.chars().count());
        assert!(short.chars().count() <= most, "{length} at {most}");
        assert_eq!(short == text, length <= most);
        let in_bytes = cut_bytes(text, most);
        assert!(in_bytes.len() <= most && (in_bytes == text) == (text.len() <= most));
        if short == text {
            return;
        }
        let left = short.rsplit_once('[').and_then(|(_, rest)| rest.split(' ').next());
        let left: usize = left.and_then(|left| left.parse().ok()).expect("a number");
        let kept = short.split('\n').next().expect("a line").chars().count();
        assert_eq!(kept + left, length, "{short}");
    }
}
