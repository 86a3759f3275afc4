// Shows the OpenAPI document of this very server. Everything is set as text, never as markup.
// events.js shows the other one, by the functions at the beginning of this.
"use strict";

function element(name, text, kind) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function rows(pairs) {
  const table = element("table");
  for (const cells of pairs) {
    const row = element("tr");
    for (const cell of cells) row.append(element("td", cell));
    table.append(row);
  }
  return table;
}

function shown(content) {
  const [kind, body] = Object.entries(content)[0];
  const part = [element("p", kind)];
  const text = body.example ?? body.schema;
  if (text !== undefined) part.push(element("pre", JSON.stringify(text, null, 2)));
  return part;
}

// The answer itself, where the document only refers to it.
function answered(answer, spec) {
  return answer.$ref ? spec.components.responses[answer.$ref.split("/").pop()] : answer;
}

function operation(method, path, what, spec) {
  const box = element("details");
  const head = element("summary");
  head.append(element("span", method.toUpperCase(), "method"), element("code", path));
  head.append(" ", what.summary, element("span", what.security.length ? "token" : "public", "who"));
  const inside = element("div", undefined, "inside");
  if (what.description) inside.append(element("p", what.description));
  if (what.parameters) {
    inside.append(rows(what.parameters.map(
      (p) => [p.name, p.in, p.required ? "required" : "optional", p.description ?? ""])));
  }
  if (what.requestBody) inside.append(element("h4", "Body"), ...shown(what.requestBody.content));
  for (const [status, given] of Object.entries(what.responses)) {
    const answer = answered(given, spec);
    inside.append(element("h4", `${status} ${answer.description}`));
    if (answer.content && status < 400) inside.append(...shown(answer.content));
  }
  box.append(head, inside);
  box.dataset.text = `${method} ${path} ${what.summary}`.toLowerCase();
  return box;
}

function show(spec) {
  const about = document.getElementById("about");
  about.textContent = `${spec.info.description} Version ${spec.info.version}.`;
  const main = document.getElementById("operations");
  for (const tag of spec.tags) {
    const section = element("section");
    section.append(element("h2", tag.name), element("p", tag.description));
    for (const [path, methods] of Object.entries(spec.paths)) {
      for (const [method, what] of Object.entries(methods)) {
        if (what.tags?.includes(tag.name)) section.append(operation(method, path, what, spec));
      }
    }
    main.append(section);
  }
  document.getElementById("find").addEventListener("input", (event) => {
    const wanted = event.target.value.toLowerCase();
    for (const box of document.querySelectorAll("details")) {
      box.hidden = !box.dataset.text.includes(wanted);
    }
  });
}

fetch("/openapi.json")
  .then((answer) => answer.json())
  .then(show)
  .catch((error) => {
    document.getElementById("about").textContent = `The document cannot be read: ${error}`;
  });
