//! The command that measures models, on models made here.

use std::{collections::BTreeMap, fs, path::Path, process::Command};

use serde_json::{Value, json};

use crate::Folder;

/// Returns a GLB with one mesh between these corners, shown by a node of this scale.
fn glb(min: [f64; 3], max: [f64; 3], scale: f64) -> Vec<u8> {
    let description = json!({
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "scale": [scale, scale, scale]}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "buffers": [{"byteLength": 36}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "accessors": [{
            "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3",
            "min": min, "max": max,
        }],
    });
    let mut json = description.to_string().into_bytes();
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut glb = Vec::from(*b"glTF");
    let length = 12 + 8 + json.len() + 8 + 36;
    for number in [2, length as u32, json.len() as u32] {
        glb.extend(number.to_le_bytes());
    }
    glb.extend(b"JSON");
    glb.extend(json);
    glb.extend(36_u32.to_le_bytes());
    glb.extend(b"BIN\0");
    glb.extend([0; 36]);
    glb
}

fn write(folder: &Path, path: &str, bytes: impl AsRef<[u8]>) {
    let file = folder.join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, bytes).unwrap();
}

/// Writes a model of a furnace, which is that wide.
pub(crate) fn furnace(assets: &Path, side: f64) {
    let model = glb([0.0; 3], [side, 1.0, side], 1.0);
    write(assets, "models/stations/furnace.glb", model);
}

/// Measures; returns the exit code, the words on standard error, and the file.
fn measure(folder: &Path, at: &Path) -> (Option<i32>, String, Option<Value>) {
    let output = Command::new(env!("CARGO_BIN_EXE_tilestead"))
        .env_clear()
        .arg("model-bounds")
        .arg(at)
        .output()
        .unwrap();
    let file = fs::read(folder.join("manifests/model-bounds.json")).ok();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let json = file.map(|bytes| serde_json::from_slice(&bytes).unwrap());
    (output.status.code(), said, json)
}

#[test]
fn models_are_measured_and_stations_cover_whole_tiles() {
    let world = Folder::new("bounds");
    let assets = world.0.join("assets");
    let furnace = glb([-0.5, 0.0, -0.25], [0.5, 1.5, 0.25], 1.0);
    write(&assets, "models/stations/furnace.glb", furnace);
    write(
        &assets,
        "models/oak.glb",
        glb([0.0; 3], [2.0, 6.0, 2.5], 2.0),
    );
    write(&assets, "models/notes.txt", "no model");
    let stations = json!({"stations": [
        {"type": "furnace", "name": "Furnace", "model": "asset://models/stations/furnace.glb",
         "modelScale": 3.0},
        {"type": "bank", "name": "Bank", "model": null, "modelScale": 1.0},
    ]});
    write(&assets, "manifests/stations.json", stations.to_string());

    // The world's folder does as well as its assets.
    for at in [&assets, &world.0] {
        let (code, said, file) = measure(&assets, at);
        assert_eq!((code, said.as_str()), (Some(0), ""));
        let file = file.unwrap();
        assert_eq!(file["tileSize"], json!(1.0));
        let at = file["generatedAt"].as_str().unwrap();
        assert!(at.len() == 24 && at.ends_with('Z'), "{at}");
        let models = json!([
            {
                "id": "oak",
                "assetPath": "asset://models/oak.glb",
                "bounds": {
                    "min": {"x": 0.0, "y": 0.0, "z": 0.0},
                    "max": {"x": 4.0, "y": 12.0, "z": 5.0},
                },
                "dimensions": {"x": 4.0, "y": 12.0, "z": 5.0},
                "footprint": {"width": 4, "depth": 5},
            },
            {
                "id": "stations/furnace",
                "assetPath": "asset://models/stations/furnace.glb",
                "bounds": {
                    "min": {"x": -0.5, "y": 0.0, "z": -0.25},
                    "max": {"x": 0.5, "y": 1.5, "z": 0.25},
                },
                "dimensions": {"x": 1.0, "y": 1.5, "z": 0.5},
                "footprint": {"width": 3, "depth": 2},
            },
        ]);
        assert_eq!(file["models"], models);
    }
}

