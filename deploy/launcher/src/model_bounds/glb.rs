//! The box around a binary glTF model, from the minima and maxima of its positions. It reads only
//! the description, never the vertices.
//!
//! Always: for any bytes of a file, the answer is a box or a sentence.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use anyhow::{Context, Result, bail, ensure};
use gltf_json::{
    Accessor, Mesh, Root,
    accessor::ComponentType,
    mesh::{Primitive, Semantic},
    scene::Node,
    validation::Checked,
};

use super::shape::{Bounds, IDENTITY, Matrix, after, placed};

/// The longest description, in bytes.
const JSON_BYTES_MAX: u32 = 64 * 1024 * 1024;
/// Most nodes of a scene; a scene with nodes that contain themselves would show more.
const NODES_MAX: usize = 100_000;
const HEADER_BYTES: usize = 20;

/// Returns the box around the model in the file: around its scene, if it has one, otherwise around
/// all its meshes.
pub(super) fn bounds(file: &Path) -> Result<Bounds> {
    let mut file = File::open(file)?;
    let length = file.metadata()?.len();
    read(&mut file, length)
}

/// Returns the box around the model in an open file of this length.
pub(super) fn read(file: &mut impl Read, length: u64) -> Result<Bounds> {
    of(&description(file, length)?)
}

/// Returns the JSON in a GLB of this length.
fn description(file: &mut impl Read, length: u64) -> Result<Vec<u8>> {
    let mut header = [0; HEADER_BYTES];
    match file.read_exact(&mut header) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            bail!("is cut off: it has {length} bytes");
        }
        read => read?,
    }
    let number = |at: usize| {
        let bytes = header[at..at + 4].try_into().unwrap_or_default();
        u32::from_le_bytes(bytes)
    };
    ensure!(&header[..4] == b"glTF", "is no GLB");
    ensure!(number(4) == 2, "is of glTF version {}, not 2", number(4));
    let said = number(8);
    ensure!(
        u64::from(said) <= length,
        "is cut off: it has {length} of {said} bytes"
    );
    ensure!(
        &header[16..] == b"JSON",
        "does not begin with a description"
    );
    let bytes = number(12);
    ensure!(
        bytes <= JSON_BYTES_MAX,
        "has a description of {bytes} bytes"
    );
    let mut json = Vec::new();
    file.take(bytes.into()).read_to_end(&mut json)?;
    ensure!(
        json.len() == bytes as usize,
        "is cut off in its description"
    );
    Ok(json)
}

fn of(json: &[u8]) -> Result<Bounds> {
    let root = Root::from_slice(json).context("its description cannot be read")?;
    let scene = root.scene.map(|scene| scene.value()).unwrap_or(0);
    let scene = root.scenes.get(scene);
    let mut walk = Walk {
        root: &root,
        nodes: 0,
        bounds: None,
    };
    if let Some(scene) = scene {
        for node in &scene.nodes {
            walk.node(node.value(), &IDENTITY)?;
        }
    }
    if walk.bounds.is_none() {
        for number in 0..root.meshes.len() {
            walk.mesh(number, &IDENTITY)?;
        }
    }
    let bounds = walk.bounds.context("has no mesh")?;
    ensure!(bounds.sound(), "reaches farther than numbers do");
    Ok(bounds)
}

struct Walk<'r> {
    root: &'r Root,
    nodes: usize,
    bounds: Option<Bounds>,
}

