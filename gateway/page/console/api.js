// Asks the gateway with the operator's token. Always: the token lives in this tab and ends with it.

const KEPT = "tilestead.operator";

/** What the gateway refuses, with its code and words for people. */
export class Refused extends Error {
  constructor(status, said) {
    super(said.detail || `The server answers ${status}.`);
    this.status = status;
    this.code = said.code;
  }
}

export class Api {
  constructor() {
    this.token = sessionStorage.getItem(KEPT) || undefined;
    /** Called when the token does not count any more. */
    this.onend = () => {};
  }

  keep(token) {
    this.token = token;
    if (token) sessionStorage.setItem(KEPT, token);
    else sessionStorage.removeItem(KEPT);
  }

  async ask(method, path, body) {
    const headers = { accept: "application/json" };
    if (this.token) headers.authorization = `Bearer ${this.token}`;
    if (body) headers["content-type"] = "application/json";
    const answer = await fetch(path, { method, headers, body: body && JSON.stringify(body) }).catch(() => {
      throw new Refused(0, { detail: "The gateway does not answer." });
    });
    const said = answer.status === 204 ? {} : await answer.json().catch(() => ({}));
    if (answer.ok) return said;
    if (answer.status === 401 && this.token) this.onend();
    throw new Refused(answer.status, said);
  }

  get(path) {
    return this.ask("GET", path);
  }
}

/** A path with a query of those values that are there. */
export function query(path, values) {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== "");
  return given.length ? `${path}?${new URLSearchParams(given)}` : path;
}
