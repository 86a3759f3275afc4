//! Grafana's dashboards for Tilestead, made from tables of panels: each panel is written once, with the
//! queries that it draws. `dashboards` writes them to `deploy/observability/dashboards`.

mod panels;

use serde_json::{Value, json};

pub use panels::DASHBOARDS;

/// Width of Grafana's grid, and of one panel on it.
const GRID: usize = 24;
const WIDTH: usize = 8;
const HEIGHT: usize = 8;

/// A dashboard.
#[derive(Debug, Clone, Copy)]
pub struct Dashboard {
    /// Name of its file, and its id.
    pub name: &'static str,
    /// Words at its top.
    pub title: &'static str,
    /// Job whose instances can be chosen; empty: it shows all processes together.
    pub job: &'static str,
    /// Its panels, from the left and from above.
    pub panels: &'static [Panel],
}

/// A picture of some queries over time.
#[derive(Debug, Clone, Copy)]
pub struct Panel {
    /// What it shows.
    pub title: &'static str,
    /// Unit of its values, as Grafana names it: `s`, `short`, `Bps`, `percentunit`.
    pub unit: &'static str,
    /// Queries, each with the legend of its lines.
    pub queries: &'static [(&'static str, &'static str)],
}

impl Dashboard {
    /// Returns the dashboard as Grafana reads it.
    pub fn json(&self) -> Value {
        let panels = self.panels.iter().enumerate();
        let panels: Vec<Value> = panels.map(|(number, panel)| panel.json(number)).collect();
        json!({
            "uid": format!("tilestead-{}", self.name),
            "title": format!("Tilestead: {}", self.title),
            "tags": ["tilestead"],
            "editable": false,
            "schemaVersion": 39,
            "refresh": "10s",
            "time": { "from": "now-1h", "to": "now" },
            "templating": { "list": self.variables() },
            "panels": panels,
        })
    }

    fn variables(&self) -> Vec<Value> {
        if self.job.is_empty() {
            return Vec::new();
        }
        vec![json!({
            "name": "instance",
            "type": "query",
            "datasource": source(),
            "query": format!("label_values(up{{job=\"{}\"}}, instance)", self.job),
            "refresh": 2,
            "includeAll": true,
            "multi": true,
            "current": { "text": "All", "value": "$__all" },
        })]
    }
}

impl Panel {
    fn json(&self, number: usize) -> Value {
        let a_row = GRID / WIDTH;
        let queries = self.queries.iter().zip('A'..);
        let targets: Vec<Value> = queries
            .map(|((query, legend), letter)| {
                json!({
                    "refId": letter.to_string(),
                    "datasource": source(),
                    "expr": query,
                    "legendFormat": legend,
                    // A point on a quantile opens a trace of its bucket.
                    "exemplar": query.contains("_bucket"),
                })
            })
            .collect();
        json!({
            "id": number + 1,
            "type": "timeseries",
            "title": self.title,
            "datasource": source(),
            "gridPos": {
                "x": number % a_row * WIDTH,
                "y": number / a_row * HEIGHT,
                "w": WIDTH,
                "h": HEIGHT,
            },
            "fieldConfig": { "defaults": { "unit": self.unit, "min": 0 }, "overrides": [] },
            "options": { "legend": { "displayMode": "list", "placement": "bottom" } },
            "targets": targets,
        })
    }
}

fn source() -> Value {
    json!({ "type": "prometheus", "uid": "prometheus" })
}
