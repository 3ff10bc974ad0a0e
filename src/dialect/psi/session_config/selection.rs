//! The selection of a configuration: which parts the assembled prompt has.

use super::error::ConfigError;
use super::node::{Node, flag, texts};
use crate::domain::{PromptComponent, PromptSelection};

pub(super) fn selection(node: &Node<'_>) -> Result<PromptSelection, ConfigError> {
    let entries = node.entries(&KEYS)?;
    Ok(PromptSelection {
        agents_md: entries.optional("agents-md?", flag)?,
        extension_prompt_contributions: entries.optional("extension-prompt-contributions", texts)?,
        tool_names: entries.optional("tool-names", texts)?,
        skill_names: entries.optional("skill-names", texts)?,
        components: entries.optional("components", |node| {
            node.set(|item| item.choice(PromptComponent::ALL, PromptComponent::name))
        })?,
    })
}

const KEYS: [&str; 5] =
    ["agents-md?", "extension-prompt-contributions", "tool-names", "skill-names", "components"];

#[cfg(test)]
mod tests {
    use crate::dialect::psi::testing::{check_config as check, check_config_refused as check_refused};

    #[test]
    fn a_selection_picks_parts_of_the_prompt() {
        let full = r#":prompt-component-selection {:agents-md? false
            :extension-prompt-contributions [] :tool-names ["t"] :skill-names ["s"]
            :components #{:preamble :context-files :skills :runtime-metadata}}"#;
        check(full, full);
        check(":prompt-component-selection {:tool-names nil}", ":prompt-component-selection {}");
        let field = ":field :prompt-component-selection";
        check_refused(
            ":prompt-component-selection {:components [:all]}",
            "prompt-component-selection.components[0] must be one of",
            &format!("{field} :value :all"),
        );
        check_refused(
            ":prompt-component-selection {:agents-md 1}",
            "unsupported keys: :agents-md",
            &format!("{field} :unsupported-keys [:agents-md]"),
        );
    }
}
