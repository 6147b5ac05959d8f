//! JSON schemas of enums whose variants may be written as a bare name.

use schemars::Schema;

/// Extends the schema with a bare name for every variant whose parameters all have defaults.
pub fn accept_bare_names(schema: &mut Schema) {
    let Some(variants) = schema.get_mut("oneOf").and_then(|variants| variants.as_array_mut())
    else {
        return;
    };
    let bare: Vec<_> = variants
        .iter()
        .filter_map(|variant| {
            let name = variant.get("required")?.get(0)?.as_str()?;
            let parameters = &variant["properties"][name];
            let is_table = parameters.get("type").is_some_and(|of| of == "object");
            let all_default = is_table && parameters.get("required").is_none();
            let help = variant.get("description").cloned().unwrap_or_default();
            let bare =
                schemars::json_schema!({ "type": "string", "const": name, "description": help });
            all_default.then(|| bare.to_value())
        })
        .collect();
    variants.extend(bare);
}
