//! The facts of descriptors on which a process of the release before relies, a line each, and the
//! comparison of two releases.
//!
//! Always: names of fields may change, because the wire has only their numbers. A field, method or
//! message may go once the release before has marked it as deprecated.

use std::collections::BTreeMap;

use protox::prost_reflect::{Cardinality, DescriptorPool, Kind, MessageDescriptor};

/// A fact: what it is about, and what it says.
pub(crate) type Facts = BTreeMap<String, String>;

/// Word in a fact that lets the next release remove its subject.
const DEPRECATED: &str = "deprecated";

/// Returns all facts of a set of files.
pub(crate) fn facts(pool: &DescriptorPool) -> Facts {
    let mut facts = Facts::new();
    for message in pool
        .all_messages()
        .filter(|message| is_ours(message.full_name()))
    {
        let options = message.descriptor_proto().options.as_ref();
        let old = options.is_some_and(|options| options.deprecated());
        let name = message.full_name();
        facts.insert(format!("message {name}"), marked("is there", old));
        for field in message.fields() {
            let options = field.field_descriptor_proto().options.as_ref();
            let old = options.is_some_and(|options| options.deprecated());
            facts.insert(
                format!("field {name} {}", field.number()),
                marked(&field_fact(&field), old),
            );
        }
    }
    for of in pool.all_enums().filter(|of| is_ours(of.full_name())) {
        for value in of.values() {
            let options = value.enum_value_descriptor_proto().options.as_ref();
            let old = options.is_some_and(|options| options.deprecated());
            facts.insert(
                format!("value {} {}", of.full_name(), value.number()),
                marked(value.name(), old),
            );
        }
    }
    for service in pool.services() {
        for method in service.methods() {
            let options = method.method_descriptor_proto().options.as_ref();
            let old = options.is_some_and(|options| options.deprecated());
            let stream = |yes| if yes { "stream " } else { "" };
            let fact = format!(
                "{}{} to {}{}",
                stream(method.is_client_streaming()),
                method.input().full_name(),
                stream(method.is_server_streaming()),
                method.output().full_name()
            );
            let path = format!("method /{}/{}", service.full_name(), method.name());
            facts.insert(path, marked(&fact, old));
        }
    }
    facts
}

/// Returns all fields whose type is an enumeration, and all choices, by their full names.
pub(crate) fn choices(pool: &DescriptorPool) -> Vec<String> {
    let mut found = Vec::new();
    for message in pool
        .all_messages()
        .filter(|message| is_ours(message.full_name()))
    {
        let enums = message
            .fields()
            .filter(|field| matches!(field.kind(), Kind::Enum(_)));
        found.extend(enums.map(|field| field.full_name().to_owned()));
        let real = |message: &MessageDescriptor| -> Vec<String> {
            let all = message.oneofs().filter(|of| !of.is_synthetic());
            all.map(|of| of.full_name().to_owned()).collect()
        };
        found.extend(real(&message));
    }
    found.sort();
    found
}

/// Returns what breaks a process of the release before, a line each.
pub(crate) fn breaks(before: &Facts, now: &Facts) -> Vec<String> {
    let fault = |(subject, old): (&String, &String)| {
        let undated = |fact: &str| fact.trim_end_matches(DEPRECATED).trim_end().to_owned();
        match now.get(subject) {
            None if old.ends_with(DEPRECATED) => None,
            None => Some(format!("{subject} is gone; it was: {old}")),
            Some(new) if undated(new) == undated(old) => None,
            Some(new) => Some(format!("{subject} was: {old}, and is: {new}")),
        }
    };
    before.iter().filter_map(fault).collect()
}

fn is_ours(name: &str) -> bool {
    !name.starts_with("google.")
}

fn marked(fact: &str, deprecated: bool) -> String {
    let mark = if deprecated { " deprecated" } else { "" };
    format!("{fact}{mark}")
}

fn field_fact(field: &protox::prost_reflect::FieldDescriptor) -> String {
    let label = match field.cardinality() {
        Cardinality::Repeated => "repeated ",
        Cardinality::Required => "required ",
        Cardinality::Optional if field.supports_presence() => "optional ",
        Cardinality::Optional => "",
    };
    let oneof = field.containing_oneof().filter(|of| !of.is_synthetic());
    let oneof = oneof
        .map(|of| format!(" of {}", of.name()))
        .unwrap_or_default();
    let kind = match field.kind() {
        Kind::Message(message) => message.full_name().to_owned(),
        Kind::Enum(of) => of.full_name().to_owned(),
        other => format!("{other:?}").to_lowercase(),
    };
    format!("{label}{kind}{oneof}")
}
