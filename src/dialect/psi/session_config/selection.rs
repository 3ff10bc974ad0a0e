//! Parses the selection of prompt parts in a configuration.

use super::text::texts;
use crate::dialect::args::{Arg, ArgError};
use crate::domain::{PromptComponent, PromptSelection};
use crate::limits;

pub(super) fn selection(arg: Arg<'_>) -> Result<PromptSelection, ArgError> {
    let args = arg.map(&KEYS)?;
    Ok(PromptSelection {
        agents_md: args.flag("agents-md?")?,
        extension_prompt_contributions: args.opt("extension-prompt-contributions", texts)?,
        tool_names: args.opt("tool-names", texts)?,
        skill_names: args.opt("skill-names", texts)?,
        components: args.opt("components", |arg| {
            arg.set(limits::CONFIG_ITEMS, |item| item.one_of(PromptComponent::NAMES, PromptComponent::ALL))
        })?,
    })
}

pub(super) const KEYS: [&str; 5] =
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
            &format!("{field} :unsupported-keys [:agents-md] :did-you-mean :agents-md?"),
        );
    }
}
