import { Transform } from 'node:stream';

/** Attributes that hold links, by element (HTML 4.01 and HTML Living Standard, index of attributes). */
const LINK_ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  a: ['href'],
  applet: ['codebase'],
  area: ['href'],
  audio: ['src'],
  base: ['href'],
  blockquote: ['cite'],
  body: ['background'],
  button: ['formaction'],
  command: ['icon'],
  del: ['cite'],
  embed: ['src'],
  form: ['action'],
  frame: ['longdesc', 'src'],
  head: ['profile'],
  html: ['manifest'],
  iframe: ['longdesc', 'src'],
  img: ['longdesc', 'src', 'usemap'],
  input: ['src', 'usemap', 'formaction'],
  ins: ['cite'],
  link: ['href'],
  object: ['classid', 'codebase', 'data', 'usemap'],
  q: ['cite'],
  script: ['src'],
  source: ['src'],
  video: ['poster', 'src'],
};

/** Elements whose content is no markup. */
const TEXT_ELEMENTS = new Set(['iframe', 'noembed', 'noframes', 'noscript', 'plaintext', 'script', 'style', 'title', 'textarea', 'xmp']);

/** A tag or comment that does not end by then is no HTML worth reading: it goes through as it is. It is read anew with every chunk that comes, so it must not grow long. */
const MAX_PENDING_CHARACTERS = 64 * 1024;

/** Ends a name of an element. */
const NAME_END = /[ \t\n\r\f/>]/g;
/** Begins or ends what a tag's end may not stand in. */
const QUOTE_OR_END = /[>"']/g;
/** A name, and a value where there is one, as Go's tokenizer takes them apart (golang.org/x/net/html). */
const ATTRIBUTE = /(=?[^ \t\n\r\f/=>]+)(?:[ \t\n\r\f]*=[ \t\n\r\f]*(?:"([^"]*)"|'([^']*)'|([^ \t\n\r\f>"'][^ \t\n\r\f>]*))?)?/g;

/**
 * Rewrites the links of HTML as it streams by, and with them every start tag in one way of writing, as Go's html.Token does. Bytes are taken for Latin-1 and given back as they were: markup is ASCII in every encoding that browsers
 * take for HTML without being told.
 */
export class HtmlLinks extends Transform {
  readonly #rewrite: (link: string) => string;
  #pending = '';
  /** The element whose content is passed through until it ends. */
  #textElement: string | undefined;

  constructor(rewrite: (link: string) => string) {
    super();
    this.#rewrite = rewrite;
  }

  override _transform(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#pending += chunk.toString('latin1');
    this.#send(this.#take());
    if (this.#pending.length > MAX_PENDING_CHARACTERS) this.#flushPending();
    done();
  }

  override _flush(done: () => void): void {
    this.#flushPending();
    done();
  }

  #flushPending(): void {
    this.#send(this.#pending);
    this.#pending = '';
  }

  #send(text: string): void {
    if (text !== '') this.push(Buffer.from(text, 'latin1'));
  }

  /** All that is whole, rewritten; what is not stays pending. */
  #take(): string {
    const html = this.#pending;
    let out = '';
    let at = 0;
    for (let end = this.#endOfNext(html, at); end > at; end = this.#endOfNext(html, at)) {
      out += this.#rewritten(html, at, end);
      at = end;
    }
    this.#pending = html.slice(at);
    return out;
  }

  /** Where the text, tag or comment that begins here ends; the beginning where that cannot be told yet. */
  #endOfNext(html: string, at: number): number {
    if (at >= html.length) return at;
    if (this.#textElement !== undefined) {
      const ending = `</${this.#textElement}`;
      const found = search(new RegExp(ending, 'gi'), html, at);
      // All but what may be the beginning of the end.
      if (found !== at) return found < html.length ? found : Math.max(at, html.length - ending.length + 1);
      this.#textElement = undefined;
    }
    if (html[at] !== '<') return html.indexOf('<', at) === -1 ? html.length : html.indexOf('<', at);
    if (html.length - at < 4) return at;
    if (html.startsWith('<!--', at)) return behind(html, '-->', at);
    if (/[!?/]/.test(html[at + 1]!)) return behind(html, '>', at);
    if (!/[a-zA-Z]/.test(html[at + 1]!)) return at + 1;
    return endOfTag(html, at);
  }

  #rewritten(html: string, start: number, end: number): string {
    const text = html.slice(start, end);
    if (this.#textElement !== undefined) return text;
    if (!/^<[a-zA-Z]/.test(text)) return text;
    const nameEnd = search(NAME_END, text, 1);
    const name = lowerCase(text.slice(1, nameEnd));
    const attributes = text.slice(nameEnd, -1);
    if (TEXT_ELEMENTS.has(name) && !text.endsWith('/>')) this.#textElement = name;
    const links = Object.hasOwn(LINK_ATTRIBUTES, name) ? LINK_ATTRIBUTES[name]! : [];
    let written = `<${name}`;
    let isSelfClosing = text.endsWith('/>');
    for (const match of attributes.matchAll(ATTRIBUTE)) {
      const [all, key, doubleQuoted, singleQuoted, bare] = match;
      // A slash behind a value without quotes is the value's.
      if (bare !== undefined && match.index + all.length === attributes.length) isSelfClosing = false;
      const attribute = lowerCase(key!);
      const value = unescapeEntities(doubleQuoted ?? singleQuoted ?? bare ?? '');
      written += ` ${attribute}="${escapeEntities(links.includes(attribute) ? this.#rewrite(value) : value)}"`;
    }
    return written + (isSelfClosing ? '/>' : '>');
  }
}

