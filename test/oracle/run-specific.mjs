// What a recorded answer still holds of the one run that it comes from, beyond the symbols (symbols.mjs): the port of the server that was recorded,
// uids and resource versions inside of texts (a Warning header, a YAML document), a name that the server drew. Neither side of a comparison has them.
const RECORDED_PORT = '16443';
const uids = /\b[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b/g;
/** A list's own version is the whole store's, which other clients move. */
const yamlListVersion = /^(metadata:\n(?: {2}(?!resourceVersion:).*\n)* {2}resourceVersion: )"[1-9]\d*"$/m;
const isYamlList = /^items:$/m;
const yamlVersions = /^(\s*resourceVersion: )"([1-9]\d*)"$/gm;

/** A recorded answer, as the same server would have given it on another port. */
export const onPort = (value, port) => moved(value, RECORDED_PORT, port);

/** The answer of a server on any port, as it is recorded. */
export const fromPort = (value, port) => moved(value, port, RECORDED_PORT);

function moved(value, from, to) {
  return mapped(value, (leaf) => {
    if (leaf === Number(from)) return Number(to);
    return typeof leaf === 'string' ? leaf.replaceAll(`:${from}/`, `:${to}/`) : leaf;
  });
}

/**
 * Numbers the raw values of one side of a scenario in the order in which they appear, as Symbols does: two that were the same stay the same, two that
 * differed still differ. What the scenario itself sent (`sent`: the texts of its requests) is no raw value, and is compared as it is.
 */
export class RawValues {
  #numbers = new Map();
  #sent;

  constructor(sent) {
    this.#sent = sent;
  }

  abstract({ status, body, warning }) {
    return { status, body: mapped(body, (leaf) => this.#text(leaf)), ...(warning !== undefined && { warning: this.#text(warning) }) };
  }

  #text(leaf) {
    if (typeof leaf !== 'string') return leaf;
    const text = isYamlList.test(leaf) ? leaf.replace(yamlListVersion, '$1«list»') : leaf;
    return text
      .replaceAll(uids, (uid) => (this.#sent.includes(uid) ? uid : this.#symbol('raw-uid', uid)))
      .replaceAll(yamlVersions, (line, key, version) => key + this.#symbol('raw-rv', version));
  }

  #symbol(kind, raw) {
    const key = `${kind} ${raw}`;
    if (!this.#numbers.has(key)) this.#numbers.set(key, [...this.#numbers.keys()].filter((other) => other.startsWith(`${kind} `)).length + 1);
    return `«${kind}#${this.#numbers.get(key)}»`;
  }
}

function mapped(value, change) {
  if (Array.isArray(value)) return value.map((item) => mapped(item, change));
  if (value === null || typeof value !== 'object') return change(value);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapped(item, change)]));
}
