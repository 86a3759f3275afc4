// The account: a name and a password, so that a character is not lost with this browser.
// Always: nothing that is written here is kept, but for the name and the tokens.

import { $, el, say } from "./dom.js";
import { kept } from "./net.js";
import { Pane } from "./pane.js";

/** Asks a route of the gateway; what it refuses is thrown, with words for people. */
async function api(method, path, body) {
  const token = kept.get("token");
  const headers = {
    "content-type": "application/json",
    ...(token && !path.startsWith("/api/auth/") && { authorization: `Bearer ${token}` }),
  };
  const answer = await fetch(path, { method, headers, body: JSON.stringify(body) }).catch(() => {
    throw new Error("The server does not answer.");
  });
  const said = answer.status === 204 ? {} : await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(said.detail || `The server answers ${answer.status}.`);
  return said;
}

const field = (id, words, attributes) =>
  el("label", { class: "field" }, el("span", {}, words), el("input", { id, required: true, ...attributes }));
const password = (id, words, autocomplete) =>
  field(id, words, { type: "password", minlength: "8", maxlength: "128", autocomplete });
const named = (id) =>
  field(id, "Login name", {
    minlength: "3",
    maxlength: "64",
    pattern: "[A-Za-z0-9._@+\\-]+",
    title: "Letters, digits and . _ - @ +",
    autocomplete: "username",
    autocapitalize: "none",
    spellcheck: "false",
  });

export class Account {
  constructor() {
    this.pane = new Pane("account", "Keep this character");
    this.word = el("p", { class: "word", role: "status" });
    $("keep").onclick = () => this.keeps();
    $("login").onsubmit = (event) => this.submits(event, () => this.logsIn());
    $("login-forgot").onclick = () => this.forgets(!this.forgotten);
    $("login-back").onclick = () => this.asks(false);
    $("login-open").onclick = () => this.asks(true);
    $("logout").onclick = () => this.logsOut();
    this.forgets(false);
  }

  /** What the server says of the account. */
  knows(account, characters) {
    this.guest = account.anonymous;
    this.names();
    for (const id of ["login-open", "login-lead"]) $(id).hidden = !this.guest;
    $("logout").hidden = this.guest;
    const lapsed = this.guest && kept.get("login");
    if (lapsed && !characters.length) {
      $("login-name").value = lapsed;
      this.asks(true, "Your login has ended. Please log in again.");
    }
  }

  names() {
    const words = this.guest ? "Keep this character" : "Your password";
    this.pane.name(words);
    $("keep").setAttribute("aria-label", words);
    $("keep").hidden = false;
  }

  // --- the door ---

  asks(on, words = "") {
    $("login").hidden = !on;
    for (const id of ["characters", "create", "door", "entry-word"]) $(id).hidden = on;
    this.forgets(false);
    say($("login-word"), words);
    if (on) $("login-name").focus();
  }

  forgets(on) {
    this.forgotten = on;
    $("login-code-field").hidden = !on;
    $("login-code").required = on;
    $("login-password").autocomplete = on ? "new-password" : "current-password";
    say($("login-password-word"), on ? "A new password" : "Password");
    say($("login-forgot"), on ? "I know the password" : "I forgot the password");
    say($("login-go"), on ? "Set it and log in" : "Log in");
  }

  async submits(event, work) {
    event.preventDefault();
    const button = event.submitter;
    if (button) button.disabled = true;
    try {
      await work();
    } catch (error) {
      const word = event.target.querySelector("[role='status']");
      word.classList.add("error");
      say(word, error.message);
    } finally {
      if (button) button.disabled = false;
    }
  }

  async logsIn() {
    const name = $("login-name").value.trim();
    const secret = $("login-password").value;
    const answer = this.forgotten
      ? await api("POST", "/api/auth/recover", {
          name,
          recoveryCode: $("login-code").value.trim(),
          password: secret,
        })
      : await api("POST", "/api/auth/password", { name, password: secret });
    for (const key of ["token", "refreshToken"]) kept.set(key, answer[key]);
    kept.set("login", name);
    location.reload();
  }

  async logsOut() {
    const token = kept.get("token");
    const headers = { authorization: `Bearer ${token}` };
    await fetch("/api/auth/logout", { method: "POST", headers }).catch(() => undefined);
    // The key of a guest who got a name leads to the same account.
    if (kept.get("named")) kept.set("deviceKey", undefined);
    for (const key of ["token", "refreshToken", "login", "named"]) kept.set(key, undefined);
    location.reload();
  }

  // --- in the world ---

  keeps() {
    this.pane.show();
    if (this.guest) this.draw(this.form());
    else this.draw(this.change());
  }

  draw(...parts) {
    say(this.word, "");
    this.word.classList.remove("error");
    this.pane.body.replaceChildren(...parts, this.word);
    this.pane.foot.replaceChildren();
  }

  form() {
    const form = el(
      "form",
      { id: "keep-form" },
      el(
        "p",
        { class: "dim" },
        "Only this browser knows you. With a name and a password you find your characters from anywhere.",
      ),
      named("keep-name"),
      password("keep-password", "A password, 8 characters or more", "new-password"),
      el("div", { class: "row" }, el("button", { type: "submit", class: "main" }, "Keep it")),
      el("p", { class: "word", role: "status" }),
    );
    form.onsubmit = (event) =>
      this.submits(event, async () => {
        const name = $("keep-name").value.trim();
        const asked = { name, password: $("keep-password").value };
        const made = await api("POST", "/api/account/password", asked);
        this.guest = false;
        kept.set("login", name);
        kept.set("named", "yes");
        kept.set("refreshToken", made.refreshToken);
        this.names();
        this.shows(made.recoveryCodes);
      });
    return form;
  }

  change() {
    const form = el(
      "form",
      { id: "change-form" },
      el("p", { class: "dim" }, "A new password ends all your other logins. You get new recovery codes."),
      password("change-old", "Password", "current-password"),
      password("change-new", "A new password", "new-password"),
      el("div", { class: "row" }, el("button", { type: "submit", class: "main" }, "Change it")),
      el("p", { class: "word", role: "status" }),
    );
    form.onsubmit = (event) =>
      this.submits(event, async () => {
        const asked = { password: $("change-old").value, newPassword: $("change-new").value };
        const made = await api("PUT", "/api/account/password", asked);
        kept.set("refreshToken", made.refreshToken);
        this.shows(made.recoveryCodes);
      });
    return form;
  }

  /** The codes are shown once. */
  shows(codes) {
    const text = codes.join("\n");
    this.draw(
      el("p", {}, "Write these codes down. Each sets a new password, once, if you forget yours."),
      el("ol", { id: "codes", "aria-label": "Recovery codes" }, codes.map((code) => el("li", {}, code))),
    );
    const copy = el("button", {
      onclick: async () => {
        await navigator.clipboard?.writeText(text).catch(() => undefined);
        say(this.word, "Copied.");
      },
    }, "Copy");
    this.pane.foot.append(copy, el("button", { class: "main", onclick: () => this.pane.left() }, "I have them"));
  }
}