impl Walk<'_> {
    /// Adds the node and those in it; not by recursion, so that depth costs no stack.
    fn node(&mut self, number: usize, outer: &Matrix) -> Result<()> {
        let mut open = vec![(number, *outer)];
        while let Some((number, outer)) = open.pop() {
            self.nodes += 1;
            ensure!(self.nodes <= NODES_MAX, "shows more than {NODES_MAX} nodes");
            let node = self.root.nodes.get(number);
            let node = node.with_context(|| format!("there is no node {number}"))?;
            let here = after(&outer, &matrix(node));
            if let Some(mesh) = node.mesh {
                // If a mesh has a skin, bones place it and its node does not.
                let by = if node.skin.is_some() {
                    &IDENTITY
                } else {
                    &here
                };
                self.mesh(mesh.value(), by)?;
            }
            let inner = node.children.iter().flatten();
            let shown = self.nodes + open.len() + inner.clone().count();
            ensure!(shown <= NODES_MAX, "shows more than {NODES_MAX} nodes");
            open.extend(inner.map(|child| (child.value(), here)));
        }
        Ok(())
    }

    fn mesh(&mut self, number: usize, by: &Matrix) -> Result<()> {
        let mesh: Option<&Mesh> = self.root.meshes.get(number);
        let mesh = mesh.with_context(|| format!("there is no mesh {number}"))?;
        for (part, primitive) in mesh.primitives.iter().enumerate() {
            let found = self.primitive(primitive);
            let found = found.with_context(|| format!("mesh {number}, part {part}"))?;
            if let Some(found) = found {
                self.bounds = Some(found.moved(by).with(self.bounds));
            }
        }
        Ok(())
    }

    /// Returns the box around a part of a mesh; `None`: it has no positions.
    fn primitive(&self, primitive: &Primitive) -> Result<Option<Bounds>> {
        let positions = Checked::Valid(Semantic::Positions);
        let Some(number) = primitive.attributes.get(&positions) else {
            return Ok(None);
        };
        let accessor = self.root.accessors.get(number.value());
        let accessor = accessor.with_context(|| format!("there is no accessor {number}"))?;
        let bounds = Bounds {
            min: corner(accessor, accessor.min.as_ref()).context("min")?,
            max: corner(accessor, accessor.max.as_ref()).context("max")?,
        };
        ensure!(bounds.sound(), "the minimum is not below the maximum");
        Ok(Some(bounds))
    }
}

/// Returns three numbers, as the accessor means them.
fn corner(accessor: &Accessor, value: Option<&serde_json::Value>) -> Result<[f64; 3]> {
    let value = value.context("its positions do not say how far they reach")?;
    let numbers: Vec<f64> = value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(serde_json::Value::as_f64)
        .collect();
    let numbers: [f64; 3] = numbers
        .try_into()
        .ok()
        .context("its positions are not of three numbers")?;
    let unit = match accessor.component_type {
        Checked::Valid(kind) if accessor.normalized => whole(kind.0),
        _ => 1.0,
    };
    Ok(numbers.map(|number| number / unit))
}

/// Returns the integer that stands for 1 in normalized numbers.
fn whole(kind: ComponentType) -> f64 {
    match kind {
        ComponentType::I8 => f64::from(i8::MAX),
        ComponentType::U8 => f64::from(u8::MAX),
        ComponentType::I16 => f64::from(i16::MAX),
        ComponentType::U16 => f64::from(u16::MAX),
        ComponentType::U32 | ComponentType::F32 => 1.0,
    }
}

