//! What a server answered, as the outcome of a call: its structured content, or else its text.

use std::sync::Arc;

use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock};
use serde_json::Value as Json;

use crate::adapter::outbound::tools::program;
use crate::domain::{Outcome, Span};
use crate::edn::Value;
use crate::limits;

/// The outcome in an answer.
pub(super) fn outcome(response: CallToolResponse) -> Outcome {
    match response {
        CallToolResponse::Complete(result) => of_result(result),
        // A person would have to be asked, which is not offered.
        CallToolResponse::InputRequired(_) | CallToolResponse::Task(_) | _ => {
            Outcome::of_error("it asks for more before it answers, which is not offered", Span::ZERO)
        }
    }
}

fn of_result(result: CallToolResult) -> Outcome {
    let CallToolResult { content, structured_content, is_error, .. } = result;
    // `None` if one of the blocks is no text.
    let texts: Option<Vec<&str>> =
        content.iter().map(|block| block.as_text().map(|text| text.text.as_str())).collect();
    let text = texts.map(|texts| texts.join("\n"));
    // Servers should repeat structured content as a text for older clients, so the text adds nothing.
    // Source: Model Context Protocol, "Tools", structured content.
    let printed = match (structured_content.filter(|content| !content.is_null()), &text) {
        (Some(structured), _) => structured.to_string(),
        (None, Some(text)) => text.clone(),
        (None, None) => {
            serde_json::json!({ "content": content.iter().map(shown).collect::<Vec<Json>>() }).to_string()
        }
    };
    let read = read(printed.as_bytes());
    if is_error == Some(true) {
        let why = text.filter(|text| !text.trim().is_empty());
        let why = why.unwrap_or_else(|| "it says that the call has failed, and not why".to_owned());
        let value = read.ok().and_then(|(value, _)| structured(value));
        return Outcome { value, ..Outcome::of_error(why, Span::ZERO) };
    }
    match read {
        Ok((value, cut)) => Outcome { cut, ..Outcome::of_value(value, printed.len() as u64, Span::ZERO) },
        Err(error) => Outcome::of_error(error, Span::ZERO),
    }
}

/// A value that says more than the error's own text.
fn structured(value: Value) -> Option<Arc<Value>> {
    let is_text = value.is_nil() || value.as_map().is_some_and(|map| map.keyword("output").is_some());
    (!is_text).then(|| Arc::new(value))
}

/// Reads JSON or a text, and says whether it was cut.
fn read(printed: &[u8]) -> Result<(Value, bool), String> {
    let max = usize::try_from(limits::OUTCOME_BYTES.value).unwrap_or(usize::MAX);
    program::printed(&printed[..printed.len().min(max)], max)
}

/// A block of content without what only a program could show, such as the data of a picture.
fn shown(block: &ContentBlock) -> Json {
    let mut shown = serde_json::to_value(block).unwrap_or(Json::Null);
    leave_out_data(&mut shown);
    if let Some(resource) = shown.get_mut("resource") {
        leave_out_data(resource);
    }
    shown
}

fn leave_out_data(part: &mut Json) {
    let Some(part) = part.as_object_mut() else { return };
    for key in ["data", "blob"] {
        if let Some(data) = part.remove(key) {
            let bytes = data.as_str().map_or(0, str::len);
            part.insert(format!("{key}_base64_bytes"), bytes.into());
        }
    }
    part.remove("_meta");
    part.remove("annotations");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(result: &Json, expected: (bool, &str, &str)) {
        let result: CallToolResult = serde_json::from_value(result.clone()).expect("a result");
        let outcome = of_result(result);
        let value = outcome.value.map(|value| value.to_string()).unwrap_or_default();
        assert_eq!((outcome.ok, value.as_str(), outcome.error.as_deref().unwrap_or_default()), expected);
    }

    #[test]
    fn structured_content_or_text_is_the_value() {
        let text = |text: &str| json!({"type": "text", "text": text});
        check(&json!({"content": [text("x")], "structuredContent": {"a": [1]}}), (true, "{\"a\" [1]}", ""));
        check(&json!({"content": [text("{\"a\":1.5}")]}), (true, "{\"a\" 1.5}", ""));
        check(&json!({"content": [text("one"), text("two")]}), (true, "{:output \"one\\ntwo\"}", ""));
        check(&json!({"content": []}), (true, "", ""));
        check(&json!({"content": [text("no such branch")], "isError": true}), (false, "", "no such branch"));
        let error = json!({"content": [text("no")], "structuredContent": {"step": 1}, "isError": true});
        check(&error, (false, "{\"step\" 1}", "no"));
        check(
            &json!({"content": [], "isError": true}),
            (false, "", "it says that the call has failed, and not why"),
        );
        let picture =
            json!({"content": [text("see"), {"type": "image", "data": "AAAA", "mimeType": "image/png"}]});
        let shown = "{\"content\" [{\"text\" \"see\" \"type\" \"text\"} \
                     {\"data_base64_bytes\" 4 \"mimeType\" \"image/png\" \"type\" \"image\"}]}";
        check(&picture, (true, shown, ""));
    }

    #[test]
    fn what_is_too_long_is_cut_and_said_to_be() {
        let result = CallToolResult::success(vec![ContentBlock::text("é".repeat(200_000))]);
        let outcome = of_result(result);
        assert!(outcome.ok && outcome.cut && outcome.bytes == 400_000, "{}", outcome.bytes);
    }
}
