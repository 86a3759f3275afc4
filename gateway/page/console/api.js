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

  /** Sends a request. Gives back the answer to one that was not refused. */
  async send(method, path, body) {
    const headers = { accept: "application/json" };
    if (this.token) headers.authorization = `Bearer ${this.token}`;
    if (body) headers["content-type"] = "application/json";
    const answer = await fetch(path, { method, headers, body: body && JSON.stringify(body) }).catch(() => {
      throw new Refused(0, { detail: "The gateway does not answer." });
    });
    if (answer.ok) return answer;
    if (answer.status === 401 && this.token) this.onend();
    throw new Refused(answer.status, await answer.json().catch(() => ({})));
  }

  async ask(method, path, body) {
    const answer = await this.send(method, path, body);
    return answer.status === 204 ? {} : answer.json().catch(() => ({}));
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