/** ASCII alone: all other characters here are bytes. */
const lowerCase = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Stands for the `&` of an entity that is not known here, and stays as it was written. */
const KEPT = '\ue000';
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', "'": '&#39;', '<': '&lt;', '>': '&gt;', '"': '&#34;', '\r': '&#13;', [KEPT]: '&' };

const unescapeEntities = (text: string): string =>
  text.replaceAll(/&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z][a-zA-Z0-9]*));/g, (all: string, decimal?: string, hex?: string, name?: string) => {
    const code = decimal !== undefined ? Number(decimal) : hex !== undefined ? parseInt(hex, 16) : undefined;
    if (code !== undefined) return code > 0 && code < 0xd800 ? Buffer.from(String.fromCodePoint(code), 'utf8').toString('latin1') : KEPT + all.slice(1);
    return Object.hasOwn(ENTITIES, name!) ? ENTITIES[name!]! : KEPT + all.slice(1);
  });

const escapeEntities = (text: string): string => text.replaceAll(/[&'<>"\r\ue000]/g, (character) => ESCAPES[character]!);

/** Where the expression, which is global, first matches from here on; the text's length where it does not. */
function search(expression: RegExp, text: string, from: number): number {
  expression.lastIndex = from;
  return expression.exec(text)?.index ?? text.length;
}

/**
 * Behind the `>` that ends the tag that begins here; the beginning where it has not come. What is in quotes behind the name does not end it. Each character
 * is looked at once: one expression for the whole tag took seconds for a tag of 60 KB that does not end.
 */
function endOfTag(html: string, start: number): number {
  for (let at = search(NAME_END, html, start + 1); at < html.length;) {
    at = search(QUOTE_OR_END, html, at);
    if (html[at] === '>') return at + 1;
    const quoteEnd = at < html.length ? html.indexOf(html[at]!, at + 1) : -1;
    if (quoteEnd < 0) return start;
    at = quoteEnd + 1;
  }
  return start;
}

function behind(html: string, ending: string, at: number): number {
  const found = html.indexOf(ending, at);
  return found === -1 ? at : found + ending.length;
}