/// The footprints that the world gives stations of these models: their sides and their scales.
#[test]
fn the_world_covers_the_tiles_that_the_file_says() {
    let world = Folder::new("covers");
    let assets = world.0.join("assets");
    // At, a little below and a little above whole tiles, as fractions come out of files.
    let cases: [(f64, f64, f64); 12] = [
        (1.0, 1.0, 1.0),
        (1.000_000_4, 1.999_999_6, 1.0),
        (1.000_002, 2.000_002, 1.0),
        (1.000_9, 2.004, 1.0),
        (1.005, 0.999_4, 1.0),
        (1.009, 1.011, 1.0),
        (0.5, 0.500_001, 2.0),
        (0.333_333_3, 0.333_334, 3.0),
        (1.5, 0.1, 1.5),
        (2.0, 4.0, 0.333),
        (1.1, 1.1, 2.727),
        (0.000_1, 15.3, 1.0),
    ];
    let mut stations = Vec::new();
    for (n, (x, z, scale)) in cases.iter().enumerate() {
        let model = format!("models/stations/kind{n}.glb");
        write(&assets, &model, glb([0.0; 3], [*x, 1.0, *z], 1.0));
        stations.push(json!({
            "type": format!("kind{n}"), "name": format!("Kind {n}"),
            "model": format!("asset://{model}"), "modelScale": scale,
        }));
    }
    let stations = json!({"stations": stations}).to_string();
    write(&assets, "manifests/stations.json", &stations);
    let (code, said, file) = measure(&assets, &assets);
    assert_eq!((code, said.as_str()), (Some(0), ""));
    let file = file.unwrap();

    let embedded = world::Content::embedded_files().iter();
    let mut files: BTreeMap<String, String> = embedded
        .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
        .collect();
    files.insert("stations.json".to_owned(), stations);
    files.insert("model-bounds.json".to_owned(), file.to_string());
    let content = world::Content::load(&files).unwrap().content;
    for (n, (x, z, scale)) in cases.iter().enumerate() {
        let id = format!("stations/kind{n}");
        let models = file["models"].as_array().unwrap();
        let said = models.iter().find(|model| model["id"] == id.as_str());
        let said = &said.unwrap()["footprint"];
        let kind = content.stations().get(&format!("kind{n}")).unwrap();
        let (width, depth) = kind.footprint;
        assert_eq!(
            json!({"width": width, "depth": depth}),
            *said,
            "{x} and {z} times {scale}"
        );
        // Sides are rounded up to whole tiles, after sizes that are right to a millionth.
        let up = |side: f64| ((side * 1e6).round() * scale / 1e6 - 1e-9).ceil().max(1.0) as i32;
        assert_eq!(
            (width, depth),
            (up(*x), up(*z)),
            "{x} and {z} times {scale}"
        );
    }
}

#[test]
fn a_broken_model_is_named_and_the_others_are_written() {
    let world = Folder::new("broken");
    let assets = world.0.join("assets");
    let whole = glb([0.0; 3], [1.0; 3], 1.0);
    write(&assets, "models/good.glb", &whole);
    write(&assets, "models/cut.glb", &whole[..whole.len() / 2]);
    write(
        &assets,
        "models/html.glb",
        "<html>not found, says the server</html>",
    );
    write(&assets, "models/empty.glb", "");
    let (code, said, file) = measure(&assets, &assets);
    assert_eq!(code, Some(65));
    assert_eq!(said.lines().count(), 3, "{said}");
    for broken in [
        "models/cut.glb: ",
        "models/html.glb: ",
        "models/empty.glb: ",
    ] {
        assert!(said.contains(broken), "{broken}: {said}");
    }
    let models = file.unwrap()["models"].as_array().unwrap().clone();
    assert_eq!(models.len(), 1);
    assert_eq!(models[0]["id"], "good");
}

#[test]
fn where_there_are_no_models_one_is_told_so() {
    let world = Folder::new("none");
    let (code, said, file) = measure(&world.0, &world.0);
    assert_eq!((code, said.lines().count(), file), (Some(64), 1, None));
    assert!(said.contains("models"), "{said}");
}
