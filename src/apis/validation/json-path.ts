/** Steps inside `{…}`, as client-go/util/jsonpath reads them: a terminator ends a field's name, a backslash escapes one. */
const PLAIN_STEPS: readonly RegExp[] = [/[ @$]/y, /\[\?\([^)\n]*\)\]/y, /\.{1,2}(?:\\[^]|[^\s.,[\]$@{}\\])*/y, /"(?:\\[^]|[^"\\\n])*"|'(?:\\[^]|[^'\\\n])*'/y];
const NUMBER = /(?=[+\-\p{Nd}])[+-]?[.\p{Nd}]*/uy;
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)$/;
const ARRAY = /\[([^\]\n]*)\]/y;
const INDEX = /^(?:-?\d*(?::-?\d*){0,2}|\*|'[^']*'|"[^"]*")$/;
/** What it means is asked when the path is walked, not here. */
const IDENTIFIER = /[\p{L}\p{Nd}_][^\s.,[\]$@{}]*/uy;

/** What the parser would say of a template such as `{.spec.foo[0]}`; undefined where it takes it. */
export function jsonPathError(template: string): string | undefined {
  let position = template.indexOf('{') + 1;
  while (position > 0) {
    const step = stepAt(template, position);
    if (typeof step === 'string') return step;
    position += step;
    if (template[position] === '}') position = template.indexOf('{', position) + 1;
  }
  return undefined;
}

/** How long the step is that begins there, or what is wrong with it. */
function stepAt(template: string, position: number): number | string {
  const match = (expression: RegExp): RegExpExecArray | null => {
    expression.lastIndex = position;
    return expression.exec(template);
  };
  const char = template[position];
  if (char === '}') return 0;
  if (char === undefined || char === '\n' || char === '\r') return 'unclosed action';
  for (const expression of PLAIN_STEPS) {
    const length = match(expression)?.[0].length ?? 0;
    if (length > 0) return length;
  }
  if (char === '[') return template.startsWith('[?(', position) ? 'unterminated filter' : arrayStep(match(ARRAY));
  if (char === '"' || char === "'") return 'unterminated quoted string';
  const number = match(NUMBER)?.[0];
  if (number !== undefined) return DECIMAL.test(number) ? number.length : `cannot parse number ${number}`;
  const identifier = match(IDENTIFIER)?.[0];
  if (identifier !== undefined) return identifier.length;
  return `unrecognized character in action: U+${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')} '${char}'`;
}

function arrayStep(array: RegExpExecArray | null): number | string {
  if (!array) return 'unterminated array';
  const wrong = array[1]!.split(',').find((part) => !INDEX.test(part.trim()));
  return wrong === undefined ? array[0].length : `invalid array index ${wrong}`;
}
