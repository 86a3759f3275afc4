//! JSON for people: short things on one line, long things spread out.

use serde_json::Value;

const LINE: usize = 150;

fn spread(value: &Value, depth: usize, out: &mut String) {
    let flat = value.to_string();
    if flat.len() + 2 * depth <= LINE {
        out.push_str(&flat);
        return;
    }
    let pad = "  ".repeat(depth + 1);
    let end = "  ".repeat(depth);
    match value {
        Value::Array(items) => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                out.push_str(if n == 0 { "\n" } else { ",\n" });
                out.push_str(&pad);
                spread(item, depth + 1, out);
            }
            out.push_str(&format!("\n{end}]"));
        }
        Value::Object(fields) => {
            out.push('{');
            for (n, (key, item)) in fields.iter().enumerate() {
                out.push_str(if n == 0 { "\n" } else { ",\n" });
                out.push_str(&format!("{pad}{}: ", Value::from(key.as_str())));
                spread(item, depth + 1, out);
            }
            out.push_str(&format!("\n{end}}}"));
        }
        _ => out.push_str(&flat),
    }
}

/// The text of a manifest file.
pub(crate) fn text(value: &Value) -> String {
    let mut out = String::new();
    spread(value, 0, &mut out);
    out.push('\n');
    out
}
