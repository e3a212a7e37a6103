// The HTTP interface (docs/annotate-api.md), as functions.

/** A refusal by the server, or (status 0) a server that cannot be reached. */
export class Refused extends Error {
  constructor(status, code, message, body = null) {
    super(message);
    Object.assign(this, { status, code, body });
  }

  /** Whether the same request may well succeed later. */
  get isPassing() {
    return this.status === 0 || this.status >= 500 || this.code === "other_store";
  }
}

const PATIENCE = 30_000;
let store = {}; // the header that names the store this window was opened on
const LOST = "The server does not answer. Is it still running?";

async function ask(path, options = {}) {
  const { answer, text } = await send(path, options);
  let found = null;
  try {
    found = JSON.parse(text);
  } catch {
    if (answer.ok) throw new Refused(0, "lost", "The server's answer was incomplete.");
  }
  if (answer.ok) return found;
  const error = found?.error;
  throw new Refused(answer.status, error?.code ?? "error", error?.message ?? `The server answered ${answer.status}.`, found);
}

async function send(path, { body }) {
  try {
    const answer = await fetch(path, {
      method: body === undefined ? "GET" : "POST",
      headers: body === undefined ? store : { ...store, "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store",
      credentials: "same-origin",
      redirect: "error",
      signal: AbortSignal.timeout(PATIENCE),
    });
    return { answer, text: await answer.text() };
  } catch {
    throw new Refused(0, "lost", LOST);
  }
}

const query = (names) => new URLSearchParams(Object.entries(names).filter(([, value]) => value !== undefined));

/** Begins with a server: from now on no other store than its own will be asked or written to. */
export async function session() {
  const found = await ask("/api/session");
  store = { "Victor-Store": found.store_id };
  return found;
}
export const join = (name) => ask("/api/annotators", { body: { name } });
export const next = (annotator, after) => ask("/api/next", { body: { annotator, after } });
export const page = (number, annotator, judge) =>
  ask(`/api/pages/${number}?${query({ annotator, judge: judge ? 1 : undefined })}`);
export const pages = (annotator, offset = 0, limit = 100) => ask(`/api/pages?${query({ annotator, offset, limit })}`);
export const history = (annotator) => ask(`/api/history?${query({ annotator })}`);
export const act = (number, action) => ask(`/api/pages/${number}/actions`, { body: action });
export const active = (number, annotator, judge) =>
  ask(`/api/pages/${number}/active`, { body: { annotator, ...(judge ? { judge } : {}) } });
export const check = (number, annotator) => ask(`/api/pages/${number}/check`, { body: { annotator } });
export const progress = (annotator) => ask(`/api/progress?${query({ annotator })}`);
export const agreement = () => ask("/api/agreement");
export const disagreements = () => ask("/api/disagreements");
export const disagreement = (number) => ask(`/api/pages/${number}/disagreement`);
export const guidelines = async () => (await send("/guidelines", {})).text;
