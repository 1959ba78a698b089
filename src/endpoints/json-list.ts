import { parseOwnJson, prettyJson, prettyJsonAt } from '../encoding/json.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import type { toYamlPieces as toPieces } from '../encoding/yaml.ts';
import { LARGE_BYTES } from '../registry/request-context.ts';
import type { PiecedBody } from './body.ts';

/**
 * A list or table as JSON, whose items are made one by one while it is written; written as it is by `pieces`, or in another form by the functions below.
 */
export class JsonList implements PiecedBody {
  /** All that stands before the first item: `{"kind":…,"items":[`. */
  readonly head: string;
  /** The JSON of each item; undefined is a step of the work that made none. */
  readonly items: () => Iterable<Buffer | undefined>;

  constructor(head: string, items: () => Iterable<Buffer | undefined>) {
    this.head = head;
    this.items = items;
  }

  *pieces(): Iterable<Buffer | undefined> {
    yield Buffer.from(this.head);
    let isFirst = true;
    for (const item of this.items()) {
      if (item === undefined) yield undefined;
      else {
        if (!isFirst) yield COMMA;
        isFirst = false;
        yield item;
      }
    }
    yield TAIL;
  }
}

const COMMA = Buffer.from(',');
const TAIL = Buffer.from(']}');

/** What pretty-printing makes of a list without items, from where its items would be. */
const PRETTY_TAIL = ']\n}';
const PRETTY_INDENT = '    ';

/** As `prettyJson` writes the whole. */
export const prettyList = (list: JsonList): PiecedBody => ({
  *pieces(): Iterable<Buffer | undefined> {
    const empty = prettyJson(fieldsOf(list));
    yield Buffer.from(empty.slice(0, -PRETTY_TAIL.length));
    let isFirst = true;
    for (const item of list.items()) {
      if (item === undefined) yield undefined;
      else {
        const value = parseOwnJson(item);
        if (item.length > LARGE_BYTES) yield undefined;
        yield Buffer.from(`${isFirst ? '' : ','}\n${PRETTY_INDENT}${prettyJsonAt(value, PRETTY_INDENT)}`);
        isFirst = false;
      }
    }
    yield Buffer.from(isFirst ? PRETTY_TAIL : `\n  ${PRETTY_TAIL}`);
  },
});

/** As `toYaml` writes the whole. `toYamlPieces` is loaded with the rest of YAML, on its first use. */
export const yamlList = (list: JsonList, toYamlPieces: typeof toPieces): PiecedBody => ({
  *pieces(): Iterable<Buffer | undefined> {
    for (const text of toYamlPieces(fieldsOf(list), list.head.endsWith('"rows":[') ? 'rows' : 'items', list.items()))
      yield text === undefined ? undefined : Buffer.from(text);
  },
});

/** With no items. */
const fieldsOf = ({ head }: JsonList): JsonObject => parseOwnJson(Buffer.from(`${head}]}`)) as JsonObject;
