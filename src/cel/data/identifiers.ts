/** Names of properties as names in expressions (apiserver/pkg/cel/escaping.go). */
const RESERVED = new Set('true false null in as break const continue else for function if import let loop package namespace return var void while'.split(' '));

export const isReserved = (name: string): boolean => RESERVED.has(name);

const ESCAPES: Readonly<Record<string, string>> = { __: '__underscores__', '.': '__dot__', '-': '__dash__', '/': '__slash__' };
const UNESCAPES: Readonly<Record<string, string>> = { underscores: '__', dot: '.', dash: '-', slash: '/' };
const PLAIN = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** `a-b` as `a__dash__b`, `namespace` as `__namespace__`; undefined for names that expressions cannot have. */
export function escapeIdentifier(name: string): string | undefined {
  if (RESERVED.has(name)) return `__${name}__`;
  if (!name.includes('__') && PLAIN.test(name)) return name;
  if (!/^[A-Za-z_.\-/][A-Za-z0-9_.\-/]*$/.test(name)) return undefined;
  return name.replaceAll(/__|[.\-/]/g, (part) => ESCAPES[part]!);
}

/** The other way round; undefined for escapes that there are not. */
export function unescapeIdentifier(name: string): string | undefined {
  if (!name.includes('__')) return name;
  let isRight = true;
  const unescaped = name.replaceAll(/__([^_]+)__/g, (whole: string, word: string) => {
    if (Object.hasOwn(UNESCAPES, word)) return UNESCAPES[word]!;
    if (!RESERVED.has(word) || whole.length !== name.length) isRight = false;
    return word;
  });
  return isRight ? unescaped : undefined;
}
