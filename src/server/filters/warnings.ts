/** Characters of text that an answer's warnings may have in all, before each is cut. */
const MAX_TOTAL_CHARACTERS = 4 * 1024;
/** What is left of one warning once the total was passed. */
const MAX_ITEM_CHARACTERS = 256;

/**
 * The warnings of one answer: equal texts once, bounded in all, as values of the `Warning` header (RFC 7234 §5.5; apiserver/pkg/endpoints/filters/warning.go).
 * When the bound is passed, those already recorded are cut too; when even the cut ones fill it, the rest is dropped.
 */
export class WarningRecorder {
  readonly texts: string[] = [];
  headers: string[] = [];
  #characters = 0;
  #isTruncating = false;

  /** Says whether the headers changed. */
  add(text: string): boolean {
    if (this.#isTruncating && this.#characters >= MAX_TOTAL_CHARACTERS) return false;
    if (text === '' || hasControlCharacter(text) || this.texts.includes(text)) return false;
    this.texts.push(text);
    if (!this.#isTruncating && this.#characters + characterCount(text) > MAX_TOTAL_CHARACTERS) {
      this.#isTruncating = true;
      this.#characters = 0;
      this.headers = [];
      for (const earlier of this.texts) this.#write(earlier);
    } else {
      this.#write(text);
    }
    return true;
  }

  #write(whole: string): void {
    const text = this.#isTruncating ? cut(whole) : whole;
    this.#characters += characterCount(text);
    this.headers.push(`299 - "${headerText(text).replace(/["\\]/g, '\\$&')}"`);
  }
}

export const isAscii = (text: string): boolean => {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false;
  return true;
};
const characterCount = (text: string): number => (isAscii(text) ? text.length : text.length - (text.match(/[\ud800-\udbff](?=[\udc00-\udfff])/g)?.length ?? 0));
const cut = (text: string): string =>
  text.length <= MAX_ITEM_CHARACTERS
    ? text
    : Array.from(text.slice(0, 2 * MAX_ITEM_CHARACTERS))
        .slice(0, MAX_ITEM_CHARACTERS)
        .join('');
const hasControlCharacter = (text: string): boolean => /\p{Cc}/u.test(text);

/** Node writes header values as Latin-1 and refuses the rest: the bytes of UTF-8, one character each, arrive as the UTF-8 that Go sends. */
const headerText = (text: string): string => (isAscii(text) ? text : Buffer.from(text, 'utf8').toString('latin1'));
