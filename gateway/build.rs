//! Packs the page that ships: its modules into one script, and its style sheets into one, both
//! compressed. A browser then asks for three files and not for sixty.
//!
//! Always: the script keeps the modules' own text, so that people can read it in a browser. A form
//! of `import` or `export` that this file does not know ends the build.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    fmt::Write as _,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

/// The module that imports all others, directly or not.
const ENTRY: &str = "main.js";
/// The folder of the operators' console, whose files a browser loads as they are.
const CONSOLE: &str = "console";
/// Names of the packed files.
const SCRIPT: &str = "bundle.js";
const STYLE: &str = "bundle.css";

/// Of eleven: the last two take many times as long, and save a tenth.
const QUALITY: i32 = 9;

type Files = BTreeMap<String, String>;

fn main() {
    println!("cargo::rerun-if-changed=page");
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names the folder"));
    let (mut files, console) = (read(Path::new("page")), Path::new("page").join(CONSOLE));
    let (index, sheets) = index(&files["index.html"]);
    let style: String = sheets.iter().map(|name| files[name].as_str()).collect();
    let script = script(&files);
    for (name, text) in [("index.html", index), (STYLE, style), (SCRIPT, script)] {
        files.insert(name.to_owned(), text);
    }
    let console = read(&console).into_iter();
    files.extend(console.map(|(name, text)| (format!("{CONSOLE}/{name}"), text)));
    fs::create_dir_all(out.join(CONSOLE)).expect("a folder for the console");
    let mut list = String::from("&[\n");
    for (name, text) in &files {
        let at = out.join(name);
        let (gzip, brotli) = (
            out.join(format!("{name}.gz")),
            out.join(format!("{name}.br")),
        );
        write(&at, text.as_bytes());
        write(&gzip, &gzipped(text.as_bytes()));
        write(&brotli, &brotlied(text.as_bytes()));
        writeln!(
            list,
            "    ({name:?}, include_bytes!({at:?}), include_bytes!({gzip:?}), include_bytes!({brotli:?})),"
        )
        .expect("a string takes it");
    }
    list.push(']');
    write(&out.join("page.rs"), list.as_bytes());
}

/// Returns the files of a folder by name, without those of its folders.
fn read(folder: &Path) -> Files {
    let entries = fs::read_dir(folder).expect("the page's folder");
    let file = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().expect("a plain name");
        let text = fs::read_to_string(entry.path()).expect("a file of the page");
        (name, text)
    };
    let entries = entries.map(|entry| entry.expect("the page's folder"));
    let files = entries.filter(|entry| entry.path().is_file());
    files.map(file).collect()
}

/// Returns the index with one style sheet and one script in place of many, and the sheets in their
/// order.
fn index(html: &str) -> (String, Vec<String>) {
    let mut sheets = Vec::new();
    let mut packed = String::new();
    for line in html.lines() {
        let sheet = between(line, r#"<link rel="stylesheet" href="/page/"#, "\"");
        if let Some(sheet) = sheet {
            if sheets.is_empty() {
                writeln!(packed, r#"  <link rel="stylesheet" href="/page/{STYLE}">"#)
                    .expect("a string takes it");
            }
            sheets.push(sheet.to_owned());
        } else {
            packed.push_str(&line.replace(&format!("/page/{ENTRY}"), &format!("/page/{SCRIPT}")));
            packed.push('\n');
        }
    }
    assert!(packed.contains(SCRIPT) && !sheets.is_empty(), "index.html");
    (packed, sheets)
}

/// Returns all modules as one script. Each is in a function of its own, which returns its exports,
/// after the modules that it imports.
fn script(files: &Files) -> String {
    let mut script = String::new();
    let mut done = BTreeSet::new();
    add(ENTRY, files, &mut Vec::new(), &mut done, &mut script);
    for name in files.keys().filter(|name| name.ends_with(".js")) {
        assert!(done.contains(name), "page/{name}: nobody imports it");
    }
    script
}

fn add(
    name: &str,
    files: &Files,
    open: &mut Vec<String>,
    done: &mut BTreeSet<String>,
    script: &mut String,
) {
    assert!(
        !open.iter().any(|outer| outer == name),
        "{open:?} import each other"
    );
    if !done.insert(name.to_owned()) {
        return;
    }
    let text = files
        .get(name)
        .unwrap_or_else(|| panic!("page/{name} is missing"));
    let module = Module::read(name, text);
    open.push(name.to_owned());
    for imported in &module.imports {
        add(imported, files, open, done, script);
    }
    open.pop();
    let exports = module.exports.join(", ");
    write!(
        script,
        "// --- {name} ---\nconst {} = (() => {{\n{}return {{ {exports} }};\n}})();\n",
        variable(name),
        module.body,
    )
    .expect("a string takes it");
}

/// One module, read line by line.
struct Module {
    /// Files that it imports.
    imports: Vec<String>,
    /// Names that it exports.
    exports: Vec<String>,
    /// Its text, as the body of a function.
    body: String,
}

impl Module {
    fn read(name: &str, text: &str) -> Self {
        let mut module = Self {
            imports: Vec::new(),
            exports: Vec::new(),
            body: String::new(),
        };
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if line.starts_with("import ") {
                let mut statement = line.to_owned();
                while !statement.ends_with(';') {
                    statement.push_str(lines.next().expect("the end of an import"));
                }
                module.import(name, &statement);
            } else if let Some(declared) = line.strip_prefix("export ") {
                module.exports.push(declared_name(name, declared));
                module.line(declared);
            } else {
                assert!(!line.contains("import("), "page/{name}: {line}");
                module.line(line);
            }
        }
        module
    }

    fn line(&mut self, line: &str) {
        self.body.push_str(line);
        self.body.push('\n');
    }

    /// Takes `import { a, b as c } from "./x.js";`.
    fn import(&mut self, name: &str, statement: &str) {
        let names = between(statement, "import {", "}");
        let from = between(statement, "from \"./", "\";");
        let (Some(names), Some(from)) = (names, from) else {
            panic!("page/{name}: {statement}");
        };
        let names = names.replace(" as ", ": ");
        self.line(&format!("const {{{names}}} = {};", variable(from)));
        self.imports.push(from.to_owned());
    }
}

/// Returns the name that `const a = …`, `class A …` or `function a(…)` declares.
fn declared_name(module: &str, declared: &str) -> String {
    let kinds = ["const ", "class ", "function ", "async function "];
    let rest = kinds.iter().find_map(|kind| declared.strip_prefix(kind));
    let rest = rest.unwrap_or_else(|| panic!("page/{module}: export {declared}"));
    let of_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let end = rest.find(|c| !of_name(c)).unwrap_or(rest.len());
    assert!(end > 0, "page/{module}: export {declared}");
    rest[..end].to_owned()
}

/// Returns the name of a module's exports in the script.
fn variable(file: &str) -> String {
    format!("module_{}", file.trim_end_matches(".js").replace('-', "_"))
}

fn between<'a>(text: &'a str, begin: &str, end: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(begin)?;
    Some(rest.split_once(end)?.0)
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(bytes).expect("memory takes it");
    gzip.finish().expect("memory takes it")
}

fn brotlied(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    let params = brotli::enc::BrotliEncoderParams {
        quality: QUALITY,
        ..Default::default()
    };
    brotli::BrotliCompress(&mut &*bytes, &mut packed, &params).expect("memory takes it");
    packed
}

fn write(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
