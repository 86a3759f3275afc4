//! `/env.js`: the configuration that a page may know.
//!
//! Always: only values of [`Public`]; nothing in them can end the script or begin another one.

use std::sync::Arc;

use axum::{extract::State, http::HeaderMap, response::Response};
use serde_json::{Map, Value};

use super::{
    route::{Policy, Route},
    stored::{ASK, Stored},
};
use crate::{app::App, config::Public};

pub(super) fn routes() -> Vec<Route> {
    let summary = "What a page may know of the configuration";
    let route = Policy::Public.get("/env.js", summary, get);
    vec![route.text("text/javascript").tagged()]
}

async fn get(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    let script = script(&app.config.public);
    Stored::new(script, "text/javascript; charset=utf-8", ASK).answer(&headers)
}

fn script(public: &Public) -> String {
    let values: Map<String, Value> = [
        ("PUBLIC_IDP_APP_ID", &public.idp_app_id),
        ("PUBLIC_CDN_URL", &public.cdn_url),
        ("PUBLIC_API_URL", &public.api_url),
        ("PUBLIC_WS_URL", &public.ws_url),
        ("PUBLIC_APP_URL", &public.app_url),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name.to_owned(), value.clone()?.into())))
    .collect();
    let json = Value::Object(values).to_string();
    format!("window.env = {};\n", escape(&json))
}

/// Escapes JSON so that it may stand in a script, and the script in a page.
fn escape(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_value_can_end_the_script() {
        let evil = "</script><!--\"\\\n\u{2028}&";
        let public = Public {
            idp_app_id: Some(evil.to_owned()),
            cdn_url: None,
            api_url: Some("https://api.example".to_owned()),
            ws_url: None,
            app_url: None,
        };
        let script = script(&public);
        for bad in ['<', '>', '&', '\u{2028}'] {
            assert!(!script.contains(bad), "{bad:?} in {script}");
        }
        let json = script.strip_prefix("window.env = ").unwrap();
        let json: Value = serde_json::from_str(json.strip_suffix(";\n").unwrap()).unwrap();
        assert_eq!(json["PUBLIC_IDP_APP_ID"], evil);
        assert_eq!(
            json.as_object().unwrap().len(),
            2,
            "what is not set is not there"
        );
    }
}
