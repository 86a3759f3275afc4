//! The named parts of a world and what stands in them, as a gateway serves them.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::{http, terrain::Tile};

/// Reads a manifest of the world by its name without `.json`.
pub async fn manifest(authority: &str, name: &str) -> Result<Value> {
    let answer = http::get(authority, &format!("/manifests/{name}.json")).await?;
    ensure!(answer.status == 200, "{name}: {}", answer.status);
    serde_json::from_str(&answer.text()).context(name.to_owned())
}

/// Reads all areas: towns and the others.
pub async fn areas(authority: &str) -> Result<Vec<Value>> {
    let all = manifest(authority, "world-areas").await?;
    let groups = all.as_object().context("areas")?.iter();
    let groups = groups.filter(|(name, _)| name.ends_with("Areas") || *name == "starterTowns");
    let areas = groups.flat_map(|(_, group)| group.as_object().into_iter().flatten());
    Ok(areas.map(|(_, area)| area.clone()).collect())
}

/// Returns the tiles on which nobody can walk because a station or a resource stands there.
pub fn taken(areas: &[Value]) -> Vec<Tile> {
    let lists = |area| ["stations", "resources"].map(|list| (area, list));
    let lists = areas.iter().flat_map(lists);
    let things = lists.filter_map(|(area, list)| area[list].as_array());
    let things = things
        .flatten()
        .filter(|thing| thing["type"] != "fishing_spot");
    things
        .filter_map(|thing| {
            let axis = |name: &str| i32::try_from(thing["position"][name].as_i64()?).ok();
            Some((axis("x")?, axis("z")?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_stands_on_the_ground_takes_its_tile() {
        let area = json!({
            "npcs": [{ "position": { "x": 1, "z": 1 } }],
            "resources": [
                { "type": "tree", "position": { "x": 2, "y": 0, "z": -2 } },
                { "type": "fishing_spot", "position": { "x": 3, "z": 3 } }
            ],
            "stations": [{ "type": "lamp", "position": { "x": 4, "z": 14 } }]
        });
        assert_eq!(taken(&[area]), [(4, 14), (2, -2)]);
    }
}
