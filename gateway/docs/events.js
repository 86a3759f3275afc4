// Shows the AsyncAPI document of this very server: events and codes. After docs.js.
"use strict";

function resolved(spec, schema) {
  let at = schema;
  while (at && at.$ref) at = at.$ref.slice(2).split("/").reduce((part, name) => part[name], spec);
  return at ?? {};
}

// What a value is, in few words.
function kind(spec, schema) {
  if (schema === true || schema === undefined) return "anything";
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.allOf) return schema.allOf.map((part) => kind(spec, part)).join(" and ");
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) {
    if (choices.every((part) => part.const !== undefined)) {
      return choices.map((part) => JSON.stringify(part.const)).join(" | ");
    }
    return [...new Set(choices.map((part) => kind(spec, part)))].join(" | ");
  }
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.type === "array") {
    const items = Array.isArray(schema.items) ? schema.items[0] : schema.items;
    return `list of ${kind(spec, items)}`;
  }
  if (schema.type === "object" && typeof schema.additionalProperties === "object") {
    return `object of ${kind(spec, schema.additionalProperties)}`;
  }
  return [schema.type ?? "anything"].flat().join(" | ");
}

// The schemas that a schema names, so that the reader sees all of a message in one place.
function named(spec, schema, found) {
  if (Array.isArray(schema)) schema.forEach((part) => named(spec, part, found));
  else if (schema && typeof schema === "object") {
    const name = schema.$ref?.split("/").pop();
    if (name && !found.has(name)) {
      found.add(name);
      named(spec, resolved(spec, schema), found);
    }
    Object.values(schema).forEach((part) => named(spec, part, found));
  }
  return found;
}

function fields(spec, schema) {
  const whole = resolved(spec, schema);
  const properties = Object.entries(whole.properties ?? {});
  if (!properties.length) return element("p", whole.properties ? "No data." : kind(spec, whole));
  const must = new Set(whole.required ?? []);
  return rows(properties.map(([name, of]) => [
    name, kind(spec, of), must.has(name) ? "always" : "optional", of.description ?? ""]));
}

function message(spec, what) {
  const sent = what.tags.some((tag) => tag.name === "client");
  const box = element("details");
  const head = element("summary");
  head.append(element("span", sent ? "SEND" : "GET", "method"), element("code", what.name));
  head.append(element("span", sent ? "from a client" : "from the server", "who"));
  const inside = element("div", undefined, "inside");
  inside.append(element("p", what.summary));
  if (sent) {
    inside.append(element("p", `${what.description} Answered by ${what["x-answered-by"].join(", ")}`
      + " or error."));
  }
  const data = what.payload.properties.data;
  inside.append(fields(spec, data));
  const own = data.$ref?.split("/").pop();
  for (const name of named(spec, data, new Set())) {
    if (name === own || name === "ErrorCode") continue;
    inside.append(element("h4", name), fields(spec, spec.components.schemas[name]));
  }
  box.append(head, inside);
  box.dataset.text = `${what.name} ${what.summary}`.toLowerCase();
  return box;
}

function showEvents(spec) {
  document.getElementById("protocol").textContent = spec.info.description;
  const main = document.getElementById("messages");
  const families = Map.groupBy(Object.values(spec.components.messages),
    (what) => what.name.split(":")[0].replace(/^trade.*/, "trade"));
  for (const name of [...families.keys()].sort()) {
    const section = element("section");
    section.append(element("h2", name), ...families.get(name).map((what) => message(spec, what)));
    main.append(section);
  }
  const reasons = document.getElementById("reasons");
  for (const [name, schema] of Object.entries(spec.components.schemas)) {
    const codes = (schema.oneOf ?? []).filter((code) => code.const !== undefined);
    if (!name.endsWith("Code") || !codes.length) continue;
    reasons.append(element("h2", name));
    reasons.append(rows(codes.map((code) => [code.const, code.description ?? ""])));
  }
  reasons.append(element("h2", "Closing"));
  const closing = spec.channels.play["x-close-codes"];
  reasons.append(rows(closing.map((of) => [String(of.code), of.meaning])));
}

fetch("/asyncapi.json")
  .then((answer) => answer.json())
  .then(showEvents)
  .catch((error) => {
    document.getElementById("protocol").textContent = `The document cannot be read: ${error}`;
  });