fn matrix(node: &Node) -> Matrix {
    if let Some(matrix) = node.matrix {
        return matrix.map(f64::from);
    }
    let turn = node.rotation.map_or([0.0, 0.0, 0.0, 1.0], |turn| turn.0);
    placed(
        node.scale.unwrap_or([1.0; 3]).map(f64::from),
        turn.map(f64::from),
        node.translation.unwrap_or([0.0; 3]).map(f64::from),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn positions(min: Value, max: Value) -> Value {
        json!({"componentType": 5126, "count": 3, "type": "VEC3", "min": min, "max": max})
    }

    fn model(nodes: Value, accessors: Value) -> Value {
        let mesh = json!({"primitives": [{"attributes": {"POSITION": 0}}]});
        json!({
            "asset": {"version": "2.0"},
            "scenes": [{"nodes": [0]}],
            "nodes": nodes,
            "meshes": [mesh],
            "accessors": accessors,
        })
    }

    fn measured(model: &Value) -> Result<Bounds> {
        of(model.to_string().as_bytes())
    }

    fn cube() -> Value {
        json!([positions(json!([-1.0, 0.0, -1.0]), json!([1.0, 2.0, 1.0]))])
    }

    #[test]
    fn nodes_scale_and_place_what_they_show() {
        let nodes = json!([
            {"children": [1], "scale": [2.0, 2.0, 2.0]},
            {"mesh": 0, "translation": [1.0, 0.0, 0.0]},
        ]);
        let bounds = measured(&model(nodes, cube())).unwrap();
        assert_eq!(bounds.min, [0.0, 0.0, -2.0]);
        assert_eq!(bounds.max, [4.0, 4.0, 2.0]);
    }

    #[test]
    fn a_model_without_a_scene_is_measured_as_its_meshes_are() {
        let mut model = model(json!([]), cube());
        model["scenes"] = json!([]);
        let bounds = measured(&model).unwrap();
        assert_eq!(bounds.dimensions(), [2.0, 2.0, 2.0]);
    }

    #[test]
    fn integers_that_stand_for_fractions_are_understood() {
        let mut accessor = positions(json!([-127, 0, -127]), json!([127, 127, 0]));
        accessor["componentType"] = json!(5120);
        accessor["normalized"] = json!(true);
        let bounds = measured(&model(json!([{"mesh": 0}]), json!([accessor]))).unwrap();
        assert_eq!(bounds.dimensions(), [2.0, 1.0, 1.0]);
    }

    #[test]
    fn what_cannot_be_measured_is_said() {
        let node = json!([{"mesh": 0}]);
        let mut unsaid = cube();
        unsaid[0].as_object_mut().unwrap().remove("max");
        for (nodes, accessors, words) in [
            (json!([{"mesh": 7}]), cube(), "no mesh 7"),
            (json!([{"children": [9]}]), cube(), "no node 9"),
            (json!([{"children": [0]}]), cube(), "more than 100000 nodes"),
            (
                json!([{"children": vec![1; 1000]}, {"children": vec![1; 1000]}]),
                cube(),
                "more than 100000 nodes",
            ),
            (
                json!([{"mesh": 0, "children": [1], "scale": [3e38, 1.0, 1.0]},
                       {"children": [2], "scale": [3e38, 1.0, 1.0]},
                       {"children": [3], "scale": [3e38, 1.0, 1.0]},
                       {"children": [4], "scale": [3e38, 1.0, 1.0]},
                       {"children": [5], "scale": [3e38, 1.0, 1.0]},
                       {"children": [6], "scale": [3e38, 1.0, 1.0]},
                       {"children": [7], "scale": [3e38, 1.0, 1.0]},
                       {"children": [8], "scale": [3e38, 1.0, 1.0]},
                       {"mesh": 0, "scale": [3e38, 1.0, 1.0]}]),
                cube(),
                "farther than numbers",
            ),
            (node.clone(), json!([]), "no accessor 0"),
            (node.clone(), unsaid, "how far"),
            (
                node.clone(),
                json!([positions(json!([0, 0]), json!([1, 1]))]),
                "three numbers",
            ),
            (
                node,
                json!([positions(json!([2, 0, 0]), json!([1, 1, 1]))]),
                "not below",
            ),
        ] {
            let error = measured(&model(nodes, accessors)).unwrap_err();
            let error = format!("{error:#}");
            assert!(error.contains(words), "{words}: {error}");
        }
        let empty = json!({"asset": {"version": "2.0"}});
        assert!(
            measured(&empty)
                .unwrap_err()
                .to_string()
                .contains("no mesh")
        );
    }

    #[test]
    fn bytes_that_are_no_model_are_refused_wherever_they_end() {
        let json = model(json!([{"mesh": 0}]), cube()).to_string();
        let mut glb = Vec::from(*b"glTF");
        let bytes = json.len() as u32;
        for number in [2, 20 + bytes, bytes] {
            glb.extend(number.to_le_bytes());
        }
        glb.extend(b"JSON");
        glb.extend(json.bytes());
        let whole = glb.len() as u64;
        assert!(description(&mut glb.as_slice(), whole).is_ok());
        for end in 0..glb.len() {
            assert!(description(&mut &glb[..end], end as u64).is_err(), "{end}");
        }
        for (at, words) in [(0, "no GLB"), (4, "version"), (16, "description")] {
            let mut wrong = glb.clone();
            wrong[at] ^= 1;
            let error = description(&mut wrong.as_slice(), whole).unwrap_err();
            assert!(error.to_string().contains(words), "{error}");
        }
        let mut vast = glb.clone();
        vast[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(description(&mut vast.as_slice(), whole).is_err());
    }
}
